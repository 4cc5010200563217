#include "kernels/cpu/table.hpp"
#include "tests/kernels/simd_case.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

const Kernel& gathers(const std::string& definition) {
    static const std::vector<Kernel> kernels = [] {
        std::vector<Kernel> made;
        kernels::cpu::add_gathers(made);
        kernels::cpu::add_scatter(made);
        return made;
    }();
    return find(kernels, definition);
}

void number(Operand& operand) {
    for (std::int64_t i = 0; i < operand.size(); ++i) operand.set(i, static_cast<double>(i * 7 % 101));
}

TEST(SimdGather, GathersRows) {
    for (const char* indices : {"i32[4,30]", "i64[4,30]:(1,4)"}) {
        SimdCase c(std::string("gather axis=(-2) | f16[50,24]:(30,1) ") + indices + " -> f16[4,30,24]");
        number(c.inputs[0]);
        for (std::int64_t i = 0; i < 120; ++i) c.inputs[1].set(i, static_cast<double>(i * 13 % 50));
        EXPECT_EQ(c.run(gathers("gather"), 2), "");
        for (std::int64_t i = 0; i < c.outputs[0].size(); ++i)
            ASSERT_EQ(c.outputs[0].get(i), c.inputs[0].get(i / 24 * 13 % 50 * 24 + i % 24)) << i;
    }
}

TEST(SimdGather, ReportsAnIndexOutOfRange) {
    for (const double bad : {-1.0, 5.0, 2147483647.0, -2147483648.0}) {
        SimdCase c("embedding | f32[5,3] i32[4] -> f32[4,3]");
        number(c.inputs[0]);
        for (int i = 0; i < 4; ++i) c.inputs[1].set(i, i == 2 ? bad : i);
        EXPECT_EQ(c.run(gathers("embedding")), "an index is out of range of the indexed axis");
    }
}

// Axes before, after and between the indices.
TEST(SimdGather, GathersFromAnyAxis) {
    SimdCase c("gather axis=(-2) | f32[6,50,3]:(200,4,1) i64[5,8] -> f32[6,5,8,3]");
    number(c.inputs[0]);
    for (std::int64_t i = 0; i < 40; ++i) c.inputs[1].set(i, static_cast<double>(i * 13 % 50));
    for (int members = 1; members <= 3; ++members) {
        EXPECT_EQ(c.run(gathers("gather"), members), "");
        for (std::int64_t i = 0; i < c.outputs[0].size(); ++i)
            ASSERT_EQ(c.outputs[0].get(i), c.inputs[0].get((i / 120 * 50 + i / 3 % 40 * 13 % 50) * 3 + i % 3)) << i;
    }
}

TEST(SimdGather, GathersAlongAnAxis) {
    for (const char* axis : {"-1", "-2"}) {
        SimdCase c(std::string("take_along_axis axis=(") + axis +
                   ") | u8[4,30,30] i32[4,30,30]:(900,1,30) -> u8[4,30,30]");
        number(c.inputs[0]);
        for (std::int64_t i = 0; i < 3600; ++i) c.inputs[1].set(i, static_cast<double>(i * 13 % 29));
        EXPECT_EQ(c.run(gathers("take_along_axis"), 2), "");
        for (std::int64_t i = 0; i < 3600; ++i) {
            const std::int64_t index = i * 13 % 29;
            const bool last = axis[1] == '1';
            ASSERT_EQ(c.outputs[0].get(i),
                      c.inputs[0].get(last ? i / 30 * 30 + index : i / 900 * 900 + index * 30 + i % 30))
                << i;
        }
        c.inputs[1].set(77, 30);
        EXPECT_EQ(c.run(gathers("take_along_axis")), "an index is out of range of the indexed axis");
    }
}

// Slabs that are processed whole, and one that is split into parts.
TEST(SimdGather, ScattersTheLastRowOfEqualIndices) {
    for (const char* text : {"scatter axis=(-2) | f32[6,50,3] i64[90] f32[6,90,3] -> f32[6,50,3]",
                             "scatter axis=(-2) | f32[1,9000,3] i64[90] f32[1,90,3] -> f32[1,9000,3]"}) {
        SimdCase c(text);
        number(c.inputs[0]);
        number(c.inputs[2]);
        const std::int64_t size = c.outputs[0].size() / 3 % 9000 == 0 ? 9000 : 50;
        for (std::int64_t i = 0; i < 90; ++i) c.inputs[1].set(i, static_cast<double>(i * 13 % 37 * (size / 37)));
        for (int members = 1; members <= 3; ++members) {
            EXPECT_EQ(c.run(gathers("scatter"), members), "");
            for (std::int64_t at = 0; at < c.outputs[0].size(); ++at) {
                const std::int64_t slab = at / (3 * size), row = at / 3 % size;
                double wanted = c.inputs[0].get(at);
                for (std::int64_t i = 0; i < 90; ++i)
                    if (i * 13 % 37 * (size / 37) == row) wanted = c.inputs[2].get((slab * 90 + i) * 3 + at % 3);
                ASSERT_EQ(c.outputs[0].get(at), wanted) << text << " " << at;
            }
        }
        for (const double bad : {-1.0, static_cast<double>(size)}) {
            c.inputs[1].set(77, bad);
            EXPECT_EQ(c.run(gathers("scatter")), "an index is out of range of the indexed axis");
        }
    }
}

// Nothing is written, but a bad index is still reported.
TEST(SimdGather, ScatterChecksIndicesOfEmptyRows) {
    SimdCase c("scatter axis=(-2) | f32[5,0] i32[2] f32[2,0] -> f32[5,0]");
    c.inputs[1].set(0, 4);
    c.inputs[1].set(1, 5);
    EXPECT_EQ(c.run(gathers("scatter"), 2), "an index is out of range of the indexed axis");
}

}  // namespace
}  // namespace cairn::test
