#include "text/tokenizer_config.hpp"

#include "text/json_file.hpp"

#include <charconv>
#include <cmath>

namespace cairn::inline v0::text {

namespace {

/// Special tokens are strings in most files, objects with a `content` in some, null where the model has none.
void read_special_names(const nlohmann::json& json, TokenizerConfig& config) {
    for (const char* role :
         {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
        const auto member = json.find(role);
        if (member == json.end() || member->is_null()) continue;
        const bool is_object = member->is_object();
        const std::string name =
            read_member<std::string>(is_object ? *member : json, is_object ? "content" : role, "", config.source);
        if (!name.empty()) config.special_names[role] = name;
    }
}

void read_added_tokens(const nlohmann::json& json, TokenizerConfig& config) {
    const auto tokens = json.find("added_tokens_decoder");
    if (tokens == json.end() || tokens->is_null()) return;
    if (!tokens->is_object()) bad_file(config.source, "expected an object for 'added_tokens_decoder'");
    for (const auto& [key, token] : tokens->items()) {
        std::int64_t id = -1;
        const auto end = key.data() + key.size();
        if (std::from_chars(key.data(), end, id).ptr != end || key.empty() || id < 0)
            bad_file(config.source, "expected an id as a key of 'added_tokens_decoder', got " + in_quotes(key));
        config.added.push_back(read_added_token(token, id, config.source));
    }
}

}  // namespace

AddedToken read_added_token(const nlohmann::json& token, std::int64_t id, const std::string& source) {
    if (!token.is_object())
        bad_file(source, std::string("expected an object for an added token, got ") + token.type_name());
    AddedToken added;
    added.content = read_member<std::string>(token, "content", "", source);
    if (added.content.empty()) bad_file(source, "added token " + std::to_string(id) + " has no content");
    added.id = id;
    added.special = read_member(token, "special", false, source);
    added.normalized = read_member(token, "normalized", !added.special, source);
    added.lstrip = read_member(token, "lstrip", false, source);
    added.rstrip = read_member(token, "rstrip", false, source);
    if (read_member(token, "single_word", false, source))
        unsupported_file(source,
                         "added token " + in_quotes(added.content) + " has single_word, which is not supported");
    return added;
}

TokenizerConfig read_tokenizer_config(const std::filesystem::path& path) {
    TokenizerConfig config;
    config.source = path.string();
    if (!file_exists(path)) return config;
    const nlohmann::json json = read_json_object(path);

    config.tokenizer_class = read_member<std::string>(json, "tokenizer_class", "", config.source);
    config.add_prefix_space = read_member(json, "add_prefix_space", config.add_prefix_space, config.source);
    config.add_bos_token = read_member(json, "add_bos_token", config.add_bos_token, config.source);
    config.lower_case = read_member(json, "do_lower_case", config.lower_case, config.source);
    config.chinese_chars = read_member(json, "tokenize_chinese_chars", config.chinese_chars, config.source);
    if (json.contains("strip_accents") && !json["strip_accents"].is_null())
        config.strip_accents = read_member(json, "strip_accents", false, config.source);
    config.clean_up_text = read_member(json, "clean_up_tokenization_spaces", false, config.source);
    read_special_names(json, config);
    read_added_tokens(json, config);

    const auto length = json.find("model_max_length");
    if (length != json.end() && !length->is_null()) {
        const double value = length->is_number() ? length->get<double>() : 0;
        if (value < 1 || value != std::floor(value))
            bad_file(config.source, "expected a positive whole number for 'model_max_length'");
        // "No limit" is written as 10^30.
        if (value < 1e15) config.model_max_length = static_cast<std::size_t>(value);
    }
    return config;
}

}  // namespace cairn::inline v0::text
