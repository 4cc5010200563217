#pragma once

#include "cairn/error.hpp"
#include "cairn/version.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace cairn::inline v0::text {

/// How the next token is chosen. The steps apply in the order of the fields, as in Hugging Face transformers.
struct SamplerOptions {
    /// Penalty for tokens that came before: a positive logit is divided by this, a negative one multiplied (once,
    /// however often the token came). 1 is off. Must be finite and above 0. Source: Keskar et al. 2019, CTRL, section
    /// 4.1.
    double repetition_penalty = 1.0;
    /// Logits are divided by this; below 1 sharpens, above 1 flattens. 0 is greedy: the largest logit, the lowest index
    /// on a tie, and no random number is used. Must be finite and not negative.
    double temperature = 1.0;
    /// Keep the k largest logits and all that are equal to the k-th. 0 is off.
    std::int32_t top_k = 0;
    /// Keep the smallest set of most likely tokens whose probabilities sum to at least this; of equally likely ones the
    /// lowest index first. 1 is off. Must lie in (0, 1]. Source: Holtzman et al. 2020.
    double top_p = 1.0;
    /// Seed of the random sequence: equal seeds, options and logits give equal tokens on every machine.
    std::uint64_t seed = 0;
};

/// Samples tokens from logits. Random numbers come from splitmix64 (Steele et al. 2014) with the seed as its first
/// state, one number u in [0, 1) of 53 bits for each sampled token; the token is the first, by index, at which the
/// running sum of the kept probabilities exceeds u. Exponentials are computed by additions and products alone, so no
/// mathematics library can change a choice. Not thread-safe.
///
///     Sampler sampler({.temperature = 0.8, .top_k = 40, .seed = 7});
///     std::int32_t next = sampler.sample(logits, ids);
class CAIRN_API Sampler {
public:
    /// Throws Error (argument) for an option out of its range.
    explicit Sampler(const SamplerOptions& options = {});

    /// Returns the index of the chosen logit. The repetition penalty applies to the ids in `previous`. Memory is
    /// allocated only if `logits` is longer than in all earlier calls. Throws Error (argument) if there are no logits,
    /// one is NaN or +infinity, all are -infinity, or an id in `previous` has no logit; the random sequence is then not
    /// advanced.
    std::int32_t sample(std::span<const float> logits, std::span<const std::int32_t> previous = {});

private:
    struct Candidate {
        double weight;  // the score, later its exponential
        std::int32_t id;
    };

    void load(std::span<const float> logits, std::span<const std::int32_t> previous);
    void keep_top_k();
    void keep_top_p();
    double next_uniform();

    SamplerOptions options_;
    std::uint64_t state_;
    std::vector<Candidate> candidates_;
};

}  // namespace cairn::inline v0::text
