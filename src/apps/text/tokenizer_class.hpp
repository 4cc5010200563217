#pragma once

#include "apps/text/tokenizer_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace cairn::inline v0::text {

/// The file that a class of transformers follows if tokenizer_config.json and tokenizer.json differ in a setting.
enum class Precedence {
    config,          ///< the configuration, and the default of the class if it does not state the setting
    tokenizer_json,  ///< tokenizer.json
    undecided,       ///< versions 4 and 5 of transformers differ, or the class is unknown
    no_class,        ///< no file states a class
};

/// Sets the class and its source: `tokenizer_class` of the configuration, else `tokenizer_class` of config.json, else
/// the class that transformers uses for its `model_type`. `json` is the content of tokenizer_config.json.
void read_tokenizer_class(const nlohmann::json& json, const std::filesystem::path& folder, TokenizerConfig& config);

/// True if the class is BERT's tokenizer under one of its names.
bool is_bert_class(const TokenizerConfig& config);

/// True if the class also follows the configuration with a vocab.txt and no tokenizer.json.
bool reads_bert_vocabulary(const TokenizerConfig& config);

/// True if the class is GPT-2's tokenizer.
bool is_gpt2_class(const TokenizerConfig& config);

/// True if the class is RoBERTa's tokenizer under one of its names.
bool is_roberta_class(const TokenizerConfig& config);

/// True if the class is the tokenizer of Llama 1 and 2, Code Llama or Gemma.
bool is_llama_class(const TokenizerConfig& config);

/// True if the class has no settings of its own: PreTrainedTokenizerFast, which version 5 calls TokenizersBackend.
bool is_generic_class(const TokenizerConfig& config);

/// The class and the file that states it, for error messages.
std::string stated_class(const TokenizerConfig& config);

/// The precedence for do_lower_case, strip_accents and tokenize_chinese_chars of WordPiece.
Precedence word_piece_precedence(const TokenizerConfig& config);

/// The precedence for add_prefix_space of byte-level BPE.
Precedence bpe_precedence(const TokenizerConfig& config);

/// One setting as stated by both files.
struct TokenizerSetting {
    const char* key;             ///< its name in tokenizer_config.json
    std::optional<bool> given;   ///< the value there
    bool class_default;          ///< the value of the class if none is given
    const char* tokenizer_json;  ///< its name in tokenizer.json
    bool stored;                 ///< the value there
};

/// The effective value: {do_lower_case, false, true, lowercase, true} is false for a BertTokenizer. Throws Error
/// (unsupported), naming the class and both values, if the files contradict each other and the precedence is undecided;
/// without a class, if a given value contradicts tokenizer.json.
bool resolve(const TokenizerSetting& setting, Precedence precedence, const TokenizerConfig& config,
             const std::string& tokenizer_json);

}  // namespace cairn::inline v0::text
