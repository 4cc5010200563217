#include "kernels/definitions.hpp"

#include "cairn/composites.hpp"

namespace cairn::inline v0::kernels {
namespace {

using Operands = std::span<const Tensor>;
using Tensors = std::vector<Tensor>;

// The operand at a place; a Problem with too few is told so.
const Tensor& at(Operands operands, std::size_t i) {
    if (i < operands.size()) return operands[i];
    throw Error(ErrorKind::argument, "definition",
                "expected at least " + std::to_string(i + 1) + " operands, got " + std::to_string(operands.size()));
}

int axis_of(const Attributes& attributes) { return static_cast<int>(attributes.integer("axis")); }

std::vector<int> axes_of(const Attributes& attributes) {
    std::vector<int> axes;
    for (const Dim& axis : attributes.dims("axes")) axes.push_back(static_cast<int>(axis.constant()));
    return axes;
}

bool flag(const Attributes& attributes, std::string_view name) {
    return attributes.has(name) && attributes.integer(name) != 0;
}

template <Tensor (*function)(const Operand&)>
Tensors unary(Operands operands, const Attributes&) {
    return {function(at(operands, 0))};
}

// With leading axes of size 1, four in all.
Tensor with_four_axes(const Tensor& x) {
    if (x.rank() >= 4) return x;
    Shape shape = x.shape();
    shape.insert(shape.begin(), static_cast<std::size_t>(4 - x.rank()), Dim(1));
    return reshape(x, shape);
}

// q, k and v may lack leading axes. A mask is [B,S] of keys, or with pairs=(1) of queries and keys.
Tensors attend(Operands operands, const Attributes& attributes) {
    AttentionOptions options;
    options.causal = flag(attributes, "causal");
    if (attributes.has("scale")) options.scale = attributes.number("scale");
    if (attributes.has("masked_score")) options.masked_score = attributes.number("masked_score");
    const Tensor q = with_four_axes(at(operands, 0)), k = with_four_axes(at(operands, 1)),
                 v = with_four_axes(at(operands, 2));
    Tensor result;
    if (operands.size() == 3) {
        result = attention(q, k, v, options);
    } else if (flag(attributes, "pairs")) {
        result = attention(q, k, v, with_four_axes(at(operands, 3)), options);
    } else {
        const Tensor& keys = at(operands, 3);
        if (keys.rank() != 2)
            throw Error(ErrorKind::argument, "definition", "expected a mask of keys with two axes, or pairs=(1)");
        result = attention(q, k, v, keys, options);
    }
    Shape shape = operands[0].shape();
    shape.back() = v.dim(-1);
    return {shape.size() < 4 ? reshape(result, shape) : result};
}

Tensor linear_of(Operands operands) { return linear(at(operands, 0), at(operands, 1), at(operands, 2)); }

// Full or causal; without a mask, with one of keys, of pairs, or an added one; for equal heads or a single key head,
// and for groups of them. Where nothing is hidden the score of hidden keys occurs nowhere and cannot be left free. The
// first that matches counts, so a mask is read only where it is not the causal one.
std::vector<std::string> attention_patterns() {
    const std::string some = "f32[T,D] f32[S,D] f32[S,E]", equal = "f32[B,H,T,D] f32[B,H,S,D] f32[B,H,S,E]",
                      single = "f32[B,H,T,D] f32[B,1,S,D] f32[B,1,S,E]",
                      grouped = "f32[B,G*R,T,D] f32[B,G,S,D] f32[B,G,S,E]";
    std::vector<std::string> patterns;
    const auto add = [&](const std::string& operands, const std::string& mask, bool of_pairs) {
        for (const std::string causal : {"1", "0"}) {
            const bool hides = causal == "1" || mask.starts_with(" bool");
            patterns.push_back("attention causal=(" + causal + ")" + (of_pairs ? " pairs=(1)" : "") + " scale=?" +
                               (hides ? " masked_score=?" : "") + " | " + operands + mask);
        }
    };
    for (const std::string& operands : {some, grouped}) add(operands, "", false);
    for (const std::string& operands : {equal, single, grouped}) add(operands, " bool[B,S]", false);
    for (const char* mask : {" bool[1,S]", " bool[T,S]", " f32[1,S]", " f32[T,S]"})
        for (const std::string& operands : {some, grouped}) add(operands, mask, true);
    return patterns;
}

}  // namespace

std::vector<Definition> definitions() {
    using A = Attributes;
    const std::string linear_operands = " | f32[R,K] f32[K,N] f32[N]";
    return {
        {"copy", [](Operands x, const A&) -> Tensors { return {at(x, 0)}; }, {}},
        {"relu", unary<relu>, {"relu | f32[R]"}},
        {"sigmoid", unary<sigmoid>, {"sigmoid | f32[R]"}},
        {"silu", unary<silu>, {"silu | f32[R]"}},
        {"gelu", unary<gelu>, {"gelu | f32[R]"}},
        {"gelu_tanh", unary<gelu_tanh>, {"gelu_tanh | f32[R]"}},
        {"mean",
         [](Operands x, const A& a) -> Tensors { return {mean(at(x, 0), axes_of(a), flag(a, "keepdims"))}; },
         {"mean axes=(-1) keepdims=(1) | f32[R,D]"}},
        {"variance",
         [](Operands x, const A& a) -> Tensors { return {variance(at(x, 0), axes_of(a), flag(a, "keepdims"))}; },
         {"variance axes=(-1) keepdims=(1) | f32[R,D]"}},
        {"softmax",
         [](Operands x, const A& a) -> Tensors { return {softmax(at(x, 0), axis_of(a))}; },
         {"softmax axis=(-1) | f32[R,D]"}},
        {"log_softmax",
         [](Operands x, const A& a) -> Tensors { return {log_softmax(at(x, 0), axis_of(a))}; },
         {"log_softmax axis=(-1) | f32[R,D]"}},
        {"layer_norm",
         [](Operands x, const A& a) -> Tensors { return {layer_norm(at(x, 0), at(x, 1), at(x, 2), a.number("eps"))}; },
         {"layer_norm eps=? | f32[R,D] f32[D] f32[D]"}},
        {"rms_norm",
         [](Operands x, const A& a) -> Tensors { return {rms_norm(at(x, 0), at(x, 1), a.number("eps"))}; },
         {"rms_norm eps=? | f32[R,D] f32[D]"}},
        {"add_layer_norm",
         [](Operands x, const A& a) -> Tensors {
             const Tensor sum = add(at(x, 0), at(x, 1));
             return {sum, layer_norm(sum, at(x, 2), at(x, 3), a.number("eps"))};
         },
         {"add_layer_norm eps=? | f32[R,D] f32[R,D] f32[D] f32[D]"}},
        {"add_rms_norm",
         [](Operands x, const A& a) -> Tensors {
             const Tensor sum = add(at(x, 0), at(x, 1));
             return {sum, rms_norm(sum, at(x, 2), a.number("eps"))};
         },
         {"add_rms_norm eps=? | f32[R,D] f32[R,D] f32[D]"}},
        {"linear", [](Operands x, const A&) -> Tensors { return {linear_of(x)}; }, {"linear" + linear_operands}},
        {"linear_relu",
         [](Operands x, const A&) -> Tensors { return {relu(linear_of(x))}; },
         {"linear_relu" + linear_operands}},
        {"linear_gelu",
         [](Operands x, const A&) -> Tensors { return {gelu(linear_of(x))}; },
         {"linear_gelu" + linear_operands}},
        {"linear_gelu_tanh",
         [](Operands x, const A&) -> Tensors { return {gelu_tanh(linear_of(x))}; },
         {"linear_gelu_tanh" + linear_operands}},
        {"linear_residual",
         [](Operands x, const A&) -> Tensors { return {add(linear_of(x), at(x, 3))}; },
         {"linear_residual" + linear_operands + " f32[R,N]"}},
        {"embedding",
         [](Operands x, const A&) -> Tensors { return {embedding(at(x, 0), at(x, 1))}; },
         {"embedding | f32[V,D] i32[T]", "embedding | f32[V,D] i64[T]"}},
        {"rope", [](Operands x, const A& a) -> Tensors { return {rope(at(x, 0), at(x, 1), a.number("base"))}; }, {}},
        {"attention", attend, attention_patterns()},
    };
}

}  // namespace cairn::inline v0::kernels
