#include "selection/cost/timing_transfer.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cairn::selection {
namespace {

Kernel kernel(const char* id, FeatureSet needs = levels::baseline) {
    Kernel made;
    made.id = id;
    made.needs = needs;
    return made;
}

const Kernel low = kernel("cpu.panel_avx2.matmul.f32@1", levels::avx2),
             high = kernel("cpu.panel_avx512.matmul.f32@1", levels::avx512);

TEST(TimingTransfer, AFamilyIsAnIdWithoutItsLevel) {
    EXPECT_EQ(family_of(low), "cpu.panel_*.matmul.f32@1");
    EXPECT_EQ(family_of(low), family_of(high));
    EXPECT_EQ(family_of(kernel("cpu.avx512.add@1", levels::avx512)), "cpu.*.add@1");
    EXPECT_EQ(family_of(kernel("cpu.baseline.add@1")), "cpu.*.add@1");
    EXPECT_EQ(family_of(kernel("cpu.eigen_baseline.add@1")), "cpu.eigen_*.add@1");
    EXPECT_EQ(family_of(kernel("cpu.reference.add@1")), "cpu.reference.add@1");
}

TEST(TimingTransfer, TheMeanRatioIsShrunkTowardsOneAndCertainWithManyTimes) {
    TimingTransfer timing_transfer;
    EXPECT_TRUE(timing_transfer.empty());
    EXPECT_EQ(timing_transfer.of(high).factor, 1);
    EXPECT_EQ(timing_transfer.of(high).uncertainty, 4);
    timing_transfer.add(high, 8, 2);
    EXPECT_FALSE(timing_transfer.empty());
    EXPECT_DOUBLE_EQ(timing_transfer.of(high).factor, 2) << "half of a logarithm of 4";
    EXPECT_DOUBLE_EQ(timing_transfer.of(high).uncertainty, 4);
    for (int i = 0; i < 30; ++i) timing_transfer.add(high, 4, 1);
    EXPECT_NEAR(timing_transfer.of(high).factor, 4, 0.2);
    EXPECT_DOUBLE_EQ(timing_transfer.of(high).uncertainty, 1.3) << "never surer";
    EXPECT_EQ(timing_transfer.of(kernel("cpu.other.matmul@1")).factor, 1);
}

TEST(TimingTransfer, DifferentRatiosIncreaseUncertainty) {
    TimingTransfer even, uneven;
    for (int i = 0; i < 4; ++i) {
        even.add(high, 2, 1);
        uneven.add(high, i % 2 == 0 ? 0.5 : 8, 1);
    }
    EXPECT_LT(even.of(high).uncertainty, 2.1);
    EXPECT_GT(uneven.of(high).uncertainty, 4);
    EXPECT_LE(uneven.of(high).uncertainty, 8);
}

TEST(TimingTransfer, TimesOfOtherMachinesWeighLess) {
    TimingTransfer timing_transfer;
    timing_transfer.add(high, 16, 1, 0.5);
    EXPECT_DOUBLE_EQ(timing_transfer.weight_of(high), 0.5);
    EXPECT_DOUBLE_EQ(timing_transfer.weight_of(low), 0) << "its twin's are not its own";
    EXPECT_NEAR(timing_transfer.of(high).factor, std::pow(16, 0.5 / 1.5), 1e-12);
    timing_transfer.add(high, 1, 1);
    EXPECT_NEAR(timing_transfer.of(high).factor, std::pow(16, 0.5 / 2.5), 1e-12);
}

TEST(TimingTransfer, AVariantIsNamedByItsLevel) {
    EXPECT_EQ(isa_variant_of(low, levels::avx512), high.id);
    EXPECT_EQ(isa_variant_of(low, levels::baseline), "cpu.panel_baseline.matmul.f32@1");
    EXPECT_EQ(isa_variant_of(kernel("cpu.reference.add@1"), levels::avx2), "");
}

TEST(TimingTransfer, AVariantIsLowerIfItsFeaturesAreAProperSubset) {
    EXPECT_TRUE(is_narrower_isa(levels::avx2, levels::avx512));
    EXPECT_FALSE(is_narrower_isa(levels::avx512, levels::avx512));
    const FeatureSet ymm{Feature::avx2, Feature::avx_vnni};
    EXPECT_FALSE(is_narrower_isa(ymm, levels::avx512) || is_narrower_isa(levels::avx512, ymm));
    const FeatureSet wide = levels::avx512 | FeatureSet{Feature::avx512_vnni};
    EXPECT_FALSE(is_narrower_isa(ymm, wide) || is_narrower_isa(wide, ymm)) << "more features are not all of fewer";
    const Kernel beside = kernel("cpu.panel_avx_vnni.matmul.f32@1", ymm);
    EXPECT_EQ(family_of(beside), family_of(high));
    TimingTransfer timing_transfer;
    timing_transfer.add(beside, 1, 4);
    EXPECT_DOUBLE_EQ(timing_transfer.of(high).factor, 1) << "neither is lower: it shows nothing of the other";
    timing_transfer.add(low, 1, 4);
    EXPECT_DOUBLE_EQ(timing_transfer.of(high).factor, 0.5);
}

TEST(TimingTransfer, ALowerVariantIsNeverExpectedFasterThanAHigherOne) {
    TimingTransfer timing_transfer;
    timing_transfer.add(low, 1, 4);
    EXPECT_DOUBLE_EQ(timing_transfer.of(low).factor, 0.5);
    EXPECT_DOUBLE_EQ(timing_transfer.of(high).factor, 0.5) << "what the lower one can do";
    timing_transfer.add(high, 1, 1);
    EXPECT_DOUBLE_EQ(timing_transfer.of(high).factor, 1) << "it has shown something itself";
    EXPECT_DOUBLE_EQ(timing_transfer.of(low).factor, 1);
    TimingTransfer slow;
    slow.add(low, 9, 1);
    EXPECT_DOUBLE_EQ(slow.of(high).factor, 1) << "a slow lower one says nothing of a higher one";
}

}  // namespace
}  // namespace cairn::selection
