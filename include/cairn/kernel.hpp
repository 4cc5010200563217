#pragma once

#include "cairn/args.hpp"
#include "cairn/device_stream.hpp"
#include "cairn/features.hpp"
#include "cairn/graph.hpp"
#include "cairn/knobs.hpp"
#include "cairn/problem.hpp"
#include "cairn/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0 {

/// Work of a Problem, from which its time is estimated if no measurement exists.
struct Cost {
    double flops = 0, bytes = 0, efficiency = 0.25;  ///< operations, bytes moved, expected fraction of the peak
    Arithmetic arithmetic = Arithmetic::f32;  ///< of the operations; selects the peak, with the kernel's features
    /// Steps that wait for each other, such as a load of what another load has found, or a reduction across threads: on
    /// a GPU each takes DeviceRates::step_seconds, however few operations and bytes there are.
    double steps = 0;
};

/// Result of `accepts`: empty if accepted, otherwise the reason (`needs a contiguous last axis`).
using Refusal = std::string;

/// Output `output` may share the memory of input `input`: the kernel reads each element of the input before any thread
/// writes the element of the output at the same position.
struct InPlace {
    int input = 0, output = 0;
};

/// The kernel reads input `input` in the layout `layout`.
struct LayoutInput {
    int input = 0;
    std::string layout;
};

/// A layout: a way to hold a value in memory other than by strides. There are two kinds. A *packed* layout is one of a
/// bound matrix: the packed matrix is computed once when weights are bound, and is shared by all programs that use it.
/// A Kernel with the definition `pack` whose output has this layout makes it of the plain matrix; a Kernel for what
/// computes the matrix may write it at once (Kernel::output_layout). A *computed* layout is one in which kernels
/// write results of a run (Kernel::output_layout) and others read them (Kernel::layout_inputs); a kernel for `copy`
/// that reads it computes the plain value where that is needed.
///
///     partial_sums.12 of f32[1,768]: 12 rows of 768 elements in memory, whose sums are the elements of the value
struct Layout {
    std::string name;  ///< the name in LayoutInput and in text forms
    /// Size in bytes of a tensor in this layout. `tensor` is plain for a packed layout, and names a computed layout
    /// with its parameter.
    Dim (*bytes)(const TensorDesc& tensor);
    /// Of a packed layout: name of the layout of the transposed matrix that consists of the same bytes; may be empty.
    std::string transposed = {};
    bool is_computed = false;
    /// A computed layout whose name is followed by a positive integer where a kernel writes it: `partial_sums.12`
    /// (layout_parameter). LayoutInput names it without the integer.
    bool has_parameter = false;
    /// A computed layout whose bytes depend on the row-major order of the elements and not on the shape: it also holds
    /// reshapes of the value.
    bool holds_reshapes = false;
};

/// The integer at the end of the name of a layout with a parameter: 12 of `partial_sums.12`; 0 if there is none.
CAIRN_API std::int64_t layout_parameter(std::string_view layout) noexcept;

/// Code of a GPU kernel for one Problem, and how it is launched.
struct KernelCode {
    /// CUDA C++ without headers, which begins after the prelude (kernels/cuda/text), with one function
    /// `extern "C" __global__ void entry(...)`. Its parameters are the data of each operand, inputs before outputs, as
    /// `void*`; then `void* workspace`, `const i64* symbols` (the values of the symbols of the Problem, in the order of
    /// Symbols::list()), `FailureReport* status` and `u32 instruction`. Equal Problems give equal text.
    ///
    /// The data of an operand is aligned to the size of its dtype and no more: an operand may be a part of another
    /// tensor. A kernel that loads 16 bytes at once first checks the address (`is_aligned`). The workspace is aligned
    /// to 64 bytes.
    std::string text;
    /// The name of that function. Texts that differ need names that differ: a program may have several. A digest of the
    /// Problem's text makes one: `"my_exp_" + to_string(digest(to_string(problem)))`.
    std::string entry;
    std::vector<Dim> grid{1};  ///< blocks along x, y, z
    int block = 256;           ///< threads of a block
    int cluster = 1;           ///< blocks of a cluster, along x
    Dim shared_bytes = 0;      ///< dynamic shared memory of a block
};

/// A kernel: one implementation of a Definition, as exactly one of `run`, `code` and `enqueue`. All functions must be
/// pure; `run` is called from many threads.
struct Kernel {
    std::string id;          ///< unique id, `device.family.definition.dtype@version`: `cpu.avx2.layer_norm.f32@1`
    std::string definition;  ///< an atomic op's name, a Definition's name, `elementwise`, `fused`, or `pack`
    Device device = Device::cpu;
    FeatureSet needs;  ///< the features its code needs, with all that these imply; empty: runs anywhere
    /// Whether the kernel supports `problem`, whose outputs may be strided. Sizes may be symbols with bounds:
    /// acceptance holds for all sizes within them, so `problem` must be accepted at each of these sizes (check_kernel
    /// verifies it).
    KernelFunction<Refusal(const Problem& problem)> accepts;
    void (*run)(const Args& args, Team& team) = nullptr;
    /// On a GPU, instead of `run`: its code. A block that has nothing to do at the current sizes returns, after
    /// dependency_wait(). Results are the same bits in every run, whatever the order of blocks and the alignment of
    /// operands: sums are made in an order that depends on sizes only. An index that is out of range is reported
    /// (`report_failure`) and not followed. `check_kernel` tests all of this on the device of a Context.
    KernelFunction<KernelCode(const Problem& problem)> code;
    /// On a GPU, instead of `run` and `code`: a function of the host that submits the work to a stream, by a call of a
    /// library (cuBLASLt, cuDNN) or as launches of kernels that the program has compiled itself. Operands and workspace
    /// are in the memory of the device, shapes and strides are the current ones, and the primary context of the device
    /// is current.
    ///
    ///     kernel.enqueue = [](const Args& args, const DeviceStream& stream) {
    ///         launch_my_kernel(args.inputs[0].data, args.outputs[0].data, args.inputs[0].shape[0],
    ///                          static_cast<cudaStream_t>(stream.handle));
    ///     };
    ///
    /// It submits to that stream only, or to streams that fork from it and join it again before the function returns.
    /// It does not wait and does not allocate. The stream may be one that is captured into a CUDA graph, from which
    /// later runs repeat what was submitted: the function is called again only when an address, shape, stride or
    /// attribute has changed, and memory of the host that its work reads must live as long as `prepared`. It is not
    /// called where no output has elements. Results are the same bits in every run whose operands are aligned alike; an
    /// index that is out of range cannot be reported. An exception reaches the caller of the run.
    KernelFunction<void(const Args& args, const DeviceStream& stream)> enqueue = {};
    int compute_capability = 80;  ///< that it needs on a GPU: 90 for 9.0; older devices do not use the kernel
    /// True if each thread of `code` calls dependency_wait() before it first accesses memory, bound inputs apart, and
    /// trigger_dependents() only after that. In a CUDA graph its launch may then begin before the one before has ended
    /// (programmatic dependent launch, from compute capability 9.0 on). `check_kernel` does not verify it.
    bool waits_for_dependencies = false;
    std::vector<InPlace> in_place;  ///< applies only where dtype, shape and strides of the two agree
    /// Inputs that it reads packed, all of them; used only if these are bound. Several layouts for one input stand
    /// together and are alternatives: it must be possible to pack the first; the others are used where a kernel writes
    /// the value in them (output_layout).
    std::vector<LayoutInput> packed_inputs;
    /// Inputs that it also reads in a computed layout; each is in plain memory or in one of the layouts named for it.
    /// `accepts` decides on the parameter.
    std::vector<LayoutInput> layout_inputs = {};
    /// The layout in which the kernel writes an output; empty: plain memory. A computed layout, with its parameter, is
    /// used for a value of a run, a packed one for a bound matrix. `problem` has plain outputs, and all inputs are
    /// plain or packed; the result must not depend on the setting. The other functions get the Problem with these
    /// layouts, and decide whether the kernel also writes plain outputs. Null: plain outputs only.
    KernelFunction<std::string(const Problem& problem, int output)> output_layout = {};
    /// Inputs that may keep their stored dtype: a narrower float dtype that widens to the definition's without loss,
    /// f16 or bf16 for f32. `accepts` decides which dtypes it takes; the definition must give the same result for them
    /// as for the widened input. All other kernels get the input cast.
    std::vector<int> widened_inputs;
    /// Bytes of scratch memory for this number of threads; null: none. Part of the memory plan, so a run never
    /// allocates.
    KernelFunction<Dim(const Problem& problem, int threads)> workspace;
    /// The work at constant sizes; null: estimated from the bytes of operands.
    KernelFunction<Cost(const Problem& problem)> cost;
    /// Stated error of an output against its definition in float64, for exact operands: the larger of the relative L2
    /// error and a tenth of the largest |y - r| / max(|r|, RMS r), with y the output and r the reference. Called as
    /// `accepts` is; the result holds for all sizes. Null or 0: every op is computed and accumulated in at least its
    /// dtype. A kernel with a stated error is used only within CompileOptions::tolerance; one whose measured error is
    /// larger is not used again.
    KernelFunction<double(const Problem& problem)> error;
    /// Called at compile time and when a program is loaded, never in a run: once for all instructions of a program with
    /// the same Problem. The result is passed to `run` or `enqueue` as Args::prepared. Null: nothing to prepare.
    KernelFunction<std::shared_ptr<const void>(const Problem& problem, int threads)> prepare;
    /// Tunable parameters. Each setting counts as a kernel of its own wherever kernels are named, timed or stored; its
    /// id lists the values that are not the first: `cpu.panel_avx512.linear.f32@1{depth=512}`. The functions above may
    /// take the Setting as a last parameter; `run` gets it through `prepare`. The first setting must accept every
    /// Problem that another one accepts, and each setting must keep its stated error. At most `max_settings`.
    std::vector<Knob> knobs;
    /// Why the kernel, or a setting other than the first, need not be tried on `problem`: at all of its sizes it
    /// computes in the same way as another kernel, or as the first setting (`reads a whole panel at once`). It is
    /// neither measured nor chosen, but must still run: `accepts` holds for it too. Empty or null: it is tried.
    KernelFunction<Refusal(const Problem& problem)> redundant = {};
    std::vector<std::string> samples;  ///< Problems in text form on which tests and benchmarks run the kernel
};

/// Role of a match of a Definition in the body of a `fused` Problem.
enum class FusionRole : std::uint8_t {
    none,     ///< not part of a body: a fusion candidate of its own
    step,     ///< a candidate of its own, and a step of a body: unary and elementwise (`gelu`)
    product,  ///< the product a body begins with: x and w, and an optional added bias (`linear`); no candidate itself
    anchor,   ///< a candidate of two operands and one result; may replace the matmul a body begins with (`conv2d`)
};

/// A function over tensors that a kernel may compute as a whole. It is the composite that users call, the pattern
/// matched in graphs, the fallback if no kernel fits, and the oracle that kernels are tested against.
struct Definition {
    std::string name;  ///< the name in Problems
    /// Builds the composite from the operands and attributes of a Problem of this name. Numbers among the attributes
    /// should change neither which operands are used nor the types of the results; otherwise equivalent expressions may
    /// not be found.
    std::function<std::vector<Tensor>(std::span<const Tensor> operands, const Attributes& attributes)> build;
    /// Problems in text form (no outputs) from which the pattern is built. Symbols match any size; leading axes may be
    /// added; `R?` is an axis that may be missing; f32 matches any float dtype (the same for all operands); `eps=?`
    /// matches any number, `window=(W)` any integer, `axis=?` any axis (`axis=?(-1)`: not written if it is the last);
    /// `f32[D]?` at the end is an operand that may be missing. All other attributes and constants must be equal:
    /// `layer_norm axis=?(-1) eps=? | f32[R?,D] f32[D]? f32[D]?`. The first that matches counts.
    std::vector<std::string> patterns;
    FusionRole fusion_role = FusionRole::none;  ///< its role when a product and the ops after it are computed together
    /// Name of an op or Definition on sliding windows; empty: none. This Definition computes on an image [B,C,H,W], its
    /// first operand, what that one computes on windows [B,C,P,Q,J,K] of the image, with the same other operands and
    /// attributes. Its further attributes, after those, are `kernel=(J,K) padding=(top,left,bottom,right) stride=(2,2)
    /// dilation=(1,1)` and `value`, the padding value. For a row [B,C,L] with windows [B,C,P,K] they are `kernel=(K)
    /// padding=(before,behind)` and so on. It is found wherever that one is and needs no patterns.
    std::string windowed_definition = {};
    /// Names of atomic ops that every match contains (`matmul`, `sum`; none that is elementwise or movement). Patterns
    /// are instantiated only for graphs that contain all of them, which shortens compilation. Empty: for every graph.
    std::vector<std::string> required_ops = {};
};

/// Performance figures of a device other than the CPU, from which times are estimated: kernels by the device's own
/// rates, copies (kernels for `copy_to`) by its link to the CPU. All must be finite and above 0; seconds may be 0, and
/// rates where it says so.
struct DeviceRates {
    Device device = Device::cuda();
    double flops = 0;           ///< FLOP/s; an f32 multiply-add counts as two
    double bandwidth = 0;       ///< bytes/s, to and from its own memory
    double launch_seconds = 0;  ///< per instruction
    double link_bandwidth = 0;  ///< bytes/s copied, in either direction: the harmonic mean if these differ
    double link_seconds = 0;    ///< per copy
    /// Identifies what times of its kernels depend on: `NVIDIA H100 80GB HBM3, compute 9.0, driver 580.82`. Times
    /// measured under another name are not used.
    std::string name = {};
    /// FLOP/s by Arithmetic where it differs from f32 (tensor cores, for example). 0: as `flops`.
    std::array<double, arithmetic_count> arithmetic_flops{};
    double cache_bandwidth = 0;  ///< bytes/s of data that a kernel before has just read or written; 0: as `bandwidth`
    double step_seconds = 0;     ///< of a step that waits for the one before (Cost::steps)
};

/// The definitions, layouts, kernels and devices that a Context can use. Order is preference if nothing else decides:
/// the reference kernels come last.
struct KernelSet {
    std::vector<Definition> definitions;  ///< matched in graphs
    std::vector<Layout> layouts;          ///< packed forms
    std::vector<Kernel> kernels;          ///< in order of preference
    /// Devices other than the CPU; kernels for devices not listed are not used. The kernels of a device must include
    /// one for `copy_to device=(0)`, back to the CPU, and one that copies to the device: the placement of values is
    /// selected together with everything else. A device that has rates alone is simulated: its kernels run on the CPU,
    /// on memory of the host.
    std::vector<DeviceRates> devices = {};
    /// What the kernels' speed depends on besides their ids: compiler, flags, versions of libraries. Times measured
    /// with another build are not used.
    std::string build = {};
};

}  // namespace cairn::inline v0
