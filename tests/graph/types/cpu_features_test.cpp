#include "cairn/features.hpp"

#include "graph/types/isa_levels.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace cairn {
namespace {

TEST(Features, SetsRoundTripThroughText) {
    // Every set there is.
    for (unsigned bits = 0; bits < 1U << feature_count; ++bits) {
        FeatureSet features;
        for (const Feature feature : all_features)
            if ((bits >> static_cast<unsigned>(feature) & 1) != 0) features = features | FeatureSet{feature};
        const std::string text = to_string(features);
        ASSERT_EQ(parse_features(text), features) << text;
    }
    EXPECT_EQ(to_string(FeatureSet()), "baseline");
    EXPECT_EQ(to_string(FeatureSet{Feature::avx512_vnni, Feature::avx512, Feature::avx2}), "avx2+avx512+avx512_vnni");
    std::ostringstream out;
    out << FeatureSet{Feature::amx_tile, Feature::amx_int8};
    EXPECT_EQ(out.str(), "amx_tile+amx_int8");
}

TEST(Features, AreReadInAnyOrder) {
    EXPECT_EQ(parse_features("avx512+avx2"), levels::avx512);
    EXPECT_EQ(parse_features("avx2+avx2"), levels::avx2);
    for (const char* wrong : {"", "avx", "AVX2", "avx2+", "+avx2", "avx2++avx512", "avx2 avx512", "avx2, avx512",
                              " avx2", "baseline+avx2", "avx2+baseline", "avx512_vnni_bf16", "avx2+sse9"})
        EXPECT_EQ(parse_features(wrong), std::nullopt) << wrong;
}

TEST(Features, EachHasANameOfItsOwn) {
    static_assert(static_cast<std::size_t>(Feature::amx_int8) + 1 == feature_count);
    for (const Feature a : all_features)
        for (const Feature b : all_features) EXPECT_EQ(to_string(a) == to_string(b), a == b);
}

TEST(Features, SetsAreCombined) {
    constexpr FeatureSet none, a{Feature::avx2}, ab{Feature::avx2, Feature::avx512},
        bc{Feature::avx512, Feature::amx_tile};
    static_assert(none.empty() && !a.empty() && ab.has(Feature::avx512) && !a.has(Feature::avx512));
    static_assert(ab.includes(a) && ab.includes(ab) && ab.includes(none) && !a.includes(ab) && !ab.includes(bc));
    EXPECT_EQ(ab | bc, (FeatureSet{Feature::avx2, Feature::avx512, Feature::amx_tile}));
    EXPECT_EQ(ab & bc, FeatureSet{Feature::avx512});
    EXPECT_EQ(ab - bc, a);
    EXPECT_EQ((ab | bc).size(), 3);
    EXPECT_EQ(none.size(), 0);
    EXPECT_NE(a, ab);
}

TEST(Features, ImplyTheirPrerequisites) {
    EXPECT_EQ(implied_by(Feature::avx2), FeatureSet());
    EXPECT_EQ(implied_by(Feature::amx_int8), FeatureSet{Feature::amx_tile});
    EXPECT_EQ(implied_by(Feature::avx512_bf16), levels::avx512);
    // Implied features lack no prerequisites.
    for (const Feature feature : all_features) EXPECT_EQ(missing_prerequisites(implied_by(feature)), FeatureSet());
    EXPECT_EQ(missing_prerequisites({Feature::avx512}), levels::avx2);
    EXPECT_EQ(missing_prerequisites({Feature::avx512_vnni}), levels::avx512);
    EXPECT_EQ(missing_prerequisites({Feature::avx_vnni, Feature::amx_bf16}),
              (FeatureSet{Feature::avx2, Feature::amx_tile}));
    EXPECT_EQ(missing_prerequisites(levels::avx512), FeatureSet());
}

TEST(Features, ALevelIsNamedByItsLastFeature) {
    EXPECT_EQ(isa_level_name(levels::baseline), "baseline");
    EXPECT_EQ(isa_level_name(levels::avx2), "avx2");
    EXPECT_EQ(isa_level_name(levels::avx512), "avx512");
    EXPECT_EQ(isa_level_name({Feature::avx2, Feature::avx_vnni}), "avx_vnni");
}

}  // namespace
}  // namespace cairn
