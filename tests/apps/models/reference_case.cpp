#include "tests/apps/models/reference_case.hpp"

#include "examples/synthetic_weights.hpp"
#include "tests/apps/models/golden.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cairn::test {

using models::WeightSpec;

const nlohmann::json& encoder_cases() {
    static const nlohmann::json cases = golden("encoder_cases.json")["cases"];
    return cases;
}

const nlohmann::json& decoder_cases() {
    static const nlohmann::json cases = golden("decoder_cases.json")["cases"];
    return cases;
}

const nlohmann::json& diffusion_cases() {
    static const nlohmann::json cases = golden("diffusion_cases.json");
    return cases;
}

const nlohmann::json& case_named(const nlohmann::json& cases, const std::string& name) {
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const auto& each) { return each["name"] == name; });
    if (found == cases.end()) throw std::invalid_argument("there is no case " + name);
    return *found;
}

std::vector<std::string> case_names(const nlohmann::json& cases) {
    std::vector<std::string> names;
    for (const auto& each : cases) names.push_back(each["name"].get<std::string>());
    return names;
}

std::vector<WeightSpec> tensors_of(const nlohmann::json& reference_case) {
    std::vector<WeightSpec> specs;
    for (const auto& tensor : reference_case["tensors"])
        specs.push_back({tensor["name"].get<std::string>(), tensor["shape"].get<std::vector<std::int64_t>>()});
    return specs;
}

WeightSource reference_source(const std::vector<WeightSpec>& tensors, const std::vector<WeightSpec>& wanted) {
    return [&tensors, &wanted, source = synthetic::source(tensors)](std::string_view name) {
        const auto spec = std::ranges::find(wanted, name, &WeightSpec::name);
        std::vector<std::string> names = spec->tied_names;
        names.insert(names.begin(), spec->name);
        InputView view;
        for (const std::string& each : names)
            for (const WeightSpec& tensor : tensors) {
                if (view.data != nullptr || (tensor.name != each && !each.ends_with('.' + tensor.name))) continue;
                view = source(tensor.name);
                // Synthetic weights of other norms than layer norms are about 0, where they should be about 1.
                const bool is_other_norm = tensor.shape.size() == 1 && tensor.name.ends_with(".weight") &&
                                           tensor.name.find(".ln_") == std::string::npos &&
                                           tensor.name.find("layer_norm.") == std::string::npos &&
                                           tensor.name.find("LayerNorm.") == std::string::npos;
                for (float& value : *static_cast<std::vector<float>*>(view.owner)) {
                    if (tensor.shape.size() == 2) value *= 8;
                    if (is_other_norm) value += 1;
                }
            }
        return view;
    };
}

std::vector<float> reference_elements(std::uint64_t number, std::size_t count) {
    std::vector<float> elements;
    for (std::size_t i = 0; i < count; ++i) {
        const auto k = static_cast<std::int64_t>(synthetic::hash(number, i) >> 53);
        elements.push_back(static_cast<float>(2 * k + 1 - 2048) * 0x1p-10f);
    }
    return elements;
}

}  // namespace cairn::test
