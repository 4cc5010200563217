#include "io/onnx_operators/products.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::inline v0::onnx {
namespace {

/// A letter of the equation, or a number below 0 for an axis of an ellipsis: -1 is its last one.
using EinsumLabel = int;
using EinsumLabels = std::vector<EinsumLabel>;

bool is_einsum_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// A tensor and the labels of its axes, all different.
struct EinsumFactor {
    Tensor tensor;
    EinsumLabels labels;
};

bool has_label(const EinsumLabels& labels, EinsumLabel label) {
    return std::ranges::find(labels, label) != labels.end();
}

int axis_of_label(const EinsumFactor& factor, EinsumLabel label) {
    return static_cast<int>(std::ranges::find(factor.labels, label) - factor.labels.begin());
}

struct EinsumTerms {
    std::vector<std::string> inputs;
    std::string output;
    bool is_explicit = false;
};

EinsumTerms parsed_equation(const Node& node) {
    std::string equation = node.text("equation", "");
    std::erase(equation, ' ');
    EinsumTerms terms;
    if (const std::size_t arrow = equation.find("->"); arrow != std::string::npos) {
        terms.is_explicit = true;
        terms.output = equation.substr(arrow + 2);
        equation.resize(arrow);
    }
    for (std::size_t begin = 0; begin <= equation.size();) {
        const std::size_t comma = std::min(equation.find(',', begin), equation.size());
        terms.inputs.push_back(equation.substr(begin, comma - begin));
        begin = comma + 1;
    }
    if (terms.inputs.size() != node.input_count())
        node.refuse(fmt::format("its equation has {} terms for {} operands", terms.inputs.size(), node.input_count()));
    return terms;
}

/// The labels of a term, whose ellipsis stands for `ellipsis` axes; below 0: it must have none.
EinsumLabels labels_of_term(const Node& node, std::string_view term, int ellipsis) {
    EinsumLabels labels;
    for (std::size_t i = 0; i < term.size(); ++i) {
        if (term.substr(i, 3) == "..." && ellipsis >= 0) {
            for (int axis = ellipsis; axis > 0; --axis) labels.push_back(-axis);
            ellipsis = -1;
            i += 2;
        } else if (is_einsum_letter(term[i])) {
            labels.push_back(term[i]);
        } else {
            node.refuse(fmt::format("its equation has the term '{}'", term));
        }
    }
    return labels;
}

/// Keeps the diagonal of two axes that have one label, as the first of them.
EinsumFactor diagonal_of(const Node& node, EinsumFactor factor, std::size_t first, std::size_t second) {
    const Tensor& x = factor.tensor;
    const Dim size = x.shape()[first];
    if (!(size == x.shape()[second]))
        node.refuse(fmt::format("axes of a repeated label differ in size: {}", to_string(x.shape())));
    std::vector<int> order;
    Shape shape;
    for (std::size_t axis = 0; axis < x.shape().size(); ++axis)
        if (axis != first && axis != second) order.push_back(static_cast<int>(axis));
    for (const int axis : order) shape.push_back(x.dim(axis));
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(first), static_cast<int>(first));
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(first) + 1, static_cast<int>(second));
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(first), size * size);
    const Tensor square = reshape(transpose(x, order), shape);
    const Tensor steps = iota(Graph(x.graph()), size, DType::i64) * (size + 1);
    factor.tensor = gather(square, steps, static_cast<int>(first));
    factor.labels.erase(factor.labels.begin() + static_cast<std::ptrdiff_t>(second));
    return factor;
}

EinsumFactor without_repeated_labels(const Node& node, EinsumFactor factor) {
    for (std::size_t i = 0; i < factor.labels.size(); ++i)
        for (std::size_t j = i + 1; j < factor.labels.size();) {
            if (factor.labels[i] == factor.labels[j])
                factor = diagonal_of(node, std::move(factor), i, j);
            else
                ++j;
        }
    return factor;
}

/// Sums over, or for `is_squeeze` removes, the axes whose labels `drops` accepts.
template <typename Drops>
EinsumFactor without_labels(EinsumFactor factor, bool is_squeeze, Drops drops) {
    std::vector<int> axes;
    EinsumLabels kept;
    for (std::size_t axis = 0; axis < factor.labels.size(); ++axis) {
        if (drops(factor.labels[axis]))
            axes.push_back(static_cast<int>(axis));
        else
            kept.push_back(factor.labels[axis]);
    }
    if (axes.empty()) return factor;
    return {is_squeeze ? squeeze(factor.tensor, axes) : sum(factor.tensor, axes), kept};
}

/// The sizes of all labels. An axis of size 1 fits every size, as in broadcasting.
std::map<EinsumLabel, Dim> label_sizes(const Node& node, const std::vector<EinsumFactor>& factors) {
    std::map<EinsumLabel, Dim> sizes;
    for (const EinsumFactor& factor : factors)
        for (std::size_t axis = 0; axis < factor.labels.size(); ++axis) {
            const Dim& size = factor.tensor.shape()[axis];
            Dim& known = sizes.try_emplace(factor.labels[axis], size).first->second;
            if (known == Dim(1)) known = size;
            if (!(known == size) && !(size == Dim(1)))
                node.refuse(
                    fmt::format("axes of one label have the sizes {} and {}", to_string(known), to_string(size)));
        }
    return sizes;
}

/// The axes of a factor in the order of `labels`, which it has all.
Tensor with_label_order(const EinsumFactor& factor, const EinsumLabels& labels) {
    std::vector<int> order;
    bool changes = false;
    for (const EinsumLabel label : labels) {
        order.push_back(axis_of_label(factor, label));
        changes = changes || order.back() != static_cast<int>(order.size()) - 1;
    }
    return changes ? transpose(factor.tensor, order) : factor.tensor;
}

/// The product of two factors, summed over what they have in common and `is_kept` does not accept, as one matmul.
template <typename IsKept>
EinsumFactor contracted(EinsumFactor a, EinsumFactor b, IsKept is_kept) {
    a = without_labels(std::move(a), false,
                       [&](EinsumLabel label) { return !is_kept(label) && !has_label(b.labels, label); });
    b = without_labels(std::move(b), false,
                       [&](EinsumLabel label) { return !is_kept(label) && !has_label(a.labels, label); });
    EinsumLabels batch, left, right, common;
    for (const EinsumLabel label : a.labels) {
        if (!has_label(b.labels, label))
            left.push_back(label);
        else
            (is_kept(label) ? batch : common).push_back(label);
    }
    for (const EinsumLabel label : b.labels)
        if (!has_label(a.labels, label)) right.push_back(label);
    const auto joined = [](std::initializer_list<EinsumLabels> parts) {
        EinsumLabels all;
        for (const EinsumLabels& part : parts) all.insert(all.end(), part.begin(), part.end());
        return all;
    };
    const auto size_of = [](const EinsumFactor& factor, const EinsumLabels& labels) {
        Dim size = 1;
        for (const EinsumLabel label : labels) size *= factor.tensor.dim(axis_of_label(factor, label));
        return size;
    };
    const auto shape_of = [&](const EinsumFactor& factor, const EinsumLabels& labels) {
        Shape shape;
        for (const EinsumLabel label : labels) shape.push_back(factor.tensor.dim(axis_of_label(factor, label)));
        return shape;
    };
    Shape rows = shape_of(a, batch), columns = rows, shape = rows;
    // Without a batch, the other axes of the left factor are matmul's leading ones.
    if (batch.empty() && !left.empty())
        rows = shape_of(a, left);
    else
        rows.push_back(size_of(a, left));
    rows.push_back(size_of(a, common));
    columns.insert(columns.end(), {size_of(b, common), size_of(b, right)});
    for (const Dim& size : shape_of(a, left)) shape.push_back(size);
    for (const Dim& size : shape_of(b, right)) shape.push_back(size);
    const auto shaped = [](const Tensor& x, const Shape& to) { return x.shape() == to ? x : reshape(x, to); };
    const Tensor x = with_label_order(a, joined({batch, left, common})),
                 y = with_label_order(b, joined({batch, common, right}));
    const Tensor product =
        common.empty() ? shaped(x, rows) * shaped(y, columns) : matmul(shaped(x, rows), shaped(y, columns));
    return {shaped(product, shape), joined({batch, left, right})};
}

/// The two factors to multiply next: the first ones that have a label in common, else the first two.
std::pair<std::size_t, std::size_t> next_factors(const std::vector<EinsumFactor>& factors) {
    for (std::size_t i = 0; i < factors.size(); ++i)
        for (std::size_t j = i + 1; j < factors.size(); ++j)
            if (std::ranges::any_of(factors[i].labels,
                                    [&](EinsumLabel label) { return has_label(factors[j].labels, label); }))
                return {i, j};
    return {0, 1};
}

/// The labels of the result: as stated, or those of the ellipsis and then the letters that occur once.
EinsumLabels output_labels(const Node& node, const EinsumTerms& terms, const std::vector<EinsumLabels>& inputs,
                           int ellipsis) {
    EinsumLabels labels;
    if (terms.is_explicit) {
        labels = labels_of_term(node, terms.output, ellipsis);
        if (ellipsis > 0 && !has_label(labels, -1)) node.refuse("its equation has no ellipsis in the result");
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const bool is_known =
                std::ranges::any_of(inputs, [&](const EinsumLabels& input) { return has_label(input, labels[i]); });
            if (!is_known || std::ranges::count(labels, labels[i]) != 1)
                node.refuse(fmt::format("its equation has the result '{}'", terms.output));
        }
        return labels;
    }
    std::map<EinsumLabel, int> counts;
    for (const EinsumLabels& input : inputs)
        for (const EinsumLabel label : input) ++counts[label];
    for (const auto& [label, count] : counts)
        if (label < 0 || count == 1) labels.push_back(label);
    return labels;
}

/// The operands with the labels of their axes. Axes of size 1 that stand for longer ones are removed.
std::vector<EinsumFactor> einsum_factors(const Node& node, const std::vector<EinsumLabels>& labels) {
    std::vector<EinsumFactor> factors;
    for (std::size_t i = 0; i < labels.size(); ++i)
        factors.push_back(without_repeated_labels(node, {node.tensor(i), labels[i]}));
    const std::map<EinsumLabel, Dim> sizes = label_sizes(node, factors);
    for (EinsumFactor& factor : factors) {
        EinsumLabels spread;
        for (const EinsumLabel label : factor.labels)
            if (factor.tensor.dim(axis_of_label(factor, label)) == Dim(1) && !(sizes.at(label) == Dim(1)))
                spread.push_back(label);
        factor = without_labels(factor, true, [&](EinsumLabel label) { return has_label(spread, label); });
    }
    return factors;
}

/// True if a label of one factor alone is summed over.
bool has_sum_of_one(const std::vector<EinsumFactor>& factors, const EinsumLabels& output) {
    for (const EinsumFactor& factor : factors)
        for (const EinsumLabel label : factor.labels) {
            const auto uses = std::ranges::count_if(
                factors, [&](const EinsumFactor& other) { return has_label(other.labels, label); });
            if (uses == 1 && !has_label(output, label)) return true;
        }
    return false;
}

/// The product of all factors, two at a time, with the labels of the result and perhaps others.
EinsumFactor product_of_all(std::vector<EinsumFactor> factors, const EinsumLabels& output) {
    while (factors.size() > 1) {
        const auto [first, second] = next_factors(factors);
        EinsumFactor a = std::move(factors[first]), b = std::move(factors[second]);
        factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(second));
        factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(first));
        EinsumFactor product = contracted(std::move(a), std::move(b), [&](EinsumLabel label) {
            return has_label(output, label) || std::ranges::any_of(factors, [&](const EinsumFactor& other) {
                       return has_label(other.labels, label);
                   });
        });
        factors.insert(factors.begin() + static_cast<std::ptrdiff_t>(first), std::move(product));
    }
    return factors.front();
}

}  // namespace

void make_einsum(Node& node) {
    const EinsumTerms terms = parsed_equation(node);
    std::vector<EinsumLabels> inputs;
    int ellipsis = 0;
    for (std::size_t i = 0; i < terms.inputs.size(); ++i) {
        const std::string& term = terms.inputs[i];
        const bool has_ellipsis = term.find("...") != std::string::npos;
        const int others = static_cast<int>(term.size()) - (has_ellipsis ? 3 : 0), axes = node.rank(i) - others;
        if (axes < 0 || (axes > 0 && !has_ellipsis))
            node.refuse(fmt::format("its term '{}' is for a tensor of {}", term, to_string(node.shape(i))));
        inputs.push_back(labels_of_term(node, term, has_ellipsis ? axes : -1));
        ellipsis = std::max(ellipsis, axes);
    }
    const EinsumLabels output = output_labels(node, terms, inputs, ellipsis);
    const DType dtype = node.dtype(0);
    std::vector<EinsumFactor> factors = einsum_factors(node, inputs);
    // One product of 16-bit floats is rounded once as it is; several, and sums, are computed in f32.
    if (factors.size() > 2 || has_sum_of_one(factors, output))
        for (EinsumFactor& factor : factors) factor.tensor = wide_of(factor.tensor);
    const EinsumFactor product = product_of_all(std::move(factors), output);
    const Tensor y = with_label_order(
        without_labels(product, false, [&](EinsumLabel label) { return !has_label(output, label); }), output);
    node.set(0, as_dtype(y, dtype));
}

}  // namespace cairn::inline v0::onnx
