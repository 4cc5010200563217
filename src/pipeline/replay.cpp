#include "pipeline/replay.hpp"

#include "runtime/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace cairn::inline v0 {
namespace {

// Problems that are told.
constexpr std::size_t most_told = 6;

std::string told(const std::vector<std::string>& problems) {
    std::string text;
    for (std::size_t p = 0; p < std::min(problems.size(), most_told); ++p) text += "\n    " + problems[p];
    if (problems.size() > most_told) text += fmt::format("\n    and {} more", problems.size() - most_told);
    return text;
}

}  // namespace

std::shared_ptr<const program::Lock> read_lock(const std::filesystem::path& path) {
    const std::string text = runtime::read_file(path, "compile", "the lock");
    try {
        return std::make_shared<const program::Lock>(program::parse_lock(text));
    } catch (const Error& error) { throw Error(ErrorKind::file, "compile", path.string() + ": " + error.what()); }
}

std::string lock_difference(const program::Lock& lock, const Graph& graph, const Context& context,
                            const CompileOptions& options) {
    CompileOptions unlocked = options;
    unlocked.mode = Mode::off;
    unlocked.dump_stages.clear();
    std::set<std::string> wanted;
    std::vector<std::string> missing, unused;
    for (const ExplainedBucket& bucket : compile(graph, context, unlocked).explain(options.stop).buckets)
        for (const ExplainedInstruction& instruction : bucket.instructions)
            if (wanted.insert(instruction.chosen.problem).second && !lock.calls.contains(instruction.chosen.problem))
                missing.push_back(instruction.chosen.problem);
    for (const auto& [problem, calls] : lock.calls)
        if (!wanted.contains(problem)) unused.push_back(problem);
    std::string text = fmt::format("the lock {} does not fit graph \"{}\"", options.lock.string(), graph.name());
    if (!missing.empty()) text += "; without it these would be solved, of which it says nothing:" + told(missing);
    if (!unused.empty()) text += "\nand these would not, which are in it:" + told(unused);
    return text;
}

}  // namespace cairn::inline v0
