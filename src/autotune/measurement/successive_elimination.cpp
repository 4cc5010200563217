#include "autotune/measurement/successive_elimination.hpp"

#include "autotune/measurement/splitmix.hpp"
#include "autotune/measurement/timing_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace cairn::autotune {
namespace {

// A candidate whose first run and first block are both this many times slower than the best is dropped.
constexpr double much_slower = 1.5;
// Weight of the prior noise (EliminationOptions::noise), as a number of pairs.
constexpr double prior_pairs = 4;
// A first run that lasts at least this many blocks is not repeated: cold code does not explain it.
constexpr double cold_start_blocks = 10;
constexpr std::int64_t max_runs = 1 << 20;  // in a block
constexpr double shortest = 1e-12;          // seconds, for runs that the clock is too coarse to measure

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Probability that a standard normal variable is above x.
double upper_tail(double x) { return std::erfc(x / std::numbers::sqrt2) / 2; }

/// The z for which a standard normal variable lies in [-z, z] with probability `confidence`.
double two_sided_quantile(double confidence) {
    double low = 0, high = 10;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (2 * upper_tail(middle) > 1 - confidence ? low : high) = middle;
    }
    return low;
}

/// Estimate of the logarithm of a ratio, with its standard deviation.
struct LogRatio {
    double value = 0, deviation = 0;

    /// Mean of the part below 0: the expected loss of choosing the ratio's denominator.
    double expected_loss() const {
        const double z = value / deviation;
        const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        return deviation * (density - z * upper_tail(z));
    }
};

/// Log ratio from pairs of blocks that were timed in the same repetitions.
LogRatio log_ratio(const std::vector<double>& above, const std::vector<double>& below, double noise) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < std::min(above.size(), below.size()); ++i)
        logs.push_back(std::log(above[i] / below[i]));
    const auto pairs = static_cast<double>(logs.size());
    LogRatio ratio;
    ratio.value = median(logs);
    for (double& log : logs) log = std::abs(log - ratio.value);
    // 1.4826: ratio of the standard deviation to the median absolute deviation of normal numbers.
    const double spread = 1.4826 * median(std::move(logs));
    const double variance = (prior_pairs * 2 * noise * noise + pairs * spread * spread) / (prior_pairs + pairs);
    // The variance of the median of n normal numbers is pi / (2 n) times that of one.
    const double shrink = pairs < 3 ? 1 / pairs : std::numbers::pi / 2 / pairs;
    ratio.deviation = std::max(std::sqrt(variance * shrink), shortest);
    return ratio;
}

class Elimination {
public:
    Elimination(int candidates, const TimeBlock& time, const EliminationOptions& options)
        : time_(time), options_(options), state_(options.seed), samples_(static_cast<std::size_t>(candidates)) {
        for (int e = 0; e < candidates; ++e) remaining_.push_back(e);
    }

    EliminationResult run() {
        start();
        for (int round = 0; round < options_.max_rounds && !remaining_.empty(); ++round) {
            bool whole = true;
            for (int block = 0; block < 1 << round && whole; ++block) whole = repetition();
            if (!whole) break;
            // A single block may be disturbed: it shows only gross differences.
            round == 0 ? drop_much_slower() : drop_eliminated();
            if (remaining_.size() < 2 && (2 << round) > options_.min_blocks) break;
        }
        return result();
    }

private:
    struct CandidateSamples {
        double first = 0;  // seconds of a run before its first block
        std::int64_t inner = 1;
        std::vector<double> times;  // of one run, in each block
        CandidateStatus status = CandidateStatus::untimed;
    };

    CandidateSamples& at(int candidate) { return samples_[static_cast<std::size_t>(candidate)]; }
    const CandidateSamples& at(int candidate) const { return samples_[static_cast<std::size_t>(candidate)]; }

    double timed(int candidate, std::int64_t inner) {
        const double seconds = std::max(time_(candidate, inner), shortest);
        spent_ += seconds;
        return seconds;
    }
    /// True if the budget allows another block of a candidate.
    bool has_budget_for(int candidate) const {
        const CandidateSamples& samples = at(candidate);
        const double run = samples.times.empty() ? samples.first : samples.times.back();
        return spent_ + run * static_cast<double>(samples.inner) <= options_.seconds;
    }

    /// Warms up code and pages of each candidate, and determines the number of runs in a block.
    void start() {
        std::vector<int> started;
        for (const int candidate : remaining_) {
            if (!started.empty() && spent_ >= options_.seconds) break;
            CandidateSamples& samples = at(candidate);
            samples.first = timed(candidate, 1);
            double block = samples.first;
            const bool is_long = block >= cold_start_blocks * options_.block_seconds;
            if (!is_long && spent_ < options_.seconds) block = samples.first = timed(candidate, 1);
            while (block < options_.block_seconds && spent_ < options_.seconds && samples.inner < max_runs) {
                const double runs = options_.block_seconds / block + 1;
                samples.inner *= std::clamp<std::int64_t>(static_cast<std::int64_t>(runs), 2, 64);
                block = timed(candidate, samples.inner);
                samples.first = block / static_cast<double>(samples.inner);
            }
            started.push_back(candidate);
        }
        remaining_ = std::move(started);
    }

    /// One block of each remaining candidate, in random order; false if the budget ended.
    bool repetition() {
        for (std::size_t i = remaining_.size(); i > 1; --i)
            std::swap(remaining_[i - 1], remaining_[splitmix64(state_) % i]);
        bool whole = true;
        for (const int candidate : remaining_) {
            CandidateSamples& samples = at(candidate);
            if (!has_budget_for(candidate)) {
                whole = false;
                continue;
            }
            samples.times.push_back(timed(candidate, samples.inner) / static_cast<double>(samples.inner));
            samples.status = CandidateStatus::remaining;
        }
        return whole;
    }

    /// Drops candidates that were far slower than the best both before their first block and in it.
    void drop_much_slower() {
        double best = options_.incumbent_seconds;
        for (const int candidate : remaining_) best = std::min(best, at(candidate).times.front());
        std::erase_if(remaining_, [&](int candidate) {
            CandidateSamples& samples = at(candidate);
            if (std::min(samples.times.front(), samples.first) <= much_slower * best) return false;
            samples.status = CandidateStatus::slower;
            return true;
        });
    }

    LogRatio against(int candidate, int other) const {
        return log_ratio(at(candidate).times, at(other).times, options_.noise);
    }

    /// The best of the remaining candidates: first by the median, then by paired ratios.
    int leader() const {
        const auto faster = [&](int a, int b) { return median(at(a).times) < median(at(b).times); };
        const int first = *std::min_element(remaining_.begin(), remaining_.end(), faster);
        const auto ahead = [&](int a, int b) { return against(a, first).value < against(b, first).value; };
        return *std::min_element(remaining_.begin(), remaining_.end(), ahead);
    }

    /// Drops candidates that are slower, and those whose possible gain is too small.
    void drop_eliminated() {
        const int best = leader();
        const double z = two_sided_quantile(options_.confidence);
        const double worth = options_.indifference / static_cast<double>(remaining_.size());
        std::erase_if(remaining_, [&](int candidate) {
            if (candidate == best) return false;
            const LogRatio ratio = against(candidate, best);
            if (ratio.expected_loss() >= worth) return false;
            at(candidate).status =
                ratio.value > z * ratio.deviation ? CandidateStatus::slower : CandidateStatus::indifferent;
            return true;
        });
    }

    EliminationResult result() {
        EliminationResult result;
        result.seconds = spent_;
        result.candidates.resize(samples_.size());
        std::erase_if(remaining_, [&](int candidate) { return at(candidate).times.empty(); });
        if (!remaining_.empty()) result.winner = leader();
        result.decided = result.winner >= 0;
        const double z = two_sided_quantile(options_.confidence);
        for (std::size_t e = 0; e < samples_.size(); ++e) {
            CandidateSamples& samples = samples_[e];
            CandidateResult& candidate = result.candidates[e];
            candidate.status = samples.status;
            if (samples.times.empty()) {
                candidate.timing.status = TimingStatus::censored;
                candidate.timing.bound = samples.first;
            } else {
                candidate.timing = summary_of(samples.times, samples.inner);
            }
            const auto number = static_cast<int>(e);
            if (result.winner < 0 || number == result.winner || samples.times.empty()) continue;
            const LogRatio ratio = against(number, result.winner);
            candidate.ratio = std::exp(ratio.value);
            candidate.low = std::exp(ratio.value - z * ratio.deviation);
            candidate.high = std::exp(ratio.value + z * ratio.deviation);
            result.expected_loss += ratio.expected_loss();
            result.decided = result.decided && samples.status == CandidateStatus::slower;
        }
        return result;
    }

    const TimeBlock& time_;
    const EliminationOptions& options_;
    std::uint64_t state_;
    double spent_ = 0;
    std::vector<CandidateSamples> samples_;
    std::vector<int> remaining_;
};

}  // namespace

EliminationResult elimination(int candidates, const TimeBlock& time, const EliminationOptions& options) {
    return Elimination(candidates, time, options).run();
}

}  // namespace cairn::autotune
