#include "graph/types/half.hpp"
#include "kernels/cpu/simd/movement/strided_copy.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

/// Registers `pad`: fills the padding before and after, and copies the input between them. The code is the same at all
/// levels.
namespace cairn::kernels::cpu {
namespace {

struct PadPlan {
    int axis = 0, before_at = 0;  ///< index of `before` in Args::dims
    std::int64_t bytes = 4;
    alignas(8) std::byte fill[8] = {};
};

void run(const Args& args, Team& team) {
    const auto& plan = *static_cast<const PadPlan*>(args.prepared);
    const TensorArg &in = args.inputs[0], &out = args.outputs[0];
    const std::int64_t before = args.dims[plan.before_at], middle = in.shape[plan.axis];
    std::int64_t chunk = team.next_chunk(), first = 0;
    // Positions [begin, begin + size) of the axis: copied from the input, or filled with the padding value.
    const auto part = [&](std::int64_t begin, std::int64_t size, bool is_input) {
        StridedCopy job;
        job.to = out.data + begin * out.strides[plan.axis] * plan.bytes;
        job.from = is_input ? in.data : plan.fill;
        job.bytes = plan.bytes;
        for (int axis = 0; axis < out.rank; ++axis)
            job.add_axis(axis == plan.axis ? size : out.shape[axis], out.strides[axis],
                         is_input ? in.strides[axis] : 0);
        first = copy_chunks(job, team, first, chunk);
    };
    part(0, before, false);
    part(before + middle, out.shape[plan.axis] - before - middle, false);
    part(before, middle, true);
}

template <typename T>
bool store_integer(std::byte* to, double value) {
    if (std::trunc(value) != value || value < static_cast<double>(std::numeric_limits<T>::lowest()) ||
        value >= std::ldexp(1.0, std::numeric_limits<T>::digits))
        return false;
    const auto number = static_cast<T>(value);
    std::memcpy(to, &number, sizeof number);
    return true;
}
template <typename T>
bool store_number(std::byte* to, T number) {
    std::memcpy(to, &number, sizeof number);
    return true;
}

/// Encodes a number as an element of the dtype; false if the dtype cannot represent it.
bool encode(DType dtype, double value, std::byte* to) {
    switch (dtype) {
        case DType::f64: return store_number(to, value);
        case DType::f32: return store_number(to, static_cast<float>(value));
        case DType::f16: return store_number(to, types::f32_to_f16(types::f64_to_f32_odd(value)));
        case DType::bf16: return store_number(to, types::f32_to_bf16(types::f64_to_f32_odd(value)));
        case DType::i64: return store_integer<std::int64_t>(to, value);
        case DType::i32: return store_integer<std::int32_t>(to, value);
        case DType::i8: return store_integer<std::int8_t>(to, value);
        case DType::u8: return store_integer<std::uint8_t>(to, value);
        case DType::boolean: return (value == 0 || value == 1) && store_integer<std::uint8_t>(to, value);
    }
    return false;
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain(problem, max_copy_rank); !no.empty()) return no;
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    if (problem.inputs[0].dtype != problem.outputs[0].dtype) return "needs one dtype";
    std::byte element[8];
    return encode(problem.outputs[0].dtype, problem.attributes.number("value"), element)
               ? Refusal()
               : "needs a value that the dtype can hold";
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto plan = std::make_shared<PadPlan>();
    const auto rank = static_cast<std::int64_t>(problem.inputs[0].shape.size());
    const std::int64_t axis = problem.attributes.integer("axis");
    plan->axis = static_cast<int>(axis < 0 ? axis + rank : axis);
    plan->before_at = position_of_list(problem.attributes, "before");
    plan->bytes = static_cast<std::int64_t>(size_of(problem.outputs[0].dtype));
    encode(problem.outputs[0].dtype, problem.attributes.number("value"), plan->fill);
    return plan;
}

}  // namespace

void add_pad(std::vector<Kernel>& kernels) {
    Kernel made;
    made.id = "cpu.baseline.pad@2";
    made.definition = "pad";
    made.accepts = accepts;
    made.run = run;
    made.prepare = prepare;
    made.cost = [](const Problem& problem) { return Cost{0, bytes_of(problem), 0.25}; };
    made.samples = {"pad axis=(-2) before=(1) after=(2) value=0.5 | f32[3,N,4] -> f32[3,N+3,4] where N in 0..90",
                    "pad axis=(-1) before=(1) after=(1) value=0 | f32[2,N,9] -> f32[2,N,11] where N in 0..90",
                    "pad axis=(-1) before=(N) after=(0) value=-7 | i8[5,6] -> i8[5,N+6] where N in 0..9",
                    "pad axis=(-1) before=(3) after=(3) value=1 | f16[4]:(2) -> f16[10]",
                    "pad axis=(-3) before=(2) after=(0) value=-0.1 | bf16[4,5,6]:(1,4,20) -> bf16[6,5,6]",
                    "pad axis=(-1) before=(0) after=(N) value=1 | bool[3,7] -> bool[3,N+7] where N in 0..40",
                    "pad axis=(-2) before=(4) after=(4) value=0.3 | f64[5,6] -> f64[13,6]:(9,1)",
                    "pad axis=(-2) before=(1) after=(1) value=-9007199254740992 | i64[N,3]:(1,N) -> i64[N+2,3] "
                    "where N in 1..70"};
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu
