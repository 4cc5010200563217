#include "selection/candidates/candidate_cache.hpp"

#include "cairn/cairn.hpp"
#include "cairn/kernels.hpp"
#include "graph/ir/op_table.hpp"
#include "rewrite/alternatives/expand.hpp"
#include "rewrite/simplify/simplify.hpp"
#include "selection/candidates/candidates.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cairn::selection {
namespace {

Refusal accepts_any(const Problem&) { return {}; }

std::string text_of(const std::vector<Candidate>& candidates) {
    std::ostringstream text;
    for (const Candidate& candidate : candidates) {
        text << candidate.match << " " << candidate.kernel->id << " " << to_string(*candidate.problem) << " on "
             << candidate.device << " " << candidate.estimate.seconds << " from";
        for (const KernelOperand& operand : candidate.operands)
            text << " " << operand.node << static_cast<int>(operand.form) << operand.layout << operand.device
                 << operand.transferred;
        text << " to";
        for (const ir::NodeId output : candidate.outputs) text << " " << output;
        text << "\n";
    }
    return text.str();
}

std::string queries_for(const Candidates& candidates, int match) {
    std::string text;
    for (KernelQuery* query : candidates.queries_for(match)) text += to_string(*query->problem()) + "\n";
    return text;
}

struct Compared {
    int found = 0;            ///< matches with candidates
    std::size_t queried = 0;  ///< matches that kernels were queried for
};

/// Compares the candidates of each match with those found when no other match was queried before.
Compared compare(const Graph& given, const KernelSet& kernels, Devices devices = {}) {
    const alternatives::Expansion expansion = alternatives::expand(*simplify::simplify(*given.data()).graph, {});
    const ir::GraphData& graph = *expansion.graph;
    const std::vector<fusion::Match> matches =
        fusion::propose(graph, expansion.classes, fusion::patterns_of(kernels.definitions, fusion::axes_in(graph)));
    CostModel costs;
    costs.machine = nominal_machine(levels::avx512, 1);
    costs.devices = kernels.devices;
    if (!devices.transferable.empty()) devices.transferable.resize(graph.nodes().size(), true);
    const auto fresh = [&] {
        auto made = std::make_unique<Candidates>(graph, expansion.classes, kernels, levels::avx512, costs, true);
        made->set_devices(devices);
        return made;
    };
    const std::unique_ptr<Candidates> shared = fresh();
    int found = 0;
    for (std::size_t t = 0; t < matches.size(); ++t) {
        const auto index = static_cast<int>(t);
        if (ir::is(graph.node(matches[t].outputs[0]), ir::OpClass::movement)) continue;
        for (const bool cheapest : {false, true}) {
            const std::unique_ptr<Candidates> alone = fresh();
            const std::string expected = text_of(alone->of_match(matches[t], index, cheapest));
            EXPECT_EQ(text_of(shared->of_match(matches[t], index, cheapest)), expected);
            EXPECT_EQ(queries_for(*shared, index), queries_for(*alone, index));
            found += expected.empty() ? 0 : 1;
        }
    }
    return {found, shared->queried_matches()};
}

TEST(CandidateCache, EqualsAnUncachedSearch) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) found += compare(test::random_graph(seed), cpu_kernels()).found;
    EXPECT_GT(found, 300);
}

/// Layers of products with a stored half-precision weight; their sums have several expressions.
Graph layers(int count) {
    Graph graph("layers");
    const Dim t = graph.symbol("T", 2, 64);
    Tensor x = graph.input("x", DType::f32, {t, 32});
    for (int layer = 0; layer < count; ++layer) {
        const std::string name = "w" + std::to_string(layer);
        const auto weight = [&](const char* part, DType dtype, Shape shape) {
            return graph.weight(name + part, dtype, std::move(shape));
        };
        const Tensor norm = layer_norm(x, weight("g", DType::f32, {32}), weight("b", DType::f32, {32}));
        const Tensor up = matmul(norm, cast(weight("u", DType::bf16, {32, 64}), DType::f32));
        const Tensor gate = matmul(norm, weight("v", DType::f32, {32, 64}));
        x = x + matmul(gelu(up) * gate, transpose(weight("d", DType::f32, {32, 64}), {1, 0}));
    }
    graph.output("y", x);
    return graph;
}

TEST(CandidateCache, EqualsAnUncachedSearchInLayers) {
    const Compared few = compare(layers(4), cpu_kernels()), many = compare(layers(6), cpu_kernels());
    EXPECT_GT(few.found, 100);
    EXPECT_GT(many.found, few.found + 40);
    EXPECT_EQ(many.queried, few.queried) << "further layers ask nothing";
    KernelSet kernels = cpu_kernels();
    kernels.devices.push_back({Device::cuda(), 1e13, 1e12, 1e-6, 1e10, 1e-5});
    Kernel other;
    other.id = "cuda.any.gelu.f32@1";
    other.definition = "gelu";
    other.device = Device::cuda();
    other.accepts = accepts_any;
    other.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    kernels.kernels.insert(kernels.kernels.begin(), other);
    EXPECT_GT(compare(layers(3), kernels, {{Device::cpu, Device::cuda()}, Device::cpu, {}, {true}}).found, 70);
}

class CandidateCacheTest : public testing::Test {
protected:
    static fusion::Match product(const Tensor& made, const Tensor& a, const Tensor& b) {
        fusion::Match match;
        match.definition = "matmul";
        match.inputs = {a.id(), b.id()};
        match.outputs = {made.id()};
        return match;
    }
    static Kernel widening() {
        Kernel kernel;
        kernel.id = "widening@1";
        kernel.definition = "matmul";
        kernel.accepts = accepts_any;
        kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
        kernel.widened_inputs = {1};
        return kernel;
    }
    Candidates candidates() {
        costs.machine = nominal_machine(levels::baseline, 1);
        return {*graph.data(), kernels, levels::baseline, costs, true};
    }

    Graph graph{"g"};
    KernelSet kernels;
    CostModel costs;
};

// The second input of one product is a wider copy of the first, that of the other is independent of its first.
TEST_F(CandidateCacheTest, EachInputIsDistinguished) {
    kernels.kernels = {widening()};
    kernels.kernels[0].definition = "own";
    const auto half = [&](const char* name) { return tanh(graph.input(name, DType::f16, {4, 4})); };
    const Tensor a = half("a"), b = half("b"), c = half("c");
    const Tensor wide_a = cast(a, DType::f32), wide_c = cast(c, DType::f32);
    const Tensor one = tanh(wide_a), other = tanh(wide_c);
    fusion::Match first = product(one, a, wide_a), second = product(other, b, wide_c);
    first.definition = second.definition = "own";
    Candidates of = candidates();
    EXPECT_EQ(of.of_match(first, 0)[0].operands[1].node, a.id());
    const std::vector<Candidate> found = of.of_match(second, 1);
    ASSERT_EQ(found.size(), 2U) << "as stored, and wide";
    EXPECT_EQ(found[0].match, 1);
    EXPECT_EQ(found[0].operands[0].node, b.id());
    EXPECT_EQ(found[0].operands[1].node, c.id());
    EXPECT_EQ(found[1].operands[1].node, wide_c.id());
    EXPECT_EQ(found[0].outputs[0], other.id());
}

TEST_F(CandidateCacheTest, EntriesAreDroppedIfCandidatesChange) {
    kernels.kernels = {widening()};
    kernels.kernels[0].prepare = [](const Problem&, int) -> std::shared_ptr<const void> {
        throw std::runtime_error("no memory");
    };
    const Tensor x = graph.input("x", DType::f32, {4, 4}), a = tanh(x), b = sin(x);
    const Tensor one = matmul(a, a), other = matmul(b, b);
    Candidates of = candidates();
    const std::vector<Candidate> first = of.of_match(product(one, a, a), 0);
    ASSERT_EQ(first.size(), 1U);
    CostModel slower = costs;
    slower.machine.bandwidth /= 4;
    slower.machine.flops /= 4;
    of.set_costs(slower);
    const std::vector<Candidate> later = of.of_match(product(other, b, b), 1);
    ASSERT_EQ(later.size(), 1U);
    EXPECT_GT(later[0].estimate.seconds, first[0].estimate.seconds);
    of.set_devices({{}, Device::cpu, {}});
    EXPECT_TRUE(of.of_match(product(one, a, a), 0).empty()) << "no device";
    of.set_devices({});
    EXPECT_EQ(of.of_match(product(one, a, a), 0).size(), 1U);
    EXPECT_FALSE(of.can_prepare(later[0]));
    EXPECT_TRUE(of.of_match(product(one, a, a), 0).empty()) << "refused from then on";
    EXPECT_TRUE(of.of_match(product(other, b, b), 1).empty());
}

}  // namespace
}  // namespace cairn::selection
