#include "kernels/cpu/reference/element.hpp"
#include "kernels/cpu/reference/registration.hpp"

#include <algorithm>
#include <memory>

/// Reference kernel of batched matmul: a block of one output row at a time, floats summed in double over k in order.
namespace cairn::kernels::cpu::reference {
namespace {

struct Types {
    DType dtype;
};

// Computes the columns [column, column + count) of one output row.
void multiply(const TensorArg& a, std::int64_t a_offset, const TensorArg& b, std::int64_t b_offset, ElementBlock& sum,
              int count, DType dtype) noexcept {
    const std::int64_t depth = a.shape[a.rank - 1], a_stride = a.strides[a.rank - 1], b_stride = b.strides[b.rank - 2];
    const bool real = is_float(dtype);
    for (int j = 0; j < count; ++j) sum.whole[j] = 0;  // all bits zero is 0.0 as well
    ElementBlock left, right;
    for (std::int64_t k = 0; k < depth; ++k) {
        load(left, a.data, a_offset + k * a_stride, 1, 1, dtype);
        load(right, b.data, b_offset + k * b_stride, b.strides[b.rank - 1], count, dtype);
        if (real) {
            for (int j = 0; j < count; ++j) sum.real[j] += left.real[0] * right.real[j];
        } else {
            for (int j = 0; j < count; ++j)
                sum.whole[j] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum.whole[j]) +
                                                         static_cast<std::uint64_t>(left.whole[0]) *
                                                             static_cast<std::uint64_t>(right.whole[j]));
        }
    }
}

void run(const Args& args, Team& team) {
    const DType dtype = static_cast<const Types*>(args.prepared)->dtype;
    const TensorArg &a = args.inputs[0], &b = args.inputs[1], &c = args.outputs[0];
    const int batch_rank = c.rank - 2;
    const std::int64_t rows = c.shape[c.rank - 2], columns = c.shape[c.rank - 1];
    const std::int64_t pieces = (columns + block_size - 1) / block_size;
    const StridedView batches{nullptr, c.shape, c.strides, batch_rank};
    const std::int64_t items = element_count(batches) * rows * pieces;
    for (std::int64_t item = team.next_chunk(); item < items; item = team.next_chunk()) {
        const std::int64_t column = item % pieces * block_size, row = item / pieces % rows,
                           batch = item / pieces / rows;
        const auto start = [&](const TensorArg& arg) {
            return offset_of({nullptr, c.shape, arg.strides, batch_rank}, batch);
        };
        const int count = static_cast<int>(std::min<std::int64_t>(block_size, columns - column));
        ElementBlock sum;
        multiply(a, start(a) + row * a.strides[a.rank - 2], b, start(b) + column * b.strides[b.rank - 1], sum, count,
                 dtype);
        store(sum, c.data, start(c) + row * c.strides[c.rank - 2] + column * c.strides[c.rank - 1],
              c.strides[c.rank - 1], count, dtype);
    }
}

Refusal accepts(const Problem& problem) {
    if (Refusal refusal = needs_plain_memory(problem); !refusal.empty()) return refusal;
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "needs two inputs and one output";
    if (problem.inputs[0].dtype == DType::boolean) return "needs numbers";
    if (problem.inputs[0].dtype != problem.inputs[1].dtype) return "needs operands of one dtype";
    const Shape &a = problem.inputs[0].shape, &b = problem.inputs[1].shape, &c = problem.outputs[0].shape;
    if (c.size() < 2 || a.size() != c.size() || b.size() != c.size())
        return "needs inputs of the output's rank, at least 2";
    for (std::size_t axis = 0; axis + 2 < c.size(); ++axis)
        if (!(a[axis] == c[axis] && b[axis] == c[axis]))
            return "needs inputs with the output's batch axes (stride 0 repeats)";
    return {};
}

Cost cost(const Problem& problem) {
    const Shape& a = problem.inputs[0].shape;
    const double sums = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    return scalar_cost(
        2 * sums * static_cast<double>(a.back().constant()),
        size_in_bytes(problem.inputs[0]) + size_in_bytes(problem.inputs[1]) + size_in_bytes(problem.outputs[0]));
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    return std::make_shared<Types>(Types{problem.inputs[0].dtype});
}

}  // namespace

void add_matmul(std::vector<Kernel>& kernels) {
    Kernel made = reference_kernel(
        "matmul", accepts, run, prepare,
        {"matmul | f32[T,70] f32[70,65] -> f32[T,65] where T in 0..40",
         "matmul | f64[2,3,5,K]:(15*K,5*K,K,1) f64[2,3,K,4]:(0,4*K,1,K) -> f64[2,3,5,4] where K in 0..60",
         "matmul | f16[9,33] f16[33,7] -> f16[9,7]", "matmul | bf16[2,33]:(1,2) bf16[33,7] -> bf16[2,7]",
         "matmul | i8[4,9] i8[9,3] -> i8[4,3]", "matmul | i32[4,9] i32[9,3]:(1,9) -> i32[4,3]",
         "matmul | i64[2,4,9] i64[2,9,3] -> i64[2,4,3]", "matmul | u8[4,9] u8[9,70] -> u8[4,70]"});
    made.cost = cost;
    kernels.push_back(std::move(made));
}

}  // namespace cairn::kernels::cpu::reference
