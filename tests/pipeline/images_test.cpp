#include "cairn/cairn.hpp"
#include "cairn/paths.hpp"
#include "tests/ir/judge.hpp"
#include "tests/pipeline/compiled_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

// Image networks as programs: nothing is padded in memory.
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
    Tensor convolved(const Tensor& x, std::int64_t filters, std::int64_t size, const ConvOptions& options) {
        const std::string name = "w" + std::to_string(++weights_);
        const std::int64_t channels = x.dim(1).constant() / options.groups;
        return conv2d(x, g.weight(name, dtype_, {filters, channels, size, size}),
                      g.weight(name + "b", dtype_, {filters}), options);
    }

    /// What the instructions of the cheapest program compute.
    Names definitions() {
        const CompiledGraph compiled = compile(g, Context(), {.verify = true});
        Names names;
        for (const auto& each : runtime::parse_program_set(compiled.program()).buckets[0].program.run)
            names.push_back(each.problem->definition);
        return names;
    }
    /// The first difference from the interpreter on some paths.
    std::string fault() {
        std::mt19937_64 random(1);
        const Context context({.threads = 2});
        const Paths ways = paths(g, context, {.verify = true});
        for (int i = 0; i < 12; ++i) {
            const Path path = ways.sample(random);
            const runtime::ProgramSet set = runtime::parse_program_set(path.compile().program());
            for (const std::int64_t batch : {0, 1, 2}) {
                const meaning::Inputs inputs = random_inputs(*g.data(), {{"B", batch}}, 17);
                if (std::string text =
                        difference(CompiledRun(set, context, inputs).run(inputs), judge(*g.data(), inputs));
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

TEST(ImageNetworks, ABlockOfResNetPadsNothing) {
    Network n;
    const Tensor x = n.image(8);
    const Tensor inside = relu(n.convolved(x, 8, 3, {.padding = 1}));
    n.g.output("y", relu(n.convolved(inside, 8, 3, {.padding = 1}) + x));
    const Names names = n.definitions();
    EXPECT_EQ(std::count(names.begin(), names.end(), "image_conv2d"), 2);
    EXPECT_EQ(names.size(), 5U) << "two filters; relu, add, relu, which are too small here to be worth joining";
    EXPECT_EQ(n.fault(), "");
}

TEST(ImageNetworks, ABlockOfMobileNetPadsNothing) {
    Network n;
    const Tensor wide = clamp(n.convolved(n.image(4), 12, 3, {.stride = 2, .padding = 1}), 0, 6);
    n.g.output("y", n.convolved(wide, 12, 3, {.padding = 1, .groups = 12}));
    EXPECT_EQ(n.definitions(), (Names{"image_conv2d", "relu", "min", "image_conv2d"}));
    EXPECT_EQ(n.fault(), "");
}

TEST(ImageNetworks, PoolsPadNothing) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        Network n(dtype);
        const Tensor x = n.image(3);
        n.g.output("y", max_pool(x, 3, {.stride = 2, .padding = 1}));
        n.g.output("z", avg_pool(x, 2, {.padding = 1, .count_padding = true}));
        EXPECT_EQ(n.definitions(), (Names{"image_max", "image_mean"})) << to_string(dtype);
        EXPECT_EQ(n.fault(), "") << to_string(dtype);
    }
}

TEST(ImageNetworks, NarrowFloatsAreFilteredAsTheyAre) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
        Network n(dtype);
        n.g.output("y", n.convolved(n.image(4), 8, 3, {.padding = 1}));
        EXPECT_EQ(n.definitions(), (Names{"image_conv2d"})) << to_string(dtype);
        EXPECT_EQ(n.fault(), "") << to_string(dtype);
    }
}

}  // namespace
}  // namespace cairn::test::images
