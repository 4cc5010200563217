#include "cairn/text/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace cairn::inline v0::text {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::argument, "sampler", message); }

void check(const SamplerOptions& options) {
    if (!(options.repetition_penalty > 0) || !std::isfinite(options.repetition_penalty))
        refuse("expected a finite repetition_penalty above 0, got " + std::to_string(options.repetition_penalty));
    if (!(options.temperature >= 0) || !std::isfinite(options.temperature))
        refuse("expected a finite temperature of at least 0, got " + std::to_string(options.temperature));
    if (options.top_k < 0) refuse("expected a top_k of at least 0, got " + std::to_string(options.top_k));
    if (!(options.top_p > 0 && options.top_p <= 1))
        refuse("expected a top_p above 0 and at most 1, got " + std::to_string(options.top_p));
}

/// e^x for x <= 0 with an error of about one unit in the last place: x = n ln 2 + r, then the series in r. Uses basic
/// operations only, and this file is compiled without contraction to fused multiply-add, so that all machines give the
/// same result.
double portable_exp(double x) {
    if (x < -700) return 0;
    constexpr double log2_e = 1.4426950408889634;
    constexpr double ln2_high = 0.693147180369123816490;  // few enough bits that n * ln2_high is exact
    constexpr double ln2_low = 1.90821492927058770002e-10;
    const double n = std::floor(x * log2_e + 0.5);
    const double r = (x - n * ln2_high) - n * ln2_low;
    double sum = 1;
    for (int k = 14; k > 0; --k) sum = 1 + sum * r / k;
    return std::ldexp(sum, static_cast<int>(n));
}

}  // namespace

Sampler::Sampler(const SamplerOptions& options) : options_(options), state_(options.seed) { check(options); }

double Sampler::next_uniform() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// Collects the candidates in order of index, with the repetition penalty applied and without those that are -infinity.
void Sampler::load(std::span<const float> logits, std::span<const std::int32_t> previous) {
    if (logits.empty() || logits.size() > std::numeric_limits<std::int32_t>::max())
        refuse("expected 1 to 2147483647 logits, got " + std::to_string(logits.size()));
    candidates_.resize(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity())
            refuse("expected logits that are finite or -infinity, got " + std::to_string(logits[i]) + " at index " +
                   std::to_string(i));
        candidates_[i] = {logits[i], static_cast<std::int32_t>(i)};
    }
    for (const std::int32_t id : previous) {
        if (id < 0 || static_cast<std::size_t>(id) >= logits.size())
            refuse("expected previous ids below the " + std::to_string(logits.size()) + " logits, got " +
                   std::to_string(id));
        const double score = logits[static_cast<std::size_t>(id)];  // the original one: a repeated id counts once
        const double changed = score > 0 ? score / options_.repetition_penalty : score * options_.repetition_penalty;
        constexpr double most = std::numeric_limits<double>::max();
        if (std::isfinite(score)) candidates_[static_cast<std::size_t>(id)].weight = std::clamp(changed, -most, most);
    }
    std::erase_if(candidates_, [](const Candidate& one) { return std::isinf(one.weight); });
    if (candidates_.empty()) refuse("expected at least one logit above -infinity, got none");
}

void Sampler::keep_top_k() {
    const auto k = static_cast<std::size_t>(options_.top_k);
    if (k == 0 || k >= candidates_.size()) return;
    std::nth_element(candidates_.begin(), candidates_.begin() + (options_.top_k - 1), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });
    const double least = candidates_[k - 1].weight;
    std::erase_if(candidates_, [least](const Candidate& one) { return one.weight < least; });
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
}

void Sampler::keep_top_p() {
    if (options_.top_p == 1) return;
    double total = 0;
    for (const Candidate& one : candidates_) total += one.weight;
    // A heap yields the most likely candidates first without sorting the long tail of a vocabulary.
    const auto less_likely = [](const Candidate& a, const Candidate& b) {
        return a.weight != b.weight ? a.weight < b.weight : a.id > b.id;
    };
    std::make_heap(candidates_.begin(), candidates_.end(), less_likely);
    auto kept = candidates_.end();
    for (double sum = 0; kept != candidates_.begin() && sum < options_.top_p * total;) {
        std::pop_heap(candidates_.begin(), kept, less_likely);
        sum += (--kept)->weight;
    }
    candidates_.erase(candidates_.begin(), kept);
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
}

std::int32_t Sampler::sample(std::span<const float> logits, std::span<const std::int32_t> previous) {
    load(logits, previous);
    const auto best = std::max_element(candidates_.begin(), candidates_.end(),
                                       [](const Candidate& a, const Candidate& b) { return a.weight < b.weight; });
    if (options_.temperature == 0) return best->id;

    const double highest = best->weight;
    keep_top_k();
    for (Candidate& one : candidates_) one.weight = portable_exp((one.weight - highest) / options_.temperature);
    keep_top_p();

    double total = 0;
    for (const Candidate& one : candidates_) total += one.weight;
    const double target = next_uniform() * total;
    double sum = 0;
    std::int32_t chosen = candidates_.front().id;
    for (const Candidate& one : candidates_) {
        if (one.weight > 0) chosen = one.id;  // the last one, if rounding keeps the sum below the target
        sum += one.weight;
        if (sum > target) break;
    }
    return chosen;
}

}  // namespace cairn::inline v0::text
