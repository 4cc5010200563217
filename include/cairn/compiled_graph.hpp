#pragma once

#include "cairn/context.hpp"
#include "cairn/elements.hpp"
#include "cairn/explanation.hpp"
#include "cairn/weights.hpp"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cairn::inline v0 {

/// How far a long piece of work has come. `total` may grow.
struct Progress {
    std::string_view phase;  ///< `simplify`, `select`, `tune`, `bind`, `run`, ...
    std::int64_t done = 0, total = 0;
    std::string_view detail;  ///< a kernel id, a weight's name; empty when there is none
    double seconds_left = 0;  ///< of a budget; 0 when unknown
    /// While tuning: seconds of one run of each bucket, times its weight, by the best way as far as is known. What is
    /// not measured yet counts at its lower bound, so this mostly rises, to what that way takes. 0 when unknown.
    double best = 0;
};
/// Called on the thread that asked for the work. What it throws ends the work as a failure does, and reaches the caller
/// unchanged.
using ProgressSink = std::function<void(const Progress&)>;

/// A result in memory that Cairn owns; valid until the next run, set or bind of the same CompiledGraph.
struct OutputView {
    const void* data = nullptr;           ///< the first element
    DType dtype = DType::f32;             ///< of the elements
    std::span<const std::int64_t> shape;  ///< dense, row-major

    /// The elements as T; throws Error(argument) when T is not the dtype's C++ type (f16 and bf16: std::uint16_t).
    template <detail::Stored T>
    std::span<const T> as() const {
        check(detail::stored_as<T>());
        return {static_cast<const T*>(data), detail::count_of(shape)};
    }

private:
    CAIRN_API void check(DType given) const;
};

/// One row of a memory report.
struct BufferMemory {
    std::string name;           ///< of a weight, state or port; else what computes it
    std::string kind;           ///< weight | bound | state | transient | workspace | output | constant
    std::string bytes;          ///< as a polynomial of the symbols
    std::int64_t peak_bytes;    ///< at the sizes where its program's arena is largest
    int first = -1, last = -1;  ///< instructions of the run during which it is needed; -1: always
    std::int64_t offset = -1;   ///< in the arena at those sizes; -1: not in it
};
/// What a CompiledGraph needs, known before anything runs. All in bytes, at the sizes that need most: not always the
/// largest ones, since a buffer may shrink as a symbol grows (what is behind row T of a table).
struct MemoryReport {
    std::int64_t weights = 0;  ///< used in place from where they were bound
    std::int64_t bound = 0;    ///< packed and converted weights
    std::int64_t states = 0;
    std::int64_t arena = 0;  ///< one for all buckets: the largest of their plans; no sizes the symbols allow need more
    /// The value of each symbol where the arena is largest.
    std::vector<std::pair<std::string, std::int64_t>> arena_sizes = {};
    /// False: finding the largest arena would have taken too long. `arena` is then a bound that holds for all sizes,
    /// and `arena_sizes` are those that need most of all that were looked at.
    bool arena_is_exact = true;
    std::int64_t constants = 0;  ///< tables and numbers in the programs, and what states begin with
    /// Beside all these, until each bucket has run whose program is inexact: the forms of weights that only exact
    /// programs read, the arena of one of them, and a second set of states. 0 from then on; but where states are stored
    /// narrower than they were declared, exact programs and their forms of weights are kept.
    std::int64_t verification = 0;
    std::int64_t max_live = 0;          ///< the most that is alive at once in the arena: no plan can need less
    std::vector<BufferMemory> buffers;  ///< of every bucket
};

/// When a thread worked on an instruction, in seconds since its run began.
struct ThreadSpan {
    double begin = 0, end = 0;  ///< equal where it had no part in it
    friend bool operator==(const ThreadSpan&, const ThreadSpan&) = default;
};

/// One instruction of a profile.
struct InstructionProfile {
    std::string kernel, problem;  ///< Kernel::id, and the text form of what it computes
    double seconds = 0;           ///< of the last profiled run, from the end of the instruction before to its own
    double expected_seconds = 0;  ///< what selection counted on
    /// Of each thread of the last profiled run, the caller's first. Between its spans a thread waits for the others.
    std::vector<ThreadSpan> threads = {};
    std::vector<std::string> names = {};  ///< that name() gave to values it computes, results first
};

/// How far a value that users see is from what an exact program makes of the same inputs and states, as Tolerance
/// counts.
///
///     for (const VerifiedError& row : model.verified_errors())
///         if (row.fell_back) std::cerr << row.value << " was off by " << row.error << '\n';
struct VerifiedError {
    std::string bucket;     ///< the sizes it is for, `T in 1..12`; empty where one program is for all
    std::string value;      ///< `output "y"`, `state "keys"`
    double allowed = 0;     ///< by the tolerance
    double expected = 0;    ///< what the errors that the kernels state add up to
    bool verified = false;  ///< a run of the bucket has been compared
    double error = 0;       ///< the largest found; infinite where an integer differs, or one of two is NaN or infinite
    /// A value of the bucket was beyond what is allowed: it runs its exact program for good. Where states are stored
    /// narrower, so do all buckets; and where a state was given a number that its storage cannot hold.
    bool fell_back = false;
};

/// Options of one run.
struct RunOptions {
    std::stop_token stop = {};  ///< looked at between instructions; a stopped run throws Cancelled and commits no state
    /// Called after each instruction, on the thread that called run; in the phase `verify` for those of an exact
    /// program.
    ProgressSink progress = {};
    bool profile = false;  ///< time each instruction; see CompiledGraph::profile()
};

/// A file that keeps what bind() makes of weights (packed forms, casts, those used as they are) for the next process,
/// which reads it in place: its pages are shared by all processes that do. Where it is missing, damaged, or made from
/// other weights or for programs that need other forms, all is computed and the file written anew, beside its name and
/// renamed. It is never required: what cannot be read or written is told in one log line.
///
/// The file holds a 64-bit checksum of each block of at most 1 MiB, and a digest of its index: names, places, sizes,
/// checksums, and which weights it was made from. Each bind() checks the size of the file, the index, and the bytes of
/// all values of at most 64 KiB. It reads no larger value, so that pages are read when the first run touches them:
/// changed bytes in these are found with `check_all`, or by verify_checksums(), and give wrong results without.
///
/// Replace the file by renaming another to its name, as bind() does. A file that is overwritten in place while a
/// process has it mapped changes that process's weights; one that is made shorter ends the process with SIGBUS.
struct PackedFile {
    std::filesystem::path path;  ///< of the file, in a folder that exists
    /// Tells the weights from others: Safetensors::fingerprint(), or a version of the caller's own. Empty is an error.
    std::string weights;
    /// Checks every byte in bind(), with all threads of the Context: the whole file is read once, at the speed of the
    /// memory where the system has it cached, else of the disk. A file whose bytes have changed is written anew.
    bool check_all = false;
};

/// Reads a whole file that was kept for later (packed weights, a compiled graph, a lock) and compares it with the
/// checksums in it. Returns what is wrong, a sentence for each run of changed blocks of a packed value or one for the
/// file; empty: every byte is as it was written. A file of another kind is a fault too. Throws Error(file) where the
/// file cannot be read.
///
///     for (const std::string& fault : verify_checksums("gpt2/model.packed")) std::cerr << fault << '\n';
CAIRN_API std::vector<std::string> verify_checksums(const std::filesystem::path& file);

/// A graph made ready to run: flat programs, one for each bucket of sizes, over one arena, one set of weights and
/// states. Made by compile() or load(). Movable; each instance is for one thread at a time, different instances may run
/// at once. While it runs, what would change sizes or data, or show a state, throws Busy, in RunOptions::progress too.
/// A moved-from object throws Error(argument) wherever it is used.
///
///     CompiledGraph model = compile(graph, context);
///     model.bind(weights);
///     model.set("x", values, {2, 3});               // std::vector<float> values of 6
///     model.run();
///     auto y = model.output("y").as<float>();
class CAIRN_API CompiledGraph {
public:
    CompiledGraph(CompiledGraph&&) noexcept;
    CompiledGraph& operator=(CompiledGraph&&) noexcept;
    ~CompiledGraph();

    /// Fetches every weight by name and computes all that depends on weights only (casts, packed forms); a source is
    /// released as soon as nothing reads it any more. Throws Error(argument) naming all weights that are missing or
    /// have another dtype or shape at once. Done once; the results are shared by all instances. While one instance
    /// binds, bind() of another waits; then it throws as any second bind() does, or binds where the first one failed.
    /// What `source` and `progress` throw leaves nothing bound; bind() from inside them throws Error(busy).
    void bind(const WeightSource& source, const ProgressSink& progress = {}, std::stop_token stop = {});
    /// The same from a file, whose maps stay open as long as weights are read in them.
    void bind(const Safetensors& weights, const ProgressSink& progress = {}, std::stop_token stop = {});
    /// The same with all that runs read kept in a file, about as large as the weights: the next process only maps it
    /// and asks `source` for nothing. What is checked of the file, and when, is said at PackedFile. Throws
    /// Error(argument) without a path or with nothing that tells the weights.
    ///
    ///     const Safetensors weights = Safetensors::open("gpt2");
    ///     model.bind(weights.source(), {"gpt2/model.packed", weights.fingerprint()});
    void bind(const WeightSource& source, const PackedFile& packed, const ProgressSink& progress = {},
              std::stop_token stop = {});

    /// Gives an input its elements, dense and row-major, from any contiguous range: a std::span<const T>, a vector, an
    /// array. Symbols take their values from `shape`: for an axis of `N` or `32*h` each that one value fits. Where
    /// several fit, or a size has two symbols that nothing else tells, other inputs or set(symbol, value) say which.
    ///
    /// The elements are borrowed, not copied: each run() reads them, until the input is set again or the object goes.
    /// They must stay where they are as long, and may be changed between two runs; the next run sees the change. They
    /// may not lie in a result of this object that is not in the caller's memory: such a run throws Error(argument).
    /// A range that is a temporary (not a span) is copied.
    ///
    ///     std::vector<float> x(6);
    ///     model.set("x", x, {2, 3});
    ///
    /// T is the C++ type of the dtype; std::uint16_t for f16 and bf16 alike. Throws Error(argument) for an unknown
    /// name, another dtype or number of axes, sizes out of bounds or that no value of their symbols gives (naming the
    /// nearest that fit), and a number of elements that is not the shape's. What fails changes nothing.
    template <detail::Elements R>
    void set(std::string_view input, R&& elements, std::span<const std::int64_t> shape) {
        set_elements(input, detail::elements_of(std::forward<R>(elements)), &shape);
    }
    template <detail::Elements R>
    void set(std::string_view input, R&& elements, std::initializer_list<std::int64_t> shape) {
        const std::span<const std::int64_t> sizes(shape.begin(), shape.size());
        set_elements(input, detail::elements_of(std::forward<R>(elements)), &sizes);
    }
    /// The same where the number of elements alone tells the shape: beside constants and lengths of states its sizes
    /// have at most one symbol, and one value of it fits. Throws Error(argument) for any other input.
    template <detail::Elements R>
    void set(std::string_view input, R&& elements) {
        set_elements(input, detail::elements_of(std::forward<R>(elements)), nullptr);
    }
    /// The same with elements written down in the call, which are copied: `model.set("x", {1.f, 2.f}, {1, 2})`.
    template <detail::Stored T>
    void set(std::string_view input, std::initializer_list<T> elements, std::initializer_list<std::int64_t> shape) {
        const std::span<const std::int64_t> sizes(shape.begin(), shape.size());
        set_elements(input, {elements.begin(), elements.size(), detail::stored_as<T>(), true}, &sizes);
    }
    template <detail::Stored T>
    void set(std::string_view input, std::initializer_list<T> elements) {
        set_elements(input, {elements.begin(), elements.size(), detail::stored_as<T>(), true}, nullptr);
    }
    /// The same behind a pointer, to as many elements as `shape` says: their type is checked, their number is not.
    template <detail::Stored T>
    void set(std::string_view input, const T* data, std::span<const std::int64_t> shape) {
        set_elements(input, detail::elements_at(data, shape), &shape);
    }
    template <detail::Stored T>
    void set(std::string_view input, const T* data, std::initializer_list<std::int64_t> shape) {
        set(input, data, std::span<const std::int64_t>(shape.begin(), shape.size()));
    }
    /// The raw form, for bytes: `data` (a std::byte* or void*) points to as many elements of the input's dtype as
    /// `shape` says, and nothing checks that. Borrowed like a span.
    void set(std::string_view input, const void* data, std::span<const std::int64_t> shape);
    void set(std::string_view input, const void* data, std::initializer_list<std::int64_t> shape);
    /// The same for memory with a dtype, strides and a release callback. Strided data is copied and released at once;
    /// dense data when the input is set again. It is released also when set() throws.
    void set(std::string_view input, const InputView& view);
    /// Sets a symbol. Throws Error(argument) when out of bounds.
    void set(std::string_view symbol, std::int64_t value);

    /// Lets each run write an output to the caller's memory, which must hold it at the sizes then set; no byte behind
    /// the result is touched. Throws Error(argument) for an unknown name.
    ///
    /// The memory may be that of an input: the result is right, and is written when everything has been read, so that
    /// the next run reads it as that input's data. It may not overlap another output's: such a run throws
    /// Error(argument). Nor may it overlap weights. nullptr: planned memory again.
    void set_output(std::string_view output, void* data, std::size_t bytes);
    /// The same with elements of a type, which must be that of the output's dtype.
    template <detail::WritableElements R>
    requires std::ranges::borrowed_range<R>
    void set_output(std::string_view output, R&& elements) {
        set_output_elements(output, std::ranges::data(elements), detail::elements_of(elements));
    }

    /// Runs once at the sizes set. The first run at new largest sizes touches memory; no run allocates, but for the
    /// first of a bucket whose program is inexact, which is verified (Tolerance::relative). Throws Busy, Cancelled, or
    /// Error(argument) where an input is missing, a state is full, or the data cannot be computed with (an index out of
    /// range, say: the message tells op, input, place and value). What a kernel throws becomes an Error that names the
    /// instruction; what RunOptions::progress throws arrives unchanged.
    ///
    /// After a failure states are as before the run, but for those that it had begun to overwrite (by State::write or
    /// assign): runs are refused until each of them is given its contents anew by reset_states(), load_states() or
    /// set_state(), or is rewound to a length at which nothing that was overwritten is live.
    void run(const RunOptions& options = {});

    /// A result of the last run. Throws Error(argument) for an unknown name, and when there was no successful run since
    /// the last change.
    OutputView output(std::string_view name) const;
    /// Sets the live length of all states that grow by `symbol` back to `length`, at most what it is. What remains live
    /// keeps its contents; states of fixed size are not touched.
    void rewind(std::string_view symbol, std::int64_t length);

    /// The live part of a state, as the next run finds it; valid until a state changes or is looked at again. Throws
    /// Error(argument) for an unknown name, and while a size of its shape is not set.
    ///
    ///     OutputView keys = model.state("keys");               // shape {12, 7, 64} after 7 tokens
    OutputView state(std::string_view name) const;
    /// Gives a state its live part, dense, which is copied. Symbols take their values from the
    /// shape: the length too, and other states that grow by the same symbol keep what they have of it, zeros behind.
    /// Throws Error(argument) for an unknown name, another dtype or rank, and sizes out of bounds; nothing has changed
    /// then.
    ///
    ///     model.set_state("hidden", first.data(), {1, 256});
    template <detail::Stored T>
    void set_state(std::string_view state, const T* data, std::span<const std::int64_t> shape) {
        set_state_elements(state, detail::elements_at(data, shape), &shape);
    }
    template <detail::Stored T>
    void set_state(std::string_view state, const T* data, std::initializer_list<std::int64_t> shape) {
        set_state(state, data, std::span<const std::int64_t>(shape.begin(), shape.size()));
    }
    /// The raw form, for bytes (a std::byte* or void*), which are taken for elements of the state's dtype.
    void set_state(std::string_view state, const void* data, std::span<const std::int64_t> shape);
    void set_state(std::string_view state, const void* data, std::initializer_list<std::int64_t> shape);
    /// The same for dense memory with a dtype; it is released before this returns.
    void set_state(std::string_view state, const InputView& view);
    /// The same for a vector, span or array of the dtype's C++ type (f16 and bf16: std::uint16_t), in row-major order;
    /// the live length follows from the number of elements.
    template <detail::Elements R>
    void set_state(std::string_view state, const R& values) {
        set_state_elements(state, detail::elements_of(values), nullptr);
    }
    /// Makes all states what they are in a new instance: those that grow have their least length, those that were given
    /// elements to begin with hold these, and all else that is live is zero.
    void reset_states();
    /// Writes the live parts of all states to a safetensors file, under their names: a cache that outlives the process.
    /// Throws Error(file) when it cannot be written.
    ///
    ///     model.save_states("session.safetensors");
    void save_states(const std::filesystem::path& path) const;
    /// Reads what save_states() wrote, for the same graph compiled with any options. Throws Error(file) for a damaged
    /// file, and Error(argument) naming all states that are missing, unknown, or have another dtype or shape there; the
    /// states are then as before.
    void load_states(const std::filesystem::path& path);

    /// A second executor of the same programs and weights with its own arena and states, for another thread. Its states
    /// are what reset_states() makes of them, whatever this one's hold.
    CompiledGraph instance() const;

    /// What is needed, known before anything runs, at the sizes that need most.
    MemoryReport memory() const;
    /// The same at these sizes (symbols not named: their largest value), for the one bucket they fall into: what a run
    /// there needs.
    MemoryReport memory(std::span<const std::pair<std::string_view, std::int64_t>> sizes) const;
    MemoryReport memory(std::initializer_list<std::pair<std::string_view, std::int64_t>> sizes) const;
    /// Touches the arena and states for these sizes now, so that no later run within them has to; outputs are gone.
    /// What verifies the first run of an inexact program is not among it.
    void reserve(std::span<const std::pair<std::string_view, std::int64_t>> sizes);
    /// What was chosen for each instruction, out of what, and what everything else would have cost: found when it is
    /// asked for, which mostly takes about as long as compiling did. Throws Cancelled on a stop.
    Explanation explain(std::stop_token stop = {}) const;
    /// The instructions of the program that ran last, with times when that run was profiled.
    std::vector<InstructionProfile> profile() const;
    /// What came of verifying the programs that are not exact, a row for each output, and each state that runs change,
    /// in which their errors show. Empty where all are exact. Shared by all instances.
    std::vector<VerifiedError> verified_errors() const;
    /// The programs' text form.
    std::string program() const;
    /// Highest arena byte that was ever touched by this instance.
    std::int64_t arena_bytes_touched() const;

    /// Writes the programs (no weights): of a bucket that fell back the exact one; else what is inexact is written with
    /// the exact program beside it, and verified anew where it is loaded. load() finds kernels by id and compiles
    /// nothing; it throws Error(file) for a damaged file and Error(unsupported) naming the kernels that this machine or
    /// library does not have.
    void save(const std::filesystem::path& path) const;
    /// Writes what was chosen, each Problem with its kernel: with this file compile() chooses the same again
    /// (Mode::replay), after its database is gone, and where the graph has changed elsewhere; only ways that cost the
    /// same to the last digit may change places. Text, for version control. Throws Error(file) when it cannot be
    /// written, Error(unsupported) for a graph that was loaded.
    void write_lock(const std::filesystem::path& path) const;
    static CompiledGraph load(const std::filesystem::path& path, const Context& context);

    struct State;
    explicit CompiledGraph(std::unique_ptr<State> state) noexcept;

private:
    State& valid() const;
    void set_elements(std::string_view input, const detail::ElementSpan& elements,
                      const std::span<const std::int64_t>* shape);
    void set_output_elements(std::string_view output, void* data, const detail::ElementSpan& elements);
    void set_state_elements(std::string_view state, const detail::ElementSpan& elements,
                            const std::span<const std::int64_t>* shape);
    std::unique_ptr<State> state_;
};

}  // namespace cairn::inline v0
