#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/reduction/axis_plan.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <string>

/// Registers softmax, log_softmax and the normalisations for f32, f16 and bf16, all computed in f32.
namespace cairn::kernels::cpu {
namespace {

constexpr int max_rank = 8;

/// The axes of the first input that a Problem reduces along, or a refusal.
struct AxisRun {
    std::size_t first = 0, last = 0;
    bool is_row = false;  ///< elements are contiguous; otherwise the last axis, another one, is contiguous
    Refusal refusal;
};

/// True if the axes [first, last] can be merged into one axis; returns its stride.
bool is_one_axis(const TensorDesc& tensor, std::size_t first, std::size_t last, Dim& stride) {
    stride = 1;
    bool is_innermost = true;
    Dim expected = 1;
    for (std::size_t i = last + 1; i-- > first;) {
        if (tensor.shape[i] == Dim(1)) continue;
        if (is_innermost) stride = tensor.strides[i];
        if (!is_innermost && !(tensor.strides[i] == expected)) return false;
        expected = tensor.strides[i] * tensor.shape[i];
        is_innermost = false;
    }
    return true;
}

/// True if all operands with the shape of x are contiguous along its reduced axes. Axes of size 1 may follow: an
/// operand broadcast there is traversed by columns, as it is if that size is in a range.
bool are_rows(const Problem& problem, std::size_t first, std::size_t last) {
    const auto is_row = [&](const TensorDesc& tensor) {
        Dim stride;
        return tensor.shape != problem.inputs[0].shape ||
               (is_one_axis(tensor, first, last, stride) && stride == Dim(1));
    };
    return std::all_of(problem.inputs.begin(), problem.inputs.end(), is_row) &&
           std::all_of(problem.outputs.begin(), problem.outputs.end(), is_row);
}

/// `name` is `axis` or `axes`. Without the attribute the last axis; with an empty list all axes.
AxisRun axes_of(const Problem& problem, std::string_view name) {
    const TensorDesc& x = problem.inputs[0];
    const std::size_t rank = x.shape.size();
    AxisRun run;
    if (rank == 0) return run.refusal = "needs an axis", run;
    run.first = run.last = rank - 1;
    if (problem.attributes.has(name)) {
        std::vector<std::int64_t> axes;
        for (const Dim& axis : problem.attributes.dims(name))
            axes.push_back(axis.constant() < 0 ? axis.constant() + static_cast<std::int64_t>(rank) : axis.constant());
        for (std::size_t i = 0; axes.empty() && i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
        std::sort(axes.begin(), axes.end());
        if (axes.front() < 0 || axes.back() >= static_cast<std::int64_t>(rank))
            return run.refusal = "needs axes of x", run;
        for (std::size_t i = 1; i < axes.size(); ++i)
            if (axes[i] != axes[i - 1] + 1) return run.refusal = "works along neighbouring axes only", run;
        run.first = static_cast<std::size_t>(axes.front());
        run.last = static_cast<std::size_t>(axes.back());
    }
    Dim stride;
    if (!is_one_axis(x, run.first, run.last, stride)) return run.refusal = "needs axes that merge into one stride", run;
    const bool is_innermost = std::all_of(x.shape.begin() + static_cast<std::ptrdiff_t>(run.last) + 1, x.shape.end(),
                                          [](const Dim& size) { return size == Dim(1); });
    run.is_row = is_innermost && stride == Dim(1) && (run.last == rank - 1 || are_rows(problem, run.first, run.last));
    if (!run.is_row && (run.last == rank - 1 || !is_last_contiguous(x))) run.refusal = "needs a contiguous last axis";
    return run;
}

/// The name of the attribute that holds the axes.
std::string_view name_of_axes(const Problem& problem) { return problem.attributes.has("axes") ? "axes" : "axis"; }

/// True if a tensor with the shape of x can be traversed as x is.
bool is_traversable(const TensorDesc& tensor, const AxisRun& run) {
    Dim stride;
    if (!is_one_axis(tensor, run.first, run.last, stride)) return false;
    return run.is_row ? stride == Dim(1) : is_last_contiguous(tensor);
}

/// Requires at most `most` operands of `dtype`; the first `wide` inputs and all outputs have one shape; the others are
/// gamma and beta with the reduced axes.
Refusal needs_operands(const Problem& problem, DType dtype, std::size_t wide, std::size_t most, std::size_t outputs) {
    const std::size_t inputs = problem.inputs.size();
    if (inputs < wide || inputs > most || problem.outputs.size() != outputs) return "a wrong number of operands";
    if (Refusal no = needs_plain(problem, max_rank); !no.empty()) return no;
    const AxisRun run = axes_of(problem, name_of_axes(problem));
    if (!run.refusal.empty()) return run.refusal;
    const Shape& shape = problem.inputs[0].shape;
    const Shape along(shape.begin() + static_cast<std::ptrdiff_t>(run.first),
                      shape.begin() + static_cast<std::ptrdiff_t>(run.last) + 1);
    for (const auto* side : {&problem.inputs, &problem.outputs}) {
        for (std::size_t i = 0; i < side->size(); ++i) {
            const TensorDesc& tensor = (*side)[i];
            if (tensor.dtype != dtype) return "needs " + std::string(to_string(dtype));
            if (side == &problem.outputs || i < wide) {
                if (tensor.shape != shape) return "needs operands of one shape";
                if (!is_traversable(tensor, run))
                    return "needs a contiguous last axis, and axes that merge into one stride";
            } else {
                if (tensor.shape != along || !tensor.is_dense()) return "needs contiguous gamma and beta of the axis";
            }
        }
    }
    return wide == 2 && !run.is_row ? "works along the last axis only" : Refusal();
}

template <DType dtype, std::size_t wide, std::size_t most, std::size_t outputs>
Refusal accepts(const Problem& problem) {
    return needs_operands(problem, dtype, wide, most, outputs);
}

/// The accepts functions per dtype; all dtypes share the run function.
struct AcceptsDtype {
    DType dtype;
    Refusal (*accepts)(const Problem&);
};
template <std::size_t wide, std::size_t most, std::size_t outputs>
constexpr AcceptsDtype accepts_each[] = {{DType::f32, accepts<DType::f32, wide, most, outputs>},
                                         {DType::f16, accepts<DType::f16, wide, most, outputs>},
                                         {DType::bf16, accepts<DType::bf16, wide, most, outputs>}};

/// Number of elements along the axes.
Dim length_of(const Problem& problem, const AxisRun& run) {
    Dim length = 1;
    for (std::size_t axis = run.first; axis <= run.last; ++axis) length = length * problem.inputs[0].shape[axis];
    return length;
}

/// The plan of a Problem.
AxisPlan plan_of(const Problem& problem, const AxisRun& run) {
    const std::size_t wide = problem.definition.starts_with("add_") ? 2 : 1, inputs = problem.inputs.size();
    return {static_cast<int>(run.first),
            static_cast<int>(run.last),
            run.is_row,
            problem.attributes.has("eps") ? static_cast<float>(problem.attributes.number("eps")) : 0.0f,
            inputs > wide,
            inputs > wide + 1,
            problem.inputs[0].dtype};
}

/// Workspace, for each member that has a row, for f32 values that f16 or bf16 would round: exponentials of a row, or
/// rows that are read more than once.
Dim bytes_of_rows(const Problem& problem, const AxisRun& run, int threads) {
    if (problem.inputs[0].dtype == DType::f32 || problem.definition == "log_softmax") return 0;
    Dim rows = 1;
    for (std::size_t axis = 0; axis < run.first; ++axis) rows *= problem.inputs[0].shape[axis];
    const int buffered = problem.definition == "softmax" ? 1 : buffered_rows(plan_of(problem, run));
    return ceildiv(length_of(problem, run), 16) * Dim(64 * buffered) * min(rows, threads);
}

/// Workspace: the buffer of column_traversal.hpp, or rows, for each member.
Dim workspace(const Problem& problem, int threads) {
    const AxisRun run = axes_of(problem, name_of_axes(problem));
    if (run.is_row) return bytes_of_rows(problem, run, threads);
    return (min(length_of(problem, run), max_cached_rows) * Dim(buffered_row) + Dim(room_for_columns)) * Dim(threads);
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    return std::make_shared<AxisPlan>(plan_of(problem, axes_of(problem, name_of_axes(problem))));
}

Cost cost(const Problem& problem) {
    const double elements = static_cast<double>(element_count(problem.inputs[0].shape).constant());
    const bool exponential = problem.definition.find("softmax") != std::string::npos;
    return {elements * (exponential ? 20 : 8), bytes_of(problem), 0.25};
}

std::string in_dtype(std::string sample, DType dtype) {
    const std::string name(to_string(dtype));
    for (std::size_t at = sample.find("f32"); at != std::string::npos; at = sample.find("f32", at + name.size()))
        sample.replace(at, 3, name);
    return sample;
}

int version_of(const std::string& definition, bool is_narrow) {
    if (definition.starts_with("add_")) return is_narrow ? 3 : 2;
    if (definition == "softmax") return is_narrow ? 4 : 6;
    return is_narrow && definition == "log_softmax" ? 3 : 4;
}

struct Family {
    FeatureSet needs;
    std::vector<Kernel>& kernels;

    /// For f16 and bf16 only the first `narrow` samples are tested: all but loads and stores is as in f32.
    void add(const std::string& definition, std::span<const AcceptsDtype> dtypes, Run run, std::size_t narrow,
             const std::vector<std::string>& samples) {
        const bool adds = definition.starts_with("add_");
        for (const auto& [dtype, accepts] : dtypes) {
            const bool is_narrow = dtype != DType::f32;
            Kernel made;
            made.id = "cpu." + std::string(isa_level_name(needs)) + "." + definition + "." +
                      std::string(to_string(dtype)) + "@" + std::to_string(version_of(definition, is_narrow));
            made.definition = definition;
            made.needs = needs;
            made.accepts = accepts;
            made.run = run;
            made.cost = cost;
            made.prepare = prepare;
            made.in_place = {{0, 0}};
            if (adds) made.in_place = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
            made.workspace = workspace;
            for (std::size_t i = 0; i < (is_narrow ? narrow : samples.size()); ++i)
                made.samples.push_back(in_dtype(samples[i], dtype));
            kernels.push_back(std::move(made));
        }
    }
};

void add_softmaxes(Family& family, const SimdTable& table) {
    const std::pair<const char*, Run> softmaxes[] = {{"softmax", table.softmax}, {"log_softmax", table.log_softmax}};
    for (const auto& [name, run] : softmaxes) {
        const std::string op(name);
        family.add(
            op, accepts_each<1, 1, 1>, run, 7,
            {op + " axis=(-2) | f32[R,N,W] -> f32[R,N,W] where R in 20..300, N in 1..9, W in 1..7",
             op + " axis=(0) | f32[N,C]:(2000,1) -> f32[N,C] where N in 130..200, C in 60..140",
             op + " axis=(-1) | f32[R,N] -> f32[R,N] where R in 0..40, N in 1..300",
             op + " axis=(-1) | f32[2,3,N]:(3*N,N,1) -> f32[2,3,N]:(N,2*N,1) where "
                  "N in 1..70",
             op + " axis=(-1) | f32[R,N] -> f32[R,N] where R in 60..150, N in 1..66",
             op + " axis=(0) | f32[N,C] -> f32[N,C] where N in 1..300, C in 0..150",
             op + " axis=(1) | f32[2,N,3,W]:(3*N*W,W,N*W,1) -> f32[2,N,3,W] where "
                  "N in 1..40, W in 1..70",
             op + " axis=(-1) | f32[5,768]:(0,1) -> f32[5,768]", op + " axis=(-1) | f32[4,5000] -> f32[4,5000]",
             op + " axis=(-3) | f32[2,N,5,7] -> f32[2,N,5,7] where N in 1..1000",
             op + " axis=(1) | f32[R,N,1] -> f32[R,N,1] where R in 0..40, N in "
                  "1..90",
             op + " axis=(0) | f32[20000,9] -> f32[20000,9]", op + " axis=(-1) | f32[N] -> f32[N] where N in 1..300",
             op + " axis=(-3) | f32[N,2,W] -> f32[N,2,W] where N in 1..40, W in "
                  "1..70",
             op + " axis=(-4) | f32[2,N,3,1,5] -> f32[2,N,3,1,5] where N in 1..40"});
    }
}

void add_norms(Family& family, const SimdTable& table) {
    family.add("layer_norm", accepts_each<1, 3, 1>, table.layer_norm, 7,
               {"layer_norm axis=(-2) eps=1e-05 | f32[R,N,W] f32[N] f32[N] -> f32[R,N,W] where "
                "R in 20..300, N in 1..9, W in 1..7",
                "layer_norm axis=(0) eps=1e-05 | f32[N,C]:(2000,1) f32[N] f32[N] -> f32[N,C] where "
                "N in 130..200, C in 60..140",
                "layer_norm eps=1e-05 | f32[R,N] f32[N] f32[N] -> f32[R,N] where "
                "R in 0..40, N in 1..300",
                "layer_norm eps=1e-05 | f32[R,N] f32[N] f32[N] -> f32[R,N] where "
                "R in 60..150, N in 1..66",
                "layer_norm eps=1e-05 | f32[R,N] -> f32[R,N] where R in 0..40, N "
                "in 1..300",
                "layer_norm axis=(1) eps=1e-05 | f32[2,N,5,7] f32[N]! f32[N]! -> "
                "f32[2,N,5,7] where N in 8..600",
                "layer_norm axis=(0) eps=1e-05 | f32[N,C] f32[N] -> f32[N,C] "
                "where N in 1..300, C in 0..150",
                "layer_norm eps=1e-12 | f32[2,T,768]:(768,1536,1) f32[768]! "
                "f32[768]! -> f32[2,T,768] where T in 1..20",
                "layer_norm eps=1e-05 | f32[R,N] f32[N] -> f32[R,N] where R in "
                "0..40, N in 1..300",
                "layer_norm axis=(-2) eps=1e-05 | f32[2,N,W]:(W,2*W,1) -> "
                "f32[2,N,W] where N in 1..40, W in 1..70",
                "layer_norm eps=1e-05 | f32[N] f32[N]! f32[N]! -> f32[N] where N "
                "in 1..300",
                "layer_norm eps=1e-05 | f32[N] -> f32[N] where N in 1..300",
                "layer_norm axis=(-4) eps=1e-05 | f32[2,N,3,4,5] f32[N] f32[N] "
                "-> f32[2,N,3,4,5] where N in 1..40",
                "layer_norm axes=(-2,-1) eps=1e-05 | f32[R,N,7] f32[N,7] "
                "f32[N,7] -> f32[R,N,7] where R in 0..9, N in 1..50",
                "layer_norm axes=(-2,-1) eps=1e-05 | f32[R,N,7]:(14*N,7,1) "
                "f32[N,7] -> f32[R,N,7] where R in 0..9, N in 1..50",
                "layer_norm axes=(-3,-2,-1) eps=1e-05 | f32[2,N,1,9] -> "
                "f32[2,N,1,9] where N in 1..50",
                "layer_norm axes=(-3,-2) eps=1e-05 | f32[2,N,3,9] f32[N,3] "
                "f32[N,3] -> f32[2,N,3,9] where N in 1..50"});
    family.add("rms_norm", accepts_each<1, 2, 1>, table.rms_norm, 4,
               {"rms_norm axis=(0) eps=1e-06 | f32[N,C]:(2000,1) f32[N] -> f32[N,C] where "
                "N in 130..200, C in 60..140",
                "rms_norm eps=1e-06 | f32[R,N] f32[N] -> f32[R,N] where R in "
                "0..40, N in 1..300",
                "rms_norm eps=1e-06 | f32[R,N] f32[N] -> f32[R,N] where R in "
                "60..150, N in 1..66",
                "rms_norm axis=(1) eps=1e-06 | f32[2,N,5,7] f32[N]! -> "
                "f32[2,N,5,7] where N in 1..600",
                "rms_norm eps=1e-06 | f32[2,T,640]:(640,1280,1) f32[640]! -> "
                "f32[2,T,640] where T in 1..20",
                "rms_norm eps=1e-06 | f32[R,N] -> f32[R,N] where R in 0..40, N "
                "in 1..300",
                "rms_norm axis=(0) eps=1e-06 | f32[N,C] -> f32[N,C] where N in "
                "1..300, C in 0..150",
                "rms_norm eps=1e-06 | f32[N] f32[N]! -> f32[N] where N in 1..300",
                "rms_norm axes=(-2,-1) eps=1e-06 | f32[R,N,7] f32[N,7] -> "
                "f32[R,N,7] where R in 0..9, N in 1..50",
                "rms_norm axes=(-3,-2,-1) eps=1e-06 | f32[2,N,1,9] -> "
                "f32[2,N,1,9] where N in 1..50"});
    family.add("add_layer_norm", accepts_each<2, 4, 2>, table.add_layer_norm, 2,
               {"add_layer_norm eps=1e-05 | f32[R,N] f32[R,N] f32[N] f32[N] -> "
                "f32[R,N] f32[R,N] where R in 0..40, N in 1..300",
                "add_layer_norm eps=1e-05 | f32[2,T,768] f32[2,T,768]:(768,0,1) "
                "f32[768]! f32[768]! -> f32[2,T,768] f32[2,T,768] "
                "where T in 1..20",
                "add_layer_norm eps=1e-05 | f32[R,N] f32[R,N] f32[N] -> f32[R,N] "
                "f32[R,N] where R in 0..40, N in 1..300",
                "add_layer_norm eps=1e-05 | f32[R,N] f32[R,N] -> f32[R,N] "
                "f32[R,N] where R in 0..40, N in 1..300",
                "add_layer_norm eps=1e-05 | f32[N] f32[N] f32[N] f32[N] -> "
                "f32[N] f32[N] where N in 1..300"});
    family.add("add_rms_norm", accepts_each<2, 3, 2>, table.add_rms_norm, 1,
               {"add_rms_norm eps=1e-06 | f32[R,N] f32[R,N] f32[N] -> f32[R,N] "
                "f32[R,N] where R in 0..40, N in 1..300",
                "add_rms_norm eps=1e-06 | f32[R,N] f32[R,N] -> f32[R,N] f32[R,N] "
                "where R in 0..40, N in 1..300",
                "add_rms_norm eps=1e-06 | f32[N] f32[N] f32[N] -> f32[N] f32[N] "
                "where N in 1..300"});
}

}  // namespace

void add_row_kernels(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table) {
    Family family{needs, kernels};
    add_softmaxes(family, table);
    add_norms(family, table);
}

}  // namespace cairn::kernels::cpu
