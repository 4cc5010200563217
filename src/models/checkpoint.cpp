#include "cairn/models/checkpoint.hpp"

#include <algorithm>

namespace cairn::inline v0::models {
namespace {

std::string shape_text(const std::vector<std::int64_t>& sizes) {
    Shape shape;
    for (const std::int64_t size : sizes) shape.emplace_back(size);
    return to_string(shape);
}

std::optional<DType> floating(std::string_view dtype) {
    if (dtype == "F32") return DType::f32;
    if (dtype == "F16") return DType::f16;
    if (dtype == "BF16") return DType::bf16;
    if (dtype == "F64") return DType::f64;
    return std::nullopt;
}

}  // namespace

std::string name_in_file(const std::string& name, const Safetensors& file, const std::string& prefix) {
    if (!file.contains(name) && name.starts_with(prefix) && file.contains(name.substr(prefix.size())))
        return name.substr(prefix.size());
    return name;
}

void find_weights(std::vector<WeightSpec>& wanted, const Safetensors& file, const std::string& prefix,
                  const std::filesystem::path& path) {
    const auto& tensors = file.tensors();
    std::string faults;
    const auto fault = [&](const std::string& text) { faults += (faults.empty() ? "" : "; ") + text; };
    for (WeightSpec& spec : wanted) {
        const std::string name = name_in_file(spec.name, file, prefix);
        const auto it =
            std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.name == name; });
        if (it == tensors.end()) {
            fault(spec.name + " is missing");
            continue;
        }
        if (it->shape != spec.shape)
            fault(spec.name + " is " + shape_text(it->shape) + ", expected " + shape_text(spec.shape));
        const std::optional<DType> dtype = floating(it->dtype);
        if (!dtype)
            fault(spec.name + " is stored as " + it->dtype + ", expected F32, F16, BF16 or F64");
        else
            spec.dtype = *dtype;
    }
    if (!faults.empty()) throw Error(ErrorKind::file, "weights", path.string() + ": " + faults);
}

}  // namespace cairn::inline v0::models
