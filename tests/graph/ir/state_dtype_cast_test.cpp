#include "graph/ir/state_dtype_cast.hpp"
#include "accuracy/metric/float_limits.hpp"

#include "cairn/cairn.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "graph/ir/verify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace cairn::ir {
namespace {

TEST(StateDtypeCast, CastsAppendedRowsAndReads) {
    Graph g("g");
    const Dim past = g.symbol("P", 0, 7), t = g.symbol("T", 1, 4);
    State keys = g.state("keys", DType::f32, {past, 64}, 0, 16);
    g.output("y", exp(transpose(keys.append(g.input("x", DType::f32, {t, 64})), {1, 0})));
    const auto stored = cast_stored_states(*g.data(), DType::f16);
    ASSERT_NE(stored, nullptr);
    EXPECT_EQ(verify(*stored), "");
    std::string text = to_string(Graph(stored));
    EXPECT_NE(text.find("%0 = state_read \"keys\""), std::string::npos) << text;
    EXPECT_NE(text.find("%2 = cast %1 dtype=(2) : f16[T,64]\n"
                        "%3 = state_append %0, %2 : f16[P + T,64]\n"
                        "%4 = cast %3 dtype=(1) : f32[P + T,64]\n"
                        "%5 = transpose %4 permutation=(-1,-2) : f32[64,P + T]\n"
                        "%6 = exp %5 : f32[64,P + T]\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(stored->states()[0].dtype, DType::f16);
    EXPECT_EQ(stored->states()[0].public_dtype, DType::f32);
}

TEST(StateDtypeCast, AppliesOnlyToWiderStatesThatOnlyGrow) {
    Graph g("g");
    const auto grown = [&](const char* name, DType dtype) {
        const Dim length = g.symbol(std::string("L") + name, 0, 7);
        State state = g.state(name, dtype, {length, 2}, 0, 8);
        state.append(g.input(std::string("x") + name, dtype, {1, 2}));
        return state;
    };
    State written = grown("written", DType::f32), fixed = g.state("fixed", DType::f32, {2});
    written.write(g.input("w", DType::f32, {1, 2}), 0);
    fixed.assign(fixed.read() + 1.0F);
    grown("half", DType::bf16);
    grown("integers", DType::i32);
    const Dim unchanged = g.symbol("U", 0, 7);
    g.output("y", sum(g.state("unchanged", DType::f32, {unchanged, 2}, 0, 8).read()));
    EXPECT_EQ(cast_stored_states(*g.data(), DType::f16), nullptr);
    grown("wide", DType::f64);
    const auto stored = cast_stored_states(*g.data(), DType::f16);
    ASSERT_NE(stored, nullptr);
    for (const StateInfo& state : stored->states()) EXPECT_EQ(state.public_dtype.has_value(), state.name == "wide");
    EXPECT_EQ(cast_stored_states(*g.data(), DType::f32)->states().back().dtype, DType::f32) << "f64 in f32";
}

/// Random graphs whose values are integers from -8 to 8, which all dtypes represent exactly.
class IntegerGraphs {
public:
    explicit IntegerGraphs(std::uint64_t seed) : random_(seed), rows_(graph.symbol("T", 1, 3)) {
        const DType dtype = below(4) == 0 ? DType::f64 : DType::f32;
        for (int i = 0; i < 2; ++i) pool_.push_back(graph.input("x" + std::to_string(i), dtype, {rows_, 4}));
        for (int s = 0; s < 1 + below(3); ++s) add_state(s, dtype);
        for (int step = 0; step < 12; ++step) add_step();
        graph.output("y", pool_.back());
        for (std::size_t s = 0; s < states_.size(); ++s) graph.output("s" + std::to_string(s), states_[s].latest());
    }
    int below(int end) { return static_cast<int>(random_() % static_cast<std::uint64_t>(end)); }

    interpreter::Inputs inputs() {
        interpreter::Inputs in;
        in.sizes["T"] = 1 + below(3);
        for (std::size_t s = 0; s < states_.size(); ++s) in.sizes["P" + std::to_string(s)] = below(4);
        for (const Node& node : graph.data()->nodes()) {
            if (node.name.empty()) continue;
            std::vector<std::int64_t> shape;
            std::int64_t count = 1;
            for (const Dim& size : node.shape) {
                shape.push_back(size.is_constant() ? size.constant() : in.sizes.at(std::string(size.symbol())));
                count *= shape.back();
            }
            std::vector<double> values(static_cast<std::size_t>(count));
            for (double& value : values) value = below(17) - 8;
            in.tensors[node.name] = interpreter::make_value(node.dtype, shape, values);
        }
        return in;
    }

    Graph graph{"whole"};

private:
    const Tensor& any() { return pool_[static_cast<std::size_t>(below(static_cast<int>(pool_.size())))]; }

    void add_state(int s, DType dtype) {
        const Dim past = graph.symbol("P" + std::to_string(s), 0, 3);
        past_.push_back(past);
        is_transposed_.push_back(below(2) == 0);
        const std::string name = "state" + std::to_string(s);
        states_.push_back(is_transposed_.back() ? graph.state(name, dtype, {4, past}, 1, 64)
                                                : graph.state(name, dtype, {past, 4}, 0, 64));
        appended_.push_back(0);
    }

    void add_step() {
        const auto s = static_cast<std::size_t>(below(static_cast<int>(states_.size())));
        switch (below(5)) {
            case 0: pool_.push_back(max(any(), -any())); break;
            case 1: pool_.push_back(min(any(), abs(any()))); break;
            case 2: {
                const Tensor rows = any();
                states_[s].append(is_transposed_[s] ? transpose(rows, {1, 0}) : rows);
                ++appended_[s];
                break;
            }
            default: {
                // The last rows, of a version that has some.
                if (appended_[s] == 0) break;
                Tensor all = states_[s].latest();
                if (is_transposed_[s]) all = transpose(all, {1, 0});
                const Dim end = all.dim(0);
                pool_.push_back(slice(all, 0, end - rows_, end));
                if (below(3) == 0)
                    pool_.push_back(reshape(transpose(reshape(pool_.back(), {rows_, 2, 2}), {0, 2, 1}), {rows_, 4}));
            }
        }
    }

    std::mt19937_64 random_;
    Dim rows_;
    std::vector<Tensor> pool_;
    std::vector<State> states_;
    std::vector<Dim> past_;
    std::vector<bool> is_transposed_;
    std::vector<int> appended_;
};

TEST(StateDtypeCast, PreservesNumbersThatBothDtypesRepresent) {
    int stored_graphs = 0, none = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        IntegerGraphs whole(seed);
        const auto stored = cast_stored_states(*whole.graph.data(), seed % 2 == 0 ? DType::f16 : DType::bf16);
        bool any = false;
        for (const StateInfo& state : whole.graph.data()->states()) any = any || state.latest != state.read;
        ASSERT_EQ(stored != nullptr, any) << seed;
        if (stored == nullptr) {
            ++none;
            continue;
        }
        ++stored_graphs;
        ASSERT_EQ(verify(*stored), "") << seed << '\n' << Graph(stored);
        const interpreter::Inputs inputs = whole.inputs();
        interpreter::Inputs as_stored = inputs;
        for (const StateInfo& state : stored->states())
            if (state.public_dtype) {
                interpreter::Value& value = as_stored.tensors.at(state.name);
                value = interpreter::make_value(state.dtype, value.shape, value.data);
            }
        const interpreter::Results expected = interpreter::interpret(*whole.graph.data(), inputs);
        const interpreter::Results got = interpreter::interpret(*stored, as_stored);
        ASSERT_EQ(got.outputs.size(), expected.outputs.size());
        for (const auto& [name, value] : expected.outputs) {
            EXPECT_EQ(got.outputs.at(name).dtype, value.dtype);
            EXPECT_EQ(got.outputs.at(name).data, value.data) << name << ", seed " << seed << '\n' << Graph(stored);
        }
        for (const auto& [name, value] : expected.states)
            EXPECT_EQ(got.states.at(name).data, value.data) << name << ", seed " << seed;
        if (HasFailure()) return;
    }
    EXPECT_GT(stored_graphs, 250);
    EXPECT_GT(none, 5);
}

TEST(StateDtypeCast, RoundingOfEachDtype) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> real(1, 2);
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        double most = 0;
        for (int i = 0; i < 100'000; ++i) {
            const double x = real(random);
            const double rounded = interpreter::make_value(dtype, {}, std::vector<double>{x}).data[0];
            most = std::max(most, std::abs(rounded - x) / x);
        }
        EXPECT_LE(most, accuracy::unit_roundoff(dtype));
        EXPECT_GT(most, 0.9 * accuracy::unit_roundoff(dtype)) << "no more than it has to be";
    }
    EXPECT_THROW(accuracy::unit_roundoff(DType::i32), InternalError);
}

}  // namespace
}  // namespace cairn::ir
