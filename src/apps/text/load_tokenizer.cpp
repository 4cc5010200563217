#include "apps/text/byte_level_bpe.hpp"
#include "apps/text/class_defaults.hpp"
#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/tokenizer_class.hpp"
#include "apps/text/tokenizer_config.hpp"
#include "apps/text/tokenizer_json.hpp"
#include "apps/text/vocabulary_files.hpp"
#include "apps/text/word_piece.hpp"
#include "cairn/text/tokenizer.hpp"

namespace cairn::inline v0::text {

namespace {

/// Refuses a class other than the expected one, if a file names one: the vocabulary files alone do not distinguish
/// RoBERTa from GPT-2, or MPNet from BERT.
void require_class(const TokenizerConfig& config, bool known) {
    if (known || config.tokenizer_class.empty()) return;
    throw_unsupported_file(config.class_source, "a tokenizer of class " + quoted_name(config.tokenizer_class) +
                                                    " is not supported with these vocabulary files");
}

/// Roles and template of GPT-2's tokenizer. `parts` has the vocabulary.
void apply_gpt2_class(const TokenizerConfig& config, ByteLevelBpeParts& parts) {
    reject_ambiguous_tokens(config, {"bos_token", "eos_token", "unk_token"}, gpt2_end_of_text);
    if (knows(parts, gpt2_end_of_text))
        parts.special_names = {{"bos_token", gpt2_end_of_text}, {"eos_token", gpt2_end_of_text}};
    apply_config(config, parts);
    if (config.add_eos_token.value_or(false))
        throw_unsupported_file(
            config.source,
            "add_eos_token is not supported without a tokenizer.json: version 4 of transformers ignores "
            "it for this class, version 5 does not");
    if (!config.add_bos_token.value_or(false)) return;
    const auto bos = parts.special_names.find("bos_token");
    if (bos == parts.special_names.end()) throw_bad_file(config.source, "add_bos_token needs a bos_token");
    parts.template_tokens = {.before = {bos->second}, .pair_before = {bos->second}, .between = {bos->second}};
}

/// Roles and template of RoBERTa's tokenizer, which ignores add_bos_token and add_eos_token.
void apply_roberta_class(const TokenizerConfig& config, ByteLevelBpeParts& parts) {
    reject_ambiguous_tokens(config, {"bos_token", "cls_token"}, "<s>");
    reject_ambiguous_tokens(config, {"eos_token", "sep_token"}, "</s>");
    apply_config(config, parts);
    name_roles(roberta_special_names, parts);
    require_mask_flags(parts, config);
    parts.template_tokens = roberta_template(config);
}

std::unique_ptr<Tokenizer> read_bpe_files(const std::filesystem::path& folder, const TokenizerConfig& config) {
    require_class(config, is_gpt2_class(config) || is_roberta_class(config));
    ByteLevelBpeParts parts;
    const auto vocabulary = folder / "vocab.json";
    const auto merges = folder / "merges.txt";
    for (const auto& [needed, other] : {std::pair(vocabulary, merges), std::pair(merges, vocabulary)})
        if (!file_exists(needed))
            throw_bad_file(needed.string(),
                           "the file is missing: byte-level BPE needs it beside " + other.filename().string());
    parts.source = vocabulary.string();
    parts.entries = vocabulary_entries(read_json_object(vocabulary), parts.source);
    parts.merges_source = merges.string();
    parts.merges = read_merges_file(merges);
    parts.add_prefix_space = config.add_prefix_space.value_or(false);
    if (is_roberta_class(config))
        apply_roberta_class(config, parts);
    else
        apply_gpt2_class(config, parts);
    parts.template_tokens.truncate_start = config.truncate_start;
    return std::make_unique<ByteLevelBpe>(parts);
}

std::unique_ptr<Tokenizer> read_word_piece_files(const std::filesystem::path& folder, const TokenizerConfig& config) {
    require_class(config, reads_bert_vocabulary(config));
    reject_ambiguous_tokens(config, {}, "");
    WordPieceParts parts;
    const auto vocabulary = folder / "vocab.txt";
    parts.source = vocabulary.string();
    parts.entries = read_vocabulary_lines(vocabulary);
    parts.lower_case = config.lower_case.value_or(true);
    parts.chinese_chars = config.chinese_chars.value_or(true);
    parts.strip_accents = config.strip_accents;
    for (const auto& [role, token] : bert_special_names)
        for (const VocabularyEntry& entry : parts.entries)
            if (entry.token == token) parts.special_names[role] = token;
    apply_config(config, parts);
    const auto named = [&](const char* role, const char* otherwise) {
        const auto name = parts.special_names.find(role);
        return name == parts.special_names.end() ? otherwise : name->second;
    };
    parts.template_tokens = bert_template(named("cls_token", "[CLS]"), named("sep_token", "[SEP]"));
    parts.template_tokens.truncate_start = config.truncate_start;
    parts.clean_up_text = config.clean_up_text;
    return std::make_unique<WordPiece>(parts);
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
    const auto has = [&](const char* name) { return file_exists(folder / name); };
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
        throw_bad_file(folder.string(), "expected a folder of tokenizer files");
    const TokenizerConfig config = read_tokenizer_config(folder);
    if (has("tokenizer.json")) return read_tokenizer_json(folder / "tokenizer.json", config);
    if (has("vocab.json") || has("merges.txt")) return read_bpe_files(folder, config);
    if (has("vocab.txt")) return read_word_piece_files(folder, config);
    for (const char* name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
        if (has(name)) throw_unsupported_file((folder / name).string(), "a SentencePiece model is not supported");
    throw_bad_file(folder.string(),
                   "expected tokenizer.json, vocab.json with merges.txt, or vocab.txt, got none of them");
}

}  // namespace cairn::inline v0::text
