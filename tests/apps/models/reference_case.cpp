#include "tests/apps/models/reference_case.hpp"

#include "examples/synthetic_weights.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace cairn::test {

using models::WeightSpec;

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
                const bool is_rms_norm = tensor.shape.size() == 1 && tensor.name.ends_with("norm.weight") &&
                                         tensor.name.find("layer_norm.") == std::string::npos;
                for (float& value : *static_cast<std::vector<float>*>(view.owner)) {
                    if (tensor.shape.size() == 2) value *= 8;
                    if (is_rms_norm) value += 1;
                }
            }
        return view;
    };
}

}  // namespace cairn::test
