#include "io/onnx_operators/ml_scores.hpp"
#include "io/onnx_operators/operators.hpp"
#include "io/onnx_operators/wide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

/// Operators of the domain ai.onnx.ml that prepare features.
namespace cairn::inline v0::onnx {
namespace {

/// An attribute of one number, or one for each feature; empty if absent.
std::optional<Tensor> feature_parameter(Node& node, std::string_view name, const Tensor& x, DType dtype) {
    const std::vector<double> values = node.reals(name);
    if (values.empty()) return std::nullopt;
    const auto count = static_cast<std::int64_t>(values.size());
    if (count == 1) return node.graph().constant(dtype, values[0]);
    if (x.rank() == 0 || !(x.dim(-1) == Dim(count)))
        node.refuse(fmt::format("its attribute {} has {} elements for {}", name, count, to_string(x.shape())));
    return node.graph().constant(dtype, {count}, values);
}

void make_array_feature_extractor(Node& node) {
    const Tensor x = node.tensor(0), indices = node.tensor(1);
    if (x.rank() == 0) node.refuse("its input is a scalar");
    const Tensor y = gather(x, reshape(indices, {element_count(indices.shape())}), -1);
    node.set(0, x.rank() == 1 ? unsqueeze(y, 0) : y);
}

void make_binarizer(Node& node) {
    const Tensor x = node.tensor(0);
    const Tensor compared = is_float(x.dtype()) ? x : cast(x, DType::f64);
    node.set(0, cast(compared > node.real("threshold", 0), x.dtype()));
}

void make_scaler(Node& node) {
    const Tensor x = node.tensor(0);
    const Tensor floats = float_of(x);
    const std::optional<Tensor> offset = feature_parameter(node, "offset", x, floats.dtype()),
                                scale = feature_parameter(node, "scale", x, floats.dtype());
    const Tensor moved = offset.has_value() ? floats - *offset : floats;
    node.set(0, as_dtype(scale.has_value() ? moved * *scale : moved, DType::f32));
}

void make_normalizer(Node& node) {
    const Tensor x = node.tensor(0);
    if (x.rank() != 1 && x.rank() != 2) node.refuse(fmt::format("its input has rank {}", x.rank()));
    const Tensor floats = float_of(x);
    const std::string norm = node.text("norm", "MAX");
    Tensor divisor;
    if (norm == "MAX")
        divisor = max_reduce(floats, -1, true);
    else if (norm == "L1")
        divisor = sum(abs(floats), -1, true);
    else if (norm == "L2")
        divisor = sqrt(sum(floats * floats, -1, true));
    else
        node.refuse(fmt::format("its norm '{}' is unknown", norm));
    node.set(0, as_dtype(where(divisor == 0, floats, floats / divisor), DType::f32));
}

void make_imputer(Node& node) {
    const Tensor x = node.tensor(0);
    if (is_float(x.dtype())) {
        const double replaced = node.real("replaced_value_float", 0);
        const std::optional<Tensor> imputed = feature_parameter(node, "imputed_value_floats", x, x.dtype());
        if (!imputed.has_value()) node.refuse("its attribute imputed_value_floats is missing");
        return node.set(0, where(std::isnan(replaced) ? x != x : x == replaced, *imputed, x));
    }
    const std::vector<std::int64_t> imputed = node.integers("imputed_value_int64s");
    const auto count = static_cast<std::int64_t>(imputed.size());
    if (count == 0 || (count != 1 && (x.rank() == 0 || !(x.dim(-1) == Dim(count)))))
        node.refuse(fmt::format("it has {} imputed values for {}", count, to_string(x.shape())));
    const Tensor values = as_dtype(node.graph().constant(imputed, {count}), x.dtype());
    const Tensor broadcasts = count == 1 ? reshape(values, Shape()) : values;
    const Tensor replaced = node.graph().constant(DType::i64, node.integer("replaced_value_int64", 0));
    node.set(0, where(as_dtype(x, DType::i64) == replaced, broadcasts, x));
}

/// Joins the features of all inputs, each cut or filled with zeros to its number of `inputdimensions`.
void make_feature_vectorizer(Node& node) {
    const std::vector<std::int64_t> sizes = node.integers("inputdimensions");
    if (!sizes.empty() && sizes.size() != node.input_count())
        node.refuse(fmt::format("it has {} inputdimensions for {} inputs", sizes.size(), node.input_count()));
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < node.input_count(); ++i) {
        Tensor x = as_dtype(node.tensor(i), DType::f32);
        if (x.rank() == 1) x = unsqueeze(x, 0);
        if (x.rank() != 2) node.refuse(fmt::format("input {} has rank {}", i, x.rank()));
        if (!sizes.empty() && !(x.dim(1) == Dim(sizes[i]))) {
            if (provably_le(sizes[i], x.dim(1)))
                x = cairn::slice(x, 1, 0, sizes[i]);
            else if (provably_le(x.dim(1), sizes[i]))
                x = pad(x, 1, 0, Dim(sizes[i]) - x.dim(1));
            else
                node.refuse(fmt::format("whether input {} has {} features is not known", i, sizes[i]));
        }
        parts.push_back(x);
    }
    node.set(0, parts.size() == 1 ? parts[0] : concat(parts, 1));
}

void make_one_hot_encoder(Node& node) {
    const Tensor x = node.tensor(0);
    const std::vector<std::int64_t> categories = node.integers("cats_int64s");
    if (categories.empty()) node.refuse("its categories are not integers");
    if (node.integer("zeros", 1) == 0) node.refuse("unknown categories are errors");
    std::vector<std::int64_t> sorted = categories;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) node.refuse("a category is named twice");
    const auto count = static_cast<std::int64_t>(categories.size());
    const Tensor each = unsqueeze(as_dtype(x, DType::i64), x.rank());
    node.set(0, cast(each == node.graph().constant(categories, {count}), DType::f32));
}

// LabelEncoder.

/// The keys or values of a LabelEncoder: the attribute of floats, of integers, or a tensor. Refuses text.
Known encoder_list(const Node& node, const std::string& kind) {
    if (node.has_attribute(kind + "_strings")) node.refuse(fmt::format("its {} are text", kind));
    if (const TensorProto* const tensor = node.tensor_attribute(kind + "_tensor")) {
        std::optional<Known> known = known_from(*tensor);
        if (!known.has_value() || !known->is_constant())
            node.refuse(fmt::format("its {} are of {}, or too many", kind, to_string(tensor->type)));
        return *known;
    }
    if (node.has_attribute(kind + "_floats")) {
        const std::vector<double> values = node.reals(kind + "_floats");
        return {ElementType::f32, {static_cast<std::int64_t>(values.size())}, {}, values};
    }
    const std::vector<std::int64_t> values = node.integers(kind + "_int64s");
    return Known::list({values.begin(), values.end()});
}

/// What elements without a key become.
Known encoder_default(const Node& node, ElementType type) {
    if (const TensorProto* const tensor = node.tensor_attribute("default_tensor")) {
        const std::optional<Known> known = known_from(*tensor);
        if (!known.has_value() || known->type != type || known->count() != 1)
            node.refuse("its default_tensor is no number of the type of its values");
        return {type, {}, known->integers, known->floats};
    }
    if (is_float_type(type)) return Known::number(type, node.real("default_float", -0.0));
    return Known::scalar(type, node.integer("default_int64", -1));
}

bool has_repeated_key(const Known& keys) {
    std::vector<double> floats = keys.floats;
    std::ranges::sort(floats, [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
    const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
    if (std::ranges::adjacent_find(floats, same) != floats.end()) return true;
    std::vector<std::int64_t> integers;
    for (const Dim& key : keys.integers) integers.push_back(key.constant());
    std::ranges::sort(integers);
    return std::ranges::adjacent_find(integers) != integers.end();
}

void make_label_encoder(Node& node) {
    const Tensor x = node.tensor(0);
    const Known keys = encoder_list(node, "keys"), values = encoder_list(node, "values");
    if (keys.count() == 0 || keys.count() != values.count())
        node.refuse(fmt::format("it has {} keys and {} values", keys.count(), values.count()));
    if (has_repeated_key(keys)) node.refuse("a key is repeated, of which implementations take different ones");
    const auto count = static_cast<std::int64_t>(keys.count());
    const Tensor key = as_dtype(reshape(tensor_of(keys, node.graph()), {count}), x.dtype());
    const Tensor value = reshape(tensor_of(values, node.graph()), {count});
    const Tensor each = unsqueeze(x, x.rank());
    Tensor equals = each == key;
    if (std::ranges::any_of(keys.floats, [](double number) { return std::isnan(number); }))
        equals = equals || (each != each && key != key);
    const Tensor found = gather(value, argmax(cast(equals, DType::u8), -1), 0);
    node.set(0, where(any(equals, -1), found, tensor_of(encoder_default(node, values.type), node.graph())));
}

constexpr std::array<Operator, 8> ml_feature_rows{
    {{"ArrayFeatureExtractor", 1, make_array_feature_extractor, nullptr, ml_domain},
     {"Binarizer", 1, make_binarizer, nullptr, ml_domain},
     {"Scaler", 1, make_scaler, nullptr, ml_domain},
     {"Normalizer", 1, make_normalizer, nullptr, ml_domain},
     {"Imputer", 1, make_imputer, nullptr, ml_domain},
     {"FeatureVectorizer", 1, make_feature_vectorizer, nullptr, ml_domain},
     {"OneHotEncoder", 1, make_one_hot_encoder, nullptr, ml_domain},
     {"LabelEncoder", 2, make_label_encoder, nullptr, ml_domain}}};

}  // namespace

std::span<const Operator> ml_feature_operators() { return ml_feature_rows; }

}  // namespace cairn::inline v0::onnx
