#include "device/cuda/calibrate_device.hpp"

#include "cairn/error.hpp"
#include "device/cuda/probe_text.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <span>
#include <vector>

namespace cairn::device::cuda {
namespace {

/// How often each quantity is timed, and how long a block lasts at least, in seconds.
struct Effort {
    std::size_t blocks;
    double block_seconds;
};
constexpr Effort thorough{9, 1e-3}, brief{3, 2e-4};
// A calibration is given up after this many times the time that it should take, or that a thorough one takes.
constexpr double max_overrun = 2;
// More rounds than any device needs for a block.
constexpr std::int64_t max_rounds = std::int64_t{1} << 40;
// The working set that is read from memory: this many times what the cache holds, within these limits and a fraction
// (1/4) of the free memory. It is whole if it is at least `min_cache_ratio` times what the cache holds.
constexpr std::int64_t cache_ratio = 16, min_cache_ratio = 4;
constexpr std::int64_t min_working_set = 256 << 20, max_working_set = 1 << 30;
constexpr std::int64_t free_memory_divisor = 4;
// Part of the cache (1/4) that is read from it: some devices keep a copy of the same data in each half.
constexpr std::int64_t cache_divisor = 4;
constexpr std::size_t word_bytes = 16;
// What is read first: by its time, a device that is too slow for the working set is given up before that is reserved.
constexpr std::size_t trial_bytes = 1 << 20;
constexpr std::int64_t trial_rounds = 4;
// Launches of the two programs whose difference is the time of a launch.
constexpr std::size_t short_program = 8, long_program = 200;
constexpr std::size_t large_copy_bytes = 32 << 20, small_copy_bytes = 64;
constexpr int small_copies = 10;

/// Thrown where the device is too slow for the time that a calibration has.
struct TooSlow {};

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// The operands of a probe, the same for each call.
class ProbeArguments final : public CallArguments {
public:
    explicit ProbeArguments(std::span<const TensorArg> operands)
        : args_{nullptr, operands.data(), nullptr, nullptr, nullptr} {}
    const Args& next() noexcept override { return args_; }

private:
    Args args_;
};

TensorArg operand(const Memory& memory) { return {memory.data(), nullptr, nullptr, 0}; }

class DeviceCalibrator {
public:
    DeviceCalibrator(const CalibratedDevice& device, double seconds, const std::stop_token& stop)
        : device_(device),
          seconds_(seconds),
          is_brief_(seconds < thorough_calibration_seconds),
          effort_(is_brief_ ? brief : thorough),
          stop_(stop),
          probes_(arithmetic_probes(device.has_tensor_cores)) {}

    DeviceCalibration run() {
        compile();
        const double begin = device_.clock();
        until_ = begin + seconds_;
        end_ = begin + max_overrun * std::max(seconds_, thorough_calibration_seconds);
        const auto working_set = static_cast<std::size_t>(working_set_bytes());
        const std::unique_ptr<Memory> results = device_.reserve(blocks() * probe_threads * sizeof(float));
        if (working_set > trial_bytes) try_reads(working_set, *results);
        const std::unique_ptr<Memory> data = device_.reserve(working_set);
        measure_reads(*data, *results);
        measure_arithmetic(*results);
        found_.launch_seconds = launch_seconds();
        measure_link(*data);
        found_.is_thorough =
            !is_brief_ && !is_cut_ && static_cast<std::int64_t>(working_set) >= min_cache_ratio * device_.cache_bytes;
        return found_;
    }

private:
    std::size_t blocks() const { return static_cast<std::size_t>(device_.multiprocessors) * probe_blocks; }

    void compile() {
        check_stop();
        const DeviceCode read = read_probe(), empty = empty_probe();
        std::vector<const DeviceCode*> texts{&read, &empty};
        for (const ArithmeticProbe& probe : probes_) texts.push_back(&probe.code);
        codes_ = device_.backend.compile(texts);
    }

    std::int64_t working_set_bytes() const {
        std::int64_t bytes = std::clamp(cache_ratio * device_.cache_bytes, min_working_set, max_working_set);
        if (const auto free = device_.backend.free_memory()) bytes = std::min(bytes, *free / free_memory_divisor);
        const auto word = static_cast<std::int64_t>(word_bytes);
        return std::max(bytes / word, std::int64_t{1}) * word;
    }

    void check_stop() const {
        if (stop_.stop_requested()) throw Cancelled("calibrate");
    }

    /// The times of a block of work, as many as there is time for, and at least one. Throws Cancelled, TooSlow.
    template <class Block>
    std::vector<double> times_of(const Block& block) {
        std::vector<double> times;
        while (times.size() < effort_.blocks) {
            check_stop();
            const double now = device_.clock();
            if (now >= end_) throw TooSlow{};
            if (now >= until_ && !times.empty()) {
                is_cut_ = true;
                break;
            }
            times.push_back(block());
        }
        return times;
    }
    template <class Block>
    double once(const Block& block) {
        check_stop();
        if (device_.clock() >= end_) throw TooSlow{};
        return block();
    }

    TimedCalls calls_of(const std::shared_ptr<const void>& code, std::span<const TensorArg> operands) const {
        TimedCalls calls{nullptr, 1, [operands] { return std::make_unique<ProbeArguments>(operands); }, 0,
                         static_cast<int>(operands.size())};
        calls.code = code.get();
        calls.grid = {static_cast<unsigned>(blocks()), 1, 1};
        return calls;
    }

    /// Seconds of one round of a probe, in blocks of as many rounds as the clock needs. The last symbol is the number
    /// of rounds.
    std::vector<double> round_seconds(const std::shared_ptr<const void>& code, std::span<const TensorArg> operands,
                                      std::vector<std::int64_t> symbols) {
        TimedCalls calls = calls_of(code, operands);
        calls.symbols = symbols;
        std::int64_t& rounds = symbols.back();
        const auto block = [&] {
            std::optional<Failure> none;
            return device_.backend.time(calls, none);
        };
        rounds = 1;
        once(block);  // the first call includes cold code and page-table misses
        double seconds = once(block);
        while (seconds < effort_.block_seconds) {
            const double factor = effort_.block_seconds / std::max(seconds, 1e-9);
            rounds *= std::clamp<std::int64_t>(static_cast<std::int64_t>(factor) + 1, 2, 64);
            if (rounds > max_rounds) throw TooSlow{};
            seconds = once(block);
        }
        std::vector<double> times = times_of(block);
        for (double& time : times) time /= static_cast<double>(rounds);
        return times;
    }

    /// Throws TooSlow if reading the working set once is expected to take longer than a calibration may.
    void try_reads(std::size_t working_set, const Memory& results) {
        const std::unique_ptr<Memory> data = device_.reserve(trial_bytes);
        const TensorArg operands[] = {operand(*data), operand(results)};
        const auto seconds_of = [&](std::int64_t rounds) {
            const std::int64_t symbols[] = {trial_bytes / word_bytes, rounds};
            TimedCalls calls = calls_of(codes_[0], operands);
            calls.symbols = symbols;
            std::optional<Failure> none;
            return once([&] {
                const double begin = device_.clock();
                device_.backend.time(calls, none);
                return device_.clock() - begin;
            });
        };
        seconds_of(1);  // includes cold code
        // The difference, since a call alone takes the host about a millisecond.
        const double one = seconds_of(1), more = seconds_of(1 + trial_rounds) - one;
        const double passes = static_cast<double>(working_set) / static_cast<double>(trial_bytes * trial_rounds);
        if (device_.clock() + passes * more > end_) throw TooSlow{};
    }

    void measure_reads(const Memory& data, const Memory& results) {
        const TensorArg operands[] = {operand(data), operand(results)};
        const auto rate_of = [&](std::size_t bytes) {
            const auto words = static_cast<std::int64_t>(bytes / word_bytes);
            return static_cast<double>(words) * word_bytes / median_of(round_seconds(codes_[0], operands, {words, 1}));
        };
        found_.bandwidth = rate_of(data.capacity());
        found_.bandwidth_bytes = static_cast<double>(data.capacity());
        const auto cached = static_cast<std::size_t>(device_.cache_bytes / cache_divisor);
        found_.cache_bandwidth = std::max(rate_of(std::clamp(cached, word_bytes, data.capacity())), found_.bandwidth);
    }

    void measure_arithmetic(const Memory& results) {
        const TensorArg operands[] = {operand(results)};
        const double threads = static_cast<double>(blocks()) * probe_threads;
        for (std::size_t i = 0; i < probes_.size(); ++i) {
            const ArithmeticProbe& probe = probes_[i];
            std::vector<double> times = round_seconds(codes_[2 + i], operands, {1});
            const double median = median_of(times);
            found_.flops[static_cast<std::size_t>(probe.arithmetic)] = probe.operations * threads / median;
            if (probe.arithmetic != Arithmetic::f32) continue;
            for (double& time : times) time = std::abs(time - median);
            found_.noise = 1.4826 * median_of(std::move(times)) / median;
        }
    }

    /// Seconds that a run of a program takes, by the host's clock.
    double run_seconds(CommandBuffer& program) const {
        Submission submission;
        const double begin = device_.clock();
        program.run(submission);
        const double seconds = device_.clock() - begin;
        if (submission.thrown) std::rethrow_exception(submission.thrown);
        return seconds;
    }

    double launch_seconds() {
        KernelLaunch launch;
        launch.code = codes_[1].get();
        launch.grid = {static_cast<unsigned>(device_.multiprocessors), 1, 1};
        const std::vector<KernelLaunch> launches(long_program, launch);
        const auto shorter = device_.backend.record(std::span(launches).first(short_program), {}),
                   longer = device_.backend.record(launches, {});
        for (CommandBuffer* program : {shorter.get(), longer.get()})
            once([&] { return run_seconds(*program); });  // what the first run alone does
        const double more = median_of(times_of([&] { return run_seconds(*longer) - run_seconds(*shorter); }));
        return std::max(more, 0.0) / (long_program - short_program);
    }

    void measure_link(Memory& data) {
        const std::size_t large = std::min(data.capacity(), large_copy_bytes),
                          small = std::min(data.capacity(), small_copy_bytes);
        std::vector<std::byte> host(large);
        const auto seconds_of = [&](const auto& copy) {
            const double begin = device_.clock();
            copy();
            return device_.clock() - begin;
        };
        const auto upload = [&](std::size_t bytes) { data.write({0, bytes, 1, bytes}, host.data()); };
        const auto download = [&](std::size_t bytes) { data.read({0, bytes, 1, bytes}, host.data()); };
        const auto rate_of = [&](const auto& copy) {
            const auto block = [&] { return seconds_of([&] { copy(large); }); };
            once(block);  // allocates the buffers that large copies go through
            return static_cast<double>(large) / std::max(median_of(times_of(block)), 1e-9);
        };
        found_.upload_bandwidth = rate_of(upload);
        found_.download_bandwidth = rate_of(download);
        const double seconds = median_of(times_of([&] {
            return seconds_of([&] {
                for (int i = 0; i < small_copies; ++i) {
                    upload(small);
                    download(small);
                }
            });
        }));
        found_.link_seconds = seconds / (2 * small_copies);
    }

    const CalibratedDevice& device_;
    double seconds_;
    bool is_brief_;
    const Effort& effort_;
    const std::stop_token& stop_;
    std::vector<ArithmeticProbe> probes_;
    std::vector<std::shared_ptr<const void>> codes_;  // of read, empty, and the arithmetic probes
    double until_ = 0, end_ = 0;
    bool is_cut_ = false;
    DeviceCalibration found_;
};

}  // namespace

std::optional<DeviceCalibration> calibrate_device(const CalibratedDevice& device, double seconds,
                                                  const std::stop_token& stop) {
    try {
        return DeviceCalibrator(device, seconds, stop).run();
    } catch (const TooSlow&) { return std::nullopt; }
}

}  // namespace cairn::device::cuda
