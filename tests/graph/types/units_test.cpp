#include "cairn/units.hpp"

#include "graph/types/isa_levels.hpp"
#include "graph/types/unit_table.hpp"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr FeatureSet zen5 = levels::avx512 | FeatureSet{Feature::avx_vnni, Feature::avx512_vnni, Feature::avx512_bf16},
                     sapphire_rapids = zen5 | FeatureSet{Feature::avx512_fp16, Feature::amx_tile, Feature::amx_bf16,
                                                         Feature::amx_int8};

TEST(Units, RowsAreInTheOrderOfTheEnumerationAndNamedOnce) {
    for (std::size_t i = 0; i < unit_count; ++i) {
        EXPECT_EQ(index_of(unit_table[i].unit), i);
        EXPECT_EQ(to_string(static_cast<Unit>(i)), unit_table[i].name);
        EXPECT_EQ(missing_prerequisites(unit_table[i].needs), FeatureSet()) << unit_table[i].name;
        EXPECT_GT(unit_table[i].per_cycle, 0);
        for (std::size_t j = 0; j < i; ++j) EXPECT_NE(unit_table[i].name, unit_table[j].name);
    }
    EXPECT_EQ(to_string(Unit::i8_amx), "i8_amx");
    EXPECT_EQ(to_string(Arithmetic::tf32), "tf32");
}

TEST(Units, SelectsTheWidestUnitThatTheCodeNeeds) {
    EXPECT_EQ(unit_of(Arithmetic::f32, levels::baseline), Unit::f32_baseline);
    EXPECT_EQ(unit_of(Arithmetic::f32, levels::avx2), Unit::f32_avx2);
    EXPECT_EQ(unit_of(Arithmetic::f32, sapphire_rapids), Unit::f32_avx512);
    EXPECT_EQ(unit_of(Arithmetic::i8, levels::avx2), Unit::i8_avx2);
    EXPECT_EQ(unit_of(Arithmetic::i8, levels::avx512), Unit::i8_avx512);
    EXPECT_EQ(unit_of(Arithmetic::i8, {Feature::avx2, Feature::avx_vnni}), Unit::i8_avx_vnni);
    EXPECT_EQ(unit_of(Arithmetic::i8, zen5), Unit::i8_avx512_vnni);
    EXPECT_EQ(unit_of(Arithmetic::i8, sapphire_rapids), Unit::i8_amx);
    EXPECT_EQ(unit_of(Arithmetic::i16, sapphire_rapids), Unit::i16_avx512_vnni) << "tiles have no such products";
    EXPECT_EQ(unit_of(Arithmetic::bf16, zen5), Unit::bf16_avx512);
    EXPECT_EQ(unit_of(Arithmetic::bf16, sapphire_rapids), Unit::bf16_amx);
    EXPECT_EQ(unit_of(Arithmetic::f16, sapphire_rapids), Unit::f16_avx512);
}

TEST(Units, SomeArithmeticHasNoUnit) {
    EXPECT_EQ(unit_of(Arithmetic::i8, levels::baseline), std::nullopt);
    EXPECT_EQ(unit_of(Arithmetic::bf16, levels::avx512), std::nullopt);
    EXPECT_EQ(unit_of(Arithmetic::f16, zen5), std::nullopt);
    EXPECT_EQ(unit_of(Arithmetic::tf32, sapphire_rapids), std::nullopt);
}

}  // namespace
}  // namespace cairn
