#include "apps/models/config_file.hpp"
#include "apps/models/lora_adapter.hpp"
#include "cairn/weights.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

/// Adapters of the library PEFT: adapter_config.json and adapter_model.safetensors.
namespace cairn::inline v0::models {
namespace {

/// Entries that change what an adapter computes, with what they ask for. Each must be absent, null, false or empty.
constexpr std::pair<const char*, const char*> unsupported_entries[] = {
    {"use_dora", "DoRA"},
    {"use_qalora", "QA-LoRA"},
    {"use_bdlora", "BD-LoRA"},
    {"alora_invocation_tokens", "activated LoRA"},
    {"lora_bias", "biases of adapters"},
    {"trainable_token_indices", "trained tokens"},
    {"target_parameters", "adapted parameters (target_parameters)"},
    {"layer_replication", "replicated layers"},
    {"arrow_config", "routing between adapters"},
    {"kasa_config", "KaSA"},
    {"monteclora_config", "MonteCLoRA"},
};

/// Initializations that also change the model's weights, so that the adapter is for another model until PEFT has
/// converted it (`path_initial_model_for_weight_conversion`).
bool changes_base_weights(std::string_view init) {
    return init.starts_with("pissa") || init == "olora" || init == "corda" || init == "loftq" || init == "lora_ga";
}

void check_config(const ConfigFile& config) {
    if (const std::string type = config.text("peft_type", ""); type != "LORA")
        config.unsupported("peft_type is \"" + type + "\", expected LORA");
    for (const auto& [key, what] : unsupported_entries)
        if (config.is_asked_for(key)) config.unsupported(std::string(what) + " (" + key + ") is not supported");
    if (const std::string bias = config.text("bias", "none"); bias != "none")
        config.unsupported("bias is \"" + bias + "\", expected none");
    if (config.is_text("init_lora_weights"))
        if (const std::string init = config.text("init_lora_weights", ""); changes_base_weights(init))
            config.unsupported("init_lora_weights is \"" + init +
                               "\", which changes the model: convert the adapter to plain LoRA when it is saved");
}

/// A pattern of module names, by which ranks or alphas differ. Of regular expressions, names are supported, with `^`
/// before them and `\.` for dots; a name matches modules that end in it.
class ModulePattern {
public:
    ModulePattern(const ConfigFile& config, const std::string& pattern) {
        is_whole_ = pattern.starts_with('^');
        for (std::size_t i = is_whole_ ? 1 : 0; i < pattern.size(); ++i) {
            const bool is_escaped = pattern[i] == '\\' && i + 1 < pattern.size() && pattern[i + 1] == '.';
            if (is_escaped) ++i;
            const char c = pattern[i];
            const bool is_name = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 c == '_' || c == '.' || c == '-';
            if (!is_name) config.unsupported("the pattern \"" + pattern + "\" is no name of a module");
            name_ += c;
        }
    }
    bool matches(std::string_view module) const {
        return module == name_ || (!is_whole_ && module.ends_with('.' + name_));
    }

private:
    std::string name_;
    bool is_whole_;
};

/// The rank or alpha of each module: the value of the patterns that match it, otherwise the default.
class ModuleNumbers {
public:
    ModuleNumbers(const ConfigFile& config, const char* key, double otherwise)
        : config_(config), key_(key), otherwise_(otherwise) {
        for (const auto& [pattern, number] : config.numbers(key))
            patterns_.emplace_back(ModulePattern(config, pattern), number);
    }
    double of(const std::string& module) const {
        std::optional<double> found;
        for (const auto& [pattern, number] : patterns_)
            if (pattern.matches(module)) {
                // The first one counts for PEFT; the order of a JSON object is not kept here.
                if (found && *found != number)
                    config_.unsupported("several patterns of \"" + key_ + "\" match " + module);
                found = number;
            }
        return found.value_or(otherwise_);
    }

private:
    const ConfigFile& config_;
    std::string key_;
    double otherwise_;
    std::vector<std::pair<ModulePattern, double>> patterns_;
};

/// The name of a tensor without the prefix that PEFT gives to all.
std::string_view without_prefix(std::string_view name) {
    constexpr std::string_view prefix = "base_model.model.";
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

/// The two tensors of a module.
struct PeftPair {
    const Safetensors::Tensor *a = nullptr, *b = nullptr;
};

/// The tensors of a file: pairs by module, and modules saved as a whole.
struct PeftTensors {
    std::map<std::string, PeftPair> pairs;
    std::vector<const Safetensors::Tensor*> saved;
};

PeftTensors tensors_of(const Safetensors& file, const ConfigFile& config) {
    PeftTensors all;
    for (const Safetensors::Tensor& tensor : file.tensors()) {
        const std::string_view name = without_prefix(tensor.name);
        if (name.find(".base_layer.") != name.npos) continue;  // a copy of the model's weight
        const std::size_t at = name.rfind(".lora_");
        if (at == name.npos) {
            all.saved.push_back(&tensor);
            continue;
        }
        const std::string module(name.substr(0, at));
        const std::string_view kind = name.substr(at + 1);
        if (kind.starts_with("lora_embedding_"))
            config.unsupported("an adapter of an embedding (" + module + ") is not supported");
        if (kind != "lora_A.weight" && kind != "lora_B.weight")
            config.unsupported("the tensor " + tensor.name + " is not supported");
        PeftPair& pair = all.pairs[module];
        (kind == "lora_A.weight" ? pair.a : pair.b) = &tensor;
    }
    return all;
}

std::string text_of(const Safetensors::Tensor& tensor) {
    return to_string(Shape(tensor.shape.begin(), tensor.shape.end()));
}

/// An update from its two tensors; adds what is wrong with them to `faults`.
std::optional<LoraUpdate> update_of(const std::string& module, const PeftPair& pair, double rank, FaultList& faults) {
    if (pair.a == nullptr || pair.b == nullptr) {
        faults.add(module + (pair.a == nullptr ? ".lora_A.weight" : ".lora_B.weight") + " is missing");
        return std::nullopt;
    }
    const std::vector<std::int64_t>&a = pair.a->shape, &b = pair.b->shape;
    if (a.size() != 2 || b.size() != 2 || static_cast<double>(a[0]) != rank || static_cast<double>(b[1]) != rank) {
        faults.add(module + " has lora_A " + text_of(*pair.a) + " and lora_B " + text_of(*pair.b) +
                   ", but the config's rank is " + std::to_string(static_cast<std::int64_t>(rank)));
        return std::nullopt;
    }
    return LoraUpdate{.module = module, .rank = a[0], .in = a[1], .out = b[0]};
}

}  // namespace

LoraAdapter::State read_peft(const std::filesystem::path& folder) {
    const ConfigFile config(folder / "adapter_config.json");
    check_config(config);
    const Safetensors file = Safetensors::open(folder / "adapter_model.safetensors");
    LoraAdapter::State state;
    state.origin = folder.string();
    if (!config.is_text("target_modules")) state.targets = config.texts("target_modules");
    state.changes_all_layers = !config.has("layers_to_transform") && !config.has("exclude_modules");

    const ModuleNumbers ranks(config, "rank_pattern", static_cast<double>(config.size("r", 8)));
    const ModuleNumbers alphas(config, "alpha_pattern", config.number("lora_alpha", 8));
    const bool is_rank_stabilized = config.flag("use_rslora", false);
    FaultList faults;
    const PeftTensors tensors = tensors_of(file, config);
    for (const auto& [module, pair] : tensors.pairs) {
        const double rank = ranks.of(module);
        std::optional<LoraUpdate> update = update_of(module, pair, rank, faults);
        if (!update) continue;
        update->scale = alphas.of(module) / (is_rank_stabilized ? std::sqrt(rank) : rank);
        update->a = floats_of(file.view(pair.a->name), state.origin, pair.a->name);
        update->b = floats_of(file.view(pair.b->name), state.origin, pair.b->name);
        state.updates.push_back(std::move(*update));
    }
    if (!faults.empty()) config.fail(faults.text());
    for (const Safetensors::Tensor* tensor : tensors.saved)
        state.saved.push_back({std::string(without_prefix(tensor->name)), tensor->shape,
                               floats_of(file.view(tensor->name), state.origin, tensor->name)});
    state.fingerprint = file.fingerprint();
    return state;
}

}  // namespace cairn::inline v0::models
