#pragma once

#include "cairn/problem.hpp"
#include "select/rivals.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::tune {

/// How far the duels of some covers have come (duels.hpp): what the database remembers of them.
struct Standing {
    /// No rival is left that was not run, or what the effort spends on them is spent.
    bool complete = false;
    bool is_thorough = false;    ///< nor of those that Mode::exhaustive runs
    select::Terms terms;         ///< of the best; none where those chosen by sums are
    Digest best;                 ///< the name of the best
    std::vector<Digest> beaten;  ///< of those that were run beside them
    friend bool operator==(const Standing&, const Standing&) = default;
};

/// Lines `complete`, `thorough`, `best DIGEST`, `without KIND`, `only KIND`, `beaten DIGEST`.
std::string to_string(const Standing& standing);
/// The inverse of to_string; nothing for any other text.
std::optional<Standing> parse_standing(std::string_view text);

/// A name of covers, of the sizes that they are for, and of what counts beside time: where all of it is equal, so is
/// what comes of their duels.
Digest name_of(std::span<const select::Bucket> buckets, const select::Selections& covers,
               const select::Options& options);

/// A name of what covers are chosen for: the graphs, their sizes, and what counts beside time. It stays whatever is
/// measured.
Digest name_of(std::span<const select::Bucket> buckets, const select::Options& options);

/// Whether covers with this name are the best or were beaten.
bool is_known(const Standing& standing, const Digest& name);

/// The covers that a standing names as the best, found among all that `chosen` were chosen of; nothing where they are
/// not what they were. Those that ask for what a plan asks for may have got other kernels since: it is the plan that won.
std::optional<select::Selections> best_of(const Standing& standing, const select::Selections& chosen,
                                          std::span<const select::Bucket> buckets, const select::Options& options);

}  // namespace cairn::inline v0::tune
