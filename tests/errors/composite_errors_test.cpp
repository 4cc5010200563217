#include "tests/errors/wrong_program.hpp"

namespace cairn::test {
namespace {

// A composite of a user's own, several lines away from its call.
Tensor plus_one_times(const Operand& x, const Operand& y) {
    const CompositeScope scope("plus_one_times", x);
    if (x.tensor().rank() == 0) scope.fail("x needs an axis");
    return (x + 1) * y;
}

// clang-format off
const WrongProgram composite_programs[] = {
    {"softmax of integers", __LINE__ + 1,
     [](Graph& g) { softmax(integers(g, "x", {4})); },
     "[softmax] needs a float dtype: x i32[4]"},
    {"softmax along an axis that is not there", __LINE__ + 1,
     [](Graph& g) { softmax(floats(g, "x", {4, 3}), 2); },
     "[softmax] axis 2 is out of range for x f32[4,3]"},
    {"softmax of a number", __LINE__ + 1,
     [](Graph&) { softmax(3); },
     "[softmax] operand 0 must be a Tensor, got a number"},
    {"gelu of an empty handle", __LINE__ + 1,
     [](Graph&) { gelu(Tensor()); },
     "[gelu] operand 0 is an empty or moved-from Tensor"},
    {"relu of booleans", __LINE__ + 1,
     [](Graph& g) { relu(booleans(g, "x", {4})); },
     "[relu] needs numbers, not booleans: lhs bool[4], rhs bool[]"},
    {"silu of integers names silu, not sigmoid", __LINE__ + 1,
     [](Graph& g) { silu(integers(g, "x", {4})); },
     "[silu] needs a float dtype: x i32[4]"},
    {"mean of integers", __LINE__ + 1,
     [](Graph& g) { mean(integers(g, "x", {4})); },
     "[mean] needs a float dtype: x i32[4]"},
    {"variance over an axis that is not there", __LINE__ + 1,
     [](Graph& g) { variance(floats(g, "x", {4}), {1}); },
     "[variance] axis 1 is out of range for x f32[4]"},
    {"gamma of another size", __LINE__ + 1,
     [](Graph& g) { layer_norm(floats(g, "x", {4, 3}), floats(g, "g", {4}), floats(g, "b", {3})); },
     "[layer_norm] gamma must have the last axis of x as its only one: x f32[4,3], gamma f32[4]"},
    {"beta of two axes", __LINE__ + 1,
     [](Graph& g) { layer_norm(floats(g, "x", {4, 3}), floats(g, "g", {3}), floats(g, "b", {4, 3})); },
     "[layer_norm] beta must have the last axis of x as its only one: x f32[4,3], beta f32[4,3]"},
    {"gamma of another dtype", __LINE__ + 1,
     [](Graph& g) { rms_norm(floats(g, "x", {4, 3}), g.input("g", DType::f16, {3})); },
     "[rms_norm] dtypes differ, cast one of them: lhs f32[4,3], rhs f16[3]"},
    {"a number as gamma", __LINE__ + 1,
     [](Graph& g) { layer_norm(floats(g, "x", {4, 3}), 1, floats(g, "b", {3})); },
     "[layer_norm] gamma must be a Tensor, got a number"},
    {"gamma of another axis", __LINE__ + 1,
     [](Graph& g) { rms_norm(floats(g, "x", {4, 3}), floats(g, "g", {3}), 1e-6, 0); },
     "[rms_norm] gamma must have axis 0 of x as its only one: x f32[4,3], gamma f32[3]"},
    {"a linear layer with swapped sizes", __LINE__ + 1,
     [](Graph& g) { linear(floats(g, "x", {4, 3}), floats(g, "w", {5, 3}), floats(g, "b", {5})); },
     "[linear] inner dims differ: lhs f32[4,3], rhs f32[5,3]"},
    {"a bias of another size", __LINE__ + 1,
     [](Graph& g) { linear(floats(g, "x", {4, 3}), floats(g, "w", {3, 5}), floats(g, "b", {3})); },
     "[linear] b must have the last axis of w as its only one: w f32[3,5], b f32[3]"},
    {"an embedding by floats", __LINE__ + 1,
     [](Graph& g) { embedding(floats(g, "t", {9, 4}), floats(g, "i", {2})); },
     "[embedding] indices must be i32 or i64: x f32[9,4], indices f32[2]"},
    {"an embedding in a vector", __LINE__ + 1,
     [](Graph& g) { embedding(floats(g, "t", {9}), integers(g, "i", {2})); },
     "[embedding] the table must have two axes: table f32[9]"},
    {"heads that are no multiple of the key heads", __LINE__ + 1,
     [](Graph& g) { attention(floats(g, "q", {1, 5, 3, 8}), floats(g, "k", {1, 2, 3, 8}), floats(g, "v", {1, 2, 3, 8})); },
     "[attention] the heads of q are no multiple of those of k: q f32[1,5,3,8], k f32[1,2,3,8], v f32[1,2,3,8]"},
    {"attention with a cap of nothing", __LINE__ + 1,
     [](Graph& g) { const Tensor x = floats(g, "x", {1, 2, 3, 8}); attention(x, x, x, {.softcap = 0}); },
     "[attention] softcap must be a positive finite number, got 0"},
    {"attention that sees no key", __LINE__ + 1,
     [](Graph& g) { const Tensor x = floats(g, "x", {1, 2, 3, 8}); attention(x, x, x, {.window = 0}); },
     "[attention] window must be at least 1 and below 2^31, got 0"},
    {"attention without a batch axis", __LINE__ + 1,
     [](Graph& g) { attention(floats(g, "q", {2, 3, 8}), floats(g, "k", {2, 3, 8}), floats(g, "v", {2, 3, 8})); },
     "[attention] q, k and v need four axes: q f32[2,3,8], k f32[2,3,8], v f32[2,3,8]"},
    {"keys and values of different lengths", __LINE__ + 1,
     [](Graph& g) { attention(floats(g, "q", {1, 2, 3, 8}), floats(g, "k", {1, 2, 4, 8}), floats(g, "v", {1, 2, 5, 8})); },
     "[attention] k and v differ in heads or keys: q f32[1,2,3,8], k f32[1,2,4,8], v f32[1,2,5,8]"},
    {"queries and keys of different sizes", __LINE__ + 1,
     [](Graph& g) { attention(floats(g, "q", {1, 2, 3, 8}), floats(g, "k", {1, 2, 4, 6}), floats(g, "v", {1, 2, 4, 6})); },
     "[attention] head sizes of q and k differ: q f32[1,2,3,8], k f32[1,2,4,6], v f32[1,2,4,6]"},
    {"a key mask of numbers", __LINE__ + 1,
     [](Graph& g) { const Tensor x = floats(g, "x", {1, 2, 3, 8}); attention(x, x, x, floats(g, "m", {1, 3})); },
     "[attention] the mask must be boolean [B,S], or [B,H,T,S] boolean or of the dtype of q: q f32[1,2,3,8], k f32[1,2,3,8], "
     "mask f32[1,3]"},
    {"a key mask of another length", __LINE__ + 1,
     [](Graph& g) { const Tensor x = floats(g, "x", {1, 2, 3, 8}); attention(x, x, x, booleans(g, "m", {1, 4})); },
     "[attention] the mask must be boolean [B,S], or [B,H,T,S] boolean or of the dtype of q: q f32[1,2,3,8], k f32[1,2,3,8], "
     "mask bool[1,4]"},
    {"rope of an odd size", __LINE__ + 1,
     [](Graph& g) { rope(floats(g, "x", {4, 7}), integers(g, "p", {4})); },
     "[rope] the last axis must have a constant even size: x f32[4,7]"},
    {"rope of other positions", __LINE__ + 1,
     [](Graph& g) { rope(floats(g, "x", {4, 8}), integers(g, "p", {5})); },
     "[rope] shapes do not broadcast: lhs f32[4,8], rhs f32[5,8]"},
    {"rope with more positions than rows", __LINE__ + 1,
     [](Graph& g) { rope(floats(g, "x", {4, 8}), integers(g, "p", {2, 4})); },
     "[rope] positions must be [T] or [..., T]: x f32[4,8], positions i32[2,4]"},
    {"rope at positions that are floats", __LINE__ + 1,
     [](Graph& g) { rope(floats(g, "x", {4, 8}), floats(g, "p", {4})); },
     "[rope] positions must be i32 or i64: positions f32[4]"},
    {"a composite of one's own names itself and the caller's line", __LINE__ + 1,
     [](Graph& g) { plus_one_times(floats(g, "x", {4}), floats(g, "y", {3})); },
     "[plus_one_times] shapes do not broadcast: lhs f32[4], rhs f32[3]"},
    {"a composite of one's own may refuse", __LINE__ + 1,
     [](Graph& g) { plus_one_times(floats(g, "x", {}), 2); },
     "[plus_one_times] x needs an axis"},
    {"a tensor of another graph inside a composite", __LINE__ + 1,
     [](Graph& g) { Graph h("h"); plus_one_times(floats(g, "x", {4}), floats(h, "y", {4})); },
     "[plus_one_times] operands belong to different graphs: f32[4] of \"g\", f32[4] of \"h\""},
};
// clang-format on

TEST(Errors, Composites) { expect_errors(composite_programs, "composite_errors_test.cpp"); }

}  // namespace
}  // namespace cairn::test
