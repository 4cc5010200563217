#include "autotune/policy/paired_trial.hpp"

#include "autotune/policy/program_runner.hpp"
#include "cairn/error.hpp"
#include "selection/choose/challenger_covers.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace cairn::autotune {
namespace {

// Confidence of a trial.
constexpr double confidence = 0.98;
constexpr double max_memory_fraction = 0.5;

/// Bytes of the weights that programs read, in all layouts, in the memory of each device.
std::map<Device, double> bytes_read(std::span<const program::Program> programs) {
    std::map<std::pair<Device, std::string>, std::int64_t> bytes;
    for (const program::Program& program : programs)
        for (const program::Buffer& buffer : program.buffers)
            if (buffer.kind == program::BufferKind::weight || buffer.kind == program::BufferKind::bound)
                bytes[{buffer.device, buffer.name}] = buffer.bytes.constant();
    std::map<Device, double> sums;
    for (const auto& [key, of_one] : bytes) sums[key.first] += static_cast<double>(of_one);
    return sums;
}

}  // namespace

PairedTrial::PairedTrial(std::span<const selection::Bucket> buckets, const selection::Selections& best,
                         const selection::Selections& challenger, const MakeProgram& make_program,
                         const selection::Options& options)
    : buckets_(buckets), stop_(options.stop) {
    for (std::size_t b = 0; b < buckets.size(); ++b)
        if (selection::digest_of(best.buckets[b]) != selection::digest_of(challenger.buckets[b]))
            differing_buckets_.push_back(b);
    for (const selection::Selections* covers : {&best, &challenger})
        for (const std::size_t b : differing_buckets_) programs_.push_back(make_program(b, covers->buckets[b]));
    const double kept_byte_seconds = challenger.kept_price - best.kept_price;
    kept_byte_seconds_[0] = std::max(-kept_byte_seconds, 0.0);
    kept_byte_seconds_[1] = std::max(kept_byte_seconds, 0.0);
}

bool PairedTrial::fit_in_memory(const Context& context) const {
    for (const auto& [device, bytes] : bytes_read(programs_))
        if (const std::optional<std::int64_t> free = context.impl()->backend(device).free_memory();
            free && bytes > max_memory_fraction * static_cast<double>(*free))
            return false;
    return true;
}

autotune::EliminationResult PairedTrial::run(const Context& context, double seconds, std::uint64_t seed,
                                             autotune::Clock::time_point until) const {
    std::vector<const program::Program*> all;
    for (const program::Program& program : programs_) all.push_back(&program);
    ProgramRunner runner(all, context, stop_, until);
    std::vector<std::vector<std::vector<std::int64_t>>> sizes;  // of each bucket, the same for both programs
    for (std::size_t i = 0; i < differing_buckets_.size(); ++i)
        if (sizes.push_back(runner.sizes_of(i)); sizes.back().empty())
            throw Error(ErrorKind::argument, "tune", "the states have no room for a run");
    // elimination() counts the returned times against its budget, so they are scaled to wall-clock time.
    std::optional<double> time_scale;
    const auto time = [&](int side, std::int64_t runs) {
        double sum = 0, spent = 0;
        for (std::size_t i = 0; i < differing_buckets_.size(); ++i) {
            if (stop_.stop_requested()) throw Cancelled("tune");
            double bucket = 0;
            for (const std::vector<std::int64_t>& values : sizes[i])
                bucket += runner.seconds(static_cast<std::size_t>(side) * differing_buckets_.size() + i, values, runs);
            sum += buckets_[differing_buckets_[i]].weight * bucket / static_cast<double>(sizes[i].size());
            spent += bucket;
        }
        if (!time_scale) time_scale = spent > 0 && sum > 0 ? spent / sum : 1;
        return *time_scale * (sum + static_cast<double>(runs) * kept_byte_seconds_[side]);
    };
    autotune::EliminationOptions options;
    const std::chrono::duration<double> left = until - autotune::Clock::now();
    options.seconds = std::min(seconds, left.count());
    options.confidence = confidence;
    options.seed = seed;
    return autotune::elimination(2, time, options);
}

}  // namespace cairn::autotune
