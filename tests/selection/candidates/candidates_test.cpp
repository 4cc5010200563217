#include "selection/candidates/candidates.hpp"

#include "cairn/cairn.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cairn::selection {
namespace {

Refusal yes(const Problem&) { return {}; }
Refusal dense_only(const Problem& problem) {
    for (const TensorDesc& input : problem.inputs)
        if (!input.is_dense()) return "needs dense operands";
    return {};
}
Cost no_work(const Problem&) { return {}; }

Kernel kernel(std::string id, std::string definition, Refusal (*accepts)(const Problem&) = yes) {
    Kernel result;
    result.id = std::move(id);
    result.definition = std::move(definition);
    result.accepts = accepts;
    result.cost = no_work;
    return result;
}

fusion::Match match_of(const Tensor& made, std::string definition, std::vector<ir::NodeId> inputs) {
    fusion::Match match;
    match.definition = std::move(definition);
    match.inputs = std::move(inputs);
    match.outputs = {made.id()};
    return match;
}

class CandidatesTest : public testing::Test {
protected:
    Candidates candidates(FeatureSet features = levels::baseline, bool packed = true) {
        costs.machine = nominal_machine(features, 1);
        return {*graph.data(), kernels, features, costs, packed};
    }
    /// `id` of each candidate, with the forms of its operands: `s` strided, `d` dense, `p` packed.
    static std::vector<std::string> texts(const std::vector<Candidate>& list) {
        std::vector<std::string> result;
        for (const Candidate& candidate : list) {
            std::string text = candidate.kernel->id + " ";
            for (const KernelOperand& operand : candidate.operands) text += "sdp"[static_cast<int>(operand.form)];
            result.push_back(text);
        }
        return result;
    }
    /// The refusals of the kernels of `exp` for an f32[4].
    std::vector<std::string> refusals(Candidates& of) {
        std::vector<std::string> result;
        auto symbols = Symbols::create();
        for (const KernelAnswer& answer : of.answers(parse_problem("exp | f32[4] -> f32[4]", *symbols)))
            result.push_back(answer.refusal);
        return result;
    }

    Graph graph{"g"};
    KernelSet kernels;
    CostModel costs;
};

using Texts = std::vector<std::string>;

TEST_F(CandidatesTest, AKernelReadsStridedViewsOrDenseCopies) {
    const Tensor x = graph.input("x", DType::f32, {4, 6}), view = transpose(x, {1, 0}), y = exp(view), z = exp(x);
    kernels.kernels = {kernel("any@1", "exp"), kernel("dense@1", "exp", dense_only), kernel("other@1", "sin")};
    Candidates of = candidates();
    EXPECT_EQ(texts(of.of_match(match_of(y, "exp", {view.id()}), 0)), (Texts{"any@1 s", "dense@1 d"}));
    EXPECT_EQ(texts(of.of_match(match_of(z, "exp", {x.id()}), 0)), (Texts{"any@1 s", "dense@1 s"}));
}

TEST_F(CandidatesTest, DenseOperandsAreQueriedOnce) {
    const Tensor x = graph.input("x", DType::f32, {4}), y = exp(x);
    static int queries;
    queries = 0;
    kernels.kernels = {kernel("no@1", "exp", [](const Problem&) -> Refusal { return ++queries, "no"; })};
    Candidates of = candidates();
    EXPECT_TRUE(of.of_match(match_of(y, "exp", {x.id()}), 0).empty());
    EXPECT_TRUE(of.of_match(match_of(y, "exp", {x.id()}), 1).empty());
    EXPECT_EQ(queries, 1) << "equal problems are queried once";
}

TEST_F(CandidatesTest, BroadcastingHasStrideZero) {
    const Tensor x = graph.input("x", DType::f32, {3, 4}), row = graph.input("row", DType::f32, {4}), y = x + row;
    kernels.kernels = {kernel("any@1", "add")};
    Candidates of = candidates();
    const auto found = of.of_match(match_of(y, "add", {x.id(), row.id()}), 0);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(to_string(*found[0].problem), "add | f32[3,4] f32[3,4]:(0,1) -> f32[3,4]");
}

TEST_F(CandidatesTest, OnlyBoundMatricesArePackedAndOnlyOnDemand) {
    const Tensor x = graph.input("x", DType::f32, {3, 4}), free = graph.input("free", DType::f32, {4, 5}),
                 w = graph.weight("w", DType::f32, {4, 5}), w3 = graph.weight("w3", DType::f32, {1, 4, 5});
    kernels.kernels = {kernel("packing@1", "matmul"), kernel("missing@1", "matmul")};
    kernels.kernels[0].packed_inputs = {{1, "panel"}};
    kernels.kernels[1].packed_inputs = {{2, "panel"}};
    const auto found = [&](const Tensor& right, bool packed) {
        const Tensor y = matmul(x, right);
        Candidates of = candidates(levels::baseline, packed);
        return texts(of.of_match(match_of(y, "matmul", {x.id(), right.id()}), 0));
    };
    EXPECT_EQ(found(w, true), (Texts{"packing@1 sp", "packing@1 ss", "missing@1 ss"}));
    EXPECT_EQ(found(w, false), (Texts{"packing@1 ss", "missing@1 ss"}));
    EXPECT_EQ(found(free, true), (Texts{"packing@1 ss", "missing@1 ss"}));
    EXPECT_EQ(found(w3, true), (Texts{"packing@1 ss", "missing@1 ss"})) << "of three axes";
}

template <int tenths>
double error_of(const Problem&) {
    return 0.1 * tenths;
}
template <int seconds>
Cost cost_of(const Problem&) {
    return {seconds * nominal_machine(levels::baseline, 1).flops, 0, 1};
}

TEST_F(CandidatesTest, OfEqualFormsTheCheapestOfEachErrorIsKept) {
    const Tensor x = graph.input("x", DType::f32, {4}), y = exp(x);
    const auto of = [&](const char* id, Cost (*cost)(const Problem&), double (*error)(const Problem&) = nullptr) {
        Kernel made = kernel(id, "exp");
        made.cost = cost;
        made.error = error;
        return made;
    };
    costs.machine = nominal_machine(levels::baseline, 1);
    costs.tolerance = 1;
    const auto cheapest = [&](std::vector<Kernel> among) {
        kernels.kernels = std::move(among);
        Candidates candidates = this->candidates();
        return texts(candidates.of_match(match_of(y, "exp", {x.id()}), 0, true));
    };
    EXPECT_EQ(cheapest({of("a", cost_of<4>), of("b", cost_of<3>)}), (Texts{"b s"}));
    EXPECT_EQ(cheapest({of("a", cost_of<4>), of("b", cost_of<3>, error_of<2>)}), (Texts{"a s", "b s"}));
    EXPECT_EQ(cheapest({of("a", cost_of<3>), of("b", cost_of<3>, error_of<2>)}), (Texts{"a s"}));
    EXPECT_EQ(cheapest({of("a", cost_of<4>, error_of<1>), of("b", cost_of<3>, error_of<2>), of("c", cost_of<2>)}),
              (Texts{"c s"}));
    EXPECT_EQ(cheapest({of("a", cost_of<2>, error_of<1>), of("b", cost_of<3>, error_of<2>), of("c", cost_of<4>)}),
              (Texts{"a s", "c s"}));
}

TEST_F(CandidatesTest, AStateIsChangedByCopiesOfItsNewRows) {
    State state = graph.state("s", DType::f32, {graph.symbol("P", 0, 7), 4}, 0, 8);
    const Tensor rows = graph.input("rows", DType::f32, {2, 4}), after = state.append(rows);
    kernels.kernels = {kernel("copy@1", "copy"), kernel("append@1", "state_append")};
    Candidates of = candidates();
    const auto found = of.of_match(match_of(after, "state_append", {state.read().id(), rows.id()}), 0);
    EXPECT_EQ(texts(found), Texts{"copy@1 s"});
    EXPECT_EQ(found[0].operands[0].node, rows.id());
    EXPECT_EQ(to_string(*found[0].problem), "copy | f32[2,4] -> f32[2,4]");
}

TEST_F(CandidatesTest, EachRefusalHasAReason) {
    kernels.kernels.assign(9, kernel("k@1", "exp"));
    for (std::size_t i = 0; i < kernels.kernels.size(); ++i) kernels.kernels[i].id = std::to_string(i) + "@1";
    kernels.kernels[1].needs = levels::avx512;
    kernels.kernels[2].accepts = [](const Problem&) -> Refusal { return "not mine"; };
    kernels.kernels[3].accepts = [](const Problem&) -> Refusal { throw std::runtime_error("broken"); };
    kernels.kernels[4].accepts = [](const Problem&) -> Refusal { throw 1; };
    kernels.kernels[5].cost = [](const Problem&) -> Cost { throw std::runtime_error("broken"); };
    kernels.kernels[6].workspace = [](const Problem&, int) -> Dim { throw std::runtime_error("broken"); };
    kernels.kernels[7].workspace = [](const Problem&, int) { return Dim(-1); };
    kernels.kernels[8].workspace = [](const Problem&, int) { return Symbols::create()->add("foreign", 0, 8); };
    Candidates of = candidates(levels::avx2);
    EXPECT_EQ(refusals(of), (Texts{"", "needs avx512, in use is avx2", "not mine", "its accepts failed: broken",
                                   "its accepts threw an exception that is not a std::exception",
                                   "its cost failed: broken", "its workspace failed: broken",
                                   "its workspace is negative: -1", "its workspace has symbols of another table"}));
}

TEST_F(CandidatesTest, AKernelThatCannotPrepareRefusesFromThenOn) {
    const Tensor x = graph.input("x", DType::f32, {4}), y = exp(x);
    kernels.kernels = {kernel("bad@1", "exp"), kernel("good@1", "exp"), kernel("plain@1", "exp")};
    kernels.kernels[0].prepare = [](const Problem&, int) -> std::shared_ptr<const void> {
        throw std::runtime_error("no memory");
    };
    static int prepared;
    prepared = 0;
    kernels.kernels[1].prepare = [](const Problem&, int) -> std::shared_ptr<const void> {
        ++prepared;
        return nullptr;
    };
    Candidates of = candidates();
    const fusion::Match match = match_of(y, "exp", {x.id()});
    const auto first = of.of_match(match, 0);
    EXPECT_EQ(texts(first), (Texts{"bad@1 s", "good@1 s", "plain@1 s"}));
    EXPECT_FALSE(of.can_prepare(first[0]));
    EXPECT_TRUE(of.can_prepare(first[1]) && of.can_prepare(first[1]) && of.can_prepare(first[2]));
    EXPECT_EQ(prepared, 1);
    EXPECT_EQ(texts(of.of_match(match, 0)), (Texts{"good@1 s", "plain@1 s"}));
    EXPECT_EQ(of.answers(*first[0].problem)[0].refusal, "its prepare failed: no memory");
}

TEST_F(CandidatesTest, BoundValuesHaveFixedSizes) {
    const Dim n = graph.symbol("N", 1, 8);
    const Tensor w = graph.weight("w", DType::f32, {1, 4}), fixed = exp(w), wide = broadcast(w, {n, 4}),
                 of_wide = exp(wide), x = graph.input("x", DType::f32, {1, 4}), mixed = w + x;
    const Candidates of = candidates();
    EXPECT_TRUE(of.bound()[w.id()] && of.bound()[fixed.id()]);
    EXPECT_FALSE(of.bound()[wide.id()] || of.bound()[of_wide.id()]) << "of a size that a run tells";
    EXPECT_FALSE(of.bound()[x.id()] || of.bound()[mixed.id()]);
}

TEST_F(CandidatesTest, AVersionOfAStateIsStoredInTheState) {
    State state = graph.state("s", DType::f32, {graph.symbol("P", 0, 7)}, 0, 8);
    const Tensor x = graph.input("x", DType::f32, {1}), before = state.read(), after = state.append(x);
    const Candidates of = candidates();
    EXPECT_EQ(of.storage_goal(x.id()), Goal{x.id()});
    EXPECT_EQ(of.storage_goal(before.id()), (Goal{before.id(), {true, {}}, false}));
    EXPECT_EQ(of.storage_goal(after.id()), (Goal{after.id(), {true, {}}, false}));
}

// A value kept by one program is found by another one, however its graph numbers the value.
TEST_F(CandidatesTest, AnOriginDescribesTheComputationOfABoundValue) {
    const Tensor w = graph.weight("w", DType::f32, {4}), twice = w * 2.0;
    const Candidates first = candidates();
    Graph other("other");
    other.input("x", DType::f32, {4});
    const Tensor v = other.weight("v", DType::f32, {4}), again = other.weight("w", DType::f32, {4}), same = again * 2.0,
                 more = again * 3.0, renamed = v * 2.0;
    const Candidates second(*other.data(), kernels, levels::baseline, costs, true);
    const std::string_view bound_digest = first.bound_digest(twice.id());
    EXPECT_EQ(second.bound_digest(same.id()), bound_digest);
    EXPECT_NE(second.bound_digest(more.id()), bound_digest);
    EXPECT_NE(second.bound_digest(renamed.id()), bound_digest);
    EXPECT_NE(second.bound_digest(again.id()), bound_digest);
}

class Packing : public CandidatesTest {
protected:
    Packing() {
        kernels.layouts = {{"panel", [](const TensorDesc&) { return Dim(64); }, "panel_t"}};
        kernels.kernels = {kernel("pack@1", "pack")};
    }
};

TEST_F(Packing, ATransposedViewIsPackedFromItsMatrix) {
    const Tensor w = graph.weight("w", DType::f32, {4, 6}), t = transpose(w, {1, 0}), part = slice(t, 0, 1, 5),
                 square = graph.weight("square", DType::f32, {4, 4}), flat = reshape(square, {4, 4});
    const Candidates of = candidates();
    EXPECT_EQ(of.packed(w.id(), "panel"), (Goal{w.id(), {false, "panel"}, false}));
    EXPECT_EQ(of.packed(t.id(), "panel"), (Goal{w.id(), {false, "panel_t"}, false}));
    EXPECT_EQ(of.packed(t.id(), "panel_t"), (Goal{w.id(), {false, "panel"}, false}));
    EXPECT_EQ(of.packed(part.id(), "panel"), (Goal{part.id(), {false, "panel"}, false})) << "a part of it";
    EXPECT_EQ(of.packed(flat.id(), "panel"), (Goal{flat.id(), {false, "panel"}, false}))
        << "square, and not transposed";
    EXPECT_EQ(of.packed(t.id(), "unknown"), (Goal{t.id(), {false, "unknown"}, false}));
}

TEST_F(Packing, TheTransposedLayoutReadsTheMatrixTransposed) {
    const Tensor w = graph.weight("w", DType::f32, {4, 6});
    Candidates of = candidates();
    ASSERT_EQ(of.of_packing(w.id(), "panel").size(), 1U);
    EXPECT_EQ(to_string(*of.of_packing(w.id(), "panel")[0].problem), "pack | f32[4,6]! -> f32[4,6]@panel");
    EXPECT_EQ(to_string(*of.of_packing(w.id(), "panel_t")[0].problem), "pack | f32[6,4]:(1,6)! -> f32[6,4]@panel");
    EXPECT_THROW(of.of_packing(w.id(), "unknown"), Error);
}

}  // namespace
}  // namespace cairn::selection
