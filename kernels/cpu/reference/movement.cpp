#include "kernels/cpu/reference/element.hpp"
#include "kernels/cpu/reference/registration.hpp"

#include <algorithm>
#include <memory>

/// Reference kernels of ops that only move elements. Each is a strided view of its input, with strides computed at the
/// start of a run, which is then copied. `copy`, between any strides, also stores the new rows of a state.
namespace cairn::kernels::cpu::reference {
namespace {

enum class Motion { same, transpose, broadcast, slice, window };

struct Movement {
    Motion motion = Motion::same;
    std::size_t bytes = 0;  ///< of an element
    int axis = 0;
    std::vector<int> permutation;
    int start_at = 0;  ///< index of a slice's start in Args::dims
    std::int64_t step = 1, dilation = 1;
};

// Computes the strides of the input as a view with the output's shape; returns the view's offset in elements.
std::int64_t view_strides(const Movement& movement, const Args& args, std::int64_t* strides) noexcept {
    const TensorArg &in = args.inputs[0], &out = args.outputs[0];
    switch (movement.motion) {
        case Motion::same: break;
        case Motion::transpose:
            for (int i = 0; i < out.rank; ++i)
                strides[i] = in.strides[movement.permutation[static_cast<std::size_t>(i)]];
            break;
        case Motion::broadcast:
            for (int i = 0; i < out.rank; ++i) {
                const int from = i - (out.rank - in.rank);
                strides[i] = from >= 0 && in.shape[from] != 1 ? in.strides[from] : 0;
            }
            break;
        case Motion::slice:
            for (int i = 0; i < out.rank; ++i) strides[i] = in.strides[i] * (i == movement.axis ? movement.step : 1);
            return args.dims[movement.start_at] * in.strides[movement.axis];
        case Motion::window:
            for (int i = 0; i < in.rank; ++i) strides[i] = in.strides[i] * (i == movement.axis ? movement.step : 1);
            strides[in.rank] = in.strides[movement.axis] * movement.dilation;
            break;
    }
    return 0;
}

std::int64_t scratch_bytes(std::int64_t rank) noexcept { return rounded_to_line(rank * 8); }

void run(const Args& args, Team& team) {
    const Movement& movement = *static_cast<const Movement*>(args.prepared);
    const StridedView to = strided_view_of(args.outputs[0]);
    StridedView from = strided_view_of(args.inputs[0]);
    if (element_count(to) == 0) return;
    if (movement.motion != Motion::same) {
        auto* strides = reinterpret_cast<std::int64_t*>(args.workspace + scratch_bytes(to.rank) * team.rank());
        const std::int64_t begin = view_strides(movement, args, strides);
        from = {from.data + begin * static_cast<std::int64_t>(movement.bytes), to.shape, strides, to.rank};
    }
    constexpr std::int64_t per_chunk = 8192;
    const std::int64_t count = element_count(to);
    for (std::int64_t chunk = team.next_chunk(); chunk * per_chunk < count; chunk = team.next_chunk())
        move_elements(to, from, movement.bytes, {chunk * per_chunk, std::min(count, (chunk + 1) * per_chunk)});
}

Refusal accepts(const Problem& problem) {
    if (Refusal refusal = needs_plain_memory(problem); !refusal.empty()) return refusal;
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (problem.inputs[0].dtype != problem.outputs[0].dtype) return "needs one dtype";
    if ((problem.definition == "copy" || problem.definition == "copy_to") &&
        problem.inputs[0].shape != problem.outputs[0].shape)
        return "needs equal shapes";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto movement = std::make_shared<Movement>();
    const std::size_t rank = problem.inputs[0].shape.size();
    const Attributes& attributes = problem.attributes;
    movement->bytes = size_of(problem.inputs[0].dtype);
    if (problem.definition == "transpose") {
        movement->motion = Motion::transpose;
        for (const Dim& axis : attributes.dims("permutation"))
            movement->permutation.push_back(axis_index(axis.constant(), rank));
    } else if (problem.definition == "broadcast") {
        movement->motion = Motion::broadcast;
    } else if (problem.definition == "slice") {
        movement->motion = Motion::slice;
        movement->axis = axis_index(attributes.integer("axis"), rank);
        movement->start_at = position_of_list(problem, "start");
        movement->step = attributes.integer("step");
    } else if (problem.definition == "window") {
        movement->motion = Motion::window;
        movement->axis = axis_index(attributes.integer("axis"), rank);
        movement->step = attributes.integer("stride");
        movement->dilation = attributes.integer("dilation");
    }
    return movement;
}

/// Stride in the input of neighbours along the last axis of the output. For `reshape` it is the stride within a row of
/// the input, which may end within a row of the output.
Dim inner_stride_of_input(const Problem& problem) {
    const TensorDesc& in = problem.inputs[0];
    const std::size_t rank = in.shape.size();
    if (rank == 0 || in.strides.empty()) return 1;
    if (problem.definition == "transpose") {
        const Dim& axis = problem.attributes.dims("permutation").back();
        return in.strides[static_cast<std::size_t>(axis_index(axis.constant(), rank))];
    }
    if (problem.definition == "window") {
        const auto axis = static_cast<std::size_t>(axis_index(problem.attributes.integer("axis"), rank));
        return in.strides[axis] * problem.attributes.integer("dilation");
    }
    const bool is_stepped = problem.definition == "slice" &&
                            axis_index(problem.attributes.integer("axis"), rank) == static_cast<int>(rank) - 1;
    return in.strides.back() * (is_stepped ? problem.attributes.integer("step") : 1);
}

/// Elements that are contiguous on both sides are moved a row at a time, others one by one.
Cost cost(const Problem& problem) {
    constexpr double of_row = 1, of_element_in_row = 0.02, of_element = 0.5;
    const TensorDesc &in = problem.inputs[0], &out = problem.outputs[0];
    const double count = static_cast<double>(element_count(out.shape).constant());
    const double bytes = 2 * size_in_bytes(out);
    if (in.is_dense() && out.is_dense() &&
        (problem.definition == "reshape" || problem.definition == "copy" || problem.definition == "copy_to"))
        return scalar_cost(of_element_in_row * count, bytes);
    const bool is_by_row =
        inner_stride_of_input(problem) == Dim(1) && (out.strides.empty() || out.strides.back() == Dim(1));
    if (!is_by_row) return scalar_cost(of_element * count, bytes);
    double row = out.shape.empty() ? 1 : static_cast<double>(out.shape.back().constant());
    if (problem.definition == "reshape" && !in.shape.empty())
        row = std::min(row, static_cast<double>(in.shape.back().constant()));
    return scalar_cost(of_element_in_row * count + of_row * count / std::max(row, 1.0), bytes);
}

Kernel kernel(const std::string& name, std::vector<std::string> samples) {
    Kernel made = reference_kernel(name, accepts, run, prepare, std::move(samples));
    made.cost = cost;
    made.workspace = [](const Problem& problem, int threads) {
        return Dim(scratch_bytes(static_cast<std::int64_t>(problem.outputs[0].shape.size())) * threads);
    };
    return made;
}

}  // namespace

void add_movement(std::vector<Kernel>& kernels) {
    kernels.push_back(
        kernel("reshape", {"reshape shape=(N,12) | f32[N,3,4] -> f32[N,12] where N in 0..900",
                           "reshape shape=(6,4) | i8[2,3,4]:(3,1,6) -> i8[6,4]",
                           "reshape shape=(7,5,3) | f16[105] -> f16[7,5,3]", "reshape shape=() | f64[1,1] -> f64[]"}));
    kernels.push_back(
        kernel("transpose", {"transpose permutation=(-2,-3,-1) | f32[T,4,9] -> f32[4,T,9] where T in 0..700",
                             "transpose permutation=(-1,-2) | i64[33,70] -> i64[70,33]",
                             "transpose permutation=(-1,-3,-2) | bf16[3,4,5]:(40,10,2) -> bf16[5,3,4]"}));
    kernels.push_back(kernel(
        "broadcast", {"broadcast shape=(3,N,4) | f32[N,1] -> f32[3,N,4] where N in 0..900",
                      "broadcast shape=(5,2) | bool[] -> bool[5,2]", "broadcast shape=(2,6) | u8[6]:(3) -> u8[2,6]"}));
    kernels.push_back(
        kernel("slice", {"slice axis=(-2) start=(2) stop=(N) step=(1) | f32[3,N,4] -> f32[3,N-2,4] where N in 2..90",
                         "slice axis=(-1) start=(1) stop=(9) step=(3) | i32[4,10] -> i32[4,3]",
                         "slice axis=(-1) start=(N) stop=(N+5) step=(2) | f16[4,N+5] -> f16[4,3] where N in 0..20"}));
    kernels.push_back(kernel("window", {"window axis=(-1) size=(3) stride=(2) dilation=(1) | f32[2,11] -> f32[2,5,3]",
                                        "window axis=(-2) size=(2) stride=(1) dilation=(3) | i8[9,4] -> i8[6,4,2]"}));
    kernels.push_back(kernel("copy_to", {"copy_to device=(0) | f32[3,N] -> f32[3,N] where N in 0..50"}));
    kernels.push_back(kernel("copy", {"copy | f32[T,8]:(1,T) -> f32[T,8]:(20,1) where T in 0..3000",
                                      "copy | f32[3,T,8] -> f32[3,T,8]:(512,8,1) where T in 1..64",
                                      "copy | bool[4,4]:(0,1) -> bool[4,4]", "copy | bf16[] -> bf16[]"}));
}

}  // namespace cairn::kernels::cpu::reference
