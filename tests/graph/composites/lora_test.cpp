#include "cairn/lora.hpp"

#include "tests/graph/composites/composite_values.hpp"
#include "tests/io/weights/expect_error.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace cairn::test {
namespace {

using Sizes = std::vector<std::int64_t>;

// A product of two matrices by its definition.
Numbers product(const Numbers& left, const Numbers& right, std::size_t rows, std::size_t depth, std::size_t columns) {
    Numbers result(rows * columns);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            for (std::size_t k = 0; k < depth; ++k)
                result[i * columns + j] += left[i * depth + k] * right[k * columns + j];
    return result;
}

TEST(Lora, AddsAProductOfTwoNarrowMatrices) {
    for (const std::size_t rank : {1U, 2U, 7U}) {
        const Numbers x = some_numbers(10), w = some_numbers(15, 2), a = some_numbers(5 * rank, 3),
                      b = some_numbers(rank * 3, 4);
        Trial trial;
        const Tensor tx = trial.input("x", {2, 5}, x), tw = trial.input("w", {5, 3}, w);
        const auto r = static_cast<std::int64_t>(rank);
        const Tensor ta = trial.input("a", {5, r}, a), tb = trial.input("b", {r, 3}, b);
        const interpreter::Value value = trial.value_of(lora(tx, tw, ta, tb, -1.5)),
                                 plain = trial.value_of(lora(tx, tw, ta, tb));
        const Numbers base = product(x, w, 2, 5, 3), change = product(product(x, a, 2, 5, rank), b, 2, rank, 3);
        for (std::size_t i = 0; i < 6; ++i) {
            EXPECT_NEAR(value.data[i], base[i] - 1.5 * change[i], 1e-12) << rank;
            EXPECT_NEAR(plain.data[i], base[i] + change[i], 1e-12) << rank;
        }
    }
}

TEST(Lora, WithoutARankOrAScaleItIsTheProduct) {
    Graph graph;
    const Tensor x = graph.input("x", DType::f32, {2, 5}), w = graph.input("w", DType::f32, {5, 3});
    const Tensor a = graph.input("a", DType::f32, {5, 0}), b = graph.input("b", DType::f32, {0, 3});
    const Tensor some_a = graph.input("c", DType::f32, {5, 2}), some_b = graph.input("d", DType::f32, {2, 3});
    const Tensor all_a = graph.input("e", DType::f32, {4, 5, 2}), all_b = graph.input("f", DType::f32, {4, 2, 3}),
                 ids = graph.input("ids", DType::i32, {2});
    const Tensor expected = matmul(x, w);
    EXPECT_EQ(lora(x, w, a, b).id(), expected.id());
    EXPECT_EQ(lora(x, w, some_a, some_b, 0).id(), expected.id());
    EXPECT_EQ(lora(x, w, all_a, all_b, ids, 0.0).id(), expected.id());
}

TEST(Lora, RowsHaveAdaptersOfTheirOwn) {
    const std::size_t count = 3, depth = 4, rank = 2, columns = 5;
    const Numbers w = some_numbers(depth * columns, 2), a = some_numbers(count * depth * rank, 3),
                  b = some_numbers(count * rank * columns, 4);
    const Numbers ids{2, -1, 0, 2};
    const std::size_t batch = ids.size();
    for (const Sizes& middle : {Sizes{}, Sizes{3}, Sizes{2, 3}}) {
        Sizes sizes{static_cast<std::int64_t>(batch)};
        std::size_t rows = 1;
        for (const std::int64_t size : middle) sizes.push_back(size), rows *= static_cast<std::size_t>(size);
        sizes.push_back(static_cast<std::int64_t>(depth));
        const Numbers x = some_numbers(batch * rows * depth);
        Trial trial;
        const Tensor tx = trial.input("x", sizes, x), tw = trial.input("w", {4, 5}, w),
                     ta = trial.input("a", {3, 4, 2}, a), tb = trial.input("b", {3, 2, 5}, b);
        const interpreter::Value value =
            trial.value_of(lora(tx, tw, ta, tb, trial.input("ids", {4}, ids, DType::i64), 0.5));
        for (std::size_t i = 0; i < batch; ++i) {
            const auto part = [](const Numbers& all, std::size_t at, std::size_t size) {
                const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at * size);
                return Numbers(begin, begin + static_cast<std::ptrdiff_t>(size));
            };
            const Numbers own = part(x, i, rows * depth);
            Numbers expected = product(own, w, rows, depth, columns);
            if (ids[i] >= 0) {
                const auto id = static_cast<std::size_t>(ids[i]);
                const Numbers narrow = product(own, part(a, id, depth * rank), rows, depth, rank),
                              change = product(narrow, part(b, id, rank * columns), rows, rank, columns);
                for (std::size_t j = 0; j < expected.size(); ++j) expected[j] += 0.5 * change[j];
            }
            for (std::size_t j = 0; j < expected.size(); ++j)
                EXPECT_NEAR(value.data[i * expected.size() + j], expected[j], 1e-12) << middle.size() << " row " << i;
        }
    }
}

TEST(Lora, ARowWithoutAnAdapterIgnoresItsElements) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    Trial trial;
    const Tensor x = trial.input("x", {2, 1}, {3, 4}), w = trial.input("w", {1, 1}, {10}),
                 a = trial.input("a", {1, 1, 1}, {nan}), b = trial.input("b", {1, 1, 1}, {1});
    const interpreter::Value value = trial.value_of(lora(x, w, a, b, trial.input("ids", {2}, {-1, 0}, DType::i32)));
    EXPECT_EQ(value.data[0], 30);
    EXPECT_NE(value.data[1], value.data[1]);
}

TEST(Lora, WrongOperandsAreRefused) {
    Graph graph;
    const auto f32 = [&](const char* name, Shape shape) { return graph.input(name, DType::f32, std::move(shape)); };
    const Tensor x = f32("x", {2, 5}), w = f32("w", {5, 3}), a = f32("a", {5, 2}), b = f32("b", {2, 3});
    const auto fault = [](const auto& call, const std::string& what) {
        EXPECT_THAT(call, refused(what, ErrorKind::graph));
    };
    fault(
        [&] {
            lora(x, w, transpose(a, {1, 0}), b);
        },
        "[lora] w must be [K, N], a [K, R] and b [R, N]: x f32[2,5], w f32[5,3], a f32[2,5], b f32[2,3]");
    fault([&] { lora(x, w, a, f32("b3", {3, 3})); }, "a f32[5,2], b f32[3,3]");
    fault([&] { lora(x, w, a, f32("b4", {2, 4})); }, "b f32[2,4]");
    fault([&] { lora(x, w, a, 2.0f, 1.0); }, "x, w, a and b must be Tensors");
    fault([&] { lora(x, w, a, b, std::numeric_limits<double>::infinity()); }, "the scale must be finite");
    const Tensor all_a = f32("all_a", {4, 5, 2}), all_b = f32("all_b", {4, 2, 3}),
                 ids = graph.input("ids", DType::i32, {2});
    fault([&] { lora(x, w, a, b, ids); }, "w must have two axes, a and b three, x two or more");
    fault([&] { lora(x, w, all_a, all_b); }, "w, a and b must have two axes");
    fault([&] { lora(x, w, all_a, f32("few", {3, 2, 3}), ids); }, "a and b must hold as many adapters");
    fault([&] { lora(x, w, all_a, all_b, graph.input("three", DType::i32, {3})); },
          "ids must be i32 or i64, one for each row of the first axis of x: x f32[2,5], ids i32[3]");
    fault([&] { lora(x, w, all_a, all_b, f32("floats", {2})); }, "ids f32[2]");
}

}  // namespace
}  // namespace cairn::test
