#include "examples/synthetic_weights.hpp"

#include <cmath>
#include <string>

namespace synthetic {
namespace {

std::uint64_t mix(std::uint64_t counter) {
    std::uint64_t z = counter * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

struct Kind {
    float base;
    int bits, exponent;
};

Kind kind_of(const std::string& name) {
    if (name.ends_with(".bias")) return {0, 11, -17};
    for (const char* norm : {".ln_1.", ".ln_2.", ".ln_f.", "LayerNorm.", "layer_norm."})
        if (name.find(norm) != std::string::npos) return {1, 7, -10};
    return {0, 11, -15};
}

std::vector<float>* values(std::uint64_t tensor, const std::string& name, std::size_t count) {
    const Kind kind = kind_of(name);
    const float step = std::ldexp(1.0f, kind.exponent);
    auto* made = new std::vector<float>(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto k = static_cast<std::int64_t>(hash(tensor, i) >> (64 - kind.bits));
        (*made)[i] = kind.base + static_cast<float>(2 * k + 1 - (std::int64_t{1} << kind.bits)) * step;
    }
    return made;
}

}  // namespace

std::uint64_t hash(std::uint64_t tensor, std::uint64_t element) { return mix((tensor << 32) + element + 1); }

cairn::WeightSource source(const std::vector<cairn::models::WeightSpec>& weights) {
    return [&weights](std::string_view name) {
        cairn::InputView view;
        for (std::size_t t = 0; t < weights.size(); ++t) {
            if (weights[t].name != name) continue;
            std::size_t count = 1;
            for (const std::int64_t size : weights[t].shape) count *= static_cast<std::size_t>(size);
            std::vector<float>* made = values(t, weights[t].name, count);
            view.data = made->data();
            view.shape = weights[t].shape;
            view.owner = made;
            view.release = [](void* owner) { delete static_cast<std::vector<float>*>(owner); };
        }
        return view;
    };
}

}  // namespace synthetic
