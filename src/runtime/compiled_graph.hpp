#pragma once

#include "cairn/compiled_graph.hpp"
#include "runtime/instance.hpp"

namespace cairn::inline v0 {

struct CompiledGraph::State {
    explicit State(std::shared_ptr<runtime::Executable> executable) : instance(std::move(executable)) {}
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

/// The text of a saved file, and its parser, which throws Error(argument) naming the line. For buckets that fell back
/// only the exact program is written.
std::string to_string(const ProgramSet& set, const std::vector<bool>& fell_back = {});
ProgramSet parse_program_set(std::string_view text);
/// Writes that text to a file that CompiledGraph::load() reads, followed by `cache_key` if not empty and a digest.
/// Throws Error(file).
void save(std::string text, const std::string& cache_key, const std::filesystem::path& path);
/// True if the text of a saved file ends with the digest of everything before it.
bool has_valid_digest(std::string_view text);
/// The cache key in the text of a saved file; empty if it has none.
std::string_view cache_key_of(std::string_view text);

}  // namespace cairn::runtime
