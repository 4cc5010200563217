#pragma once

#include "apps/text/tokenizer_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace cairn::inline v0::text {

/// Which file a class of transformers follows where tokenizer_config.json and tokenizer.json state a setting
/// differently.
enum class Precedence {
    config,          ///< the configuration, and the default of the class for what it does not state
    tokenizer_json,  ///< tokenizer.json
    undecided,       ///< versions 4 and 5 of transformers differ, or the class is not known here
    no_class,        ///< no file states a class
};

/// Sets the class and its source: `tokenizer_class` of the configuration, else `tokenizer_class` of config.json, else
/// the class that transformers uses for the `model_type` there. `json` is the content of tokenizer_config.json.
void read_tokenizer_class(const nlohmann::json& json, const std::filesystem::path& folder, TokenizerConfig& config);

/// Whether the class is BERT's tokenizer under one of its names.
bool is_bert_class(const TokenizerConfig& config);

/// Whether the class is one of those that follow the configuration with a vocab.txt and no tokenizer.json, too.
bool reads_bert_vocabulary(const TokenizerConfig& config);

/// Whether the class is GPT-2's tokenizer.
bool is_gpt2_class(const TokenizerConfig& config);

/// The precedence for do_lower_case, strip_accents and tokenize_chinese_chars of WordPiece.
Precedence word_piece_precedence(const TokenizerConfig& config);

/// The precedence for add_prefix_space of byte-level BPE.
Precedence bpe_precedence(const TokenizerConfig& config);

/// One setting as both files state it.
struct TokenizerSetting {
    const char* key;             ///< its name in tokenizer_config.json
    std::optional<bool> given;   ///< the value there
    bool class_default;          ///< the value of the class where none is given
    const char* tokenizer_json;  ///< its name in tokenizer.json
    bool stored;                 ///< the value there
};

/// The value that holds: {do_lower_case, false, true, lowercase, true} is false for a BertTokenizer. Throws
/// Error (unsupported), naming the class and both values, where the files contradict each other and the precedence is
/// undecided; with no class, where a value is given that contradicts tokenizer.json.
bool resolve(const TokenizerSetting& setting, Precedence precedence, const TokenizerConfig& config,
             const std::string& tokenizer_json);

/// Refuses a tokenizer.json for BERT's class that version 5 of transformers would not follow: it builds the tokenizer
/// from the vocabulary and the configuration alone, where version 4 follows the file. A file without a post_processor
/// is followed, so that a tokenizer that adds no tokens stays one. Throws Error (unsupported), naming the member and
/// both values.
void require_bert_defaults(const WordPieceParts& parts, const TokenizerConfig& config);

}  // namespace cairn::inline v0::text
