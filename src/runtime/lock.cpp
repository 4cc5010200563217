#include "runtime/lock.hpp"

#include <map>
#include <set>
#include <string>

namespace cairn::runtime {

program::Lock lock_of(const ProgramSet& set) {
    program::Lock lock;
    std::map<std::string, std::set<std::int64_t>> ends;
    for (const BucketProgram& bucket : set.buckets) {
        lock.add(bucket.program);
        if (bucket.exact) lock.add(*bucket.exact);
        for (const Range& range : bucket.ranges) ends[range.symbol].insert(range.high);
    }
    if (!set.selection_key.digest.empty()) {
        lock.selection_key = set.selection_key.digest, lock.stored = set.selection_key.stored,
        lock.states = set.selection_key.states;
        for (const BucketProgram& bucket : set.buckets) {
            program::Lock::Cover& cover = lock.covers.emplace_back();
            cover.ranges = bucket.ranges, cover.steps = bucket.steps;
            if (bucket.exact) cover.exact = bucket.exact_steps;
            lock.add_calls(cover.steps);
            lock.add_calls(cover.exact);
        }
    }
    for (auto& [symbol, highs] : ends) {
        highs.erase(std::prev(highs.end()));
        if (!highs.empty()) lock.ends[symbol].assign(highs.begin(), highs.end());
    }
    return lock;
}

}  // namespace cairn::runtime
