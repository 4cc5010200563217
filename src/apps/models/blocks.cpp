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

Tensor WeightTable::operator()(const std::string& name) const {
    if (const auto known = made_.find(name); known != made_.end()) return known->second;
    const auto it =
        std::find_if(specs_.begin(), specs_.end(), [&](const WeightSpec& spec) { return spec.name == name; });
    if (it == specs_.end()) throw Error(ErrorKind::argument, "weights", "the list has no " + name);
    const auto shape_of = [](const std::vector<std::int64_t>& sizes) { return Shape(sizes.begin(), sizes.end()); };
    Shape shape = shape_of(it->shape);
    if (it->is_transposed) std::reverse(shape.begin(), shape.end());
    const Tensor stored = it->block_type.empty()
                              ? cast(graph_.weight(name, it->dtype, shape), DType::f32)
                              : dequantize(graph_.weight(name, DType::u8, shape_of(it->block_shape)), it->block_type);
    return made_[name] = it->is_transposed ? transpose(stored, {1, 0}) : stored;
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
