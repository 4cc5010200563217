#pragma once

#include "cairn/models/adapters.hpp"
#include "tests/io/weights/test_files.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// The adapters of tests/golden/adapter_cases.json, as PEFT writes them.
namespace cairn::test {

/// The cases, each a model with adapters.
const nlohmann::json& adapter_cases();
/// The adapter of a name in a case.
const nlohmann::json& adapter_named(const nlohmann::json& reference_case, const std::string& name);

/// A tensor of an adapter.
struct AdapterTensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;
};
/// The tensors of an adapter, with the numbers that the reference gave them.
std::vector<AdapterTensor> adapter_tensors(const nlohmann::json& adapter);
/// Writes a folder with adapter_config.json and adapter_model.safetensors, in a dtype of floats, and returns its path.
std::filesystem::path write_adapter(const TempFolder& folder, const std::string& name, const nlohmann::json& config,
                                    const std::vector<AdapterTensor>& tensors, DType dtype = DType::f32);
/// The same of an adapter of the cases.
std::filesystem::path write_adapter(const TempFolder& folder, const nlohmann::json& adapter);

}  // namespace cairn::test
