#include "tests/kernels/cuda/kernel_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace cairn::kernels::cuda {
namespace {

struct MoveCase {
    const char* problem;
    std::vector<std::vector<std::int64_t>> sizes;
    /// The input and the linear index in it of element `at` of the output; input -1: `fill`.
    std::function<std::pair<int, std::int64_t>(const std::vector<std::int64_t>& at, const std::vector<std::int64_t>& s)>
        from;
    Number fill = 0;
};

using At = const std::vector<std::int64_t>&;
using From = std::pair<int, std::int64_t>;

const std::vector<MoveCase>& moves() {
    static const std::vector<MoveCase> all{
        {"copy | f32[T,8]:(1,T) -> f32[T,8]:(20,1) where T in 0..3000",
         {{0}, {1}, {7}, {300}},
         [](At at, At) { return From(0, at[0] * 8 + at[1]); }},
        {"copy | f32[2,12,T,64]:(768*T,64,768,1) -> f32[2,12,T,64]:(12*128*64,128*64,64,1) where T in 0..128",
         {{0}, {1}, {3}},
         [](At at, At s) { return From(0, ((at[0] * 12 + at[1]) * s[0] + at[2]) * 64 + at[3]); }},
        {"copy | f32[floordiv(N, 3),min(N, 7)] -> f32[floordiv(N, 3),min(N, 7)]:(max(N, 9),1) where N in 0..40",
         {{0}, {5}, {40}},
         [](At at, At s) { return From(0, at[0] * std::min<std::int64_t>(s[0], 7) + at[1]); }},
        {"copy | bool[4,5]:(7,1) -> bool[4,5]", {{}}, [](At at, At) { return From(0, at[0] * 5 + at[1]); }},
        {"copy | bf16[] -> bf16[]", {{}}, [](At, At) { return From(0, 0); }},
        {"reshape shape=(N,12) | f32[N,3,4]:(20,4,1) -> f32[N,12] where N in 0..900",
         {{0}, {1}, {90}},
         [](At at, At) { return From(0, at[0] * 12 + at[1]); }},
        {"reshape shape=(6,4) | i8[2,3,4]:(3,1,6) -> i8[6,4]",
         {{}},
         [](At at, At) { return From(0, at[0] * 4 + at[1]); }},
        {"transpose permutation=(-2,-3,-1) | f32[T,4,9] -> f32[4,T,9] where T in 0..700",
         {{0}, {1}, {33}},
         [](At at, At) { return From(0, (at[1] * 4 + at[0]) * 9 + at[2]); }},
        {"transpose permutation=(-1,-2) | i64[33,70] -> i64[70,33]",
         {{}},
         [](At at, At) { return From(0, at[1] * 70 + at[0]); }},
        {"broadcast shape=(3,N,4) | f32[N,1] -> f32[3,N,4] where N in 0..900",
         {{0}, {1}, {101}},
         [](At at, At) { return From(0, at[1]); }},
        {"broadcast shape=(5,2) | bool[] -> bool[5,2]", {{}}, [](At, At) { return From(0, 0); }},
        {"slice axis=(-2) start=(2) stop=(N) step=(1) | f32[3,N,4] -> f32[3,N-2,4] where N in 2..90",
         {{2}, {3}, {77}},
         [](At at, At s) { return From(0, (at[0] * s[0] + at[1] + 2) * 4 + at[2]); }},
        {"slice axis=(-1) start=(N) stop=(N+9) step=(3) | i32[4,N+10] -> i32[4,3] where N in 0..20",
         {{0}, {13}},
         [](At at, At s) { return From(0, at[0] * (s[0] + 10) + s[0] + 3 * at[1]); }},
        {"window axis=(-1) size=(3) stride=(2) dilation=(2) | f32[2,11] -> f32[2,4,3]",
         {{}},
         [](At at, At) { return From(0, at[0] * 11 + 2 * at[1] + 2 * at[2]); }},
        {"concat axis=(-2) | f32[2,N,3] f32[2,4,3] -> f32[2,N+4,3] where N in 0..90",
         {{0}, {1}, {90}},
         [](At at, At s) {
             return at[1] < s[0] ? From(0, (at[0] * s[0] + at[1]) * 3 + at[2])
                                 : From(1, (at[0] * 4 + at[1] - s[0]) * 3 + at[2]);
         }},
        {"concat axis=(-1) | i64[4,1] i64[4,2]:(1,4) i64[4,3] -> i64[4,6]:(9,1)",
         {{}},
         [](At at, At) {
             return at[1] == 0  ? From(0, at[0])
                    : at[1] < 3 ? From(1, at[0] * 2 + at[1] - 1)
                                : From(2, at[0] * 3 + at[1] - 3);
         }},
        {"pad axis=(-2) before=(1) after=(2) value=0.5 | f32[3,N,4] -> f32[3,N+3,4] where N in 0..90",
         {{0}, {1}, {25}},
         [](At at, At s) {
             return at[1] < 1 || at[1] > s[0] ? From(-1, 0) : From(0, (at[0] * s[0] + at[1] - 1) * 4 + at[2]);
         },
         0.5L},
        {"pad axis=(-1) before=(N) after=(0) value=-7 | i8[5,6] -> i8[5,N+6] where N in 0..9",
         {{0}, {9}},
         [](At at, At s) { return at[1] < s[0] ? From(-1, 0) : From(0, at[0] * 6 + at[1] - s[0]); },
         -7},
        {"state_append | f32[3,P,8] f32[3,T,8]:(8,24,1) -> f32[3,P+T,8] where P in 0..90, T in 0..20",
         {{0, 0}, {5, 0}, {0, 3}, {90, 20}},
         [](At at, At s) {
             return at[1] < s[0] ? From(0, (at[0] * s[0] + at[1]) * 8 + at[2])
                                 : From(1, (at[0] * s[1] + at[1] - s[0]) * 8 + at[2]);
         }},
        {"state_write start=(1,P,2) | f32[3,P+9,8] f32[2,4,5] -> f32[3,P+9,8] where P in 0..90",
         {{0}, {13}},
         [](At at, At s) {
             const bool is_new = at[0] >= 1 && at[1] >= s[0] && at[1] < s[0] + 4 && at[2] >= 2 && at[2] < 7;
             return is_new ? From(1, ((at[0] - 1) * 4 + at[1] - s[0]) * 5 + at[2] - 2)
                           : From(0, (at[0] * (s[0] + 9) + at[1]) * 8 + at[2]);
         }},
    };
    return all;
}

void expect_moved(const Numbers& y, const Problem& problem, const std::vector<Numbers>& inputs, const MoveCase& move,
                  const std::vector<std::int64_t>& sizes) {
    const Shape& shape = problem.outputs[0].shape;
    for (std::size_t n = 0; n < y.size(); ++n) {
        std::vector<std::int64_t> at(shape.size());
        auto rest = static_cast<std::int64_t>(n);
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis].constant())
            at[axis] = rest % shape[axis].constant();
        const auto [input, index] = move.from(at, sizes);
        const Number wanted =
            input < 0 ? move.fill : inputs.at(static_cast<std::size_t>(input)).at(static_cast<std::size_t>(index));
        ASSERT_EQ(y[n], wanted) << move.problem << " element " << n;
    }
}

TEST(CudaMovement, MovesElementsBetweenStrides) {
    std::vector<std::string> problems;
    for (const MoveCase& move : moves()) problems.emplace_back(move.problem);
    const KernelCases cases(problems);
    std::uint64_t seed = 1;
    for (std::size_t i = 0; i < moves().size(); ++i) {
        for (const auto& sizes : moves()[i].sizes) {
            for (const std::size_t misaligned : {0, 1}) {
                const Problem problem = cases.at(i, sizes);
                auto inputs = random_inputs(problem, ++seed);
                for (Numbers& input : inputs)
                    for (Number& x : input)
                        if (problem.inputs[0].dtype == DType::bf16) x = static_cast<int>(x * 8) / 8.0L;
                const auto y = cases.run(i, sizes, inputs, {.seed = seed, .misaligned = misaligned});
                expect_moved(y[0], problem, inputs, moves()[i], sizes);
            }
        }
    }
}

TEST(CudaMovement, AStateInPlaceKeepsItsElements) {
    const MoveCase& move = moves().back();
    const KernelCases cases({std::string(move.problem)});
    const std::vector<std::int64_t> sizes{21};
    const Problem problem = cases.at(0, sizes);
    const auto inputs = random_inputs(problem, 3);
    const auto y = cases.run(0, sizes, inputs, {.same = {{0, 0}}});
    expect_moved(y[0], problem, inputs, move, sizes);
}

}  // namespace
}  // namespace cairn::kernels::cuda
