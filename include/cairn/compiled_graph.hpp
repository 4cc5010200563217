#pragma once

#include "cairn/context.hpp"
#include "cairn/device_stream.hpp"
#include "cairn/elements.hpp"
#include "cairn/explanation.hpp"
#include "cairn/gguf.hpp"
#include "cairn/weights.hpp"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cairn::inline v0 {

/// Progress of a long operation. `total` may grow.
struct Progress {
    std::string_view phase;  ///< `simplify`, `select`, `tune`, `bind`, `run`, ...
    std::int64_t done = 0, total = 0;
    std::string_view detail;  ///< a kernel id or a weight's name; empty: none
    double seconds_left = 0;  ///< of a time budget; 0: unknown
    /// While tuning: seconds of one run of each bucket, times its weight, by the best programs so far. A call not yet
    /// measured counts with its lower bound, so this usually rises towards the real time. 0: unknown.
    double best = 0;
};
/// Progress callback, called on the thread that called the operation. An exception that it throws ends the operation
/// like a failure and reaches the caller unchanged.
using ProgressSink = std::function<void(const Progress&)>;

/// A result in memory owned by Cairn; valid until the next run, set or bind of the same CompiledGraph.
struct OutputView {
    const void* data = nullptr;           ///< the first element
    DType dtype = DType::f32;             ///< of the elements
    std::span<const std::int64_t> shape;  ///< dense, row-major
    Device device = Device::cpu;          ///< in whose memory it is (CompileOptions::output_devices)

    /// The elements as T. Throws Error(argument) unless T is the dtype's C++ type (f16 and bf16: std::uint16_t), and
    /// for elements that are not in the host's memory.
    template <detail::Stored T>
    std::span<const T> as() const {
        check(detail::stored_as<T>());
        return {static_cast<const T*>(data), detail::count_of(shape)};
    }

private:
    CAIRN_API void check(DType given) const;
};

/// One buffer of a memory report.
struct BufferMemory {
    std::string name;           ///< of a weight, state or port; otherwise of the instruction that computes it
    std::string kind;           ///< weight | bound | state | transient | workspace | output | constant
    std::string bytes;          ///< as a polynomial of the symbols
    std::int64_t peak_bytes;    ///< at the sizes at which its program's arena is largest
    int first = -1, last = -1;  ///< the buffer's live interval in instructions of the run; -1: always live
    std::int64_t offset = -1;   ///< in the arena, at those sizes; -1: not in the arena
    Device device = Device::cpu;
};

/// Memory of one device that a CompiledGraph needs. All in bytes, at the sizes that need most. These are not always the
/// largest sizes, since a buffer may shrink as a symbol grows (the rows of a table after row T, for example).
struct DeviceMemory {
    std::int64_t weights = 0;  ///< read in place where they were bound
    std::int64_t bound = 0;    ///< packed and converted weights
    std::int64_t states = 0;
    std::int64_t arena = 0;  ///< shared by all buckets: the largest of their plans; sufficient for all sizes
    /// The value of each symbol at which the arena is largest.
    std::vector<std::pair<std::string, std::int64_t>> arena_sizes = {};
    /// False if finding the largest arena would have taken too long. `arena` is then an upper bound for all sizes, and
    /// `arena_sizes` are the sizes that need most of those tried.
    bool arena_is_exact = true;
    std::int64_t constants = 0;  ///< tables and numbers in the programs, and initial contents of states
    /// In addition to all the above, until each bucket with an inexact program has run: the weight layouts that only
    /// exact programs read, the arena of one exact program, and a second set of states. 0 afterwards; but if states are
    /// stored in a narrower dtype than declared, the exact programs and their weight layouts are kept.
    std::int64_t verification = 0;
    std::int64_t max_live = 0;  ///< most bytes live at once in the arena: a lower bound for any plan
};

/// Memory of a CompiledGraph, known before anything runs: that of the CPU, and of each other device.
struct MemoryReport : DeviceMemory {
    std::vector<std::pair<Device, DeviceMemory>> devices = {};  ///< other than the CPU, if it uses any
    std::vector<BufferMemory> buffers = {};                     ///< of all buckets and devices
};

/// When a thread worked on an instruction, in seconds since the start of the run.
///
/// All spans of a run are on one time axis, that of the host. Another device measures with a clock of its own: the
/// lengths of its spans are exact to about half a microsecond, and their place is counted from when the host begins to
/// submit the instructions up to the next one on another device. The device begins some microseconds later, so its
/// spans may lie that much too early, and never too late.
struct ThreadSpan {
    double begin = 0, end = 0;  ///< equal if it did not take part
    friend bool operator==(const ThreadSpan&, const ThreadSpan&) = default;
};

/// Profile of one instruction.
struct InstructionProfile {
    std::string kernel, problem;  ///< Kernel::id, and the text form of the Problem
    double seconds = 0;           ///< in the last profiled run, from the end of the previous instruction to its own end
    double expected_seconds = 0;  ///< as expected by selection
    /// One for each thread of the last profiled run, the caller's first. Between its spans a thread waits for others.
    /// Of an instruction on another device there is one, of that device.
    std::vector<ThreadSpan> threads = {};
    std::vector<std::string> names = {};  ///< given by name() to values it computes, results first
    Device device = Device::cpu;          ///< that runs it
};

/// Error of an output or state, compared with an exact program on the same inputs and states, as defined at Tolerance.
///
///     for (const VerifiedError& row : model.verified_errors())
///         if (row.fell_back) std::cerr << row.value << " was off by " << row.error << '\n';
struct VerifiedError {
    std::string bucket;     ///< the sizes of its program, `T in 1..12`; empty: all sizes
    std::string value;      ///< `output "y"`, `state "keys"`
    double allowed = 0;     ///< the tolerance
    double expected = 0;    ///< the combined error that the kernels state
    bool verified = false;  ///< a run of the bucket was compared
    double error = 0;  ///< the largest found; infinite if an integer differs, or if only one of two is NaN or infinite
    /// An error of the bucket exceeded its tolerance: it uses its exact program from then on. If states are stored in a
    /// narrower dtype, all buckets then do so, and also once a state is given a number that its storage cannot hold.
    bool fell_back = false;
};

/// Options of one run.
struct RunOptions {
    /// Checked between instructions, or between groups of them that a GPU runs as one (ContextOptions::cuda_graphs); a
    /// stopped run throws Cancelled and commits no state.
    std::stop_token stop = {};
    /// Called after each instruction, on the thread that called run; with phase `verify` for instructions of an exact
    /// program that verifies another.
    ProgressSink progress = {};
    bool profile = false;  ///< time each instruction; see CompiledGraph::profile()
    /// The stream, owned by the host program, in which the run works on its device: behind what the host program has
    /// submitted there, and before what it submits there later. Empty: a stream of Cairn's own. Throws Error(argument)
    /// for a device that the Context does not use, and for a stream that is being captured into a graph.
    std::optional<DeviceStream> stream = {};
    /// False: the run returns when its last part on a GPU is submitted, and CompiledGraph::wait() waits for that. Until
    /// then the elements of its inputs must stay as they are, and its results may be read by work in its stream alone.
    /// The run waits all the same if its program ends on the CPU or is verified, if it stores states narrower or copies
    /// a result into the memory of set_output(), and with `profile` or `progress`.
    ///
    ///     for (int step = 0; step < 8; ++step) model.run({.stream = stream, .wait = false});   // submitted in advance
    ///     model.wait();
    bool wait = true;
};

/// A file that caches the results of bind() (packed weights, casts, and weights used unchanged) for the next process,
/// which maps it; its pages are shared by all processes that do. If it is missing, damaged, or made from other weights
/// or for programs that need other layouts, everything is computed and the file is rewritten (under a temporary name,
/// then renamed). The file is optional: a failure to read or write it is reported in one log line.
///
/// The file contains a 64-bit checksum of each block of at most 1 MiB, and a digest of its index: names, offsets,
/// sizes, checksums, and an identification of the weights. Each bind() checks the size of the file, the index, and the
/// bytes of all values of at most 64 KiB. It does not read larger values, so that pages are loaded when the first run
/// touches them: changed bytes in these are detected only with `check_all` or by verify_checksums(), and otherwise give
/// wrong results.
///
/// Replace the file by renaming another to its name, as bind() does. Overwriting it in place while a process has it
/// mapped changes the weights of that process; truncating it ends the process with SIGBUS.
struct PackedFile {
    std::filesystem::path path;  ///< in an existing folder
    /// Identifies the weights: Safetensors::fingerprint(), or a version chosen by the caller. Must not be empty.
    std::string weights;
    /// Checks every byte in bind(), with all threads of the Context. This reads the whole file once, at the speed of
    /// memory if the system has it cached, otherwise of the disk. A file whose bytes have changed is rewritten.
    bool check_all = false;
};

/// Reads a whole file that Cairn wrote (packed weights, a compiled graph, a lock) and compares it with the checksums in
/// it. Returns one sentence for each run of changed blocks of a packed value, or one for the file; empty if every byte
/// is as written. A file of another kind is a fault too. Throws Error(file) if the file cannot be read.
///
///     for (const std::string& fault : verify_checksums("gpt2/model.packed")) std::cerr << fault << '\n';
CAIRN_API std::vector<std::string> verify_checksums(const std::filesystem::path& file);

/// An executable graph: flat programs, one for each bucket of sizes, which share one arena, one set of weights and one
/// set of states. Made by compile() or load(). Movable. An instance is not thread-safe; different instances may run
/// concurrently. While it runs, calls that change sizes or data, or that read a state, throw Busy, also from
/// RunOptions::progress. A moved-from object throws Error(argument) on any use.
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

    /// Binds all weights: fetches each by name and computes everything that depends on weights only (casts, packed
    /// layouts). A source tensor is released as soon as nothing reads it any more. Throws Error(argument) listing all
    /// weights that are missing or have another dtype or shape. May succeed only once; the results are shared by all
    /// instances. While one instance binds, bind() of another waits; then it throws as any second bind() does, or binds
    /// if the first one failed. If `source` or `progress` throws, nothing is bound; calling bind() from inside them
    /// throws Error(busy).
    void bind(const WeightSource& source, const ProgressSink& progress = {}, std::stop_token stop = {});
    /// As above, from a file, whose maps stay open as long as weights are read from them.
    void bind(const Safetensors& weights, const ProgressSink& progress = {}, std::stop_token stop = {});
    void bind(const Gguf& weights, const ProgressSink& progress = {}, std::stop_token stop = {});
    /// As above, with all data that runs read cached in a file, about as large as the weights: the next process only
    /// maps it and does not call `source`. PackedFile describes what is checked and when. Throws Error(argument) if the
    /// path or PackedFile::weights is empty.
    ///
    ///     const Safetensors weights = Safetensors::open("gpt2");
    ///     model.bind(weights.source(), {"gpt2/model.packed", weights.fingerprint()});
    void bind(const WeightSource& source, const PackedFile& packed, const ProgressSink& progress = {},
              std::stop_token stop = {});

    /// Sets an input to elements in dense row-major order, from any contiguous range: a std::span<const T>, a vector,
    /// an array. Symbols take their values from `shape`: for an axis `N` or `32*h`, the one value that fits. If several
    /// fit, or a size contains two symbols that nothing else determines, other inputs or set(symbol, value) must
    /// determine them.
    ///
    /// The elements are borrowed, not copied: each run() reads them, until the input is set again or this object is
    /// destroyed. They must stay in place until then, and may be changed between runs; the next run sees the change.
    /// They must not lie in a result of this object that Cairn owns: such a run throws Error(argument). A range that is
    /// a temporary (not a span) is copied.
    ///
    ///     std::vector<float> x(6);
    ///     model.set("x", x, {2, 3});
    ///
    /// T is the C++ type of the dtype; std::uint16_t for f16 and bf16. Throws Error(argument) for an unknown name,
    /// another dtype or number of axes, sizes that are out of bounds or that no value of their symbols gives (naming
    /// the nearest that fit), a number of elements that differs from the shape's, and elements in other memory than
    /// that of the input's device (CompileOptions::input_devices). A failed call changes nothing.
    template <detail::Elements R>
    void set(std::string_view input, R&& elements, std::span<const std::int64_t> shape) {
        set_elements(input, detail::elements_of(std::forward<R>(elements)), &shape);
    }
    template <detail::Elements R>
    void set(std::string_view input, R&& elements, std::initializer_list<std::int64_t> shape) {
        const std::span<const std::int64_t> sizes(shape.begin(), shape.size());
        set_elements(input, detail::elements_of(std::forward<R>(elements)), &sizes);
    }
    /// As above, with the shape derived from the number of elements: apart from constants and lengths of states, its
    /// sizes have at most one symbol, and exactly one value of it fits. Throws Error(argument) for any other input.
    template <detail::Elements R>
    void set(std::string_view input, R&& elements) {
        set_elements(input, detail::elements_of(std::forward<R>(elements)), nullptr);
    }
    /// As above, with elements in an initializer list, which are copied: `model.set("x", {1.f, 2.f}, {1, 2})`.
    template <detail::Stored T>
    void set(std::string_view input, std::initializer_list<T> elements, std::initializer_list<std::int64_t> shape) {
        const std::span<const std::int64_t> sizes(shape.begin(), shape.size());
        set_elements(input, {elements.begin(), elements.size(), detail::stored_as<T>(), true}, &sizes);
    }
    template <detail::Stored T>
    void set(std::string_view input, std::initializer_list<T> elements) {
        set_elements(input, {elements.begin(), elements.size(), detail::stored_as<T>(), true}, nullptr);
    }
    /// As above, with a pointer to as many elements as `shape` has: their type is checked, their number is not.
    template <detail::Stored T>
    void set(std::string_view input, const T* data, std::span<const std::int64_t> shape) {
        set_elements(input, detail::elements_at(data, shape), &shape);
    }
    template <detail::Stored T>
    void set(std::string_view input, const T* data, std::initializer_list<std::int64_t> shape) {
        set(input, data, std::span<const std::int64_t>(shape.begin(), shape.size()));
    }
    /// Untyped form for bytes: `data` (a std::byte* or void*) points to as many elements of the input's dtype as
    /// `shape` has; neither is checked. Borrowed like a span.
    void set(std::string_view input, const void* data, std::span<const std::int64_t> shape);
    void set(std::string_view input, const void* data, std::initializer_list<std::int64_t> shape);
    /// As above, for memory with a dtype, strides, a device and a release callback. Strided data, which must be the
    /// host's, is copied and released at once; dense data is released when the input is set again. It is also released
    /// if set() throws.
    void set(std::string_view input, const InputView& view);
    /// Sets a symbol. Throws Error(argument) if out of bounds.
    void set(std::string_view symbol, std::int64_t value);

    /// Makes each run write an output to the caller's memory, which must hold it at the sizes then set. No byte after
    /// the result is touched. Throws Error(argument) for an unknown name, and for memory that is not of the output's
    /// device (CompileOptions::output_devices).
    ///
    /// The memory may be that of an input: the result is correct and written after everything was read, so that the
    /// next run reads it as that input's data. It must not overlap the memory of another output (such a run throws
    /// Error(argument)), nor weights. nullptr restores planned memory.
    void set_output(std::string_view output, void* data, std::size_t bytes);
    /// As above, with typed elements; the type must be that of the output's dtype.
    template <detail::WritableElements R>
    requires std::ranges::borrowed_range<R>
    void set_output(std::string_view output, R&& elements) {
        set_output_elements(output, std::ranges::data(elements), detail::elements_of(elements));
    }

    /// Runs once at the sizes set. The first run at new largest sizes touches memory. No run allocates, except the
    /// first of a bucket with an inexact program, which is verified (Tolerance::relative). Throws Busy, Cancelled, or
    /// Error(argument) if an input is missing, a state is full, or the data cannot be computed with (an index out of
    /// range, for example: the message gives op, input, position and value; of several, those of any one). An exception
    /// of a kernel becomes an Error that names the instruction; an exception of RunOptions::progress is passed on
    /// unchanged. A GPU that fails in a way that only a new process can mend is an Error(unsupported), then and in
    /// every later call that needs it; programs of the CPU go on.
    ///
    /// After a failure states are as before the run, except those that the run had begun to overwrite (by State::write
    /// or assign): run() throws until each of them is restored by reset_states(), load_states() or set_state(), or is
    /// rewound to a length at which no overwritten part is live.
    void run(const RunOptions& options = {});
    /// Waits for the runs without RunOptions::wait; does nothing if there are none. Throws the failure of any of them
    /// as run() does: the states are then as before the first of these runs, except those that any of them may have
    /// overwritten. So does every call that reads a result or state in the host's memory, that changes states or
    /// releases a copy or a view of an input, and a run of another bucket or of a program with parts on the CPU; the
    /// destructor waits and throws nothing.
    void wait();

    /// A result of the last run. Throws Error(argument) for an unknown name, or if there was no successful run since
    /// the last change.
    OutputView output(std::string_view name) const;
    /// Truncates all states that grow by `symbol` to the live length `length`, at most their current one. The remaining
    /// live part keeps its contents; states of fixed size are not changed.
    void rewind(std::string_view symbol, std::int64_t length);

    /// The live part of a state, as the next run will find it; valid until a state changes or is read again. Throws
    /// Error(argument) for an unknown name, and while a size of its shape is not set.
    ///
    ///     OutputView keys = model.state("keys");               // shape {12, 7, 64} after 7 tokens
    OutputView state(std::string_view name) const;
    /// Sets the live part of a state to dense elements, which are copied. Symbols take their values from the shape, the
    /// live length included; other states that grow by the same symbol keep their contents up to it, followed by zeros.
    /// Throws Error(argument) for an unknown name, another dtype or rank, and sizes out of bounds; a failed call
    /// changes nothing.
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
    /// Untyped form for bytes (a std::byte* or void*), read as elements of the state's dtype.
    void set_state(std::string_view state, const void* data, std::span<const std::int64_t> shape);
    void set_state(std::string_view state, const void* data, std::initializer_list<std::int64_t> shape);
    /// As above, for dense memory with a dtype; it is released before this returns.
    void set_state(std::string_view state, const InputView& view);
    /// As above, for a vector, span or array of the dtype's C++ type (f16 and bf16: std::uint16_t), in row-major order;
    /// the live length follows from the number of elements.
    template <detail::Elements R>
    void set_state(std::string_view state, const R& values) {
        set_state_elements(state, detail::elements_of(values), nullptr);
    }
    /// Resets all states to those of a new instance: growing states get their least length, states with initial
    /// elements get these, and everything else that is live is zero.
    void reset_states();
    /// Writes the live parts of all states, under their names, to a safetensors file. Throws Error(file) if it cannot
    /// be written.
    ///
    ///     model.save_states("session.safetensors");
    void save_states(const std::filesystem::path& path) const;
    /// Loads the output of save_states(), for the same graph compiled with any options. Throws Error(file) for a
    /// damaged file, and Error(argument) listing all states that are missing, unknown, or have another dtype or shape
    /// there; the states are then unchanged.
    void load_states(const std::filesystem::path& path);

    /// A second executor of the same programs and weights with its own arena and states, for another thread. Its states
    /// are those after reset_states(), independent of this instance's.
    CompiledGraph instance() const;

    /// Memory needed at the sizes that need most; known before anything runs.
    MemoryReport memory() const;
    /// Memory needed for a run at these sizes (symbols not named: their largest value), of the bucket that contains
    /// them.
    MemoryReport memory(std::span<const std::pair<std::string_view, std::int64_t>> sizes) const;
    MemoryReport memory(std::initializer_list<std::pair<std::string_view, std::int64_t>> sizes) const;
    /// Touches the arena and states for these sizes now, so that no later run within them has to; outputs are lost.
    /// Memory that verifies the first run of an inexact program is not included.
    void reserve(std::span<const std::pair<std::string_view, std::int64_t>> sizes);
    /// Explains the selection: for each instruction what was chosen, among which alternatives, and what these would
    /// cost. Computed on request, which usually takes about as long as compile(). Throws Cancelled on a stop.
    Explanation explain(std::stop_token stop = {}) const;
    /// The instructions of the program that ran last, with times if that run was profiled.
    std::vector<InstructionProfile> profile() const;
    /// Results of verifying the inexact programs: a row for each output, and each state that runs change, that their
    /// errors influence. Empty if all programs are exact. Shared by all instances.
    std::vector<VerifiedError> verified_errors() const;
    /// Text form of the programs.
    std::string program() const;
    /// Largest arena offset, in bytes, that this instance has ever touched.
    std::int64_t arena_bytes_touched() const;

    /// Writes the programs, without weights. Of a bucket that fell back only the exact program is written; any other
    /// inexact program is written together with its exact one, and verified again after loading. load() finds kernels
    /// by id and selects nothing; it throws Error(file) for a damaged file and Error(unsupported) naming kernels that
    /// this machine or library does not have.
    ///
    /// The machine code of GPU kernels is written with their programs. load() compiles nothing, and opens no compiler,
    /// on a device of the same architecture (`sm_90a`) with the same texts of kernels. Code that is damaged, or that
    /// the device cannot use, is compiled anew and one log line says so; if there is no NVRTC, Error(unsupported) names
    /// the device that the code is for. Code is not checked for what it does: load a file only if you would run a
    /// program from the same source.
    void save(const std::filesystem::path& path) const;
    /// Writes the selection as a lock file, each Problem with its kernel: with it compile() selects the same again
    /// (Mode::replay), without a timing database, and also where other parts of the graph have changed; only
    /// alternatives of exactly equal cost may be exchanged. Text, suitable for version control. Throws Error(file) if
    /// it cannot be written, Error(unsupported) for a graph that was loaded.
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
