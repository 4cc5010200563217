#include "kernels/cuda/generate/attention_text.hpp"

#include "graph/types/attribute_number.hpp"
#include "kernels/cuda/generate/body_text.hpp"
#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cairn::kernels::cuda {
namespace {

// Hidden keys whose score is above this have a weight as often as not.
constexpr float low_score = -1e30F;

TensorDesc with_four_axes(TensorDesc tensor) {
    while (tensor.shape.size() < 4) {
        tensor.shape.insert(tensor.shape.begin(), Dim(1));
        tensor.strides.insert(tensor.strides.begin(), Dim(0));
    }
    return tensor;
}

bool flag(const Problem& problem, std::string_view name) { return types::number_or(problem.attributes, name, 0) != 0; }

/// The stride along an axis; 0 where the axis has one element.
std::string stride_text(const TensorDesc& tensor, std::size_t axis) {
    return tensor.shape[axis] == Dim(1) ? "0" : size_text(tensor.strides[axis]);
}

bool is_wide(const TensorDesc& tensor) {
    const auto of_16_bytes = static_cast<std::int64_t>(16 / size_of(tensor.dtype));
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (!(tensor.shape[axis] == Dim(1)) && !is_multiple(tensor.strides[axis], of_16_bytes)) return false;
    return is_multiple(tensor.shape[3], 4);
}

// An element of a mask or a bias: [B,S], or with four axes.
std::string beside_text(const Problem& problem, std::size_t input) {
    const TensorDesc& tensor = problem.inputs[input];
    const char* type = tensor.dtype == DType::boolean ? "u8" : "float";
    if (!flag(problem, "pairs"))
        return fmt::format("(({}*)in{})[batch * {} + key * {}]", type, input, stride_text(tensor, 0),
                           stride_text(tensor, 1));
    const TensorDesc four = with_four_axes(tensor);
    return fmt::format("(({}*)in{})[batch * {} + of_batch * {} + query * {} + key * {}]", type, input,
                       stride_text(four, 0), stride_text(four, 1), stride_text(four, 2), stride_text(four, 3));
}

std::string score_text(const Problem& problem, const AttentionView& view) {
    const double scale = attention_scale(problem);
    std::string text = "    const auto score_of = [&](i64 query, i64 key, float dot) {\n";
    text += fmt::format("        float score = dot * {};\n", float_text(static_cast<float>(scale)));
    if (problem.attributes.has("softcap")) {
        const std::string cap = float_text(static_cast<float>(types::number_or(problem.attributes, "softcap", 0)));
        text += fmt::format("        score = tanhf(score / {0}) * {0};\n", cap);
    }
    std::string seen = "true", added;
    if (view.is_causal) seen += " && key <= query + behind";
    if (problem.attributes.has("window"))
        seen += fmt::format(" && query + behind - key < {}",
                            static_cast<std::int64_t>(types::number_or(problem.attributes, "window", 0)));
    // The bias, which comes last, is added first.
    for (std::size_t i = problem.inputs.size(); i-- > 3;) {
        if (problem.inputs[i].dtype == DType::boolean)
            seen += fmt::format(" && {} {} 0", beside_text(problem, i), flag(problem, "hides") ? "==" : "!=");
        else
            added += fmt::format("        score += {};\n", beside_text(problem, i));
    }
    const std::string hide = seen == "true" ? "" : fmt::format("        if (!({})) score = p.hidden_score;\n", seen);
    text += flag(problem, "adds_to_hidden") ? hide + added : added + hide;
    return text + "        return score;\n    };\n";
}

Refusal beside_refusal(const Problem& problem, const AttentionView& view, std::size_t input) {
    const TensorDesc& tensor = problem.inputs[input];
    const bool is_boolean = tensor.dtype == DType::boolean;
    if (!is_boolean && tensor.dtype != DType::f32) return "needs masks and biases that are boolean or f32";
    if (!flag(problem, "pairs"))
        return input == 3 && is_boolean && tensor.shape == Shape{view.k.shape[0], view.k.shape[2]}
                   ? Refusal()
                   : "needs a boolean key mask [B,S], or pairs=(1)";
    if (tensor.shape.size() > 4) return "needs at most four axes";
    if (input == 4 && is_boolean) return "needs an f32 bias";
    const Shape shape = with_four_axes(tensor).shape;
    const Shape scores{view.q.shape[0], view.q.shape[1], view.q.shape[2], view.k.shape[2]};
    for (std::size_t axis = 0; axis < 4; ++axis)
        if (!(shape[axis] == scores[axis]) && !(shape[axis] == Dim(1)))
            return "needs a mask with axes of [B,H,T,S] or 1";
    return {};
}

}  // namespace

AttentionView attention_view(const Problem& problem) {
    AttentionView view;
    view.q = with_four_axes(problem.inputs[0]);
    view.k = with_four_axes(problem.inputs[1]);
    view.v = with_four_axes(problem.inputs[2]);
    view.out = with_four_axes(problem.outputs[0]);
    view.depth = view.q.shape[3].constant();
    view.width = view.v.shape[3].constant();
    view.is_causal = flag(problem, "causal");
    view.hidden_score =
        static_cast<float>(types::number_or(problem.attributes, "masked_score", std::numeric_limits<float>::lowest()));
    view.skips_hidden = view.is_causal && view.hidden_score <= low_score && !flag(problem, "adds_to_hidden");
    return view;
}

Dim head_count(const AttentionView& view) { return view.q.shape[0] * view.q.shape[1]; }

double attention_scale(const Problem& problem) {
    const auto depth = static_cast<double>(attention_view(problem).depth);
    return types::number_or(problem.attributes, "scale", 1 / std::sqrt(depth));
}

Refusal attention_refusal(const Problem& problem) {
    if (Refusal no = needs_plain_memory(problem, 4); !no.empty()) return no;
    const std::size_t count = problem.inputs.size();
    if (count < 3 || count > 5 || problem.outputs.size() != 1)
        return "needs q, k, v, at most a mask and a bias, and one output";
    std::array<const TensorDesc*, 4> main{&problem.inputs[0], &problem.inputs[1], &problem.inputs[2],
                                          problem.outputs.data()};
    for (const TensorDesc* tensor : main) {
        const bool is_state = tensor == main[1] || tensor == main[2];
        if (tensor->dtype != DType::f32 && !(is_state && is_widening(tensor->dtype, DType::f32)))
            return "needs f32, keys and values in f32, f16 or bf16";
        if (tensor->shape.size() < 2) return "needs two to four axes";
        if (!tensor->shape.back().is_constant()) return "needs a constant head size";
        if (tensor != main[3] && !(tensor->strides.back() == Dim(1)) && !(tensor->shape.back() == Dim(1)))
            return "needs a contiguous last axis";
    }
    const AttentionView view = attention_view(problem);
    const Shape &q = view.q.shape, &k = view.k.shape, &v = view.v.shape;
    if (!(q[0] == k[0]) || !(k[0] == v[0])) return "batches differ";
    if (!q[1].is_constant() || !k[1].is_constant() || k[1].constant() < 1 || q[1].constant() % k[1].constant() != 0)
        return "needs constant numbers of heads, those of q a multiple of those of k";
    if (!(k[1] == v[1]) || !(k[2] == v[2]) || !(q[3] == k[3])) return "sizes of q, k and v disagree";
    if (view.out.shape != Shape{q[0], q[1], q[2], v[3]}) return "the output has another shape than [B,H,T,E]";
    for (std::size_t i = 3; i < count; ++i)
        if (Refusal no = beside_refusal(problem, view, i); !no.empty()) return no;
    if (flag(problem, "hides") && (count < 4 || problem.inputs[3].dtype != DType::boolean))
        return "needs a boolean mask with hides=(1)";
    return std::isnan(view.hidden_score) || view.hidden_score == std::numeric_limits<float>::infinity()
               ? "needs a masked score below infinity"
               : Refusal();
}

std::string attention_operands_text(const Problem& problem, const AttentionView& view) {
    const std::int64_t heads = view.q.shape[1].constant(), group = heads / view.k.shape[1].constant();
    std::string text =
        fmt::format("    const i64 batch = head / {0}, of_batch = head % {0};\n    AttentionOperands<{1}, {2}> p;\n",
                    heads, stored_type(view.k.dtype), stored_type(view.v.dtype));
    const auto pointer = [&](char name, int input, const TensorDesc& tensor, const std::string& place) {
        text += fmt::format(
            "    p.{0} = (const {7}*)in{1} + batch * {2} + {3} * {4};\n    p.{0}_stride = {5};\n"
            "    p.{0}_wide = {6} && is_aligned(p.{0});\n",
            name, input, stride_text(tensor, 0), place, stride_text(tensor, 1), stride_text(tensor, 2), is_wide(tensor),
            memory_type(tensor.dtype));
    };
    pointer('q', 0, view.q, "of_batch");
    pointer('k', 1, view.k, fmt::format("(of_batch / {})", group));
    pointer('v', 2, view.v, fmt::format("(of_batch / {})", group));
    text += fmt::format(
        "    p.queries = {};\n    p.keys = {};\n    p.hidden_score = {};\n    const i64 behind = p.keys - p.queries;\n",
        size_text(view.q.shape[2]), size_text(view.k.shape[2]), float_text(view.hidden_score));
    text += score_text(problem, view);
    return text + fmt::format(
                      "    float* const y = (float*)out0 + batch * {} + of_batch * {};\n"
                      "    const auto store = [&](i64 query, i64 column, float value) {{ y[query * {} + column * {}] = "
                      "value; }};\n",
                      stride_text(view.out, 0), stride_text(view.out, 1), stride_text(view.out, 2),
                      stride_text(view.out, 3));
}

std::string visible_keys_text(const AttentionView& view, const std::string& last_query) {
    if (!view.skips_hidden) return "p.keys";
    return fmt::format("smaller(p.keys, larger(0, {} + behind + 1))", last_query);
}

Cost attention_cost(const Problem& problem, double efficiency) {
    const AttentionView view = attention_view(problem);
    const double queries = static_cast<double>(view.q.shape[2].constant()),
                 keys = static_cast<double>(view.k.shape[2].constant());
    const double seen = view.skips_hidden && keys >= queries ? keys - (queries - 1) / 2 : keys;
    const double heads = static_cast<double>(view.q.shape[0].constant() * view.q.shape[1].constant());
    return {heads * queries * seen * (2 * static_cast<double>(view.depth + view.width) + 20), bytes_of(problem),
            efficiency};
}

}  // namespace cairn::kernels::cuda
