#pragma once

#include "text/tokenizer_parts.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// tokenizer_config.json, with the defaults that hold where the file or a member is missing.
struct TokenizerConfig {
    std::string source;
    std::string tokenizer_class;  ///< empty: not told
    std::map<std::string, std::string> special_names;
    std::vector<AddedToken> added;
    std::optional<std::size_t> model_max_length;
    bool add_prefix_space = false;
    bool add_bos_token = false;
    bool clean_up_text = false;  ///< `clean_up_tokenization_spaces`
    bool lower_case = true;
    bool chinese_chars = true;
    std::optional<bool> strip_accents;
};

/// Reads the file, which may be missing. Throws Error (file) where it is malformed.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& path);

/// One added token as Hugging Face writes it in tokenizer.json and tokenizer_config.json; its id comes apart.
/// Throws Error (unsupported) for `single_word`.
AddedToken read_added_token(const nlohmann::json& token, std::int64_t id, const std::string& source);

}  // namespace cairn::inline v0::text
