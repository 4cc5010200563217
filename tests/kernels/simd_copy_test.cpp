#include "kernels/cpu/table.hpp"
#include "tests/kernels/simd_case.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

const Kernel& copies(const std::string& definition) {
    static const std::vector<Kernel> kernels = [] {
        std::vector<Kernel> made;
        kernels::cpu::add_copies(made);
        return made;
    }();
    return find(kernels, definition);
}

void number(Operand& operand, double from = 0) {
    for (std::int64_t i = 0; i < operand.size(); ++i)
        operand.set(i, static_cast<double>((i * 7 + static_cast<std::int64_t>(from)) % 101));
}

// Random axes in random orders: each element equals the input's at the same index.
TEST(SimdCopy, AnyStridesToAnyStrides) {
    std::mt19937 random(11);
    for (int round = 0; round < 500; ++round) {
        const std::int64_t sizes[] = {1, 2, 3, 5, 17, 32, 33, 70};
        const DType dtypes[] = {DType::i8, DType::f16, DType::f32, DType::i64};
        Shape shape;
        std::int64_t count = 1;
        const auto rank = random() % 5;
        for (std::size_t axis = 0; axis < rank; ++axis) {
            const std::int64_t size = sizes[random() % std::size(sizes)];
            if (count * size <= 40000) shape.push_back(size), count *= size;
        }
        if (round % 50 == 0 && !shape.empty()) shape.back() = 0;
        const auto strides = [&](bool may_repeat) {
            std::vector<std::size_t> order;
            for (std::size_t axis = 0; axis < shape.size(); ++axis)
                order.insert(order.begin() + static_cast<std::ptrdiff_t>(random() % (order.size() + 1)), axis);
            std::vector<Dim> made(shape.size(), Dim(0));
            Dim stride = 1 + static_cast<std::int64_t>(random() % 5 == 0);
            for (const std::size_t axis : order) {
                made[axis] = may_repeat && random() % 6 == 0 ? Dim(0) : stride;
                stride = stride * (shape[axis] + static_cast<std::int64_t>(random() % 4 == 0));
            }
            return made;
        };
        Problem problem;
        problem.definition = "copy";
        const DType dtype = dtypes[random() % 4];
        problem.inputs = {{dtype, shape, strides(true), "", false}};
        problem.outputs = {{dtype, shape, strides(false), "", false}};
        SimdCase c(problem);
        number(c.inputs[0]);
        c.run(copies("copy"), 1 + round % 3);
        for (std::int64_t i = 0; i < c.outputs[0].size(); ++i)
            ASSERT_EQ(c.outputs[0].get(i), c.inputs[0].get(i)) << to_string(problem) << " element " << i;
        ASSERT_EQ(c.outputs[0].first_touched_gap(), -1) << to_string(problem);
    }
}

TEST(SimdCopy, ConcatPutsInputsOneAfterAnother) {
    for (int members = 1; members <= 3; ++members) {
        SimdCase c("concat axis=(-2) | f32[3,40,70] f32[3,0,70] f32[3,7,70]:(490,1,7) -> f32[3,47,70]");
        number(c.inputs[0]);
        number(c.inputs[2], 50);
        c.run(copies("concat"), members);
        for (std::int64_t i = 0; i < c.outputs[0].size(); ++i) {
            const std::int64_t a = i / (47 * 70), row = i / 70 % 47, column = i % 70;
            ASSERT_EQ(c.outputs[0].get(i), row < 40 ? c.inputs[0].get((a * 40 + row) * 70 + column)
                                                    : c.inputs[2].get((a * 7 + row - 40) * 70 + column))
                << i;
        }
    }
}

}  // namespace
}  // namespace cairn::test
