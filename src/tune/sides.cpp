#include "tune/sides.hpp"

#include "cairn/error.hpp"
#include "device/cpu/free_memory.hpp"
#include "select/rivals.hpp"
#include "tune/trial.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace cairn::inline v0::tune {
namespace {

// How sure a race has to be.
constexpr double confidence = 0.98;
constexpr double most_memory = 0.5;

/// Of weights, in whatever form, that programs read.
double bytes_read(std::span<const program::Program> programs) {
    std::map<std::string, std::int64_t> bytes;
    for (const program::Program& program : programs)
        for (const program::Buffer& buffer : program.buffers)
            if (buffer.kind == program::BufferKind::weight || buffer.kind == program::BufferKind::bound)
                bytes[buffer.name] = buffer.bytes.constant();
    double sum = 0;
    for (const auto& [name, of_one] : bytes) sum += static_cast<double>(of_one);
    return sum;
}

}  // namespace

Sides::Sides(std::span<const select::Bucket> buckets, const select::Selections& best, const select::Selections& rival,
             const MakeProgram& make_program, const select::Options& options)
    : buckets_(buckets), stop_(options.stop) {
    for (std::size_t b = 0; b < buckets.size(); ++b)
        if (select::digest_of(best.buckets[b]) != select::digest_of(rival.buckets[b])) differing_.push_back(b);
    for (const select::Selections* covers : {&best, &rival})
        for (const std::size_t b : differing_) programs_.push_back(make_program(b, covers->buckets[b]));
    const double due = (rival.kept_bytes - best.kept_bytes) * options.seconds_per_kept_byte;
    dues_[0] = std::max(-due, 0.0);
    dues_[1] = std::max(due, 0.0);
}

bool Sides::fit_in_memory() const {
    const std::optional<std::int64_t> free = device::free_memory();
    return !free || bytes_read(programs_) <= most_memory * static_cast<double>(*free);
}

timing::RaceResult Sides::race(const Context& context, double seconds, std::uint64_t seed,
                               timing::Clock::time_point until) const {
    std::vector<const program::Program*> all;
    for (const program::Program& program : programs_) all.push_back(&program);
    Trial trial(all, context, stop_, until);
    std::vector<std::vector<std::vector<std::int64_t>>> sizes;  // of each bucket, the same on both sides
    for (std::size_t i = 0; i < differing_.size(); ++i)
        if (sizes.push_back(trial.sizes_of(i)); sizes.back().empty())
            throw Error(ErrorKind::argument, "tune", "the states have no room for a run");
    // A race counts what it spends by what it is told, so that is told at the pace of the clock.
    std::optional<double> pace;
    const auto time = [&](int side, std::int64_t runs) {
        double sum = 0, spent = 0;
        for (std::size_t i = 0; i < differing_.size(); ++i) {
            if (stop_.stop_requested()) throw Cancelled("tune");
            double bucket = 0;
            for (const std::vector<std::int64_t>& values : sizes[i])
                bucket += trial.seconds(static_cast<std::size_t>(side) * differing_.size() + i, values, runs);
            sum += buckets_[differing_[i]].weight * bucket / static_cast<double>(sizes[i].size());
            spent += bucket;
        }
        if (!pace) pace = spent > 0 && sum > 0 ? spent / sum : 1;
        return *pace * (sum + static_cast<double>(runs) * dues_[side]);
    };
    timing::RaceOptions options;
    const std::chrono::duration<double> left = until - timing::Clock::now();
    options.seconds = std::min(seconds, left.count());
    options.confidence = confidence;
    options.seed = seed;
    return timing::race(2, time, options);
}

}  // namespace cairn::inline v0::tune
