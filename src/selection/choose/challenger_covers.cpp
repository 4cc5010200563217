#include "selection/choose/challenger_covers.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace cairn::selection {
namespace {

constexpr std::string_view bar = " | ";

std::string line_of(const Bucket& bucket, ir::NodeId value) {
    const std::source_location& where = bucket.graph.node(value).where;
    return where.line() == 0 ? "" : Error::place(where);
}

bool is_in_runs(const Bucket& bucket, const Goal& goal, const Candidate& candidate) {
    return candidate.kernel != nullptr && !goal.kept && !bucket.candidates.bound()[goal.value];
}

/// Tests the calls of runs against constraints. Formats each problem once.
class AllowedCalls {
public:
    AllowedCalls(const CoverConstraints& terms, const Memo& memo) {
        for (const CallKind& kind : terms.without) without_.insert(kind), kernels_.insert(kind.kernel);
        if (terms.only.empty()) return;
        const std::map<std::string, Device> devices = devices_of_kernels(memo);
        for (const CallKind& kind : terms.only) {
            const auto device = devices.find(kind.kernel);
            only_.insert({kind.bucket, device == devices.end() ? any_device : to_string(device->second), kind.problem,
                          kind.where});
            limited_.insert(kind.bucket);
        }
    }
    bool has(int bucket_index, const Bucket& bucket, ir::NodeId value, const Candidate& candidate) {
        const bool is_limited = limited_.contains(bucket_index);
        if (!is_limited && !kernels_.contains(candidate.kernel->id)) return true;
        CallKind kind{bucket_index, candidate.kernel->id, text_of(candidate.problem), line_of(bucket, value)};
        if (contains(without_, kind)) return false;
        if (!is_limited) return true;
        for (const std::string& device : {to_string(candidate.kernel->device), any_device}) {
            kind.kernel = device;
            if (contains(only_, kind)) return true;
        }
        return false;
    }

private:
    static std::map<std::string, Device> devices_of_kernels(const Memo& memo) {
        std::map<std::string, Device> devices;
        for (int choice = 0; choice < memo.problem.alternatives(); ++choice)
            if (const Kernel* kernel = memo.candidate(choice).kernel) devices.emplace(kernel->id, kernel->device);
        return devices;
    }

    /// True for a kind of the set. A line that is not known equals any: graphs read from a file have none.
    static bool contains(const std::set<CallKind>& kinds, const CallKind& kind) {
        const auto first = kinds.lower_bound({kind.bucket, kind.kernel, kind.problem, {}});
        const bool has_any = first != kinds.end() && first->bucket == kind.bucket && first->kernel == kind.kernel &&
                             first->problem == kind.problem;
        return has_any && (first->where.empty() || kind.where.empty() || kinds.contains(kind));
    }

    const std::string& text_of(const ProblemHandle& problem) {
        std::string& text = texts_[&problem.kept()];
        if (text.empty()) text = cairn::to_string(*problem);
        return text;
    }

    const std::string any_device;  // of kernels that this process does not have
    std::set<CallKind> without_;
    std::set<CallKind> only_;        // with a device instead of a kernel: any kernel of that device is allowed
    std::set<std::string> kernels_;  // of those in without_: calls of other kernels need no text
    std::set<int> limited_;          // buckets
    std::unordered_map<const InternedProblem*, std::string> texts_;
};

}  // namespace

std::string to_string(const CallKind& kind) {
    return fmt::format("{}{}{}{}{}{}{}", kind.bucket, bar, kind.kernel, bar, kind.problem, bar, kind.where);
}

std::optional<CallKind> parse_call_kind(std::string_view text) {
    const std::size_t first = text.find(bar), second = text.find(bar, first + 1), last = text.rfind(bar);
    if (first == text.npos || second == text.npos || last <= second) return std::nullopt;
    CallKind kind;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + first, kind.bucket);
    if (fault != std::errc() || end != text.data() + first) return std::nullopt;
    kind.kernel = text.substr(first + bar.size(), second - first - bar.size());
    kind.problem = text.substr(second + bar.size(), last - second - bar.size());
    kind.where = text.substr(last + bar.size());
    return kind;
}

std::vector<CallKindSeconds> call_kinds_by_time(std::span<const Bucket> buckets, const Selections& covers) {
    std::map<CallKind, double> seconds;
    for (std::size_t b = 0; b < buckets.size(); ++b)
        for (const auto& [goal, candidate, number] : covers.buckets[b].chosen)
            if (is_in_runs(buckets[b], goal, candidate))
                seconds[{static_cast<int>(b), candidate.kernel->id, cairn::to_string(*candidate.problem),
                         line_of(buckets[b], goal.value)}] += candidate.estimate.seconds * buckets[b].weight;
    std::vector<CallKindSeconds> all;
    for (const auto& [kind, sum] : seconds) all.push_back({kind, sum});
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    return all;
}

std::optional<Selections> cheapest_covers_under(const CoverConstraints& terms, const Selections& chosen,
                                                std::span<const Bucket> buckets, const Options& options) {
    Memo memo = *chosen.memo;
    AllowedCalls allowed(terms, memo);
    for (int choice = 0; choice < memo.problem.alternatives(); ++choice) {
        const Memo::Request& request = memo.goals[static_cast<std::size_t>(memo.problem.goal_of(choice))];
        const Candidate& candidate = memo.candidate(choice);
        const Bucket& bucket = buckets[static_cast<std::size_t>(request.bucket)];
        if (is_in_runs(bucket, request.goal, candidate) &&
            !allowed.has(request.bucket, bucket, request.goal.value, candidate))
            memo.problem.set_cost(choice, forbidden_cost);
    }
    std::optional<Selections> found;
    try {
        found = cheapest_covers(std::move(memo), buckets, options);
    } catch (const Cancelled&) { throw; } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
    }
    if (!found || found->cost >= forbidden_cost / 2) return std::nullopt;
    found->memo = chosen.memo;
    found->lower_bound_cost = chosen.exact ? chosen.cost : chosen.lower_bound_cost;
    found->exact = found->cost <= found->lower_bound_cost;
    return found;
}

Digest digest_of(const Selection& cover) {
    std::string text;
    for (const auto& [goal, candidate, number] : cover.chosen)
        text += fmt::format("{}{}{}\n", candidate.kernel->id, bar, cairn::to_string(*candidate.problem));
    return digest(text);
}

}  // namespace cairn::selection
