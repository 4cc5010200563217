#include "apps/models/blocks.hpp"

#include "cairn/dequantize.hpp"

#include <algorithm>
#include <array>

namespace cairn::inline v0::models {
namespace {

struct Activation {
    std::string_view name;
    Tensor (*apply)(const Operand&);
};

constexpr std::array<Activation, 8> activations{{{"gelu_new", gelu_tanh},
                                                 {"gelu_fast", gelu_tanh},
                                                 {"gelu_pytorch_tanh", gelu_tanh},
                                                 {"gelu", gelu},
                                                 {"relu", relu},
                                                 {"silu", silu},
                                                 {"swish", silu},
                                                 {"sigmoid", sigmoid}}};

const Activation* find(std::string_view name) noexcept {
    const auto it =
        std::find_if(activations.begin(), activations.end(), [&](const Activation& a) { return a.name == name; });
    return it == activations.end() ? nullptr : &*it;
}

}  // namespace

const WeightSpec* WeightTable::find(const std::string& name) const {
    const auto it = std::ranges::find(specs_, name, &WeightSpec::name);
    return it == specs_.end() ? nullptr : &*it;
}

const WeightSpec& WeightTable::at(const std::string& name) const {
    if (const WeightSpec* spec = find(name)) return *spec;
    throw Error(ErrorKind::argument, "weights", "the list has no " + name);
}

std::optional<Tensor> WeightTable::changed_product(const Tensor& x, const Tensor& w, const std::string& module,
                                                   const WeightSpec& spec, MatrixOrder order) const {
    return adapters_ == nullptr ? std::nullopt : adapters_->changed_product(x, w, module, spec, order);
}

Tensor WeightTable::project(const Tensor& x, const std::string& module, MatrixOrder order) const {
    const WeightSpec& spec = at(module + ".weight");
    const Tensor stored = (*this)(spec.name), w = order == MatrixOrder::in_out ? stored : transpose(stored, {1, 0});
    const std::string bias = module + ".bias";
    const bool has_bias = find(bias) != nullptr;
    if (const auto changed = changed_product(x, w, module, spec, order))
        return has_bias ? *changed + (*this)(bias) : *changed;
    return has_bias ? linear(x, w, (*this)(bias)) : linear(x, w);
}

Tensor WeightTable::product(const Tensor& x, const std::string& module, const std::string& weight) const {
    const Tensor w = transpose((*this)(weight), {1, 0});
    const auto changed = changed_product(x, w, module, at(weight), MatrixOrder::out_in);
    return changed ? *changed : linear(x, w);
}

Tensor WeightTable::operator()(const std::string& name) const {
    if (const auto known = made_.find(name); known != made_.end()) return known->second;
    const WeightSpec& spec = at(name);
    const auto shape_of = [](const std::vector<std::int64_t>& sizes) { return Shape(sizes.begin(), sizes.end()); };
    Shape shape = shape_of(spec.shape);
    if (spec.is_transposed) std::reverse(shape.begin(), shape.end());
    const Tensor stored = spec.block_type.empty()
                              ? cast(graph_.weight(name, spec.dtype, shape), DType::f32)
                              : dequantize(graph_.weight(name, DType::u8, shape_of(spec.block_shape)), spec.block_type);
    return made_[name] = spec.is_transposed ? transpose(stored, {1, 0}) : stored;
}

void check_sizes(std::string_view model, std::initializer_list<std::pair<const char*, std::int64_t>> sizes) {
    for (const auto& [name, size] : sizes) {
        const std::int64_t most = std::string_view(name) == "layers" ? 10'000 : std::int64_t{1} << 31;
        if (size < 1 || size > most)
            throw Error(ErrorKind::argument, model,
                        std::string(name) + " must be in 1.." + std::to_string(most) + ", got " + std::to_string(size));
    }
}

void check_heads(std::string_view model, std::int64_t width, std::int64_t heads) {
    if (width % heads != 0)
        throw Error(ErrorKind::argument, model,
                    "width " + std::to_string(width) + " is no multiple of heads " + std::to_string(heads));
}

Tensor split_heads(const Tensor& x, std::int64_t heads) {
    const Dim width = floordiv(x.dim(-1), heads);
    return transpose(reshape(x, {x.dim(0), x.dim(1), heads, width}), {0, 2, 1, 3});
}

Tensor merge_heads(const Tensor& x) {
    return reshape(transpose(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

std::string activation_fault(std::string_view name) {
    if (find(name) != nullptr) return {};
    std::string known;
    for (const Activation& activation : activations)
        known += (known.empty() ? "" : ", ") + std::string(activation.name);
    return "\"" + std::string(name) + "\" is not known; known are " + known;
}

Tensor activate(std::string_view name, const Tensor& x) {
    const Activation* activation = find(name);
    if (activation == nullptr) throw Error(ErrorKind::unsupported, "activation", activation_fault(name));
    return activation->apply(x);
}

}  // namespace cairn::inline v0::models
