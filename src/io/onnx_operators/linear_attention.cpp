#include "io/onnx_operators/attention.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cairn::inline v0::onnx {
namespace {

/// The operands of LinearAttention in f32, with an axis of heads. Query heads of one key head are rows: [B,G,T,H/G,D].
struct LinearAttentionCall {
    Tensor q;      ///< [B,G,T,R,D], scaled
    Tensor k, v;   ///< [B,G,T,D], [B,G,T,E]
    Tensor decay;  ///< [B,G,T,D] or [B,G,T,1], a logarithm; may be empty
    Tensor rate;   ///< [B,G,T,1] or [B,1,T,1]; may be empty
    Tensor state;  ///< [B,G,D,E]; empty: zero
};

/// The output [B,G,T,R,E] and the last state, step by step.
std::pair<Tensor, Tensor> linear_attention_steps(const LinearAttentionCall& call, std::int64_t steps) {
    Tensor state = call.state;
    if (state.empty()) {
        const Graph graph(call.q.graph());
        state = broadcast(Graph(graph).constant(DType::f32, 0),
                          {call.k.dim(0), call.k.dim(1), call.k.dim(3), call.v.dim(3)});
    }
    std::vector<Tensor> outputs;
    for (std::int64_t step = 0; step < steps; ++step) {
        const auto at = [&](const Tensor& x) { return slice(x, 2, step, step + 1); };  // [B,G,1,..]
        const Tensor key = at(call.k);
        Tensor value = at(call.v);
        if (!call.decay.empty()) state = state * swap_axes(exp(at(call.decay)), 2, 3);
        if (!call.rate.empty()) value = at(call.rate) * (value - matmul(key, state));
        state = state + matmul(swap_axes(key, 2, 3), value);
        outputs.push_back(matmul(squeeze(at(call.q), 2), state));
    }
    return {stack(outputs, 2), state};
}

/// The same without decay and rate, for any number of steps: a step reads the first state and the keys up to its own.
std::pair<Tensor, Tensor> linear_attention_at_once(const LinearAttentionCall& call) {
    const Graph graph(call.q.graph());
    const Shape &q = call.q.shape(), &v = call.v.shape();
    const Dim steps = q[2], rows = q[3];
    const Tensor queries = reshape(call.q, {q[0], q[1], steps * rows, q[4]});
    const Tensor products = reshape(matmul(queries, swap_axes(call.k, 2, 3)), {q[0], q[1], steps, rows, steps});
    const Tensor is_past = reshape(iota(graph, steps, DType::i64), {steps, 1, 1}) >= iota(graph, steps, DType::i64);
    const Tensor weights = reshape(where(is_past, products, 0), {q[0], q[1], steps * rows, steps});
    Tensor output = matmul(weights, call.v), state = matmul(swap_axes(call.k, 2, 3), call.v);
    if (!call.state.empty()) output = output + matmul(queries, call.state), state = state + call.state;
    return {reshape(output, {q[0], q[1], steps, rows, v[3]}), state};
}

LinearAttentionCall linear_attention_call(const Node& node) {
    const std::int64_t heads = node.integer("q_num_heads"), groups = node.integer("kv_num_heads");
    if (heads < 1 || groups < 1 || heads % groups != 0)
        node.refuse(fmt::format("its {} query heads are no multiple of {} key heads", heads, groups));
    const std::string rule = node.text("update_rule", "gated_delta");
    const bool has_decay = rule == "gated" || rule == "gated_delta",
               has_rate = rule == "delta" || rule == "gated_delta";
    if (rule != "linear" && !has_decay && !has_rate) node.refuse(fmt::format("its update_rule is '{}'", rule));
    if (has_decay != node.has(4) || has_rate != node.has(5))
        node.refuse(fmt::format("its decay and beta are not those of the update_rule '{}'", rule));

    const auto input = [&](std::size_t index, std::int64_t parts) {  // [B,T,parts,..]
        const Tensor x = node.tensor(index);
        if (x.rank() != 3) node.refuse(fmt::format("input {} has rank {}", index, x.rank()));
        return split_heads(node, cast(x, DType::f32), parts);
    };
    LinearAttentionCall call;
    const Tensor q = input(0, heads);
    const Dim size = q.dim(3);
    const double scale = node.real("scale", 0);
    if (scale == 0 && !size.is_constant())
        node.refuse(fmt::format("its scale depends on the size {}", cairn::to_string(size)));
    const double used_scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(size.constant()));
    call.q = transpose(reshape(q, {q.dim(0), q.dim(1), groups, heads / groups, size}), {0, 2, 1, 3, 4}) * used_scale;
    call.k = swap_axes(input(1, groups), 1, 2);
    call.v = swap_axes(input(2, groups), 1, 2);
    if (has_decay) call.decay = swap_axes(input(4, groups), 1, 2);
    if (has_rate) call.rate = swap_axes(input(5, node.shape(5)[2] == Dim(1) ? 1 : groups), 1, 2);
    if (has_decay && !(call.decay.dim(3) == Dim(1)) && !(call.decay.dim(3) == size))
        node.refuse("its decay is neither one for each head nor one for each element of a key");
    if (has_rate && !(call.rate.dim(3) == Dim(1))) node.refuse("its beta is not one for each head");
    if (node.has(3)) call.state = cast(node.tensor(3), DType::f32);
    return call;
}

}  // namespace

void make_linear_attention(Node& node) {
    const LinearAttentionCall call = linear_attention_call(node);
    const Dim steps = call.q.dim(2);
    const bool is_linear = call.decay.empty() && call.rate.empty();
    if (!is_linear && !steps.is_constant())
        node.refuse(fmt::format(
            "its sequence length depends on the size {}; only the update_rule 'linear' is supported over a symbolic "
            "length",
            cairn::to_string(steps)));
    if (!is_linear && steps.constant() > node.importer().unroll_limit())
        node.refuse(fmt::format("it has {} steps, more than the unroll_limit of {}", steps.constant(),
                                node.importer().unroll_limit()));
    const auto [output, state] =
        is_linear || steps == Dim(0) ? linear_attention_at_once(call) : linear_attention_steps(call, steps.constant());
    const Shape& s = output.shape();  // [B,G,T,R,E]
    const Tensor packed = reshape(transpose(output, {0, 2, 1, 3, 4}), {s[0], s[2], s[1] * s[3] * s[4]});
    node.set(0, cast(packed, node.dtype(0)));
    if (node.wants(1)) node.set(1, cast(state, node.dtype(node.has(3) ? 3 : 0)));
}

}  // namespace cairn::inline v0::onnx
