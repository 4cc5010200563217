#include "tests/apps/models/adapter_folder.hpp"

#include "cairn/models/checkpoint.hpp"
#include "examples/synthetic_weights.hpp"
#include "graph/types/half.hpp"
#include "tests/apps/models/golden.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace cairn::test {

using models::WeightSpec;

const nlohmann::json& adapter_cases() {
    static const nlohmann::json cases = golden("adapter_cases.json")["cases"];
    return cases;
}

const nlohmann::json& adapter_named(const nlohmann::json& reference_case, const std::string& name) {
    const nlohmann::json& all = reference_case["adapters"];
    const auto found = std::ranges::find_if(all, [&](const auto& each) { return each["name"] == name; });
    if (found == all.end()) throw std::invalid_argument("there is no adapter " + name);
    return *found;
}

std::vector<AdapterTensor> adapter_tensors(const nlohmann::json& adapter) {
    constexpr std::size_t first_number = 1000;
    std::vector<WeightSpec> specs(first_number);
    for (const auto& tensor : adapter["tensors"])
        specs.push_back(
            {.name = tensor["name"].get<std::string>(), .shape = tensor["shape"].get<std::vector<std::int64_t>>()});
    const WeightSource source = synthetic::source(specs);
    std::vector<AdapterTensor> tensors;
    for (std::size_t i = first_number; i < specs.size(); ++i) {
        const InputView view = source(specs[i].name);
        tensors.push_back({specs[i].name, specs[i].shape, *static_cast<std::vector<float>*>(view.owner)});
        view.release(view.owner);
        for (float& value : tensors.back().values) value *= 8;
    }
    return tensors;
}

std::filesystem::path write_adapter(const TempFolder& folder, const std::string& name, const nlohmann::json& config,
                                    const std::vector<AdapterTensor>& tensors, DType dtype) {
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path);
    std::ofstream(path / "adapter_config.json") << config.dump();
    std::vector<std::vector<std::uint16_t>> halves(tensors.size());
    std::vector<NamedTensor> named;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        for (const float value : tensors[i].values)
            halves[i].push_back(dtype == DType::f16 ? types::f32_to_f16(value) : types::f32_to_bf16(value));
        const void* data = tensors[i].values.data();
        if (dtype != DType::f32) data = halves[i].data();
        named.push_back({tensors[i].name, {.data = data, .dtype = dtype, .shape = tensors[i].shape}});
    }
    write_safetensors(path / "adapter_model.safetensors", named);
    return path;
}

std::filesystem::path write_adapter(const TempFolder& folder, const nlohmann::json& adapter) {
    return write_adapter(folder, adapter["name"].get<std::string>(), adapter["config"], adapter_tensors(adapter));
}

}  // namespace cairn::test
