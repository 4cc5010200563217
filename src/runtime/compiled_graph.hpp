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

/// Bytes at the largest legal sizes, of all buckets.
MemoryReport memory_report(const Executable& executable);
/// Bytes at one size of each of the set's symbols, of the bucket that is for it.
MemoryReport memory_report(const Executable& executable, int bucket, const std::vector<std::int64_t>& sizes);

/// CompiledGraph::verified_errors() of one bucket.
std::vector<VerifiedError> verified_errors_of(const Executable& executable, std::size_t b);

/// The text a saved file holds, and back; parse throws Error(argument) naming the line. Of buckets that fell back the
/// exact programs are written alone.
std::string to_string(const ProgramSet& set, const std::vector<bool>& fell_back = {});
ProgramSet parse_program_set(std::string_view text);
/// Writes that text to a file that CompiledGraph::load() reads, and what it was made for, if anything. Throws
/// Error(file).
void save(std::string text, const std::string& cache_key, const std::filesystem::path& path);
/// Whether the text of a saved file ends with the digest of what stands before it.
bool has_valid_digest(std::string_view text);
/// What the text of a saved file says it was made for; empty where it does not.
std::string_view cache_key_of(std::string_view text);

}  // namespace cairn::runtime
