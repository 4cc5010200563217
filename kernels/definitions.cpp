#include "kernels/definitions.hpp"

#include "cairn/composites.hpp"
#include "cairn/dequantize.hpp"
#include "cairn/lora.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cairn::kernels {
namespace {

using Operands = std::span<const Tensor>;
using Tensors = std::vector<Tensor>;

// Returns operand i. Throws an argument error if there are fewer operands.
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

int axis_or_last(const Attributes& attributes) { return attributes.has("axis") ? axis_of(attributes) : -1; }

bool is_16_bit_float(DType dtype) { return is_widening(dtype, DType::f32); }

// Mixed precision as in the composites: f16 and bf16 are cast to f32, and the result is cast back. An empty operand
// stays empty.
Tensor widened(const Tensor& x) { return !x.empty() && is_16_bit_float(x.dtype()) ? cast(x, DType::f32) : x; }
Tensor narrowed(const Tensor& result, DType dtype) { return result.dtype() == dtype ? result : cast(result, dtype); }

template <Tensor (*function)(const Operand&)>
Tensors unary(Operands operands, const Attributes&) {
    return {function(at(operands, 0))};
}

// Applies gamma and beta, each optional, to `normal`, the normalised value computed from a widened x of the given
// dtype. The norm covers several axes; gamma and beta must have exactly these axes.
Tensor apply_gamma_beta(const Tensor& normal, DType dtype, Operands rest, const std::vector<int>& axes) {
    const auto broadcast_over_axes = [&](const Tensor& factor) {
        Shape wanted;
        for (const int axis : axes) wanted.push_back(normal.dim(axis));
        if (factor.shape() != wanted || factor.dtype() != dtype)
            throw Error(ErrorKind::argument, "definition",
                        "expected gamma and beta of the dtype of x and the axes of the norm");
        for (int axis = axes.back() < 0 ? axes.back() + normal.rank() : axes.back(); axis + 1 < normal.rank(); ++axis)
            wanted.push_back(1);
        return reshape(widened(factor), wanted);
    };
    if (rest.empty()) return narrowed(normal, dtype);
    const Tensor scaled = normal * broadcast_over_axes(rest[0]);
    return narrowed(rest.size() == 1 ? scaled : scaled + broadcast_over_axes(rest[1]), dtype);
}

// Layer norm with optional gamma and beta. Operands are identified by their order, so only trailing ones may be
// missing.
Tensor layer_norm_of(const Tensor& x, Operands rest, const Attributes& a) {
    const double eps = a.number("eps");
    if (a.has("axes")) {
        const Tensor wide = widened(x), d = wide - mean(wide, axes_of(a), true);
        return apply_gamma_beta(d / sqrt(mean(d * d, axes_of(a), true) + eps), x.dtype(), rest, axes_of(a));
    }
    const int axis = axis_or_last(a);
    if (rest.empty()) return layer_norm(x, eps, axis);
    return rest.size() == 1 ? layer_norm(x, rest[0], eps, axis) : layer_norm(x, rest[0], rest[1], eps, axis);
}

Tensor rms_norm_of(const Tensor& x, Operands rest, const Attributes& a) {
    if (a.has("axes")) {
        const Tensor wide = widened(x), root = sqrt(mean(wide * wide, axes_of(a), true) + a.number("eps"));
        return apply_gamma_beta(wide / root, x.dtype(), rest, axes_of(a));
    }
    return rest.empty() ? rms_norm(x, a.number("eps"), axis_or_last(a))
                        : rms_norm(x, rest[0], a.number("eps"), axis_or_last(a));
}

// Operand i, cast to the dtype of operand 0 if its own dtype is narrower.
Tensor cast_to_wider(Operands operands, std::size_t i) {
    const DType dtype = at(operands, 0).dtype();
    return is_widening(at(operands, i).dtype(), dtype) ? cast(at(operands, i), dtype) : at(operands, i);
}

// x w, or x w + b.
Tensor linear_of(Operands operands) {
    const Tensor &x = at(operands, 0), w = cast_to_wider(operands, 1);
    return operands.size() == 2 ? matmul(x, w) : linear(x, w, at(operands, 2));
}

// x w + scale (x a) b, or that + bias.
Tensors low_rank_of(Operands x, const Attributes& a) {
    const Tensor changed = lora(at(x, 0), cast_to_wider(x, 1), at(x, 2), at(x, 3), a.number("scale"));
    return {x.size() > 4 ? changed + x[4] : changed};
}

Tensor geglu_tanh(const Operand& gate, const Operand& up) {
    const Tensor wide = widened(gate.tensor());
    return narrowed(gelu_tanh(wide) * widened(up.tensor()), gate.tensor().dtype());
}

// Gated product. Operands: x, gate weight, up weight, then optionally the gate bias and the up bias.
template <Tensor (*gate)(const Operand& opening, const Operand& up)>
Tensors gated(Operands operands, const Attributes&) {
    const auto product = [&](std::size_t weight) {
        const Tensor made = matmul(at(operands, 0), cast_to_wider(operands, weight));
        return operands.size() > weight + 2 ? made + operands[weight + 2] : made;
    };
    const Tensor opening = product(1);
    return {gate(opening, product(2))};
}

// x w, or x w + b, split into two halves of columns. The first or the last half is the gate of the other.
template <Tensor (*gate)(const Operand& opening, const Operand& up)>
Tensors gated_by_half(Operands operands, const Attributes& attributes) {
    const std::vector<Tensor> halves = chunk(linear_of(operands), 2, -1);
    const bool is_last = attributes.integer("gate") != 0;
    return {gate(halves[is_last ? 1 : 0], halves[is_last ? 0 : 1])};
}

// Convolution of windows [B,C,P,Q,J,K] with filters [O,C/groups,J,K]; the same with one spatial axis.
template <int axes>
Tensors conv_of_windows(Operands operands, const Attributes&) {
    const Tensor &x = at(operands, 0), &w = at(operands, 1);
    if (x.rank() != 2 + 2 * axes || w.rank() != 2 + axes)
        throw Error(ErrorKind::argument, "definition",
                    "expected windows with " + std::to_string(2 + 2 * axes) + " axes and filters with " +
                        std::to_string(2 + axes));
    std::vector<int> order{0, 1};
    for (int i = 0; i < axes; ++i) order.push_back(2 + axes + i);
    for (int i = 0; i < axes; ++i) order.push_back(2 + i);
    Dim taps = w.dim(1), positions = 1;
    Shape shape{x.dim(0), w.dim(0)};
    for (int i = 2; i < 2 + axes; ++i) {
        taps = taps * w.dim(i), positions = positions * x.dim(i);
        shape.push_back(x.dim(i));
    }
    const Dim groups = floordiv(x.dim(1), w.dim(1));
    const Tensor columns = reshape(transpose(x, order), {x.dim(0), groups, taps, positions});
    return {reshape(matmul(reshape(w, {groups, floordiv(w.dim(0), groups), taps}), columns), shape)};
}

// Windows [B,C,P,Q,J,K] of a padded image [B,C,H,W]; the same with one or three spatial axes.
Tensor windows_of(const Tensor& image, const Attributes& attributes) {
    const int axes = image.rank() - 2;
    if (axes < 1 || axes > 3)
        throw Error(ErrorKind::argument, "definition", "expected an image with three to five axes");
    const auto number = [&](std::string_view name, int at) {
        const std::vector<Dim>& list = attributes.dims(name);
        if (static_cast<std::size_t>(at) < list.size()) return list[static_cast<std::size_t>(at)].constant();
        throw Error(ErrorKind::argument, "definition", "expected a longer list '" + std::string(name) + "'");
    };
    Tensor x = image;
    for (int i = 0; i < axes; ++i)
        x = pad(x, 2 + i, number("padding", i), number("padding", axes + i), attributes.number("value"));
    for (int i = 0; i < axes; ++i)
        x = window(x, 2 + i, number("kernel", i), number("stride", i), number("dilation", i));
    return x;
}

// Applies `build` to the windows of an image.
template <Tensors (*build)(Operands, const Attributes&)>
Tensors of_image(Operands operands, const Attributes& attributes) {
    Tensors given(operands.begin(), operands.end());
    if (!given.empty()) given[0] = windows_of(given[0], attributes);
    return build(given, attributes);
}

Tensors sum_of(Operands x, const Attributes& attributes) { return {sum(at(x, 0), axes_of(attributes), true)}; }
Tensors max_of(Operands x, const Attributes& attributes) { return {max_reduce(at(x, 0), axes_of(attributes), true)}; }
Tensors mean_of(Operands x, const Attributes& attributes) {
    return {mean(at(x, 0), axes_of(attributes), flag(attributes, "keepdims"))};
}

// Adds leading axes of size 1 up to four axes.
Tensor with_four_axes(const Tensor& x) {
    if (x.rank() >= 4) return x;
    Shape shape = x.shape();
    shape.insert(shape.begin(), static_cast<std::size_t>(4 - x.rank()), Dim(1));
    return reshape(x, shape);
}

// Splits the heads [B,H,...] into groups, [B,G,R,...]. An operand with one head for all, or with five axes already,
// keeps them.
Tensor in_groups(const Tensor& x, const Dim& groups, const Dim& heads) {
    if (x.rank() == 5) return x;
    const Tensor four = with_four_axes(x);
    const bool is_one = four.dim(1) == Dim(1);
    return reshape(four, {four.dim(0), is_one ? Dim(1) : groups, is_one ? Dim(1) : heads, four.dim(2), four.dim(3)});
}

// Five axes mean grouped heads: q, k and v must all have five, with one head of k and v in each group.
void check_groups(Operands operands) {
    const auto has_five = [](const Tensor& x) { return x.rank() == 5; };
    const bool one_a_group = std::all_of(operands.begin() + 1, operands.begin() + 3,
                                         [&](const Tensor& x) { return has_five(x) && x.dim(2) == Dim(1); });
    if (std::any_of(operands.begin(), operands.begin() + 3, has_five) && !(has_five(operands[0]) && one_a_group))
        throw Error(ErrorKind::argument, "definition",
                    "expected five axes of q, k and v, with one head of k in each group");
}

// The mask of visible keys; inverts the mask if it marks the hidden keys.
Tensor visible(const Tensor& mask, const Attributes& attributes) {
    return flag(attributes, "hides") ? logical_not(mask) : mask;
}

// Attention beyond the composite: grouped heads, a bias beside a mask, and terms that are added to hidden scores too.
// Leading axes broadcast.
Tensor attend_with_extras(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& bias,
                          const AttentionOptions& options, bool adds_to_hidden) {
    if (is_16_bit_float(q.dtype()) && !options.softmax_dtype)
        return narrowed(attend_with_extras(widened(q), widened(k), widened(v), widened(mask), widened(bias), options,
                                           adds_to_hidden),
                        q.dtype());
    const Dim queries = q.dim(-2), keys = k.dim(-2);
    const double scale = options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(q.dim(-1).constant()));
    Tensor scores = matmul(q, swap_axes(k, -1, -2)) * scale, seen;
    if (options.softcap) scores = tanh(scores / *options.softcap) * *options.softcap;
    std::vector<Tensor> added;
    if (!bias.empty()) added.push_back(bias);
    const Graph graph(q.graph());
    const auto rows = [&] { return reshape(iota(graph, queries, DType::i32, keys - queries), {queries, 1}); };
    if (options.causal) seen = rows() >= iota(graph, keys);
    if (options.window) {
        const Tensor is_near = rows() - iota(graph, keys) < *options.window;
        seen = seen.empty() ? is_near : seen && is_near;
    }
    if (!mask.empty() && mask.dtype() == DType::boolean)
        seen = seen.empty() ? mask : seen && mask;
    else if (!mask.empty())
        added.push_back(mask);
    const auto add_all = [&] {
        for (const Tensor& term : added) scores = scores + term;
    };
    if (!adds_to_hidden) add_all();
    if (!seen.empty()) {
        if (!options.masked_score && q.dtype() != DType::f32)
            throw Error(ErrorKind::argument, "definition", "expected a masked score");
        scores = where(seen, scores, options.masked_score.value_or(std::numeric_limits<float>::lowest()));
    }
    if (adds_to_hidden) add_all();
    const DType dtype = options.softmax_dtype.value_or(scores.dtype());
    const Tensor weights =
        dtype == scores.dtype() ? softmax(scores) : cast(softmax(cast(scores, dtype)), scores.dtype());
    return matmul(weights, v);
}

// Operands as in attend. If q, k and v have different numbers of heads, the heads are split into groups.
Tensor attend_with_extras(Operands operands, const Attributes& attributes, const AttentionOptions& options) {
    Tensor q = operands[0], k = operands[1], v = operands[2];
    Tensor mask = operands.size() > 3 ? visible(operands[3], attributes) : Tensor();
    Tensor bias = operands.size() > 4 ? operands[4] : Tensor();
    if (!mask.empty() && !flag(attributes, "pairs")) mask = reshape(mask, {mask.dim(0), 1, 1, mask.dim(1)});
    if (q.rank() < 5) q = with_four_axes(q), k = with_four_axes(k), v = with_four_axes(v);
    const bool is_grouped = q.rank() == 5 || !(q.dim(1) == k.dim(1) || k.dim(1) == Dim(1));
    if (is_grouped) {
        const Dim groups = k.dim(1), heads = q.rank() == 5 ? q.dim(2) : floordiv(q.dim(1), groups);
        q = in_groups(q, groups, heads), k = in_groups(k, groups, 1), v = in_groups(v, groups, 1);
        if (!mask.empty()) mask = in_groups(mask, groups, heads);
        if (!bias.empty()) bias = in_groups(bias, groups, heads);
    } else {
        if (!mask.empty()) mask = with_four_axes(mask);
        if (!bias.empty()) bias = with_four_axes(bias);
    }
    return attend_with_extras(q, k, v, mask, bias, options, flag(attributes, "adds_to_hidden"));
}

std::int64_t window_of(const Attributes& attributes) {
    const std::int64_t keys = attributes.integer("window");
    if (keys >= 1 && keys <= std::numeric_limits<std::int32_t>::max()) return keys;
    throw Error(ErrorKind::argument, "definition", "expected a window of 1 to 2^31 - 1 keys");
}

// Attention. q, k and v may lack leading axes, or have an extra axis for the heads of q in each group, [B,G,R,T,D] and
// [B,G,1,S,D]; k and v may be narrower than q. With a window W a query does not see keys W or more positions before its
// own. A mask is [B,S] over keys, or with pairs=(1) over queries and keys; with hides=(1) true marks hidden keys. A
// mask of pairs may be followed by a bias with the same axes. Additive masks and biases apply to visible scores; with
// adds_to_hidden=(1) also to the masked score.
Tensors attend(Operands given, const Attributes& attributes) {
    Tensors operands(given.begin(), given.end());
    for (std::size_t i = 1; i < std::min<std::size_t>(operands.size(), 3); ++i)
        if (is_widening(operands[i].dtype(), operands[0].dtype())) operands[i] = cast(operands[i], operands[0].dtype());
    AttentionOptions options;
    options.causal = flag(attributes, "causal");
    if (attributes.has("scale")) options.scale = attributes.number("scale");
    if (attributes.has("softcap")) options.softcap = attributes.number("softcap");
    if (attributes.has("window")) options.window = window_of(attributes);
    if (attributes.has("masked_score")) options.masked_score = attributes.number("masked_score");
    if (flag(attributes, "wide_softmax")) options.softmax_dtype = DType::f32;
    Shape shape = at(operands, 0).shape();
    shape.back() = at(operands, 2).dim(-1);
    check_groups(operands);
    const bool is_of_keys = operands.size() > 3 && !flag(attributes, "pairs");
    if (is_of_keys && operands[3].rank() != 2)
        throw Error(ErrorKind::argument, "definition", "expected a mask of keys with two axes, or pairs=(1)");
    if (operands.size() > 4 || operands[0].rank() == 5 || flag(attributes, "adds_to_hidden"))
        return {reshape(attend_with_extras(operands, attributes, options), shape)};
    const Tensor q = with_four_axes(operands[0]), k = with_four_axes(operands[1]), v = with_four_axes(operands[2]);
    if (operands.size() == 3) return {reshape(attention(q, k, v, options), shape)};
    const Tensor mask = visible(operands[3], attributes);
    return {reshape(attention(q, k, v, is_of_keys ? mask : with_four_axes(mask), options), shape)};
}

std::string adding_to_hidden(const std::string& attributes, const std::string& operands) {
    return "attention" + attributes + " adds_to_hidden=(1) scale=? masked_score=? | " + operands;
}

// Patterns with two masks of finite numbers: one hides, by the causal rule or as an operand; the other is added to
// hidden and visible scores alike.
void add_to_hidden(const std::string& operands, std::vector<std::string>& patterns) {
    const auto add = [&](const std::string& attributes, const std::string& more) {
        patterns.push_back(adding_to_hidden(attributes, operands + more));
    };
    const std::string causal = " causal=(1) pairs=(1)";
    for (const std::string added : {" f32[1,S]", " f32[T,S]"}) {
        add(causal, added);
        for (const std::string hides : {"", " hides=(1)"}) {
            add(causal + hides, " bool[1,S]" + added);
            for (const std::string mask : {" bool[1,S]", " bool[T,S]"})
                add(" causal=(0) pairs=(1)" + hides, mask + added);
        }
    }
    add(causal, " f32[1,S] f32[T,S]");
}

// All attention patterns: with a window or without; full or causal; without a mask, with a mask of visible or of hidden
// keys or pairs, or with an additive one; for equal heads, a single key head or grouped heads; with softcap, or with a
// bias beside a mask of pairs. Where nothing is hidden the masked score does not occur, so it cannot be a free
// attribute. The first match wins, so a mask operand is read only if it is not the causal mask. Operands with five axes
// match as four axes with one more leading axis, except beside a mask of keys.
std::vector<std::string> attention_patterns() {
    const std::string some = "f32[T,D] f32[S,D] f32[S,E]", equal = "f32[B,H,T,D] f32[B,H,S,D] f32[B,H,S,E]",
                      single = "f32[B,H,T,D] f32[B,1,S,D] f32[B,1,S,E]",
                      grouped = "f32[B,G*R,T,D] f32[B,G,S,D] f32[B,G,S,E]",
                      in_groups = "f32[B,G,R,T,D] f32[B,G,1,S,D] f32[B,G,1,S,E]";
    std::vector<std::string> patterns;
    const std::string window = " window=(W)";
    const auto add = [&](const std::string& operands, const std::string& mask, bool of_pairs,
                         const std::string& more = {}) {
        for (const std::string causal : {"1", "0"}) {
            const bool hides = causal == "1" || mask.starts_with(" bool") || more.starts_with(window);
            patterns.push_back("attention causal=(" + causal + ")" + (of_pairs ? " pairs=(1)" : "") + more +
                               " scale=?" + (hides ? " masked_score=?" : "") + " | " + operands + mask);
        }
    };
    for (const std::string& more : {window, window + " softcap=?"})
        for (const std::string& operands : {some, grouped}) {
            add(operands, "", false, more);
            for (const char* mask : {" bool[1,S]", " bool[T,S]", " f32[1,S]", " f32[T,S]"})
                add(operands, mask, true, more);
            for (const char* mask : {" bool[1,S]", " bool[T,S]"}) add(operands, mask, true, " hides=(1)" + more);
        }
    for (const std::string& operands : {some, grouped})
        for (const char* bias : {" f32[1,S]", " f32[T,S]"}) {
            add(operands, std::string(" f32[1,S]") + bias, true, window);
            for (const std::string hides : {"", " hides=(1)"})
                for (const std::string mask : {" bool[1,S]", " bool[T,S]"})
                    add(operands, mask + bias, true, hides + window);
        }
    for (const std::string& operands : {some, grouped})
        for (const std::string added : {" f32[1,S]", " f32[T,S]"})
            patterns.push_back(adding_to_hidden(" causal=(1) pairs=(1)" + window, operands + added));
    const auto windows = static_cast<std::ptrdiff_t>(patterns.size());
    for (const std::string& operands : {some, grouped}) add(operands, "", false);
    for (const char* more : {"", " hides=(1)"})
        for (const std::string& operands : {equal, single, grouped, in_groups})
            add(operands, " bool[B,S]", false, more);
    for (const char* more : {"", " hides=(1)"})
        for (const char* mask : {" bool[1,S]", " bool[T,S]"})
            for (const std::string& operands : {some, grouped}) add(operands, mask, true, more);
    for (const char* mask : {" f32[1,S]", " f32[T,S]"})
        for (const std::string& operands : {some, grouped}) add(operands, mask, true);
    for (const std::string& operands : {some, grouped}) {
        add(operands, "", false, " softcap=?");
        for (const char* mask : {" f32[1,S]", " f32[T,S]"}) add(operands, mask, true, " softcap=?");
        for (const char* mask : {" f32[1,S] f32[1,S]", " f32[1,S] f32[T,S]"}) add(operands, mask, true);
        // If two operands over all pairs are added, one of them contains the causal mask.
        patterns.push_back("attention causal=(0) pairs=(1) scale=? | " + operands + " f32[T,S] f32[T,S]");
        for (const std::string more : {"", " hides=(1)"})
            for (const std::string mask : {" bool[1,S]", " bool[T,S]"}) {
                add(operands, mask, true, more + " softcap=?");
                for (const char* bias : {" f32[1,S]", " f32[T,S]"}) add(operands, mask + bias, true, more);
            }
    }
    for (std::string operands : {some, grouped})
        for (const std::string narrow : {"bf16", "f16"}) {
            std::string written = operands;
            for (std::size_t at = written.find("f32"); at != std::string::npos; at = written.find("f32"))
                written.replace(at, 3, narrow);
            for (const std::string& more : {window, std::string()}) add(written, "", false, more + " wide_softmax=(1)");
        }
    for (const std::string& operands : {some, grouped}) add_to_hidden(operands, patterns);
    // Causal patterns come first: they leave least to mask operands. If a causal pattern hides by -inf, terms added to
    // hidden scores have no effect.
    std::stable_sort(patterns.begin() + windows, patterns.end(), [](const std::string& a, const std::string& b) {
        const auto place = [](const std::string& pattern) {
            return std::pair(pattern.find("causal=(1)") == std::string::npos,
                             pattern.find("adds_to_hidden") != std::string::npos);
        };
        return place(a) < place(b);
    });
    return patterns;
}

// Patterns over one axis; over several trailing axes; over the spatial axes of channels-last images.
std::vector<std::string> reduction_patterns(const std::string& name) {
    std::vector<std::string> patterns;
    for (const std::string keeps : {" keepdims=(1)", " keepdims=(0)"})
        for (const auto& [axes, operand] : {std::pair{"?", "f32[R?,D]"},
                                            {"(-2,-1)", "f32[R?,H,W]"},
                                            {"(-3,-2)", "f32[R?,H,W,C]"},
                                            {"(-3,-2,-1)", "f32[R?,L,H,W]"},
                                            {"(-4,-3,-2)", "f32[R?,L,H,W,C]"},
                                            {"(-4,-3,-2,-1)", "f32[R?,K,L,H,W]"},
                                            {"(-5,-4,-3,-2,-1)", "f32[R?,J,K,L,H,W]"}})
            patterns.push_back(name + " axes=" + axes + keeps + " | " + operand);
    return patterns;
}

// Also means over the batch and the spatial axes of rows or images [N,C,...]: per-channel statistics.
std::vector<std::string> mean_patterns() {
    std::vector<std::string> patterns = reduction_patterns("mean");
    for (const std::string keeps : {" keepdims=(1)", " keepdims=(0)"}) {
        patterns.push_back("mean axes=(-3,-1)" + keeps + " | f32[R?,N,C,L]");
        patterns.push_back("mean axes=(-4,-2,-1)" + keeps + " | f32[R?,N,C,H,W]");
    }
    return patterns;
}

// Convolutions over windows, with filters of all channels, depthwise and grouped. If the batch, the rows of positions
// or the filters have size 1, simplification removes a reshape of the product, so these cases have patterns of their
// own. f32 matches any float dtype; integer dtypes are listed one by one.
std::vector<std::string> window_patterns(const std::string& name) {
    using Operands = std::pair<const char*, const char*>;
    const std::vector<Operands> rows = {
        {"B,C,P,K", "O,C,K"}, {"B,G,P,K", "G,1,K"}, {"B,G*C,P,K", "G*O,C,K"}, {"1,C,P,K", "O,C,K"}};
    const std::vector<Operands> planes = {{"B,C,P,Q,J,K", "O,C,J,K"},     {"B,G,P,Q,J,K", "G,1,J,K"},
                                          {"B,G*C,P,Q,J,K", "G*O,C,J,K"}, {"1,C,1,Q,J,K", "O,C,J,K"},
                                          {"B,C,1,Q,J,K", "1,C,J,K"},     {"B,G*C,1,Q,J,K", "G,C,J,K"}};
    std::vector<std::string> patterns;
    for (const std::string dtype : {"f32", "i64", "i32", "i8", "u8"})
        for (const auto& [windows, filters] : name == "conv1d" ? rows : planes)
            patterns.push_back(name + " | " + dtype + "[" + windows + "] " + dtype + "[" + filters + "]");
    return patterns;
}

// Pointwise convolutions, which have no windows; the larger ones are matched through their windows.
std::vector<std::string> pointwise_patterns() {
    const std::string one =
        "image_conv2d kernel=(1,1) padding=(0,0,0,0) "
        "stride=(1,1) dilation=(1,1) value=0 | f32[B,";
    return {one + "C,P,Q] f32[O,C,1,1]", one + "G*C,P,Q] f32[G*O,C,1,1]"};
}

// The gate is the first half or the last.
std::vector<std::string> half_patterns(const std::string& name) {
    const std::string operands = " | f32[R,K] f32[K,2*N] f32[2*N]?";
    return {name + " gate=(0)" + operands, name + " gate=(1)" + operands};
}

// Along one axis, or along several trailing axes. `factors`: number of optional operands, gamma and beta.
std::vector<std::string> norm_patterns(const std::string& name, int factors) {
    const auto with = [&](const std::string& attribute, const std::string& operand, const std::string& factor) {
        std::string pattern = name + attribute + " eps=? | f32[R?," + operand + "]";
        for (int i = 0; i < factors; ++i) pattern += " f32[" + factor + "]?";
        return pattern;
    };
    return {with(" axis=?(-1)", "D", "D"), with(" axes=(-2,-1)", "H,W", "H,W"),
            with(" axes=(-3,-2,-1)", "L,H,W", "L,H,W")};
}

// Appends definitions whose matches all contain `required_ops`.
void append(std::vector<Definition>& all, const std::vector<std::string>& required_ops,
            std::vector<Definition> definitions) {
    for (Definition& definition : definitions) {
        definition.required_ops = required_ops;
        all.push_back(std::move(definition));
    }
}

}  // namespace

std::vector<Definition> definitions() {
    using A = Attributes;
    const std::string low_rank_pattern = "linear_low_rank scale=? | f32[R,K] f32[K,N] f32[K,S] f32[S,N] f32[N]?";
    const std::string gated_operands = " | f32[R,K] f32[K,N] f32[K,N] f32[N]? f32[N]?";
    std::vector<Definition> all = {
        {"copy", [](Operands x, const A&) -> Tensors { return {at(x, 0)}; }, {}},
        {"relu", unary<relu>, {"relu | f32[R]"}, FusionRole::step},
        {"sigmoid", unary<sigmoid>, {"sigmoid | f32[R]"}, FusionRole::step},
        {"silu", unary<silu>, {"silu | f32[R]"}, FusionRole::step},
        {"gelu", unary<gelu>, {"gelu | f32[R]"}, FusionRole::step},
        {"gelu_tanh", unary<gelu_tanh>, {"gelu_tanh | f32[R]"}, FusionRole::step},
    };
    append(
        all, {"sum"},
        {
            {"mean", mean_of, mean_patterns()},
            {"variance",
             [](Operands x, const A& a) -> Tensors { return {variance(at(x, 0), axes_of(a), flag(a, "keepdims"))}; },
             reduction_patterns("variance")},
            {"softmax",
             [](Operands x, const A& a) -> Tensors { return {softmax(at(x, 0), axis_of(a))}; },
             {"softmax axis=? | f32[R?,D]"}},
            {"log_softmax",
             [](Operands x, const A& a) -> Tensors { return {log_softmax(at(x, 0), axis_of(a))}; },
             {"log_softmax axis=? | f32[R?,D]"}},
            {"layer_norm", [](Operands x, const A& a) -> Tensors { return {layer_norm_of(at(x, 0), x.subspan(1), a)}; },
             norm_patterns("layer_norm", 2)},
            {"rms_norm", [](Operands x, const A& a) -> Tensors { return {rms_norm_of(at(x, 0), x.subspan(1), a)}; },
             norm_patterns("rms_norm", 1)},
            {"add_layer_norm",
             [](Operands x, const A& a) -> Tensors {
                 const Tensor sum = add(at(x, 0), at(x, 1));
                 return {sum, layer_norm_of(sum, x.subspan(2), a)};
             },
             {"add_layer_norm eps=? | f32[R?,D] f32[R?,D] f32[D]? f32[D]?"}},
            {"add_rms_norm",
             [](Operands x, const A& a) -> Tensors {
                 const Tensor sum = add(at(x, 0), at(x, 1));
                 return {sum, rms_norm_of(sum, x.subspan(2), a)};
             },
             {"add_rms_norm eps=? | f32[R?,D] f32[R?,D] f32[D]?"}},
        });
    append(all, {"bitcast"},
           {
               {"dequantize_q8_0", unary<dequantize_q8_0>, {"dequantize_q8_0 | u8[N,B,34]"}},
               {"dequantize_q4_0", unary<dequantize_q4_0>, {"dequantize_q4_0 | u8[N,B,18]"}},
               {"dequantize_q4_1", unary<dequantize_q4_1>, {"dequantize_q4_1 | u8[N,B,20]"}},
               {"dequantize_q5_0", unary<dequantize_q5_0>, {"dequantize_q5_0 | u8[N,B,22]"}},
               {"dequantize_q5_1", unary<dequantize_q5_1>, {"dequantize_q5_1 | u8[N,B,24]"}},
               {"dequantize_q2_k", unary<dequantize_q2_k>, {"dequantize_q2_k | u8[N,B,84]"}},
               {"dequantize_q3_k", unary<dequantize_q3_k>, {"dequantize_q3_k | u8[N,B,110]"}},
               {"dequantize_q4_k", unary<dequantize_q4_k>, {"dequantize_q4_k | u8[N,B,144]"}},
               {"dequantize_q5_k", unary<dequantize_q5_k>, {"dequantize_q5_k | u8[N,B,176]"}},
               {"dequantize_q6_k", unary<dequantize_q6_k>, {"dequantize_q6_k | u8[N,B,210]"}},
           });
    append(all, {"gather"},
           {
               {"dequantize_iq4_nl", unary<dequantize_iq4_nl>, {"dequantize_iq4_nl | u8[N,B,18]"}},
               {"dequantize_mxfp4", unary<dequantize_mxfp4>, {"dequantize_mxfp4 | u8[N,B,17]"}},
               {"embedding",
                [](Operands x, const A&) -> Tensors { return {embedding(at(x, 0), at(x, 1))}; },
                {"embedding | f32[V,D] i32[T]", "embedding | f32[V,D] i64[T]"},
                FusionRole::anchor},
           });
    append(all, {"matmul"},
           {
               {"linear",
                [](Operands x, const A&) -> Tensors { return {linear_of(x)}; },
                {"linear | f32[R,K] f32[K,N] f32[N]?"},
                FusionRole::product},
               {"linear_argmax",
                [](Operands x, const A&) -> Tensors { return {argmax(linear_of(x), -1, true)}; },
                {"linear_argmax | f32[R,K] f32[K,N] f32[N]?"}},
               {"linear_low_rank", low_rank_of, {low_rank_pattern}},
               {"linear_swiglu", gated<swiglu>, {"linear_swiglu" + gated_operands}},
               {"linear_geglu", gated<geglu>, {"linear_geglu" + gated_operands}},
               {"linear_geglu_tanh", gated<geglu_tanh>, {"linear_geglu_tanh" + gated_operands}},
               {"linear_halves_swiglu", gated_by_half<swiglu>, half_patterns("linear_halves_swiglu")},
               {"linear_halves_geglu", gated_by_half<geglu>, half_patterns("linear_halves_geglu")},
               {"linear_halves_geglu_tanh", gated_by_half<geglu_tanh>, half_patterns("linear_halves_geglu_tanh")},
               {"conv2d", conv_of_windows<2>, window_patterns("conv2d"), FusionRole::anchor},
               {"image_conv2d", of_image<conv_of_windows<2>>, pointwise_patterns(), FusionRole::anchor, "conv2d"},
               {"conv1d", conv_of_windows<1>, window_patterns("conv1d"), FusionRole::anchor},
               {"image_conv1d",
                of_image<conv_of_windows<1>>,
                {"image_conv1d kernel=(1) padding=(0,0) stride=(1) dilation=(1) value=0 "
                 "| f32[B,C,P] f32[O,C,1]"},
                FusionRole::anchor,
                "conv1d"},
           });
    append(all, {},
           {
               {.name = "image_sum", .build = of_image<sum_of>, .patterns = {}, .windowed_definition = "sum"},
               {.name = "image_mean", .build = of_image<mean_of>, .patterns = {}, .windowed_definition = "mean"},
               {.name = "image_max", .build = of_image<max_of>, .patterns = {}, .windowed_definition = "max_reduce"},
               {"rope",
                [](Operands x, const A& a) -> Tensors { return {rope(at(x, 0), at(x, 1), a.number("base"))}; },
                {}},
           });
    append(all, {"matmul", "sum"},
           {
               {"attention", attend, attention_patterns()},
           });
    return all;
}

}  // namespace cairn::kernels
