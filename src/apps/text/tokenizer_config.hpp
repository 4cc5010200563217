#pragma once

#include "apps/text/tokenizer_parts.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// Contents of tokenizer_config.json and of the files that transformers reads in addition: special_tokens_map.json and
/// added_tokens.json if the configuration has no `added_tokens_decoder`, config.json if it has no `tokenizer_class`. A
/// setting that is missing or null is empty: its default depends on the class.
struct TokenizerConfig {
    std::string source;           ///< path of tokenizer_config.json
    std::string tokenizer_class;  ///< without "Fast"; empty: no file states one
    std::string class_source;     ///< path of the file that states it
    std::map<std::string, std::string> special_names;
    std::vector<AddedToken> special_tokens;  ///< those of special_names, and additional ones; their ids are unknown
    std::vector<std::string> ambiguous;      ///< special tokens with different flags in different roles of one file
    bool mask_has_flags = false;             ///< mask_token is an object, which states its flags
    std::vector<AddedToken> added;           ///< `added_tokens_decoder`
    std::vector<AddedToken> appended;        ///< added_tokens.json
    std::optional<std::size_t> model_max_length;
    std::optional<bool> add_prefix_space;
    std::optional<bool> lower_case;     ///< `do_lower_case`
    std::optional<bool> chinese_chars;  ///< `tokenize_chinese_chars`
    std::optional<bool> strip_accents;
    std::optional<bool> keep_accents;
    std::optional<std::int64_t> extra_ids;  ///< number of T5's tokens `<extra_id_0>`, ...
    bool has_additional_tokens = false;     ///< `additional_special_tokens` or `extra_special_tokens` is there
    std::optional<bool> add_bos_token;
    std::optional<bool> add_eos_token;
    bool clean_up_text = false;         ///< `clean_up_tokenization_spaces`
    bool split_special_tokens = false;  ///< special tokens are not recognised in text
    bool truncate_start = false;        ///< `truncation_side` is "left"
};

/// Reads the files of a folder, all of which are optional. Throws Error (file) if one is malformed.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder);

/// Reads an added token in the format of tokenizer.json and tokenizer_config.json; its id is given separately. Throws
/// Error (unsupported) for `single_word`.
AddedToken read_added_token(const nlohmann::json& token, std::int64_t id, const std::string& source);

/// Applies the settings that all kinds of tokenizer share, except the template tokens. Its added tokens replace those
/// in `parts`; those of added_tokens.json do not.
void apply_config(const TokenizerConfig& config, TokenizerParts& parts);

/// Throws Error (unsupported) if the flags of a special token depend on the version of transformers and no list of
/// added tokens states them: for tokens in config.ambiguous, and for `default_token` with flags if the configuration
/// lacks one of `default_roles`, which then has that token by default, without flags.
void reject_ambiguous_tokens(const TokenizerConfig& config, std::initializer_list<const char*> default_roles,
                             const std::string& default_token);

/// Adds `token` to `tokens`, or replaces the one with the same content; keeps its id if the new one has none.
void add_or_replace(const AddedToken& token, std::vector<AddedToken>& tokens);

}  // namespace cairn::inline v0::text
