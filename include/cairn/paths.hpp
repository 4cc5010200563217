#pragma once

#include "cairn/compile.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::inline v0 {

/// State shared by Paths, its paths and its ranges. Defined in the library.
struct PathSpace;

/// One kernel call of a Path.
struct PathStep {
    std::string bucket;     ///< the sizes of its program, as in Progress (`T-2-12`); empty: all
    std::string kernel;     ///< Kernel::id
    std::string problem;    ///< text form of the Problem it computes
    double seconds = 0;     ///< of one call, at the bucket's representative sizes
    bool measured = false;  ///< false: `seconds` is an estimate
    bool at_bind = false;   ///< runs once when weights are bound, not in each run
    std::string where;      ///< source line that made the value (`model.cpp:17`); empty: unknown
    /// The machine of shipped timings from which the estimate is derived; usually empty.
    std::string expected_from = {};
    std::string failure = {};  ///< as ExplainedKernel::failure; not empty: there is no time
    friend bool operator==(const PathStep&, const PathStep&) = default;
};

/// One cover of a graph, found by paths(): for each bucket the kernels that together compute all outputs. A value type;
/// it shares the state of its Paths and may outlive them. Const functions are thread-safe. A moved-from Path throws
/// Error(argument) on any use except comparison.
class CAIRN_API Path {
public:
    /// The sort key of paths, in seconds: seconds(), plus a small price for bytes kept in memory and for work done once
    /// when weights are bound. A call whose measurement failed, or that was not measured while others were, adds more
    /// than a second, so that such paths come last.
    double cost() const;
    /// Time of one run of each bucket, times its weight (Split::weights): the calls and the transfers between cores.
    double seconds() const;
    /// Bytes of weights, in all layouts, that its runs read. A layout that several buckets read counts once.
    double kept_bytes() const;
    /// Its calls, bucket by bucket; within a bucket mostly operands before their users.
    std::vector<PathStep> steps() const;

    /// Compiles this path into a program, as compile() does with the cover that it selects. The options given to
    /// paths() apply, including stop and progress. Concurrent calls are serialised. Throws Error(unsupported) naming a
    /// kernel that cannot prepare its Problem, or an output whose combined error exceeds its tolerance; and what
    /// compile() throws.
    CompiledGraph compile() const;

    /// The same cover of the same Paths.
    friend bool operator==(const Path&, const Path&) = default;

    /// For use by the library.
    const PathSpace& space() const;
    const std::vector<int>& choices() const noexcept { return choices_; }
    Path(std::shared_ptr<const PathSpace> found, std::vector<int> choices) noexcept
        : space_(std::move(found)), choices_(std::move(choices)) {}

private:
    std::shared_ptr<const PathSpace> space_;
    std::vector<int> choices_;
};

/// Paths in order, for one iteration: an input range and a view. It keeps about 200 bytes for each path it has
/// produced, from which it finds the next. Not thread-safe.
///
///     PathRange ways = paths(graph, context).cheapest_first();
///     for (const Path& way : ways) {
///         if (way.seconds() < 1e-3) break;
///     }
class CAIRN_API PathRange : public std::ranges::view_base {
public:
    struct State;
    /// Input iterator of the range; all iterators of a range share its position. Throws Error(argument) when used at
    /// the end.
    class CAIRN_API Iterator {
    public:
        using iterator_concept = std::input_iterator_tag;  ///< required by std::input_iterator
        using value_type = Path;                           ///< of the range
        using difference_type = std::ptrdiff_t;            ///< required by std::input_iterator, otherwise unused

        /// An end iterator that belongs to no range.
        Iterator() noexcept = default;
        /// The current path; valid until the range advances.
        const Path& operator*() const;
        const Path* operator->() const { return &**this; }
        /// Advances the range, and with it all its iterators.
        Iterator& operator++();
        void operator++(int) { ++*this; }
        /// True at the end of the range.
        friend bool operator==(const Iterator& iterator, std::default_sentinel_t) { return iterator.is_at_end(); }

    private:
        friend class PathRange;
        bool is_at_end() const;
        State* state_ = nullptr;
    };

    PathRange(PathRange&&) noexcept;
    PathRange& operator=(PathRange&&) noexcept;
    ~PathRange();

    /// An iterator at the current position: the first path, unless the range has advanced.
    Iterator begin();
    std::default_sentinel_t end() const noexcept { return {}; }

    explicit PathRange(std::unique_ptr<State> state) noexcept;

private:
    State& valid() const;
    std::unique_ptr<State> state_;
};

/// A 64-bit random number generator, such as std::mt19937_64.
template <typename R>
concept Random64 = std::uniform_random_bit_generator<R> &&(R::min() == 0) &&
                   (R::max() == std::numeric_limits<std::uint64_t>::max());

/// All covers of a graph: every combination of expressions, matches, kernels and weight layouts, for all buckets
/// together, that compile() could have selected. paths() finds them once, as a compact representation on which they are
/// counted, ranked, sampled and enumerated in order of cost without being listed: there may be 10^200 of them.
///
///     Paths ways = paths(graph, context);
///     std::cout << ways.count() << " ways to run it\n";
///     for (const Path& way : ways.cheapest_first() | std::views::take(4)) std::cout << way;
///
/// A handle, cheap to copy. It shares the found covers and the Context with its paths and ranges and keeps them alive;
/// the graph may change or be destroyed. Copies are thread-safe. A moved-from handle throws Error(argument) on any use.
class CAIRN_API Paths {
public:
    /// Number of paths in decimal digits, at least `1`. Exact if is_exact().
    std::string count() const;
    /// Decimal logarithm of count().
    double log10_count() const;
    /// False if the search was truncated because it would have taken too long: some covers are missing, possibly the
    /// cheapest.
    bool is_exact() const;
    /// Describes what was not searched; empty if is_exact().
    std::string not_searched() const;

    /// The first of cheapest_first(). It costs the same as the selection of compile(), which may be another cover of
    /// equal cost. (compile() also skips covers with a kernel that cannot prepare, or above
    /// CompileOptions::memory_limit.)
    Path cheapest() const;
    /// All paths by Path::cost(), ascending or descending, found lazily. The cheapest is known; for a transformer about
    /// 500,000 follow in a second. Each call starts anew.
    PathRange cheapest_first() const;
    PathRange most_expensive_first() const;

    /// The path of a rank, 0 .. count() - 1, in decimal digits. Ranks are not in the order of costs; they are the same
    /// for the same graph, Context and options. Throws Error(argument) for any other text.
    Path at(std::string_view rank) const;
    /// The rank of a path: `ways.at(ways.rank(way)) == way`. Throws Error(argument) for a path of other Paths.
    std::string rank(const Path& path) const;

    /// A path drawn uniformly at random. The same seed gives the same path.
    Path sample(std::uint64_t seed) const;
    /// Draws with the caller's own 64-bit generator: `std::mt19937_64 random; ways.sample(random);`.
    template <Random64 Random>
    Path sample(Random& random) const {
        return sample_with(std::ref(random));
    }

    /// For use by the library.
    const std::shared_ptr<const PathSpace>& space() const;
    explicit Paths(std::shared_ptr<const PathSpace> found) noexcept : space_(std::move(found)) {}

private:
    Path sample_with(const std::function<std::uint64_t()>& random) const;
    std::shared_ptr<const PathSpace> space_;
};

/// Finds all covers of the graph with the costs that compile() with these options would use: estimates in Mode::off,
/// the timing database where the mode reads it; modes that measure do so first. With the stage `search` disabled, each
/// node is computed on its own by the first kernel that accepts it. Kernels that state an error are included if the
/// tolerance of each output they contribute to is at least that large. Paths whose combined errors exceed a tolerance
/// are counted, but Path::compile() rejects them. Throws what compile() throws before it makes programs.
CAIRN_API Paths paths(const Graph& graph, const Context& context, const CompileOptions& options = {});

/// One line for the whole path, then one for each call:
///
///     1.2e-06 s in runs, 24 bytes kept
///       cpu.avx2.linear.f32@1 1.2e-06 s estimated | linear | f32[N,3] f32[3,2]! f32[2]! -> f32[N,2] (app.cpp:9)
CAIRN_API std::string to_string(const Path& path);
/// Writes to_string(path).
CAIRN_API std::ostream& operator<<(std::ostream& out, const Path& path);

}  // namespace cairn::inline v0
