#pragma once

#include "cairn/compiled_graph.hpp"
#include "runtime/instance.hpp"

namespace cairn::inline v0 {

struct CompiledGraph::State {
    explicit State(std::shared_ptr<runtime::Executable> executable) : instance(std::move(executable)) {}
    /// The state of a graph. Throws Error(argument) if it is moved-from.
    static State& of(const CompiledGraph& compiled) { return compiled.valid(); }

    runtime::Instance instance;
};

}  // namespace cairn::inline v0

namespace cairn::runtime {

/// Links the programs to the context's kernels: the last step of compile() and load(). Throws Cancelled on a stop.
CompiledGraph make_compiled_graph(const Context& context, ProgramSet set, const std::stop_token& stop = {});

/// Memory of all buckets at their largest legal sizes.
MemoryReport memory_report(const Executable& executable);
/// Memory of one bucket at these values of the set's symbols, which the bucket must cover.
MemoryReport memory_report(const Executable& executable, int bucket, const std::vector<std::int64_t>& sizes);

/// CompiledGraph::verified_errors() of one bucket.
std::vector<VerifiedError> verified_errors_of(const Executable& executable, std::size_t b);

/// The programs of a saved file as text, and its parser, which throws Error(argument) naming the line. For buckets that
/// fell back only the exact program is written.
std::string to_string(const ProgramSet& set, const std::vector<bool>& fell_back = {});
ProgramSet parse_program_set(std::string_view text);

/// The parts of a saved file.
struct SavedText {
    std::string_view programs;  ///< with the cache key, and the digest of both at the end
    std::string_view code;      ///< machine code, each binary with a digest; empty if no kernel has any
};
SavedText parts_of_saved(std::string_view text);

/// Writes a graph to a file that CompiledGraph::load() reads, with `cache_key` unless it is empty. Throws Error(file).
void save(const CompiledGraph& compiled, const std::string& cache_key, const std::filesystem::path& path);
/// The machine code that the programs of a graph use.
const ProgramBinaries& binaries_of(const CompiledGraph& compiled);
/// The cache key in the text of a saved file; empty if it has none.
std::string_view cache_key_of(std::string_view text);

}  // namespace cairn::runtime
