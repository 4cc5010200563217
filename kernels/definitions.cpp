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

Tensors attend(Operands operands, const Attributes& attributes) {
    AttentionOptions options;
    options.causal = flag(attributes, "causal");
    if (attributes.has("scale")) options.scale = attributes.number("scale");
    if (attributes.has("masked_score")) options.masked_score = attributes.number("masked_score");
    const Tensor &q = at(operands, 0), &k = at(operands, 1), &v = at(operands, 2);
    return {operands.size() > 3 ? attention(q, k, v, operands[3], options) : attention(q, k, v, options)};
}

Tensor linear_of(Operands operands) { return linear(at(operands, 0), at(operands, 1), at(operands, 2)); }

// Full, causal, with a key mask, both; each for as many key heads as query heads and for groups of them. Where nothing
// is masked the score of masked keys occurs nowhere and cannot be left free.
std::vector<std::string> attention_patterns() {
    std::vector<std::string> patterns;
    for (const char* operands : {"f32[B,H,T,D] f32[B,H,S,D] f32[B,H,S,D]", "f32[B,G*R,T,D] f32[B,G,S,D] f32[B,G,S,D]"})
        for (const char* causal : {"0", "1"})
            for (const char* mask : {"", " bool[B,S]"}) {
                const bool is_masked = *causal == '1' || *mask != '\0';
                patterns.push_back(std::string("attention causal=(") + causal + ") scale=?" +
                                   (is_masked ? " masked_score=?" : "") + " | " + operands + mask);
            }
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
