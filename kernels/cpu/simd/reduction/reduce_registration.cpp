#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/reduction/reduce_plan.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

/// Registers reductions for all numeric dtypes, over any axes with any strides.
namespace cairn::kernels::cpu {
namespace {

const std::vector<Dim>& axes_of(const Problem& problem) {
    return problem.attributes.dims(problem.definition == "argmax" ? "axis" : "axes");
}

/// True for each reduced axis; an empty list reduces all. Empty if an axis does not exist.
std::vector<bool> folded_axes(const Problem& problem) {
    const auto rank = static_cast<std::int64_t>(problem.inputs[0].shape.size());
    const std::vector<Dim>& axes = axes_of(problem);
    std::vector<bool> folded(static_cast<std::size_t>(rank), axes.empty());
    for (const Dim& axis : axes) {
        const std::int64_t at = axis.constant() < 0 ? axis.constant() + rank : axis.constant();
        if (at < 0 || at >= rank) return {};
        folded[static_cast<std::size_t>(at)] = true;
    }
    return folded;
}

Refusal accepts(const Problem& problem) {
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (Refusal no = needs_plain(problem, max_reduce_rank); !no.empty()) return no;
    const TensorDesc &x = problem.inputs[0], &out = problem.outputs[0];
    if (x.dtype == DType::boolean) return "needs numbers";
    if (problem.definition == "mean" && !is_float(x.dtype)) return "needs floats";
    if (out.dtype != (problem.definition == "argmax" ? DType::i32 : x.dtype)) return "has a wrong result dtype";
    const std::vector<bool> folded = folded_axes(problem);
    if (folded.size() != x.shape.size()) return "needs axes of x";
    Shape kept = x.shape, reduced_sizes;
    for (std::size_t axis = 0; axis < folded.size(); ++axis) {
        if (folded[axis]) kept[axis] = 1;
        if (!folded[axis]) reduced_sizes.push_back(x.shape[axis]);
    }
    return out.shape == kept || out.shape == reduced_sizes ? Refusal()
                                                           : "needs an output of one element for all along the axes";
}

/// The reduction of no elements, exact in a double: 0, NaN, or the least number of the dtype.
double value_of_empty(ReduceKind fold, DType dtype) {
    if (fold == ReduceKind::mean) return std::numeric_limits<double>::quiet_NaN();
    if (fold != ReduceKind::max) return 0;
    switch (dtype) {
        case DType::i64: return static_cast<double>(std::numeric_limits<std::int64_t>::lowest());
        case DType::i32: return std::numeric_limits<std::int32_t>::lowest();
        case DType::i8: return std::numeric_limits<std::int8_t>::lowest();
        case DType::u8: return 0;
        default: return -std::numeric_limits<double>::infinity();
    }
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    const std::string& name = problem.definition;
    auto plan = std::make_shared<ReducePlan>();
    plan->fold = name == "sum"          ? ReduceKind::sum
                 : name == "mean"       ? ReduceKind::mean
                 : name == "max_reduce" ? ReduceKind::max
                                        : ReduceKind::argmax;
    plan->input = problem.inputs[0].dtype;
    plan->output = problem.outputs[0].dtype;
    plan->value_of_empty = value_of_empty(plan->fold, plan->output);
    const std::vector<bool> folded = folded_axes(problem);
    std::copy(folded.begin(), folded.end(), plan->is_reduced);
    return plan;
}

Dim workspace(const Problem& problem, int) {
    const Dim count = element_count(problem.inputs[0].shape);
    Dim of_rows = ceildiv(count, piece_size) + Dim(max_cut_rows);
    // Windows overlap, so they have more elements than memory has, but few per window.
    Dim length = 1;
    const std::vector<bool> folded = folded_axes(problem);
    for (std::size_t axis = 0; axis < folded.size(); ++axis)
        if (folded[axis]) length = length * problem.inputs[0].shape[axis];
    if (length.is_constant())
        of_rows = length.constant() < least_cut ? Dim(0) : min(of_rows, ceildiv(length, piece_size) * max_cut_rows);
    const Dim of_columns = min(ceildiv(count, rows_of_piece), Dim(max_pieces * max_cut_columns));
    return max(of_rows, of_columns) * Dim(16);
}

Cost cost(const Problem& problem) {
    return {8 * static_cast<double>(element_count(problem.inputs[0].shape).constant()), bytes_of(problem), 0.25};
}

/// Samples of a reduction that keeps or drops its axes; `attributes` follow the axes.
std::vector<std::string> samples_of(const std::string& op, const std::string& attributes, bool kept) {
    const auto sample = [&](const std::string& axes, const std::string& x, const std::string& keeping,
                            const std::string& losing, const std::string& where) {
        return op + " axes=(" + axes + ")" + attributes + " | f32" + x + " -> f32" + (kept ? keeping : losing) +
               (where.empty() ? "" : " where ") + where;
    };
    const std::string least = op == "mean" ? "1" : "0";
    return {sample("-1", "[R,N]", "[R,1]", "[R]", "R in 0..40, N in " + least + "..300"),
            sample("-1", "[2,T,33]:(33,66,1)", "[2,T,1]", "[2,T]", "T in 1..50"),
            sample("0", "[N,C]", "[1,C]", "[C]", "N in " + least + "..300, C in 0..3000"),
            sample("-2", "[2,N,3,W]:(3*N*W,3*W,W,1)", "[2,N,1,W]", "[2,N,W]", "N in 1..40, W in 1..70"),
            sample("2,3", "[B,3,5,7]", "[B,3,1,1]", "[B,3]", "B in 0..4"),
            sample("1,-2", "[B,3,H,7]", "[B,1,1,7]", "[B,7]", "B in 0..4, H in 1..40"),
            sample("0,1", "[4,30]", "[1,1]", "[]", ""),
            sample("-1", "[N]", "[1]", "[]", "N in " + least + "..300"),
            sample("-4,-3,-2,-1", "[2,N,4,5]", "[1,1,1,1]", "[]", "N in 1..40"),
            sample("-5", "[N,2,1,3,4]", "[1,2,1,3,4]", "[2,1,3,4]", "N in 1..40")};
}

/// Coverage for each dtype: contiguous and strided, rows and columns, overlapping windows, few long rows.
std::vector<std::string> samples_of(const std::string& op, const std::string& attributes, DType dtype) {
    const std::string x(to_string(dtype)), y(op == "argmax" ? "i32" : x), axes = op == "argmax" ? " axis=(" : " axes=(";
    const auto sample = [&](const std::string& of, const std::string& from, const std::string& to) {
        return op + axes + of + ")" + attributes + " | " + x + from + " -> " + y + to;
    };
    std::vector<std::string> samples = {
        sample("-1", "[R,N]", "[R,1] where R in 0..40, N in 1..300"),
        sample("-2", "[R,N,W]", "[R,1,W] where R in 16..300, N in 2..9, W in 1..7"),
        sample("-2", "[2,N,W]", "[2,1,W] where N in 1..40, W in 1..700"),
        sample("-1", "[T,N]:(1,T)", "[T,1] where T in 1..90, N in 1..40"),
        sample("-2", "[9,4]:(0,1)", "[1,4]"),
        sample("-1", "[N]:(3)", "[1] where N in 1..2000"),
        sample("-1", "[2,3,40]:(240,80,2)", "[2,3,1]:(7,2,1)"),
        sample("-1", "[2,16500]", "[2,1]"),
        sample("-2", "[N,W]", "[1,W] where N in 120..300, W in 60..140"),
        sample("-2", "[1030,70]:(80,1)", "[1,70]:(210,3)"),
    };
    if (op == "argmax") return samples;
    if (op != "mean") samples.push_back(sample("-1", "[3,N]", "[3,1] where N in 0..3"));
    samples.push_back(sample("-3,-1", "[4,N,3,20]", "[4,1,3,1] where N in 1..20"));
    samples.push_back(sample("-4,-2", "[4,3,N,W]", "[1,3,1,W] where N in 1..20, W in 1..30"));
    samples.push_back(sample("-2,-1", "[3,N,W,3,3]:(2*(N+1)*2*(W+1),4*(W+1),2,2*(W+1),1)",
                             "[3,N,W,1,1] where N in 1..9, W in 1..70"));
    samples.push_back(sample("-2,-1", "[2,W,2,3]:(4*W+4,2,2*W+2,1)", "[2,W,1,1] where W in 180..400"));
    samples.push_back(sample("-2,-1", "[3,9,W,2,2]:(9*(W+1),W+1,1,W+1,1)", "[3,9,W,1,1] where W in 1..70"));
    return samples;
}

}  // namespace

void add_reductions(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table) {
    for (const std::string name : {"sum", "mean", "max_reduce", "argmax"}) {
        Kernel made;
        made.id = "cpu." + std::string(isa_level_name(needs)) + "." + name + (name == "argmax" ? "@8" : "@6");
        made.definition = name;
        made.needs = needs;
        made.accepts = accepts;
        made.run = table.reduce_axes;
        made.workspace = workspace;
        made.cost = cost;
        made.prepare = prepare;
        if (name != "argmax") made.samples = samples_of(name, name == "mean" ? " keepdims=(1)" : "", true);
        if (name == "mean")
            for (std::string& sample : samples_of(name, " keepdims=(0)", false))
                made.samples.push_back(std::move(sample));
        for (const DType dtype :
             {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8, DType::u8}) {
            if (name == "mean" && !is_float(dtype)) continue;
            for (std::string& sample : samples_of(name, name == "mean" ? " keepdims=(1)" : "", dtype))
                made.samples.push_back(std::move(sample));
        }
        kernels.push_back(std::move(made));
    }
}

}  // namespace cairn::kernels::cpu
