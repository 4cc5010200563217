#include "apps/models/sentence_modules.hpp"

#include "apps/models/config_file.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace cairn::inline v0::models {
namespace {

using nlohmann::json;

struct Module {
    std::string kind;  ///< the last part of its type: Pooling
    std::string path;  ///< its folder in that of the model; empty: the same
};

std::vector<Module> modules_of(const std::filesystem::path& file) {
    const json list = read_json(file);
    std::vector<Module> modules;
    const auto text = [](const json& module, const char* key) -> std::optional<std::string> {
        const auto entry = module.is_object() ? module.find(key) : module.end();
        if (!module.is_object() || entry == module.end() || !entry->is_string()) return std::nullopt;
        return entry->get<std::string>();
    };
    if (list.is_array())
        for (const json& module : list) {
            const auto type = text(module, "type"), path = text(module, "path");
            if (type && path) modules.push_back({type->substr(type->rfind('.') + 1), *path});
        }
    if (!list.is_array() || modules.size() != list.size())
        throw Error(ErrorKind::file, "config", file.string() + ": expected a list of modules with type and path");
    return modules;
}

/// The kind of pooling, of which exactly one entry `pooling_mode_...` must be true.
Pooling pooling_of(const std::filesystem::path& config_json) {
    const ConfigFile file(config_json);
    const bool is_mean = file.flag("pooling_mode_mean_tokens", false),
               is_first = file.flag("pooling_mode_cls_token", false);
    for (const char* other : {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                              "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"})
        if (file.flag(other, false)) file.unsupported(std::string(other) + " is not supported");
    if (is_mean == is_first)
        file.unsupported("pooling_mode_mean_tokens or pooling_mode_cls_token must be true, and only one of them");
    return is_mean ? Pooling::mean : Pooling::first;
}

}  // namespace

void read_sentence_modules(const std::filesystem::path& folder, EncoderConfig& config) {
    const std::filesystem::path file = folder / "modules.json";
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return;
    const auto unsupported = [&](const std::string& what) {
        throw Error(ErrorKind::unsupported, "config", file.string() + ": " + what);
    };
    const std::vector<Module> modules = modules_of(file);
    if (modules.empty() || modules[0].kind != "Transformer") unsupported("the first module is no Transformer");
    if (!modules[0].path.empty()) unsupported("the Transformer is not in the folder itself: " + modules[0].path);
    config.normalizes = false;
    bool pools = false;
    for (std::size_t i = 1; i < modules.size(); ++i) {
        if (modules[i].kind == "Pooling" && !pools)
            config.pooling = pooling_of(folder / modules[i].path / "config.json"), pools = true;
        else if (modules[i].kind == "Normalize" && pools)
            config.normalizes = true;
        else
            unsupported("module " + std::to_string(i) + " is of kind " + modules[i].kind +
                        ", expected Pooling, then Normalize");
    }
    if (!pools) unsupported("there is no module of kind Pooling");
    config.head = EncoderHead::pooling;
    if (const auto limits = folder / "sentence_bert_config.json"; std::filesystem::exists(limits, ignored))
        config.max_tokens = ConfigFile(limits).count("max_seq_length", 0);
}

}  // namespace cairn::inline v0::models
