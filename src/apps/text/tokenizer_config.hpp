#pragma once

#include "apps/text/tokenizer_parts.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// tokenizer_config.json together with what transformers reads beside it: special_tokens_map.json and added_tokens.json
/// where the configuration has no `added_tokens_decoder`, config.json where it has no `tokenizer_class`. A setting
/// that is not given, or null, is empty: its default depends on the class.
struct TokenizerConfig {
    std::string source;           ///< path of tokenizer_config.json
    std::string tokenizer_class;  ///< without "Fast"; empty: no file states one
    std::string class_source;     ///< path of the file that states it
    std::map<std::string, std::string> special_names;
    std::vector<AddedToken> special_tokens;  ///< those of special_names, and the additional ones; their ids are unknown
    std::vector<std::string> ambiguous;      ///< special tokens that one file gives different flags in different roles
    std::vector<AddedToken> added;           ///< `added_tokens_decoder`
    std::vector<AddedToken> appended;        ///< added_tokens.json
    std::optional<std::size_t> model_max_length;
    std::optional<bool> add_prefix_space;
    std::optional<bool> lower_case;     ///< `do_lower_case`
    std::optional<bool> chinese_chars;  ///< `tokenize_chinese_chars`
    std::optional<bool> strip_accents;
    bool add_bos_token = false;
    bool add_eos_token = false;
    bool clean_up_text = false;         ///< `clean_up_tokenization_spaces`
    bool split_special_tokens = false;  ///< special tokens are not recognised in text
    bool truncate_start = false;        ///< `truncation_side` is "left"
};

/// Reads the files of a folder, each of which may be missing. Throws Error (file) where one is malformed.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder);

/// One added token as Hugging Face writes it in tokenizer.json and tokenizer_config.json; its id comes apart.
/// Throws Error (unsupported) for `single_word`.
AddedToken read_added_token(const nlohmann::json& token, std::int64_t id, const std::string& source);

/// Sets what all kinds of tokenizer take from the configuration, save the frame. Its added tokens replace those that
/// `parts` holds already; those of added_tokens.json do not.
void apply_config(const TokenizerConfig& config, TokenizerParts& parts);

/// Refuses special tokens whose flags depend on the version of transformers, where no list of added tokens states them:
/// those in config.ambiguous, and those with flags that one of `default_roles`, which the configuration does not name,
/// has by default as well, without flags. Throws Error (unsupported).
void reject_ambiguous_tokens(const TokenizerConfig& config, std::initializer_list<const char*> default_roles,
                             const std::string& default_token);

/// Adds `token` to `tokens`, or replaces the one of the same content and keeps its id where the new one has none.
void add_or_replace(const AddedToken& token, std::vector<AddedToken>& tokens);

}  // namespace cairn::inline v0::text
