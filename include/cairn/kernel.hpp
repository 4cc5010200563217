#pragma once

#include "cairn/args.hpp"
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
#include <vector>

namespace cairn::inline v0 {

/// How much work a Problem is, for an estimate where no measurement exists. `efficiency` is the share of the machine's
/// peak arithmetic this kernel is expected to reach.
struct Cost {
    double flops = 0, bytes = 0, efficiency = 0.25;  ///< operations, bytes moved, share of the peak
    Arithmetic arithmetic = Arithmetic::f32;         ///< of the operations: whose peak, with what the kernel needs
};

/// What `accepts` answers: empty for yes, else why not (`needs a contiguous last axis`).
using Refusal = std::string;

/// Output `output` may share the memory of input `input`: the kernel reads each element of the input before it writes
/// the element of the output at the same place, whichever thread does it.
struct InPlace {
    int input = 0, output = 0;
};

/// Input `input` is wanted in the packed form `layout`.
struct PackedInput {
    int input = 0;
    std::string layout;
};

/// A packed form of a matrix, made once when weights are bound and shared by every program that wants it. It is made by
/// a Kernel with the definition `pack` whose output has this layout.
struct Layout {
    std::string name;  ///< as PackedInput and text forms name it
    /// Its bytes, for the plain tensor it was made from.
    Dim (*bytes)(const TensorDesc& plain);
    /// The name under which the same bytes are the packed form of the transposed matrix; may be empty.
    std::string transposed;
};

/// One way to compute a Definition. All functions must be pure; `run` is called from many threads.
struct Kernel {
    std::string
        id;  ///< `device.family.definition.dtype@version`, e.g. `cpu.avx2.layer_norm.f32@1`: its identity everywhere
    std::string definition;  ///< an atomic op's name, a Definition's name, `elementwise`, `fused`, or `pack`
    Device device = Device::cpu;
    FeatureSet needs;  ///< what its code needs, with all that this stands on; none: it runs anywhere
    /// Whether it can do `problem`, whose outputs may be strided. Sizes may be symbols with bounds: yes holds for all
    /// sizes within them, so `problem` with any of these sizes is accepted too (check_kernel tries it).
    KernelFunction<Refusal(const Problem& problem)> accepts;
    void (*run)(const Args& args, Team& team) = nullptr;
    std::vector<InPlace> in_place;           ///< applies only where dtype, shape and strides of the two agree
    std::vector<PackedInput> packed_inputs;  ///< asked for only where the input is bound
    /// Inputs that may come as they are stored: in a narrower float dtype from which a cast to that of its definition
    /// loses nothing, f16 or bf16 for f32. Which ones it takes `accepts` says; the definition must mean the same of
    /// them as of what they are cast to. Any other kernel gets them cast.
    std::vector<int> widened_inputs;
    /// Bytes of scratch memory with this many threads; null: none. Part of the plan, so a run never allocates.
    KernelFunction<Dim(const Problem& problem, int threads)> workspace;
    /// The work at constant sizes; null: estimated from operand bytes.
    KernelFunction<Cost(const Problem& problem)> cost;
    /// How far from its definition in float64 an output may be, its operands being exact: the relative L2 error, and a
    /// tenth of the largest |y - r| / max(|r|, RMS r). Asked as `accepts` is, and true for all sizes. Null or 0: every
    /// op is computed and accumulated in at least its dtype. A kernel that states one is taken where
    /// CompileOptions::tolerance lets it; one that was measured to be further off is not taken again.
    KernelFunction<double(const Problem& problem)> error;
    /// Called at compile and when a program is loaded, not in a run, once for all instructions of a program that
    /// compute the same Problem; the result reaches `run` of each as Args::prepared. Null: nothing to prepare.
    KernelFunction<std::shared_ptr<const void>(const Problem& problem, int threads)> prepare;
    /// What can be set in its code. Each setting is a kernel of its own wherever kernels are named, timed or stored:
    /// the id with the values that are not the first, `cpu.panel_avx512.linear.f32@1{depth=512}`. The functions above
    /// may take the Setting as a last parameter; `run` sees what `prepare` makes of it. With the first values it must
    /// accept all that it accepts with others, and each must keep to its error. At most `max_settings`.
    std::vector<Knob> knobs;
    /// Why a setting other than the first is not worth trying on `problem`: at all of its sizes the first computes in
    /// the same way (`reads all of a panel at once`). Such a setting is not measured and not chosen, but it must still
    /// run: what `accepts` says holds for it too. Empty or null: the setting is tried.
    KernelFunction<Refusal(const Problem& problem)> redundant = {};
    std::vector<std::string> samples;  ///< Problems in text form that tests and benchmarks run it on
};

/// What a match of a Definition is in the body of a `fused` Problem.
enum class FusionRole : std::uint8_t {
    none,     ///< nothing: it is a tile
    step,     ///< a tile, and a step: of one operand, each element computed from the one at its place (`gelu`)
    product,  ///< what the body begins with: x and w, or these and a bias that is added (`linear`); no tile of its own
    anchor,   ///< a tile of two operands and one result, and what a body begins with in place of a matmul (`conv2d`)
};

/// A function over tensors that kernels may compute in one go: the composite a user calls, the pattern looked for in
/// graphs, the fallback where no kernel fits, and the oracle kernels are tested against.
struct Definition {
    std::string name;  ///< of Problems that it is the meaning of
    /// Calls the composite: operands and attributes as a Problem of this name lists them. Numbers among these should
    /// change neither which operands it takes nor the types of its results: spellings where they do may not be found.
    std::function<std::vector<Tensor>(std::span<const Tensor> operands, const Attributes& attributes)> build;
    /// Problems in text form (no outputs) on which the pattern is made; symbols stand for any size, leading axes may be
    /// added, `R?` is one that may be missing, f32 stands for any float dtype (one for all operands), `eps=?` leaves a
    /// number free, `window=(W)` a whole one, `axis=?` the axis (`axis=?(-1)`: not written where it is the last),
    /// `f32[D]?` at the end an operand that may be missing; all other attributes and constants must agree: `layer_norm
    /// axis=?(-1) eps=? | f32[R?,D] f32[D]? f32[D]?`. The first that matches counts.
    std::vector<std::string> patterns;
    FusionRole fusion_role =
        FusionRole::none;  ///< what it is where a product and what follows it are computed together
    /// Not empty: of an image [B,C,H,W], its first operand, it computes what the op or Definition of this name computes
    /// of windows [B,C,P,Q,J,K] of it, with the same other operands and attributes. Behind these come `kernel=(J,K)
    /// padding=(top,left,bottom,right) stride=(2,2) dilation=(1,1)` and `value`, that of the padding; of a row [B,C,L]
    /// and [B,C,P,K] `kernel=(K) padding=(before,behind)`. It is found where that one is, without patterns.
    std::string of_windows = {};
};

/// A device beside the CPU, in the figures from which times are estimated: the work of its kernels by what it reaches
/// itself, copies (kernels for `copy_to`) by its link to the CPU. All must be finite and above 0, seconds may be 0.
struct DeviceRates {
    Device device = Device::cuda;
    double flops = 0;           ///< a second; f32 multiply-adds count two
    double bandwidth = 0;       ///< bytes a second, to and from its own memory
    double launch_seconds = 0;  ///< of one instruction
    double link_bandwidth = 0;  ///< bytes copied a second, either way
    double link_seconds = 0;    ///< of one copy
    /// What times of its kernels depend on, beside the CPU: `NVIDIA H100 80GB HBM3, compute 9.0, driver 580.82`. Times
    /// taken under one name do not count under another.
    std::string name = {};
    /// A second by Arithmetic, where it is not that of f32: of tensor cores, say. 0: as `flops`.
    std::array<double, arithmetic_count> arithmetic_flops{};
};

/// Everything a Context can compute with. Order is preference where nothing else decides: the reference kernels come
/// last.
struct KernelSet {
    std::vector<Definition> definitions;  ///< looked for in graphs
    std::vector<Layout> layouts;          ///< packed forms
    std::vector<Kernel> kernels;          ///< in order of preference
    /// Besides the CPU; kernels for others are not used. Among a device's kernels must be one for `copy_to device=(0)`,
    /// back to the CPU, and one that copies to it: which values are where is chosen with all else. Kernels see the
    /// host's memory (Args), whatever their device is.
    std::vector<DeviceRates> devices = {};
    /// What their speed depends on besides their ids: compiler, flags, versions of libraries. Times measured with
    /// another are not used.
    std::string build = {};
};

}  // namespace cairn::inline v0
