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

/// What Paths, its paths and its ranges share: the library's own.
struct FoundPaths;

/// One call of a kernel on a Path.
struct PathStep {
    std::string bucket;     ///< the sizes it is for, as Progress names them (`T-2-12`); empty: all
    std::string kernel;     ///< Kernel::id
    std::string problem;    ///< the text form of what it computes
    double seconds = 0;     ///< of one call, at the sizes that the bucket is judged at
    bool measured = false;  ///< false: `seconds` is an estimate
    bool once = false;      ///< done once when weights are bound, not in each run
    std::string where;      ///< the line that made the value (`model.cpp:17`); empty where it is not known
    /// The machine, told of by a seed, that the estimate is carried over from; mostly empty.
    std::string expected_from = {};
    std::string failure = {};  ///< as ExplainedKernel::failure: then there is no time
    friend bool operator==(const PathStep&, const PathStep&) = default;
};

/// One way to run a graph, found by paths(): for each bucket the kernels that together compute all outputs. A value
/// that shares what its Paths share; it may outlive them. What it tells may be asked from any thread. A moved-from Path
/// throws Error(argument) wherever it is used, but in comparisons.
class CAIRN_API Path {
public:
    /// What paths are ordered by: seconds(), and beside them little for bytes that stay in memory, and for work done
    /// once when weights are bound; and a second and more for each call that was not measured while others were, or
    /// whose measurement failed, so that it comes last. In seconds.
    double cost() const;
    /// One run of each bucket, times its weight (Split::weights): the sum of its steps' times.
    double seconds() const;
    /// Bytes of weights, in whatever form, that its runs read. Forms that several buckets read count once.
    double kept_bytes() const;
    /// Its steps, bucket after bucket, and within one mostly operands before their users.
    std::vector<PathStep> steps() const;

    /// Makes it a program that runs, as compile() does with the way that it chooses: the options given to paths() hold,
    /// their stop and progress too. From several threads one waits for the other. Throws Error(unsupported) naming the
    /// kernel where one cannot prepare what it is to do, or the output whose errors add up to more than its tolerance,
    /// and what compile() throws otherwise.
    CompiledGraph compile() const;

    /// The same way of the same Paths.
    friend bool operator==(const Path&, const Path&) = default;

    /// The library's own view of it.
    const FoundPaths& found() const;
    const std::vector<int>& choices() const noexcept { return choices_; }
    Path(std::shared_ptr<const FoundPaths> found, std::vector<int> choices) noexcept
        : found_(std::move(found)), choices_(std::move(choices)) {}

private:
    std::shared_ptr<const FoundPaths> found_;
    std::vector<int> choices_;
};

/// Paths one after the other, for one `for`: an input range, and a view. Kept alive, it keeps some 200 bytes for each
/// path it has given, so that it can find the next. For one thread at a time.
///
///     PathRange ways = paths(graph, context).cheapest_first();
///     for (const Path& way : ways) {
///         if (way.seconds() < 1e-3) break;
///     }
class CAIRN_API PathRange : public std::ranges::view_base {
public:
    struct State;
    /// Where the range is. Throws Error(argument) when it is used at the end.
    class CAIRN_API Iterator {
    public:
        using iterator_concept = std::input_iterator_tag;  ///< what algorithms ask for
        using value_type = Path;                           ///< of the range
        using difference_type = std::ptrdiff_t;            ///< of no use: there is one way to go

        /// At the end of no range.
        Iterator() noexcept = default;
        /// The path, until the range goes on.
        const Path& operator*() const;
        const Path* operator->() const { return &**this; }
        /// Finds the next one: the range goes on, and with it all its iterators.
        Iterator& operator++();
        void operator++(int) { ++*this; }
        /// Whether all have been given.
        friend bool operator==(const Iterator& iterator, std::default_sentinel_t) { return iterator.is_at_end(); }

    private:
        friend class PathRange;
        bool is_at_end() const;
        State* state_ = nullptr;
    };

    PathRange(PathRange&&) noexcept;
    PathRange& operator=(PathRange&&) noexcept;
    ~PathRange();

    /// At the path where the range is: the first one, unless it has gone on.
    Iterator begin();
    std::default_sentinel_t end() const noexcept { return {}; }

    explicit PathRange(std::unique_ptr<State> state) noexcept;

private:
    State& valid() const;
    std::unique_ptr<State> state_;
};

/// A generator of random numbers of 64 bits, as std::mt19937_64 is.
template <typename R>
concept Random64 = std::uniform_random_bit_generator<R> &&(R::min() == 0) &&
                   (R::max() == std::numeric_limits<std::uint64_t>::max());

/// Every way to run a graph: each choice of spellings, tiles, kernels and forms of weights that compile() could have
/// made, of all buckets together. They are found once, by paths(), and are then counted, numbered, drawn and gone
/// through in order without being listed: there may be 10^200 of them.
///
///     Paths ways = paths(graph, context);
///     std::cout << ways.count() << " ways to run it\n";
///     for (const Path& way : ways.cheapest_first() | std::views::take(4)) std::cout << way;
///
/// A handle, cheap to copy. It, its paths and its ranges share what was found, and keep it alive with the Context; the
/// graph may change or go. Copies may be used from any threads at once. A moved-from handle throws Error(argument)
/// wherever it is used.
class CAIRN_API Paths {
public:
    /// How many there are, in decimal digits: exact, if is_exact(). At least `1`.
    std::string count() const;
    /// The decimal logarithm of count().
    double log10_count() const;
    /// False where the search was cut since it would have taken too long: some ways are not among these, and the
    /// cheapest may be one of them.
    bool is_exact() const;
    /// What was not searched, in words; empty where is_exact().
    std::string not_searched() const;

    /// The first of cheapest_first(): as good as what compile() chooses, which may be another one that costs the same.
    /// (compile() passes over ways with a kernel that cannot prepare, or above CompileOptions::memory_limit.)
    Path cheapest() const;
    /// All of them by Path::cost(), from the cheapest or from the dearest on, each found as it is asked for:
    /// the cheapest is known, and of a transformer's some 500,000 follow in a second. Each call begins anew.
    PathRange cheapest_first() const;
    PathRange dearest_first() const;

    /// The path of a number, in decimal digits: each number from 0 on that is less than count() has one. The numbers
    /// are not in the order of costs; they are the same wherever graph, Context and options are the same. Throws
    /// Error(argument) for any other text.
    Path at(std::string_view rank) const;
    /// The number of a path: `ways.at(ways.rank(way)) == way`. Throws Error(argument) for a path of other Paths.
    std::string rank(const Path& path) const;

    /// A path by chance, each as likely as any other. The same seed gives the same path.
    Path sample(std::uint64_t seed) const;
    /// The same by the caller's own generator of 64 bits: `std::mt19937_64 random; ways.sample(random);`.
    template <Random64 Random>
    Path sample(Random& random) const {
        return sample_with(std::ref(random));
    }

    /// The library's own view of it.
    const std::shared_ptr<const FoundPaths>& found() const;
    explicit Paths(std::shared_ptr<const FoundPaths> found) noexcept : found_(std::move(found)) {}

private:
    Path sample_with(const std::function<std::uint64_t()>& random) const;
    std::shared_ptr<const FoundPaths> found_;
};

/// Finds every way to run the graph, and what each costs as compile() with these options sees it: by estimates with
/// Mode::off; by the timing database where the mode reads it; modes that measure do so first. With
/// the stage `search` disabled each value is made by the first kernel that accepts it alone. A kernel that states an
/// error is among them where the tolerance of each output it leads to is as large; ways in which such errors add up to
/// more are counted, and refused when they are compiled. Throws what compile() throws before it makes programs.
CAIRN_API Paths paths(const Graph& graph, const Context& context, const CompileOptions& options = {});

/// A line for the whole, then one for each step:
///
///     1.2e-06 s in runs, 24 bytes kept
///       cpu.avx2.linear.f32@1 1.2e-06 s estimated | linear | f32[N,3] f32[3,2]! f32[2]! -> f32[N,2] (app.cpp:9)
CAIRN_API std::string to_string(const Path& path);
/// Writes to_string(path).
CAIRN_API std::ostream& operator<<(std::ostream& out, const Path& path);

}  // namespace cairn::inline v0
