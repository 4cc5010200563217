#include "timing/race.hpp"

#include "timing/splitmix.hpp"
#include "timing/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace cairn::inline v0::timing {
namespace {

// Two looks at an entrant that say it is this much slower than the best are enough.
constexpr double gross = 1.5;
// The noise foretold weighs as much as so many pairs.
constexpr double foretold_pairs = 4;
// A first run this many blocks long is no short one that found its code cold.
constexpr double cold_share = 10;
constexpr std::int64_t most_runs = 1 << 20;  // in a block
constexpr double shortest = 1e-12;           // what a clock too coarse to see a run is taken to have shown

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Of a standard normal variable: above x.
double tail(double x) { return std::erfc(x / std::numbers::sqrt2) / 2; }

/// How far a standard normal variable is from 0 at most with this probability.
double two_sided(double confidence) {
    double low = 0, high = 10;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (2 * tail(middle) > 1 - confidence ? low : high) = middle;
    }
    return low;
}

/// The logarithm of a ratio: where it lies, and how far off it may be.
struct LogRatio {
    double value = 0, deviation = 0;

    /// The mean of what this is below 0: what is lost by taking the ratio's denominator.
    double expected_loss() const {
        const double z = value / deviation;
        const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        return deviation * (density - z * tail(z));
    }
};

/// Of pairs of blocks that were timed in the same repetitions.
LogRatio log_ratio(const std::vector<double>& above, const std::vector<double>& below, double noise) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < std::min(above.size(), below.size()); ++i)
        logs.push_back(std::log(above[i] / below[i]));
    const auto pairs = static_cast<double>(logs.size());
    LogRatio ratio;
    ratio.value = median(logs);
    for (double& log : logs) log = std::abs(log - ratio.value);
    // 1.4826: from the median absolute deviation of normal numbers to their standard deviation.
    const double spread = 1.4826 * median(std::move(logs));
    const double variance = (foretold_pairs * 2 * noise * noise + pairs * spread * spread) / (foretold_pairs + pairs);
    // The median of n normal numbers has the variance of one by 2 n / pi.
    const double shrink = pairs < 3 ? 1 / pairs : std::numbers::pi / 2 / pairs;
    ratio.deviation = std::max(std::sqrt(variance * shrink), shortest);
    return ratio;
}

class Course {
public:
    Course(int entrants, const TimeBlock& time, const RaceOptions& options)
        : time_(time), options_(options), state_(options.seed), runners_(static_cast<std::size_t>(entrants)) {
        for (int e = 0; e < entrants; ++e) racing_.push_back(e);
    }

    RaceResult run() {
        start();
        for (int round = 0; round < options_.max_rounds && !racing_.empty(); ++round) {
            bool whole = true;
            for (int block = 0; block < 1 << round && whole; ++block) whole = repetition();
            if (!whole) break;
            // One block each may be disturbed: it shows gross differences only.
            round == 0 ? drop_gross() : drop_beaten();
            if (racing_.size() < 2 && (2 << round) > options_.least_blocks) break;
        }
        return result();
    }

private:
    struct Runner {
        double first = 0;  // seconds of a run before its first block
        std::int64_t inner = 1;
        std::vector<double> times;  // of one run, in each block
        Finish finish = Finish::untimed;
    };

    Runner& at(int entrant) { return runners_[static_cast<std::size_t>(entrant)]; }
    const Runner& at(int entrant) const { return runners_[static_cast<std::size_t>(entrant)]; }

    double timed(int entrant, std::int64_t inner) {
        const double seconds = std::max(time_(entrant, inner), shortest);
        spent_ += seconds;
        return seconds;
    }
    /// Whether the budget bears another block of an entrant.
    bool bears(int entrant) const {
        const Runner& runner = at(entrant);
        const double run = runner.times.empty() ? runner.first : runner.times.back();
        return spent_ + run * static_cast<double>(runner.inner) <= options_.seconds;
    }

    /// Cold code, new pages and the right size of a block.
    void start() {
        std::vector<int> started;
        for (const int entrant : racing_) {
            if (!started.empty() && spent_ >= options_.seconds) break;
            Runner& runner = at(entrant);
            runner.first = timed(entrant, 1);
            double block = runner.first;
            const bool is_long = block >= cold_share * options_.block_seconds;
            if (!is_long && spent_ < options_.seconds) block = runner.first = timed(entrant, 1);
            while (block < options_.block_seconds && spent_ < options_.seconds && runner.inner < most_runs) {
                const double runs = options_.block_seconds / block + 1;
                runner.inner *= std::clamp<std::int64_t>(static_cast<std::int64_t>(runs), 2, 64);
                block = timed(entrant, runner.inner);
                runner.first = block / static_cast<double>(runner.inner);
            }
            started.push_back(entrant);
        }
        racing_ = std::move(started);
    }

    /// One block of each that still races, in random order; false where the budget does not bear one.
    bool repetition() {
        for (std::size_t i = racing_.size(); i > 1; --i) std::swap(racing_[i - 1], racing_[mix(state_) % i]);
        bool whole = true;
        for (const int entrant : racing_) {
            Runner& runner = at(entrant);
            if (!bears(entrant)) {
                whole = false;
                continue;
            }
            runner.times.push_back(timed(entrant, runner.inner) / static_cast<double>(runner.inner));
            runner.finish = Finish::running;
        }
        return whole;
    }

    /// Whoever was far slower than the best before its first block and in it leaves.
    void drop_gross() {
        double best = options_.to_beat;
        for (const int entrant : racing_) best = std::min(best, at(entrant).times.front());
        std::erase_if(racing_, [&](int entrant) {
            Runner& runner = at(entrant);
            if (std::min(runner.times.front(), runner.first) <= gross * best) return false;
            runner.finish = Finish::lost;
            return true;
        });
    }

    LogRatio against(int entrant, int other) const {
        return log_ratio(at(entrant).times, at(other).times, options_.noise);
    }

    /// The best of those that race: by its median, then by pairs.
    int leader() const {
        const auto faster = [&](int a, int b) { return median(at(a).times) < median(at(b).times); };
        const int first = *std::min_element(racing_.begin(), racing_.end(), faster);
        const auto ahead = [&](int a, int b) { return against(a, first).value < against(b, first).value; };
        return *std::min_element(racing_.begin(), racing_.end(), ahead);
    }

    /// Whoever lost and whoever cannot gain enough leaves.
    void drop_beaten() {
        const int best = leader();
        const double z = two_sided(options_.confidence);
        const double worth = options_.indifference / static_cast<double>(racing_.size());
        std::erase_if(racing_, [&](int entrant) {
            if (entrant == best) return false;
            const LogRatio ratio = against(entrant, best);
            if (ratio.expected_loss() >= worth) return false;
            at(entrant).finish = ratio.value > z * ratio.deviation ? Finish::lost : Finish::close;
            return true;
        });
    }

    RaceResult result() {
        RaceResult result;
        result.seconds = spent_;
        result.entrants.resize(runners_.size());
        std::erase_if(racing_, [&](int entrant) { return at(entrant).times.empty(); });
        if (!racing_.empty()) result.winner = leader();
        result.decided = result.winner >= 0;
        const double z = two_sided(options_.confidence);
        for (std::size_t e = 0; e < runners_.size(); ++e) {
            Runner& runner = runners_[e];
            Entrant& entrant = result.entrants[e];
            entrant.finish = runner.finish;
            if (runner.times.empty()) {
                entrant.timing.status = TimingStatus::censored;
                entrant.timing.bound = runner.first;
            } else {
                entrant.timing = summary(runner.times, runner.inner);
            }
            const auto number = static_cast<int>(e);
            if (result.winner < 0 || number == result.winner || runner.times.empty()) continue;
            const LogRatio ratio = against(number, result.winner);
            entrant.ratio = std::exp(ratio.value);
            entrant.low = std::exp(ratio.value - z * ratio.deviation);
            entrant.high = std::exp(ratio.value + z * ratio.deviation);
            result.expected_loss += ratio.expected_loss();
            result.decided = result.decided && runner.finish == Finish::lost;
        }
        return result;
    }

    const TimeBlock& time_;
    const RaceOptions& options_;
    std::uint64_t state_;
    double spent_ = 0;
    std::vector<Runner> runners_;
    std::vector<int> racing_;
};

}  // namespace

RaceResult race(int entrants, const TimeBlock& time, const RaceOptions& options) {
    return Course(entrants, time, options).run();
}

}  // namespace cairn::inline v0::timing
