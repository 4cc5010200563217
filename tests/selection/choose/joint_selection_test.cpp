#include "cairn/cairn.hpp"
#include "graph/ir/graph_data.hpp"
#include "selection/choose/memo.hpp"
#include "selection/choose/select.hpp"
#include "tests/selection/choose/bucket_set.hpp"
#include "tests/selection/choose/packed_product_fixture.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cairn::selection {
namespace {

/// The seconds of a product with a weight of 1 MiB, as stored and packed, and how often it runs.
struct Product {
    double stored, packed;
    double weight = 1;
};

class JointSelectionTest : public PackedProductFixture {
protected:
    // The form in which each product reads the common weight: `stored`, `packed`, ...
    std::string forms(const std::vector<Product>& products) {
        seconds_of.clear();
        for (const Product& product : products) seconds_of.push_back({product.stored, product.packed});
        BucketSet programs;
        for (std::size_t b = 0; b < products.size(); ++b) {
            Graph graph("g");
            const auto rows = static_cast<std::int64_t>(b) + 1;
            graph.output("y",
                         matmul(graph.input("x", DType::f32, {rows, 512}), graph.weight("w", DType::f32, {512, 512})));
            programs.add(graph, kernels, costs, products[b].weight);
        }
        const Selections selections =
            select(programs.buckets(), {.find_lower_bounds = true, .seconds_per_kept_byte = byte_price});
        double seconds = 0;
        std::string text;
        for (std::size_t b = 0; b < products.size(); ++b) {
            seconds += selections.buckets[b].seconds * products[b].weight;
            for (const Choice& choice : selections.buckets[b].chosen)
                if (choice.candidate.problem->definition == "matmul")
                    text += choice.candidate.kernel->packed_inputs.empty() ? " stored" : " packed";
        }
        EXPECT_GT(selections.low, 0);
        EXPECT_LE(selections.low, seconds * (1 + 1e-12));
        kept_bytes = selections.kept_bytes;
        return text.empty() ? "none" : text.substr(1);
    }

    double kept_bytes = 0, byte_price = seconds_per_kept_byte;
};

constexpr double mebibyte = 512 * 512 * 4, price = mebibyte * seconds_per_kept_byte;

TEST_F(JointSelectionTest, OneProgramUsesItsFastestLayout) {
    EXPECT_EQ(forms({{1e-4, 2e-4}}), "stored");
    EXPECT_EQ(forms({{2e-4, 1e-4}}), "packed");
    EXPECT_EQ(kept_bytes, mebibyte);
}

TEST_F(JointSelectionTest, OneLayoutServesAllIfASecondSavesLessThanItsBytesCost) {
    EXPECT_EQ(forms({{1e-4, 1e-4 + price * 0.9}, {3e-4 + price, 1e-4}}), "packed packed");
    EXPECT_EQ(kept_bytes, mebibyte);
    EXPECT_EQ(forms({{1e-4, 1e-4 + price * 1.1}, {3e-4 + price * 2, 1e-4}}), "stored packed");
    EXPECT_EQ(kept_bytes, 2 * mebibyte);
}

// If selected one after the other, the first would take its own form for a tiny gain and force it on the other.
TEST_F(JointSelectionTest, TheCostOfAByteDeterminesHowManyLayoutsAreKept) {
    const double gain = 1e-4, of_byte = gain / mebibyte;
    const auto forms_at = [&](double given) {
        byte_price = given;
        const std::string read = forms({{1e-4, 1e-4 + gain}, {5e-4, 1e-4}});
        return read + ", " + std::to_string(kept_bytes / mebibyte).substr(0, 1);
    };
    EXPECT_EQ(forms_at(0), "stored packed, 2");
    EXPECT_EQ(forms_at(of_byte * 0.9), "stored packed, 2");
    EXPECT_EQ(forms_at(of_byte * 1.1), "packed packed, 1");
}

TEST_F(JointSelectionTest, NoProgramLosesMuchForASmallGainOfAnother) {
    EXPECT_EQ(forms({{1e-4, 8e-4}, {1.001e-4, 1e-4}}), "stored stored");
    EXPECT_EQ(forms({{8e-4, 1e-4}, {1e-4, 1.001e-4}}), "packed packed");
    EXPECT_EQ(forms({{1e-4, 1.001e-4}, {8e-4, 1e-4}}), "packed packed");
}

TEST_F(JointSelectionTest, FrequentProgramsWeighMore) {
    EXPECT_EQ(forms({{1e-4, 2e-4}, {3e-4, 1e-4}}), "packed packed");
    EXPECT_EQ(forms({{1e-4, 2e-4, 3}, {3e-4, 1e-4}}), "stored stored");
    EXPECT_EQ(forms({{1e-4, 2e-4, 3}, {3e-4, 1e-4, 2}}), "packed packed");
}

TEST_F(JointSelectionTest, ThreeProgramsShareALayout) {
    EXPECT_EQ(forms({{1e-4, 2e-4}, {1e-4, 2e-4}, {2.5e-4, 1e-4}}), "stored stored stored");
    EXPECT_EQ(forms({{1e-4, 2e-4}, {1e-4, 2e-4}, {3.5e-4, 1e-4}}), "packed packed packed");
}

}  // namespace
}  // namespace cairn::selection
