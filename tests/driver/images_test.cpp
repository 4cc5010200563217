#include "cairn/cairn.hpp"
#include "cairn/paths.hpp"
#include "tests/driver/compiled_run.hpp"
#include "tests/graph/ir/reference_results.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

// Programs of image networks: no padded copies in memory.
namespace cairn::test::images {
namespace {

using Names = std::vector<std::string>;

class Network {
public:
    explicit Network(DType dtype = DType::f32) : dtype_(dtype) {}

    Graph g{"g"};
    Tensor image(std::int64_t channels, std::int64_t size = 9) {
        return g.input("x", dtype_, {g.symbol("B", 0, 2), channels, size, size});
    }
    Tensor filtered(const Tensor& x, std::int64_t filters, std::int64_t size, const ConvOptions& options) {
        const std::int64_t channels = x.dim(1).constant() / options.groups;
        return conv2d(x, g.weight("w" + std::to_string(++weights_), dtype_, {filters, channels, size, size}), options);
    }
    Tensor convolved(const Tensor& x, std::int64_t filters, std::int64_t size, const ConvOptions& options) {
        const Tensor y = filtered(x, filters, size, options);
        return y + reshape(g.weight("b" + std::to_string(weights_), dtype_, {filters}), {filters, 1, 1});
    }

    Tensor normalized(const Tensor& x) {
        const std::string name = "n" + std::to_string(++weights_);
        const auto of = [&](const char* what) { return g.weight(name + what, dtype_, {x.dim(1)}); };
        // The variance is computed from a weight and is not one itself.
        const Tensor spread = of("spread");
        return batch_norm(x, of("gamma"), of("beta"), of("mean"), spread * spread, 0.25);
    }

    /// The ops that the instructions of the cheapest program compute, step by step for fused bodies.
    Names definitions() {
        const CompiledGraph compiled = compile(g, Context(), {.verify = true});
        Names names;
        const runtime::ProgramSet set = runtime::parse_program_set(compiled.program());
        for (const auto& each : set.buckets[0].program.run) {
            names.push_back(each.problem->definition);
            for (const Step& step : each.problem->body) names.back() += " " + step.op;
        }
        return names;
    }
    /// The first difference from the interpreter among some paths.
    std::string fault() {
        std::mt19937_64 random(1);
        const Context context({.threads = 2});
        const Paths all_paths = paths(g, context, {.verify = true});
        for (int i = 0; i < 12; ++i) {
            const Path path = all_paths.sample(random);
            const runtime::ProgramSet set = runtime::parse_program_set(path.compile().program());
            for (const std::int64_t batch : {0, 1, 2}) {
                const interpreter::Inputs inputs = random_inputs(*g.data(), {{"B", batch}}, 17);
                if (std::string text =
                        difference(CompiledRun(set, context, inputs).run(inputs), reference_results(*g.data(), inputs));
                    !text.empty())
                    return text;
            }
        }
        return {};
    }

private:
    DType dtype_;
    int weights_ = 0;
};

TEST(ImageNetworks, ABlockOfResNetIsTwoInstructions) {
    Network n;
    const Tensor x = n.image(8);
    const Tensor inside = relu(n.convolved(x, 8, 3, {.padding = 1}));
    n.g.output("y", relu(n.convolved(inside, 8, 3, {.padding = 1}) + x));
    EXPECT_EQ(n.definitions(), (Names{"fused image_conv2d add relu", "fused image_conv2d add add relu"}));
    EXPECT_EQ(n.fault(), "");
}

TEST(ImageNetworks, ABottleneckWithBatchNormIsThreeInstructions) {
    Network n;
    const Tensor x = n.image(12);
    const Tensor narrow = relu(n.normalized(n.filtered(x, 4, 1, {})));
    const Tensor inside = silu(n.normalized(n.filtered(narrow, 4, 3, {.padding = 1})));
    n.g.output("y", relu(n.normalized(n.filtered(inside, 12, 1, {})) + x));
    EXPECT_EQ(n.definitions(), (Names{"fused image_conv2d mul add relu", "fused image_conv2d mul add silu",
                                      "fused image_conv2d mul add add relu"}));
    EXPECT_EQ(n.fault(), "");
}

TEST(ImageNetworks, ABlockOfMobileNetIsTwoInstructions) {
    Network n;
    const Tensor wide = clamp(n.convolved(n.image(4), 12, 3, {.stride = 2, .padding = 1}), 0, 6);
    n.g.output("y", clamp(n.normalized(n.filtered(wide, 12, 3, {.padding = 1, .groups = 12})), 0, 6));
    EXPECT_EQ(n.definitions(),
              (Names{"fused image_conv2d const add relu min", "fused image_conv2d const mul add relu min"}));
    EXPECT_EQ(n.fault(), "");
}

// A value that another instruction also reads is computed once.
TEST(ImageNetworks, AConvolutionWithTwoReadersIsComputedOnce) {
    Network n;
    const Tensor x = n.filtered(n.image(4), 4, 3, {.padding = 1});
    n.g.output("y", relu(x));
    n.g.output("z", max_pool(x, 3, {.padding = 1}));
    EXPECT_EQ(n.definitions().size(), 3U);
    EXPECT_EQ(n.fault(), "");
}

TEST(ImageNetworks, PoolsNeedNoPadding) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        Network n(dtype);
        const Tensor x = n.image(3);
        n.g.output("y", max_pool(x, 3, {.stride = 2, .padding = 1}));
        n.g.output("z", avg_pool(x, 2, {.padding = 1, .count_padding = true}));
        EXPECT_EQ(n.definitions(), (Names{"image_max", "image_mean"})) << to_string(dtype);
        EXPECT_EQ(n.fault(), "") << to_string(dtype);
    }
}

TEST(ImageNetworks, IntegerPoolsNeedNoPadding) {
    for (const DType dtype : {DType::i8, DType::u8, DType::i32}) {
        Network n(dtype);
        n.g.output("y", max_pool(n.image(3), 3, {.stride = 2, .padding = 1}));
        EXPECT_EQ(n.definitions(), (Names{"image_max"})) << to_string(dtype);
        EXPECT_EQ(n.fault(), "") << to_string(dtype);
    }
}

TEST(ImageNetworks, OneDimensionalLayersNeedNoPadding) {
    Network n;
    const Tensor x = n.g.input("x", DType::f32, {n.g.symbol("B", 0, 2), 3, 50});
    const Tensor w = n.g.weight("w", DType::f32, {8, 3, 5}), b = n.g.weight("b", DType::f32, {8});
    const Tensor wide = gelu(conv1d(x, w, b, {.stride = 2, .padding = 2}));
    n.g.output("y", max_pool(wide, 3, {.stride = 2, .padding = 1}));
    EXPECT_EQ(n.definitions(), (Names{"fused image_conv1d add gelu", "image_max"}));
    EXPECT_EQ(n.fault(), "");
}

TEST(ImageNetworks, PoolsOfThreeAxesNeedNoPadding) {
    Network n;
    const Tensor x = n.g.input("x", DType::f32, {n.g.symbol("B", 0, 2), 3, 5, 8, 9});
    n.g.output("y", max_pool(x, 3, {.stride = 2, .padding = 1}));
    n.g.output("z", avg_pool(x, {2, 3, 2}, {.stride = 1, .padding = {1, 0, 1}, .count_padding = true}));
    EXPECT_EQ(n.definitions(), (Names{"image_max", "image_mean"}));
    EXPECT_EQ(n.fault(), "");
}

TEST(ImageNetworks, NarrowFloatsAreConvolvedWithoutCasts) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
        Network n(dtype);
        n.g.output("y", n.convolved(n.image(4), 8, 3, {.padding = 1}));
        EXPECT_EQ(n.definitions(), (Names{"fused image_conv2d add"})) << to_string(dtype);
        EXPECT_EQ(n.fault(), "") << to_string(dtype);
    }
}

}  // namespace
}  // namespace cairn::test::images
