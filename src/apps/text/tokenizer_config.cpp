#include "apps/text/tokenizer_config.hpp"

#include "apps/text/json_file.hpp"
#include "apps/text/tokenizer_class.hpp"
#include "apps/text/vocabulary_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace cairn::inline v0::text {

namespace {

using nlohmann::json;

const json* find(const json& object, const char* key) {
    const auto member = object.find(key);
    return member == object.end() || member->is_null() ? nullptr : &*member;
}

bool lists(const std::vector<AddedToken>& tokens, const std::string& content) {
    return std::any_of(tokens.begin(), tokens.end(), [&](const AddedToken& token) { return token.content == content; });
}

/// A special token is a string in most files, and an object with a `content` in some.
AddedToken read_special_token(const json& token, const std::string& what, const std::string& source) {
    AddedToken special;
    if (token.is_object()) {
        special = read_added_token(token, -1, source);
        special.normalized = read_member(token, "normalized", false, source);
    } else if (token.is_string()) {
        special.content = token.get<std::string>();
    } else {
        throw_bad_file(source, "expected a string for " + quoted_name(what) + ", got " + token.type_name());
    }
    special.id = AddedToken::unknown_id;
    special.special = true;
    return special;
}

/// Reads the tokens that have a role. Later files override earlier ones.
void read_special_names(const json& file, const std::string& source, TokenizerConfig& config) {
    std::map<std::string, AddedToken> seen;
    for (const char* role :
         {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
        const json* token = find(file, role);
        if (token == nullptr) continue;
        const bool empty_object = token->is_object() && read_member<std::string>(*token, "content", "", source).empty();
        if (empty_object || *token == "") continue;
        AddedToken special = read_special_token(*token, role, source);
        config.special_names[role] = special.content;
        if (std::string_view(role) == "mask_token") config.mask_has_flags = token->is_object();
        const auto [first, is_new] = seen.emplace(special.content, special);
        if (!is_new && !first->second.same_flags(special)) config.ambiguous.push_back(special.content);
        add_or_replace(special, config.special_tokens);
    }
}

/// Reads special tokens without one of the seven roles: a list, or an object with a name for each.
void read_additional_special_tokens(const json& file, const std::string& source, TokenizerConfig& config) {
    for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
        const json* tokens = find(file, key);
        if (tokens == nullptr) continue;
        config.has_additional_tokens = config.has_additional_tokens || !tokens->empty();
        if (!tokens->is_array() && !tokens->is_object())
            throw_bad_file(source,
                           "expected an array or an object for " + quoted_name(key) + ", got " + tokens->type_name());
        for (const json& token : *tokens) add_or_replace(read_special_token(token, key, source), config.special_tokens);
    }
}

void read_added_tokens_decoder(const json& tokens, TokenizerConfig& config) {
    if (!tokens.is_object()) throw_bad_file(config.source, "expected an object for 'added_tokens_decoder'");
    for (const auto& [key, token] : tokens.items()) {
        std::int64_t id = -1;
        const auto end = key.data() + key.size();
        if (std::from_chars(key.data(), end, id).ptr != end || key.empty() || id < 0)
            throw_bad_file(config.source, "expected an id as a key of 'added_tokens_decoder', got " + quoted_name(key));
        config.added.push_back(read_added_token(token, id, config.source));
    }
}

/// added_tokens.json: tokens appended to a vocabulary, as versions of transformers before 4.34 wrote them.
void read_added_tokens_file(const std::filesystem::path& path, TokenizerConfig& config) {
    if (!file_exists(path)) return;
    for (VocabularyEntry& entry : vocabulary_entries(read_json_object(path), path.string())) {
        const bool special = lists(config.special_tokens, entry.token);
        config.appended.push_back(
            {.content = std::move(entry.token), .id = entry.id, .special = special, .normalized = !special});
    }
}

void read_special_tokens_map(const std::filesystem::path& path, TokenizerConfig& config) {
    if (!file_exists(path)) return;
    const json file = read_json_object(path);
    read_special_names(file, path.string(), config);
    read_additional_special_tokens(file, path.string(), config);
}

std::optional<bool> optional_flag(const json& file, const char* key, const std::string& source) {
    if (find(file, key) == nullptr) return std::nullopt;
    return read_member(file, key, false, source);
}

void read_settings(const json& file, TokenizerConfig& config) {
    config.add_prefix_space = optional_flag(file, "add_prefix_space", config.source);
    config.lower_case = optional_flag(file, "do_lower_case", config.source);
    config.chinese_chars = optional_flag(file, "tokenize_chinese_chars", config.source);
    config.strip_accents = optional_flag(file, "strip_accents", config.source);
    config.keep_accents = optional_flag(file, "keep_accents", config.source);
    if (find(file, "extra_ids") != nullptr)
        config.extra_ids = read_member(file, "extra_ids", std::int64_t{0}, config.source);
    config.add_bos_token = optional_flag(file, "add_bos_token", config.source);
    config.add_eos_token = optional_flag(file, "add_eos_token", config.source);
    config.clean_up_text = read_member(file, "clean_up_tokenization_spaces", false, config.source);
    config.split_special_tokens = read_member(file, "split_special_tokens", false, config.source);
    const auto side = read_member<std::string>(file, "truncation_side", "right", config.source);
    if (side != "right" && side != "left")
        throw_bad_file(config.source, "expected right or left for 'truncation_side', got " + quoted_name(side));
    config.truncate_start = side == "left";
    if (const json* length = find(file, "model_max_length")) {
        const double value = length->is_number() ? length->get<double>() : 0;
        if (value < 1 || value != std::floor(value))
            throw_bad_file(config.source, "expected a positive whole number for 'model_max_length'");
        // "No limit" is written as 10^30.
        if (value < 1e15) config.model_max_length = static_cast<std::size_t>(value);
    }
}

}  // namespace

AddedToken read_added_token(const json& token, std::int64_t id, const std::string& source) {
    if (!token.is_object())
        throw_bad_file(source, std::string("expected an object for an added token, got ") + token.type_name());
    AddedToken added;
    added.content = read_member<std::string>(token, "content", "", source);
    if (added.content.empty()) throw_bad_file(source, "added token " + std::to_string(id) + " has no content");
    added.id = id;
    added.special = read_member(token, "special", false, source);
    added.normalized = read_member(token, "normalized", !added.special, source);
    added.lstrip = read_member(token, "lstrip", false, source);
    added.rstrip = read_member(token, "rstrip", false, source);
    if (read_member(token, "single_word", false, source))
        throw_unsupported_file(
            source, "added token " + quoted_name(added.content) + " has single_word, which is not supported");
    return added;
}

void add_or_replace(const AddedToken& token, std::vector<AddedToken>& tokens) {
    const auto known = std::find_if(tokens.begin(), tokens.end(),
                                    [&](const AddedToken& other) { return other.content == token.content; });
    if (known == tokens.end()) {
        tokens.push_back(token);
        return;
    }
    const std::int64_t id = token.id == AddedToken::unknown_id ? known->id : token.id;
    *known = token;
    known->id = id;
}

void reject_ambiguous_tokens(const TokenizerConfig& config, std::initializer_list<const char*> default_roles,
                             const std::string& default_token) {
    const bool has_default = std::any_of(default_roles.begin(), default_roles.end(),
                                         [&](const char* role) { return !config.special_names.contains(role); });
    for (const AddedToken& token : config.special_tokens) {
        if (lists(config.added, token.content) || lists(config.appended, token.content)) continue;
        const bool by_default = has_default && token.content == default_token && !token.same_flags({});
        const bool by_role =
            std::find(config.ambiguous.begin(), config.ambiguous.end(), token.content) != config.ambiguous.end();
        if (by_default || by_role)
            throw_unsupported_file(config.source,
                                   "the special token " + quoted_name(token.content) +
                                       " has lstrip, rstrip or normalized in one role and not in another, "
                                       "which versions of transformers read differently; "
                                       "added_tokens_decoder states them once");
    }
}

void apply_config(const TokenizerConfig& config, TokenizerParts& parts) {
    parts.model_max_length = config.model_max_length;
    for (const AddedToken& token : config.added) add_or_replace(token, parts.added);
    for (const AddedToken& token : config.appended)
        if (!lists(parts.added, token.content)) parts.added.push_back(token);
    for (const auto& [role, token] : config.special_names) parts.special_names[role] = token;
    parts.special_tokens = config.special_tokens;
    parts.split_special_tokens = config.split_special_tokens;
}

TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder) {
    TokenizerConfig config;
    const auto path = folder / "tokenizer_config.json";
    config.source = path.string();
    const json file = file_exists(path) ? read_json_object(path) : json::object();

    read_tokenizer_class(file, folder, config);
    read_settings(file, config);
    read_special_names(file, config.source, config);
    read_additional_special_tokens(file, config.source, config);
    if (const json* tokens = find(file, "added_tokens_decoder")) {
        read_added_tokens_decoder(*tokens, config);
    } else {
        read_special_tokens_map(folder / "special_tokens_map.json", config);
        read_added_tokens_file(folder / "added_tokens.json", config);
    }
    return config;
}

}  // namespace cairn::inline v0::text
