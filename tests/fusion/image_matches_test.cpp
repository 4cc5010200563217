#include "fusion/image_matches.hpp"

#include "cairn/composites.hpp"
#include "cairn/ops.hpp"
#include "tests/fusion/match_check.hpp"

#include <gtest/gtest.h>

#include <functional>

/// Matches that read windows of an image also exist as matches that read the image.
namespace cairn::test::images {
namespace {

std::vector<fusion::Match> of_images(const Proposed& proposed) {
    std::vector<fusion::Match> found;
    for (const fusion::Match& match : proposed.matches)
        if (match.definition.starts_with("image_") || match.attributes.has("kernel")) found.push_back(match);
    return found;
}

class ImageMatchesTest : public testing::Test {
protected:
    Graph g{"g"};
    const Dim h = g.symbol("H", 4, 9);
    const Tensor x = g.input("x", DType::f32, {2, 4, h, 8});

    /// The image matches as text. All matches are checked by normal form and by value.
    std::string text(const Tensor& read) {
        g.output("y", read);
        const Proposed made = proposed(g);
        EXPECT_EQ(fusion::verify(*made.graph, alternatives::EClasses(*made.graph), made.matches, definitions()), "");
        EXPECT_EQ(fault_in_matches(made, 3), "");
        std::string all;
        for (const fusion::Match& match : of_images(made)) all += summary(made, match) + "\n";
        return all;
    }
};

TEST_F(ImageMatchesTest, OfConvolutions) {
    const Tensor w = g.weight("w", DType::f32, {6, 4, 3, 2});
    EXPECT_EQ(text(conv2d(x, w, {.stride = {1, 2}, .padding = {1, 0, 2, 1}, .dilation = {1, 2}})),
              "image_conv2d kernel=(3,2) padding=(1,0,2,1) stride=(1,2) dilation=(1,2) value=0 (x, w)\n");
}

TEST_F(ImageMatchesTest, OfConvolutionsWithEpilogues) {
    const Tensor w = g.weight("w", DType::f32, {6, 4, 3, 2}), b = g.weight("b", DType::f32, {6, 1, 1});
    EXPECT_EQ(text(gelu(conv2d(x, w, {.padding = {1, 0}}) + b)),
              "image_conv2d kernel=(3,2) padding=(1,0,1,0) stride=(1,1) dilation=(1,1) value=0 (x, w)\n"
              "fused kernel=(3,2) padding=(1,0,1,0) stride=(1,1) dilation=(1,1) value=0 {3=image_conv2d(0,1):f32 "
              "4=add(2,3):f32} results (x, w, b)\n"
              "fused kernel=(3,2) padding=(1,0,1,0) stride=(1,1) dilation=(1,1) value=0 {3=image_conv2d(0,1):f32 "
              "4=add(2,3):f32 5=gelu(4):f32} results (x, w, b)\n");
}

TEST_F(ImageMatchesTest, OfPointwiseConvolutions) {
    const Tensor w = g.weight("w", DType::f32, {6, 4, 1, 1});
    EXPECT_EQ(text(relu(conv2d(x, w))),
              "image_conv2d kernel=(1,1) padding=(0,0,0,0) stride=(1,1) dilation=(1,1) value=0 (x, w)\n"
              "fused kernel=(1,1) padding=(0,0,0,0) stride=(1,1) dilation=(1,1) value=0 {2=image_conv2d(0,1):f32 "
              "3=relu(2):f32} results (x, w)\n");
}

TEST_F(ImageMatchesTest, OfDepthwiseConvolutions) {
    const Tensor w = g.weight("w", DType::f32, {4, 1, 3, 3});
    EXPECT_EQ(text(conv2d(x, w, {.padding = 1, .groups = 4})),
              "image_conv2d kernel=(3,3) padding=(1,1,1,1) stride=(1,1) dilation=(1,1) value=0 (x, w)\n");
}

TEST_F(ImageMatchesTest, OfOneAxis) {
    const Tensor row = g.input("row", DType::f32, {2, 4, h}), w = g.weight("w", DType::f32, {6, 2, 3});
    EXPECT_EQ(text(tanh(conv1d(row, w, {.stride = 2, .padding = {2, 1}, .groups = 2}))),
              "image_conv1d kernel=(3) padding=(2,1) stride=(2) dilation=(1) value=0 (row, w)\n"
              "fused kernel=(3) padding=(2,1) stride=(2) dilation=(1) value=0 {2=image_conv1d(0,1):f32 3=tanh(2):f32} "
              "results (row, w)\n");
}
TEST_F(ImageMatchesTest, OfPoolsOfOneAxis) {
    EXPECT_EQ(text(max_pool(g.input("row", DType::i8, {2, 4, h}), 3, {.stride = 1, .padding = 1})),
              "image_max axes=(-1) kernel=(3) padding=(1,1) stride=(1) dilation=(1) value=-128 (row)\n");
}

TEST_F(ImageMatchesTest, OfPools) {
    EXPECT_EQ(text(max_pool(x, 3, {.stride = 2, .padding = 1})),
              "image_max axes=(-2,-1) kernel=(3,3) padding=(1,1,1,1) stride=(2,2) dilation=(1,1) value=-inf (x)\n");
}

TEST_F(ImageMatchesTest, OfMeansThatIncludePadding) {
    const std::string all = text(avg_pool(x, {2, 3}, {.stride = 1, .padding = {1, 0}, .count_padding = true}));
    EXPECT_NE(all.find("image_mean axes=(-2,-1) keepdims=(0) kernel=(2,3) padding=(1,0,1,0) stride=(1,1) "
                       "dilation=(1,1) value=0 (x)\n"),
              std::string::npos)
        << all;
}

TEST_F(ImageMatchesTest, OfSumsWithoutPadding) {
    EXPECT_EQ(text(sum(window(window(x, 2, 2), 3, 3), {4, 5}, true)),
              "image_sum axes=(-2,-1) kernel=(2,3) padding=(0,0,0,0) stride=(1,1) dilation=(1,1) value=0 (x)\n");
}

// Only pads in the definition's order and with one value are included; the match reads the result of the others.
TEST_F(ImageMatchesTest, OnlyOfPaddingInOneOrder) {
    const Tensor padded = pad(pad(x, 3, 0, 1, 2), 2, 1, 0, 2);
    EXPECT_EQ(text(sum(window(window(padded, 2, 2), 3, 3), {4, 5}, true)),
              "image_sum axes=(-2,-1) kernel=(2,3) padding=(1,0,0,0) stride=(1,1) dilation=(1,1) value=2 (%1)\n");
}
TEST_F(ImageMatchesTest, OnlyOfOnePaddingValue) {
    const Tensor both = pad(pad(x, 2, 0, 1, 2), 3, 1, 1, 0);
    EXPECT_EQ(text(sum(window(window(both, 2, 2), 3, 3), {4, 5}, true)),
              "image_sum axes=(-2,-1) kernel=(2,3) padding=(0,1,0,1) stride=(1,1) dilation=(1,1) value=0 (%1)\n");
}

TEST_F(ImageMatchesTest, NotOfColumnsBeforeRows) {
    EXPECT_EQ(text(sum(window(window(x, 3, 3), 2, 2), {4, 5}, true)), "");
}
TEST_F(ImageMatchesTest, NotOfWindowsOfChannels) {
    EXPECT_EQ(text(sum(window(window(x, 1, 2), 3, 2), {4, 5}, true)), "");
}
TEST_F(ImageMatchesTest, NotOfWindowsOfOneAxis) { EXPECT_EQ(text(sum(window(x, 3, 3), {4}, true)), ""); }

TEST_F(ImageMatchesTest, DetectsAWrongMatch) {
    g.output("y", max_pool(x, 3, {.stride = 2, .padding = 1}));
    const Proposed made = proposed(g);
    for (const std::string name : {"kernel", "padding", "stride", "dilation"}) {
        std::vector<fusion::Match> matches = of_images(made);
        ASSERT_EQ(matches.size(), 1U);
        for (Attribute& attribute : matches[0].attributes)
            if (attribute.name == name) std::get<std::vector<Dim>>(attribute.value)[0] += 1;
        EXPECT_NE(fusion::verify(*made.graph, alternatives::EClasses(*made.graph), matches, definitions()), "") << name;
    }
}

}  // namespace
}  // namespace cairn::test::images
