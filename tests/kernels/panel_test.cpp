#include "cairn/kernels.hpp"
#include "graph/types/half.hpp"
#include "kernels/cpu/panel/layout.hpp"
#include "kernels/cpu/panel/linear_plan.hpp"
#include "kernels/cpu/table.hpp"
#include "tests/kernels/emulated_levels.hpp"
#include "tests/kernels/kernel_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>

/// Tests of panels of 32 columns: their size, that one packed form serves a product and an embedding, and exact sums.
namespace cairn::test {
namespace {

std::vector<Kernel> made_by(void (*add)(std::vector<Kernel>&)) {
    std::vector<Kernel> list;
    add(list);
    return list;
}

TEST(Panel, LayoutsReportTheirBytesAndTheirTransposedLayout) {
    std::vector<Layout> layouts;
    kernels::cpu::add_panel_layouts(layouts);
    ASSERT_EQ(layouts.size(), 18u);
    const TensorDesc wide = TensorDesc::dense(DType::f32, {70, 100});
    EXPECT_EQ(layouts[0].bytes(wide).constant(), 4 * 32 * 70 * 4);   // 100 columns: 4 panels
    EXPECT_EQ(layouts[1].bytes(wide).constant(), 3 * 32 * 100 * 4);  // 70 rows as columns: 3 panels
    const TensorDesc codes = TensorDesc::dense(DType::f32, {64, 96});
    EXPECT_EQ(layouts[2].bytes(codes).constant(), 3 * 64 * 34);  // 96 columns: 3 panels
    EXPECT_EQ(layouts[3].bytes(codes).constant(), 2 * 96 * 34);  // 64 rows as columns: 2 panels
    for (std::size_t i = 0; i < layouts.size(); i += 2) {
        EXPECT_EQ(layouts[i].transposed, layouts[i + 1].name);
        EXPECT_EQ(layouts[i + 1].transposed, layouts[i].name);
    }
}

TEST(Panel, LayoutsOf16BitsHaveHalfTheBytes) {
    std::vector<Layout> layouts;
    kernels::cpu::add_panel_layouts(layouts);
    for (const DType dtype : {DType::f16, DType::bf16}) {
        const TensorDesc wide = TensorDesc::dense(dtype, {70, 100});
        EXPECT_EQ(layouts.at(0).bytes(wide).constant(), 4 * 32 * 70 * 2);
        EXPECT_EQ(layouts.at(1).bytes(wide).constant(), 3 * 32 * 100 * 2);
    }
}

// Any strides, at positions computed by hand.
TEST(Panel, HalvesArePackedAndGatheredWithoutRounding) {
    constexpr std::int64_t rows = 77, depth = 40;
    std::vector<std::uint16_t> table(rows * depth), packed(3 * 32 * depth, 7), wanted(3 * 32 * depth, 0);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint16_t>(i * 21 + 0x7b00);
    for (std::int64_t n = 0; n < rows; ++n)
        for (std::int64_t k = 0; k < depth; ++k)
            wanted[static_cast<std::size_t>(n / 32 * depth * 32 + k * 32 + n % 32)] =
                table[static_cast<std::size_t>(n * depth + k)];
    const Kernel pack = made_by(kernels::cpu::add_panel_pack).at(0),
                 gather = made_by(kernels::cpu::add_panel_gather).at(0);
    for (const std::string dtype : {"f16", "bf16"}) {
        const std::string matrix = dtype + "[77,40]";
        ASSERT_EQ(run(pack, "pack | " + matrix + " -> " + matrix + "@panel32.t", {table.data()}, packed.data()),
                  nullptr);
        EXPECT_EQ(packed, wanted);
        std::vector<std::int32_t> ids = {76, 0, 31, 32};
        std::vector<std::uint16_t> found(ids.size() * depth);
        ASSERT_EQ(run(gather, "gather axis=(-2) | " + matrix + "@panel32.t! i32[4] -> " + dtype + "[4,40]",
                      {packed.data(), ids.data()}, found.data()),
                  nullptr);
        for (std::size_t i = 0; i < ids.size(); ++i)
            EXPECT_TRUE(std::equal(found.begin() + static_cast<std::ptrdiff_t>(i * depth),
                                   found.begin() + static_cast<std::ptrdiff_t>((i + 1) * depth),
                                   table.begin() + static_cast<std::ptrdiff_t>(ids[i] * depth)))
                << ids[i];
    }
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
    std::vector<std::uint32_t> bits(values.size());
    std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
    return bits;
}

// Every 16-bit pattern, including NaNs, infinities and subnormals, one per column; then finite numbers over a depth.
TEST(Panel, HalvesAreMultipliedAsTheirWidenedValues) {
    for (const Level& level : runnable_levels()) {
        std::vector<Kernel> list;
        kernels::cpu::add_panel_linear(list, levels::baseline, level.table->panel);
        const Kernel& product = list.back();
        ASSERT_EQ(product.definition, "matmul");
        for (const DType dtype : {DType::f16, DType::bf16})
            for (const auto& [depth, columns] :
                 {std::pair<std::int64_t, std::int64_t>(1, 65536), {77, 96}, {1100, 64}}) {
                std::vector<std::uint16_t> stored(static_cast<std::size_t>(depth * columns));
                std::vector<float> cast(stored.size());
                for (std::size_t i = 0; i < stored.size(); ++i) {
                    // With more than one row the numbers are about one, of either sign.
                    const std::size_t about_one = (dtype == DType::f16 ? 0x3800 : 0x3f00) + i * 37 % 1024;
                    stored[i] = static_cast<std::uint16_t>(depth == 1 ? i : about_one | (i % 3 == 0 ? 0x8000 : 0));
                    cast[i] = dtype == DType::f16 ? types::f16_to_f32(stored[i]) : types::bf16_to_f32(stored[i]);
                }
                for (const std::int64_t rows : {1, 2, 5, 12, 13, 14, 15, 40}) {
                    std::vector<float> x(static_cast<std::size_t>(rows * depth));
                    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<float>(i % 7) / 4;
                    std::vector<float> made(static_cast<std::size_t>(rows * columns), 1), wanted(made.size(), 2);
                    const std::string k = std::to_string(depth), n = std::to_string(columns), m = std::to_string(rows);
                    const auto text = [&](std::string_view of) {
                        return "matmul | f32[" + m + "," + k + "] " + std::string(of) + "[" + k + "," + n +
                               "]@panel32! -> f32[" + m + "," + n + "]";
                    };
                    // Columns in the order of the panels: positions are the same in both.
                    ASSERT_EQ(run(product, text(to_string(dtype)), {x.data(), stored.data()}, made.data()), nullptr);
                    ASSERT_EQ(run(product, text("f32"), {x.data(), cast.data()}, wanted.data()), nullptr);
                    EXPECT_EQ(bits_of(made), bits_of(wanted)) << text(to_string(dtype)) << " at " << level.name;
                }
            }
    }
}

TEST(Panel, OnePackedLayoutServesEmbeddingAndProjection) {
    constexpr std::int64_t vocabulary = 77, size = 40;
    std::vector<float> table(vocabulary * size), packed(3 * 32 * size, -1);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 251) - 100;
    const Kernel pack = made_by(kernels::cpu::add_panel_pack).at(0),
                 gather = made_by(kernels::cpu::add_panel_gather).at(0);

    // Packed as the transposed table: the projection's weight [40, 77].
    ASSERT_EQ(run(pack, "pack | f32[40,77]:(1,40) -> f32[40,77]@panel32", {table.data()}, packed.data()), nullptr);
    std::vector<float> same(packed.size(), -1);
    ASSERT_EQ(run(pack, "pack | f32[77,40] -> f32[77,40]@panel32.t", {table.data()}, same.data()), nullptr);
    EXPECT_EQ(packed, same);

    std::vector<std::int32_t> ids = {0, 31, 32, 76};
    std::vector<float> rows(ids.size() * size);
    ASSERT_EQ(run(gather, "gather axis=(-2) | f32[77,40]@panel32.t! i32[4] -> f32[4,40]", {packed.data(), ids.data()},
                  rows.data()),
              nullptr);
    for (std::size_t i = 0; i < ids.size(); ++i)
        EXPECT_TRUE(std::equal(rows.begin() + static_cast<std::ptrdiff_t>(i * size),
                               rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                               table.begin() + static_cast<std::ptrdiff_t>(ids[i] * size)))
            << ids[i];
}

TEST(Panel, AnIdOutsideTheTableIsAFailure) {
    std::vector<float> packed(3 * 32 * 40), rows(2 * 40);
    const Kernel gather = made_by(kernels::cpu::add_panel_gather).at(0);
    for (const std::int32_t bad : {-1, 77, 95}) {
        std::vector<std::int32_t> ids = {1, bad};
        EXPECT_STREQ(run(gather, "gather axis=(-2) | f32[77,40]@panel32.t! i32[2] -> f32[2,40]",
                         {packed.data(), ids.data()}, rows.data()),
                     "an index is out of range of the indexed axis")
            << bad;
    }
}

TEST(Panel, RefusalsHaveReasons) {
    std::vector<Kernel> list;
    kernels::cpu::add_panel_linear(list, levels::baseline, cairn_table_baseline.panel);
    const auto refusal = [&](const std::string& text) {
        const auto symbols = Symbols::create();
        const Problem problem = parse_problem(text, *symbols);
        const auto it = std::find_if(list.begin(), list.end(),
                                     [&](const Kernel& kernel) { return kernel.definition == problem.definition; });
        return it->accepts(problem);
    };
    EXPECT_EQ(refusal("matmul | f32[4,8] f32[8,9]@panel32 -> f32[4,9]"), "");
    EXPECT_EQ(refusal("matmul | f32[B,T,8]:(T*24,24,1) f32[8,9]@panel32 -> f32[B,T,9]"), "");
    EXPECT_EQ(refusal("matmul | f32[4,8] f32[8,9] -> f32[4,9]"),
              "needs a weight in the layout panel32 or one of codes");
    EXPECT_EQ(refusal("matmul | f32[4,8] f32[9,8]@panel32.t -> f32[4,9]"),
              "needs a weight in the layout panel32 or one of codes");
    EXPECT_EQ(refusal("matmul | f64[4,8] f64[8,9]@panel32 -> f64[4,9]"), "needs f32");
    EXPECT_EQ(refusal("matmul | f32[4,8]:(1,4) f32[8,9]@panel32 -> f32[4,9]"),
              "needs contiguous rows of x with one row stride");
    EXPECT_EQ(refusal("matmul | f32[B,T,8]:(100000,8,1) f32[8,9]@panel32 -> f32[B,T,9]"),
              "needs contiguous rows of x with one row stride");
    const auto fused = [&](const std::string& steps, const std::string& rest) {
        return refusal("fused {3=matmul(0,1):f32 " + steps + "} | f32[4,8] f32[8,9]@panel32 " + rest);
    };
    EXPECT_EQ(fused("4=gelu(3):f32 5=add(4,2):f32", "f32[4,9]:(1,4) -> f32[4,9] results (5)"), "");
    EXPECT_EQ(fused("4=add(3,2):f32", "f32[9] -> f32[4,9] results (4)"),
              "needs inputs of the shape of the output (stride 0 repeats)");
    EXPECT_EQ(fused("4=elu(3):f32 5=add(4,2):f32", "f32[4,9] -> f32[4,9] results (5)"), "no code for elu");
    EXPECT_EQ(fused("4=add(3,0):f32", "f32[4,9] -> f32[4,9] results (4)"), "needs a body that begins with a product");
    EXPECT_EQ(fused("4=add(3,2):f32", "f32[4,9] -> f32[4,9] f32[4,9] results (4,3)"),
              "has the wrong number of operands");
    EXPECT_EQ(fused("4=add(3,2):f32 5=cast(4):f16", "f32[4,9]:(0,0) -> f16[4,9] results (5)"), "");
    const auto columns = [&](const std::string& first, const std::string& outputs) {
        return refusal("fused columns=(" + first + ") {2=matmul(0,1):f32} | f32[4,8] f32[8,9]@panel32 -> " + outputs);
    };
    EXPECT_EQ(columns("0,5", "f32[4,9]:(10,1) f32[4,2,2]:(2,40,1) results (2,2)"), "");
    EXPECT_EQ(columns("0", "f32[4,9] f32[4,4] results (2,2)"), "needs a body that begins with a product");
    EXPECT_EQ(columns("0,6", "f32[4,9] f32[4,4] results (2,2)"), "needs to know which columns an output holds");
    EXPECT_EQ(columns("0,N", "f32[4,9] f32[4,4] results (2,2)"), "needs to know which columns an output holds");
    EXPECT_EQ(columns("0,0", "f32[4,9] f32[2,4,4] results (2,2)"), "needs the leading axes of x in each output");
    EXPECT_EQ(columns("0,0", "f32[4,9] f32[4] results (2,2)"), "needs the leading axes of x in each output");
    EXPECT_EQ(columns("0,0,0,0,0,0,0,0,0",
                      "f32[4,9] f32[4,1] f32[4,1] f32[4,1] f32[4,1] f32[4,1] f32[4,1] f32[4,1] "
                      "f32[4,1] results (2,2,2,2,2,2,2,2,2)"),
              "needs 1 to 8 outputs");
    EXPECT_EQ(refusal("linear_swiglu | f32[4,8] f32[8,9]@panel32 f32[8,9]@panel32 -> f32[4,9]"), "");
    EXPECT_EQ(refusal("matmul | f32[4,8] bf16[8,9]@panel32 -> f32[4,9]"), "");
    EXPECT_EQ(refusal("matmul | f32[4,8] i8[8,9]@panel32 -> f32[4,9]"), "needs a weight of f32, f16 or bf16");
    EXPECT_EQ(refusal("matmul | f32[4,8] f16[8,9]@panel32 -> f16[4,9]"), "needs f32");
    EXPECT_EQ(refusal("linear_swiglu | f32[4,8] f16[8,9]@panel32 bf16[8,9]@panel32 -> f32[4,9]"),
              "needs weights of one dtype and layout");
    EXPECT_EQ(refusal("linear_swiglu | f32[4,32] f32[32,9]@panel32 f32[32,9]@panel32k4_q8 -> f32[4,9]"),
              "needs weights of one dtype and layout");
    EXPECT_EQ(refusal("matmul | f32[4,64] f32[64,9]@panel32k4_q8 -> f32[4,9]"), "");
    for (const char* text : {"matmul | f32[4,8] f32[8,9]@panel32k4_q8 -> f32[4,9]",
                             "matmul | f32[4,32] f16[32,9]@panel32k4_q8 -> f32[4,9]",
                             "matmul | f32[4,32*K] f32[32*K,9]@panel32k4_q8 -> f32[4,9] where K in 1..3"})
        EXPECT_EQ(refusal(text), "needs codes of an f32 weight with a multiple of 32 rows");
    EXPECT_EQ(refusal("linear_swiglu | f32[4,8] f32[8,9]@panel32 f32[8,9] -> f32[4,9]"),
              "needs a weight in the layout panel32 or one of codes");
    EXPECT_EQ(refusal("linear_swiglu | f32[4,8] f32[8,9]@panel32 f32[8,7]@panel32 -> f32[4,9]"),
              "needs a weight [K, N]");
    EXPECT_EQ(refusal("linear_swiglu | f32[4,8] f32[8,9]@panel32 -> f32[4,9]"), "has the wrong number of operands");
    EXPECT_EQ(refusal("linear_swiglu | f32[4,8] f32[8,9]@panel32 f32[8,9]@panel32 f32[9] f32[9] f32[9] -> f32[4,9]"),
              "has the wrong number of operands");
    EXPECT_EQ(refusal("linear_swiglu | f32[4,8] f32[8,9]@panel32 f32[8,9]@panel32 f32[9] f32[7] -> f32[4,9]"),
              "needs a contiguous bias of the columns of the weight");
    EXPECT_EQ(refusal("linear_halves_swiglu gate=(1) | f32[4,8] f32[8,64]@panel32 f32[64] -> f32[4,32]"), "");
    EXPECT_EQ(refusal("linear_halves_swiglu gate=(1) | f32[4,8] f32[8,18]@panel32 -> f32[4,9]"),
              "needs halves of a multiple of 32 columns");
    EXPECT_EQ(refusal("linear_halves_swiglu gate=(1) | f32[4,8] f32[8,32]@panel32 -> f32[4,32]"),
              "needs a weight [K, 2 N]");
    EXPECT_EQ(refusal("linear_halves_swiglu gate=(1) | f32[4,8] f32[8,64]@panel32 f32[32] -> f32[4,32]"),
              "needs a contiguous bias of the columns of the weight");
    EXPECT_EQ(refusal("linear_halves_swiglu | f32[4,8] f32[8,64]@panel32 -> f32[4,32]"), "needs the attribute 'gate'");
    EXPECT_EQ(refusal("linear_argmax | f32[2,4,8] f32[8,9]@panel32 f32[9] -> i32[2,4,1]:(1,2,1)"), "");
    EXPECT_EQ(refusal("linear_argmax | f32[4,8] f32[7,9]@panel32 -> i32[4,1]"), "needs a weight [K, N]");
    EXPECT_EQ(refusal("linear_argmax | f32[4,8] f32[8,9] -> i32[4,1]"),
              "needs a weight in the layout panel32 or one of codes");
    EXPECT_EQ(refusal("linear_argmax | f32[4,8] f32[8,9]@panel32 -> i64[4,1]"),
              "needs an output of one i32 for each row");
    EXPECT_EQ(refusal("linear_argmax | f32[4,8] f32[8,9]@panel32 -> i32[4]"),
              "needs an output of one i32 for each row");
    EXPECT_EQ(refusal("linear_argmax | f32[4,8] f32[8,9]@panel32 f32[4,9] -> i32[4,1]"),
              "needs a contiguous bias of the columns of the weight");
    EXPECT_EQ(refusal("linear_argmax | f32[4,8] f32[8,9]@panel32 f32[9] f32[9] -> i32[4,1]"),
              "has the wrong number of operands");
    const auto low_rank = [&](const std::string& operands, const std::string& attributes = " scale=2") {
        return refusal("linear_low_rank" + attributes + " | f32[4,8] f32[8,9]@panel32 " + operands + " -> f32[4,9]");
    };
    EXPECT_EQ(low_rank("f32[8,3] f32[3,9]"), "");
    EXPECT_EQ(low_rank("f32[8,3]:(1,8) f32[3,9]:(20,1) f32[9]"), "");
    EXPECT_EQ(low_rank("f32[8,3] f32[3,9]", ""), "needs the attribute 'scale'");
    EXPECT_EQ(low_rank("f32[8,3]"), "has the wrong number of operands");
    EXPECT_EQ(low_rank("f32[7,3] f32[3,9]"), "needs narrow operands [K, R] and [R, N]");
    EXPECT_EQ(low_rank("f32[8,3] f32[2,9]"), "needs narrow operands [K, R] and [R, N]");
    EXPECT_EQ(low_rank("f32[8,3] f32[3,7]"), "needs narrow operands [K, R] and [R, N]");
    EXPECT_EQ(low_rank("f16[8,3] f32[3,9]"), "needs narrow operands of f32");
    EXPECT_EQ(low_rank("f32[8,5] f32[5,9]"), "needs a constant rank of 1 to 512 and to half of the depth");
    EXPECT_EQ(low_rank("f32[8,513] f32[513,9]"), "needs a constant rank of 1 to 512 and to half of the depth");
    EXPECT_EQ(low_rank("f32[8,0] f32[0,9]"), "needs a constant rank of 1 to 512 and to half of the depth");
    EXPECT_EQ(low_rank("f32[8,3]:(6,2) f32[3,9]"), "needs contiguous rows or columns of a");
    EXPECT_EQ(low_rank("f32[8,3] f32[3,9]:(1,3)"), "needs contiguous rows of b");
    EXPECT_EQ(low_rank("f32[8,3] f32[3,9] f32[7]"), "needs a contiguous bias of the columns of the weight");
}

// Sums of small integers are exact, and many are equal: the result is the first largest column, or the first NaN.
TEST(Panel, ArgmaxReturnsTheFirstLargestColumn) {
    constexpr std::int64_t depth = 3, max_rows = 200;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    for (const std::int64_t columns : {1, 31, 33, 290}) {
        const auto at = [&](std::int64_t column) { return static_cast<std::size_t>(column % columns); };
        const auto count = static_cast<std::size_t>(columns);
        std::vector<float> x(max_rows * depth), w(depth * count), packed((count + 31) / 32 * 32 * depth);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 7 % 5) - 2);
        for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(static_cast<int>(i * i % 7) - 3);
        std::vector<std::vector<float>> biases(6, std::vector<float>(count));
        for (std::size_t i = 0; i < count; ++i) biases[1][i] = static_cast<float>(i * 5 % 3);
        biases[2].assign(count, -infinity);
        biases[3][at(287)] = biases[3][at(40)] = nan;
        biases[4][at(288)] = biases[4][at(17)] = infinity;
        biases[5].assign(count, -infinity);
        biases[5][at(289)] = -1000;
        const std::string n = std::to_string(columns), weight = "f32[3," + n + "]";
        ASSERT_EQ(run(made_by(kernels::cpu::add_panel_pack).at(0), "pack | " + weight + " -> " + weight + "@panel32",
                      {w.data()}, packed.data()),
                  nullptr);
        for (const Level& level : runnable_levels()) {
            const std::vector<Kernel> list = kernels_of(level);
            const auto find = [&](const char* family) {
                return std::find_if(list.begin(), list.end(), [&](const Kernel& each) {
                    return each.definition == "linear_argmax" && each.id.starts_with(family);
                });
            };
            const auto of_panels = find("cpu.panel_"), of_plain = find("cpu.gemm_");
            ASSERT_TRUE(of_panels != list.end() && of_plain != list.end());
            for (const std::int64_t rows : {1, 2, 4, 5, 12, 13, 14, 15, 30, 200})
                for (std::size_t b = 0; b < biases.size(); ++b) {
                    const std::string m = std::to_string(rows);
                    std::vector<std::int32_t> found(static_cast<std::size_t>(rows), -1), wanted(found.size(), 0);
                    for (std::size_t row = 0; row < found.size(); ++row) {
                        const auto sum = [&](std::size_t column) {
                            float s = biases[b][column];
                            for (std::size_t k = 0; k < depth; ++k) s += x[row * depth + k] * w[k * count + column];
                            return s;
                        };
                        float best = sum(0);
                        for (std::size_t column = 1; column < count; ++column)
                            if (const float s = sum(column); !(s <= best) && best == best)
                                best = s, wanted[row] = static_cast<std::int32_t>(column);
                    }
                    for (const bool is_packed : {true, false}) {
                        std::vector<void*> in{x.data(), is_packed ? packed.data() : w.data()};
                        if (b > 0) in.push_back(biases[b].data());
                        const std::string text = "linear_argmax | f32[" + m + ",3] " + weight +
                                                 (is_packed ? "@panel32" : "") +
                                                 (b > 0 ? " f32[" + n + "]" : std::string()) + " -> i32[" + m + ",1]";
                        ASSERT_EQ(run(is_packed ? *of_panels : *of_plain, text, in, found.data()), nullptr);
                        EXPECT_EQ(found, wanted) << text << " with bias " << b << " at " << level.name;
                    }
                }
        }
    }
}

/// Products of small integers, whose sums are exact, at every level or its twin; returns the number of wrong elements.
std::int64_t wrong_elements(std::int64_t depth, std::int64_t columns, std::span<const std::int64_t> all_rows) {
    const std::int64_t most = *std::max_element(all_rows.begin(), all_rows.end());
    const auto floats = [](std::int64_t count) { return std::vector<float>(static_cast<std::size_t>(count)); };
    std::vector<float> x = floats(most * depth), w = floats(depth * columns), bias = floats(columns),
                       packed = floats((columns + 31) / 32 * 32 * depth), sums = floats(most * columns),
                       out = floats(most * columns);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::size_t row = i / bias.size(), column = i % bias.size(), k_count = static_cast<std::size_t>(depth);
        sums[i] = bias[column];
        for (std::size_t k = 0; k < k_count; ++k) sums[i] += x[row * k_count + k] * w[k * bias.size() + column];
    }
    const std::string k = std::to_string(depth), n = std::to_string(columns), weight = "f32[" + k + "," + n + "]";
    EXPECT_EQ(run(made_by(kernels::cpu::add_panel_pack).at(0), "pack | " + weight + " -> " + weight + "@panel32",
                  {w.data()}, packed.data()),
              nullptr);
    std::int64_t wrong = 0;
    for (const Level& level : runnable_levels()) {
        const std::vector<Kernel> list = kernels_of(level);
        const auto linear = std::find_if(list.begin(), list.end(), [](const Kernel& kernel) {
            return kernel.id.find("panel") != kernel.id.npos && kernel.definition == "fused";
        });
        for (const std::int64_t rows : all_rows) {
            const std::string m = std::to_string(rows);
            std::fill(out.begin(), out.end(), -1.0f);
            EXPECT_EQ(run(*linear,
                          "fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[" + m + "," + k + "] " + weight +
                              "@panel32 f32[" + m + "," + n + "]:(0,1) -> f32[" + m + "," + n + "] results (4)",
                          {x.data(), packed.data(), bias.data()}, out.data()),
                      nullptr);
            for (std::size_t i = 0; i < static_cast<std::size_t>(rows * columns); ++i) wrong += out[i] != sums[i];
        }
    }
    return wrong;
}

/// Relative L2 error of a product of random terms, the largest over all levels and numbers of rows.
double largest_error(std::int64_t depth, float least) {
    constexpr std::int64_t columns = 40, most = 40;
    std::mt19937 random(static_cast<unsigned>(depth));
    std::uniform_real_distribution<float> any(least, 1);
    const auto floats = [&](std::int64_t count) {
        std::vector<float> made(static_cast<std::size_t>(count));
        for (float& value : made) value = any(random);
        return made;
    };
    std::vector<float> x = floats(most * depth), w = floats(depth * columns), packed = floats(64 * depth);
    std::vector<double> sums(most * columns, 0);
    for (std::int64_t row = 0; row < most; ++row)
        for (std::int64_t k = 0; k < depth; ++k)
            for (std::int64_t n = 0; n < columns; ++n)
                sums[static_cast<std::size_t>(row * columns + n)] +=
                    static_cast<double>(x[static_cast<std::size_t>(row * depth + k)]) *
                    w[static_cast<std::size_t>(k * columns + n)];
    const std::string k = std::to_string(depth), weight = "f32[" + k + ",40]";
    EXPECT_EQ(run(made_by(kernels::cpu::add_panel_pack).at(0), "pack | " + weight + " -> " + weight + "@panel32",
                  {w.data()}, packed.data()),
              nullptr);
    double largest = 0;
    for (const Level& level : runnable_levels()) {
        const std::vector<Kernel> list = kernels_of(level);
        const auto linear = std::find_if(list.begin(), list.end(), [](const Kernel& kernel) {
            return kernel.id.find("panel") != kernel.id.npos && kernel.definition == "matmul";
        });
        for (const std::int64_t rows : {1, 3, 8, 14, 40}) {
            const std::string m = std::to_string(rows);
            std::vector<float> out(static_cast<std::size_t>(rows * columns));
            const std::string text = "matmul | f32[" + m + "," + k + "] " + weight + "@panel32 -> f32[" + m + ",40]";
            EXPECT_EQ(run(*linear, text, {x.data(), packed.data()}, out.data()), nullptr);
            double off = 0, all = 0;
            for (std::size_t i = 0; i < out.size(); ++i) {
                off += (out[i] - sums[i]) * (out[i] - sums[i]);
                all += sums[i] * sums[i];
            }
            largest = std::max(largest, std::sqrt(off / all));
        }
    }
    return largest;
}

// Terms of both signs, and positive ones only, whose sums grow with every term.
TEST(Panel, LongSumsAreAddedInBlocks) {
    EXPECT_LT(largest_error(768, -1), 3e-7);
    EXPECT_LT(largest_error(3072, -1), 3.5e-7);
    EXPECT_LT(largest_error(768, 0), 1.2e-7);
    EXPECT_LT(largest_error(3072, 0), 1.2e-7);
}

// Every tile height at every position in a panel.
TEST(Panel, EveryNumberOfRowsIsExact) {
    std::vector<std::int64_t> rows(60);
    std::iota(rows.begin(), rows.end(), 1);
    EXPECT_EQ(wrong_elements(37, 70, rows), 0);
}

// Panels side by side, whole groups and remainders; a depth in one part, in two, and in three of different sizes.
TEST(Panel, EveryPartOfADepthAndEveryGroupOfPanelsIsExact) {
    const std::vector<std::int64_t> rows{1, 2, 3, 4, 5, 7, 12, 13, 14, 15, 25, 199};
    for (const std::int64_t depth : {1024, 1025, 2051})
        for (const std::int64_t columns : {1, 33, 290}) EXPECT_EQ(wrong_elements(depth, columns, rows), 0) << depth;
}

}  // namespace
}  // namespace cairn::test
