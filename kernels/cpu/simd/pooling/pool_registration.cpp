#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/matmul_operands.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/pooling/pool_plan.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <limits>
#include <memory>
#include <string>

/// Registers pooling kernels: sum, mean and maximum over the windows of an image.
namespace cairn::kernels::cpu {
namespace {

// True if exactly the window axes are reduced.
bool folds_windows(const Problem& problem) {
    const std::vector<Dim>& axes = problem.attributes.dims("axes");
    const std::size_t count = problem.inputs[0].shape.size() - 2, rank = 2 + 2 * count;
    if (axes.size() != count) return false;
    for (std::size_t axis = rank - count; axis < rank; ++axis)
        if (std::none_of(axes.begin(), axes.end(), [&](const Dim& folded) {
                return axis_index(folded.constant(), rank) == static_cast<int>(axis);
            }))
            return false;
    return true;
}

bool is_padded(const Problem& problem) {
    for (const Dim& amount : problem.attributes.dims("padding"))
        if (!(amount == Dim(0))) return true;
    return false;
}

// True if no element is read twice, so that a cached band does not pay.
bool reads_once(const Problem& problem) {
    const WindowAxis columns = window_plan(problem).columns;
    return size_of(problem.inputs[0].dtype) == 4 && !is_padded(problem) && columns.reach() < columns.stride;
}

Refusal accepts_dtype(const Problem& problem) {
    const DType dtype = problem.inputs[0].dtype;
    if (dtype != problem.outputs[0].dtype) return "needs one dtype";
    if (dtype == DType::f32 || is_widening(dtype, DType::f32)) return {};
    const bool is_whole = dtype == DType::i8 || dtype == DType::u8 || dtype == DType::i32;
    return is_whole && problem.definition == "image_max" ? Refusal()
                                                         : "needs f32, f16 or bf16, or i8, u8 or i32 for max";
}

/// The identity element of the reduction.
double neutral(const Problem& problem) {
    if (problem.definition != "image_max") return 0;
    switch (problem.inputs[0].dtype) {
        case DType::i8: return std::numeric_limits<std::int8_t>::lowest();
        case DType::u8: return 0;
        case DType::i32: return std::numeric_limits<std::int32_t>::lowest();
        default: return -std::numeric_limits<double>::infinity();
    }
}

Refusal accepts(const Problem& problem) {
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (Refusal no = needs_plain(problem, 8); !no.empty()) return no;
    if (Refusal no = accepts_window_axes(problem); !no.empty()) return no;
    if (Refusal no = accepts_dtype(problem); !no.empty()) return no;
    if (!folds_windows(problem)) return "needs the axes of windows, (3), (4,5) or (5,6,7)";
    const TensorDesc& out = problem.outputs[0];
    const std::size_t last = problem.inputs[0].shape.size() - 1;
    if (!has_unit_stride(out, last)) return "needs rows of the result";
    if (out.shape[last] == Dim(1)) return "needs more than one window along the last axis";
    if (reads_once(problem)) return "needs padding, windows that overlap, or elements of 8 or 16 bits";
    for (const Dim& size : problem.attributes.dims("kernel"))
        if (size.constant() > max_taps) return "needs windows of " + std::to_string(max_taps) + " taps at most";
    if (smallest_band_floats(window_plan(problem)) > max_smallest_band_floats)
        return "needs windows that fit into the band buffer";
    if (is_padded(problem) && problem.attributes.number("value") != neutral(problem))
        return "needs padding with the identity element of the reduction";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    const std::string& name = problem.definition;
    const ReduceKind fold = name == "image_sum"    ? ReduceKind::sum
                            : name == "image_mean" ? ReduceKind::mean
                                                   : ReduceKind::max;
    PoolPlan plan{window_plan(problem), fold};
    // The band holds the bits of 32-bit integers; the least integer has the bits of -0.
    if (plan.image.dtype == DType::i32) plan.image.padding_value = -0.0f;
    return std::make_shared<PoolPlan>(plan);
}

Dim workspace(const Problem& problem, int threads) {
    const Shape& out = problem.outputs[0].shape;
    const std::size_t last = problem.inputs[0].shape.size() - 1;
    return band_bytes(window_plan(problem), last > 2 ? out[last - 1] : Dim(1), out[last]) * Dim(threads);
}

Cost cost(const Problem& problem) {
    const double results = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    return {results * static_cast<double>(window_plan(problem).taps()), bytes_of(problem), 0.25};
}

/// Coverage for each dtype: padding on any side and larger than the image, strides and dilations, narrow and wide rows,
/// more rows than one tile, one and three spatial axes, empty images. For f32 and f16 also rows too long for one tile,
/// dilations at which no two taps read a common element, and windows with many taps, for which a tile has few rows.
std::vector<std::string> samples_of(const std::string& name, const std::string& more, const std::string& dtype) {
    const std::string least = dtype == "i8" ? "-128" : dtype == "u8" ? "0" : dtype == "i32" ? "-2147483648" : "-inf";
    const std::string padding_value = name == "image_max" ? least : "0";
    const auto sample = [&](const std::string& kernel, const std::string& padding, const std::string& stride,
                            const std::string& dilation, const std::string& from, const std::string& to) {
        return name + " axes=(-2,-1)" + more + " kernel=(" + kernel + ") padding=(" + padding + ") stride=(" + stride +
               ") dilation=(" + dilation + ") value=" + padding_value + " | " + dtype + from + " -> " + dtype + to;
    };
    std::vector<std::string> samples = {
        sample("3,3", "1,1,1,1", "1,1", "1,1", "[B,3,H,W]", "[B,3,H,W,1,1] where B in 0..2, H in 1..40, W in 2..90"),
        sample("3,3", "1,1,1,1", "2,2", "1,1", "[1,2,2*P,2*Q]", "[1,2,P,Q,1,1] where P in 1..20, Q in 2..50"),
        sample("3,2", "2,0,0,1", "1,3", "2,1", "[1,2,P+2,3*Q]", "[1,2,P,Q,1,1] where P in 1..9, Q in 2..40"),
        sample("2,3", "0,3,4,0", "3,1", "1,2", "[1,2,3*P,Q+1]:(6*P*(Q+9),3*P*(Q+9),Q+9,1)",
               "[1,2,P+1,Q,1,1]:(1000,500,Q+1,1,1,1) where P in 1..4, Q in 2..20"),
        sample("1,2", "0,2,0,2", "1,4", "1,1", "[1,2,P,4*Q]", "[1,2,P,Q+1,1,1] where P in 1..4, Q in 2..20"),
        sample("3,3", "2,1,2,1", "1,1", "1,1", "[1,2,0,W]", "[1,2,2,W,1,1] where W in 2..9"),
    };
    const auto of_rows = [&](const std::string& windows, const std::string& from, const std::string& to) {
        samples.push_back(name + " axes=(-1)" + more + " " + windows + " value=" + padding_value + " | " + dtype +
                          from + " -> " + dtype + to);
    };
    of_rows("kernel=(3) padding=(1,1) stride=(2) dilation=(1)", "[B,3,2*Q]", "[B,3,Q,1] where B in 0..2, Q in 2..150");
    samples.push_back(name + " axes=(-3,-2,-1)" + more +
                      " kernel=(3,2,3) padding=(2,1,0,2,0,2) stride=(2,1,2) dilation=(2,1,1) value=" + padding_value +
                      " | " + dtype + "[1,2,2*E,3,2*Q] -> " + dtype + "[1,2,E,3,Q,1,1,1] where E in 1..4, Q in 2..40");
    if (dtype != "f32")
        samples.push_back(
            sample("2,2", "0,0,0,0", "2,2", "1,1", "[2,3,2*P,2*Q]", "[2,3,P,Q,1,1] where P in 1..20, Q in 2..50"));
    if (dtype == "f32" || dtype == "f16") {
        of_rows("kernel=(3) padding=(1,1) stride=(1) dilation=(1)", "[1,2,Q]", "[1,2,Q,1] where Q in 32000..34000");
        samples.push_back(sample("3,3", "1,1,1,1", "1,1", "1,1", "[1,1,17,4100]", "[1,1,17,4100,1,1]"));
        samples.push_back(
            sample("3,3", "20,700,20,700", "1,1", "20,700", "[1,1,H,99]", "[1,1,H,99,1,1] where H in 9..40"));
        samples.push_back(sample("16,16", "0,1,0,0", "16,16", "1,1", "[1,1,32,4159]", "[1,1,2,260,1,1]"));
    }
    return samples;
}

}  // namespace

void add_pools(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table) {
    for (const std::string name : {"image_sum", "image_mean", "image_max"}) {
        Kernel made;
        made.id = "cpu." + std::string(isa_level_name(needs)) + "." + name + "@2";
        made.definition = name;
        made.needs = needs;
        made.accepts = accepts;
        made.run = table.pool;
        made.workspace = workspace;
        made.cost = cost;
        made.prepare = prepare;
        for (const char* const dtype : {"f32", "f16", "bf16"})
            for (std::string& sample : samples_of(name, name == "image_mean" ? " keepdims=(1)" : "", dtype))
                made.samples.push_back(std::move(sample));
        // Integers differ only in how elements are loaded and compared.
        for (const char* const dtype : {"i8", "u8", "i32"})
            if (name == "image_max") {
                const std::vector<std::string> all = samples_of(name, "", dtype);
                made.samples.insert(made.samples.end(), all.begin(), all.begin() + 3);
                made.samples.push_back(all[7]);
            }
        kernels.push_back(std::move(made));
    }
}

}  // namespace cairn::kernels::cpu
