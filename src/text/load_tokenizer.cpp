#include "cairn/text/tokenizer.hpp"
#include "text/byte_level_bpe.hpp"
#include "text/json_file.hpp"
#include "text/tokenizer_class.hpp"
#include "text/tokenizer_config.hpp"
#include "text/tokenizer_json.hpp"
#include "text/vocabulary_files.hpp"
#include "text/word_piece.hpp"

namespace cairn::inline v0::text {

namespace {

/// The vocabulary files alone do not tell RoBERTa from GPT-2, or MPNet from BERT: the class does, where a file states
/// it.
void require_class(const TokenizerConfig& config, bool known) {
    if (known || config.tokenizer_class.empty()) return;
    unsupported_file(config.class_source, "a tokenizer of class " + in_quotes(config.tokenizer_class) +
                                              " is not supported with these vocabulary files");
}

std::unique_ptr<Tokenizer> read_bpe_files(const std::filesystem::path& folder, const TokenizerConfig& config) {
    require_class(config, is_gpt2_class(config));
    require_one_meaning(config, {"bos_token", "eos_token", "unk_token"}, gpt2_end_of_text);
    BpeParts parts;
    const auto vocabulary = folder / "vocab.json";
    const auto merges = folder / "merges.txt";
    for (const auto& [needed, other] : {std::pair(vocabulary, merges), std::pair(merges, vocabulary)})
        if (!file_exists(needed))
            bad_file(needed.string(),
                     "the file is missing: byte-level BPE needs it beside " + other.filename().string());
    parts.source = vocabulary.string();
    parts.entries = vocabulary_entries(read_json_object(vocabulary), parts.source);
    parts.merges_source = merges.string();
    parts.merges = read_merges_file(merges);
    parts.add_prefix_space = config.add_prefix_space.value_or(false);
    for (const VocabularyEntry& entry : parts.entries)
        if (entry.token == gpt2_end_of_text)
            parts.special_names = {{"bos_token", gpt2_end_of_text}, {"eos_token", gpt2_end_of_text}};
    take_config(config, parts);
    if (config.add_eos_token)
        unsupported_file(config.source,
                         "add_eos_token is not supported without a tokenizer.json: version 4 of transformers ignores "
                         "it for this class, version 5 does not");
    if (config.add_bos_token) {
        const auto bos = parts.special_names.find("bos_token");
        if (bos == parts.special_names.end()) bad_file(config.source, "add_bos_token needs a bos_token");
        parts.frame = {.before = {bos->second}, .pair_before = {bos->second}, .between = {bos->second}};
    }
    parts.frame.truncate_start = config.truncate_start;
    return std::make_unique<ByteLevelBpe>(parts);
}

std::unique_ptr<Tokenizer> read_word_piece_files(const std::filesystem::path& folder, const TokenizerConfig& config) {
    require_class(config, reads_bert_vocabulary(config));
    require_one_meaning(config, {}, "");
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
    take_config(config, parts);
    const auto named = [&](const char* role, const char* otherwise) {
        const auto name = parts.special_names.find(role);
        return name == parts.special_names.end() ? otherwise : name->second;
    };
    parts.frame = bert_frame(named("cls_token", "[CLS]"), named("sep_token", "[SEP]"));
    parts.frame.truncate_start = config.truncate_start;
    parts.clean_up_text = config.clean_up_text;
    return std::make_unique<WordPiece>(parts);
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
    const auto has = [&](const char* name) { return file_exists(folder / name); };
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
        bad_file(folder.string(), "expected a folder of tokenizer files");
    const TokenizerConfig config = read_tokenizer_config(folder);
    if (has("tokenizer.json")) return read_tokenizer_json(folder / "tokenizer.json", config);
    if (has("vocab.json") || has("merges.txt")) return read_bpe_files(folder, config);
    if (has("vocab.txt")) return read_word_piece_files(folder, config);
    for (const char* name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
        if (has(name)) unsupported_file((folder / name).string(), "a SentencePiece model is not supported");
    bad_file(folder.string(), "expected tokenizer.json, vocab.json with merges.txt, or vocab.txt, got none of them");
}

}  // namespace cairn::inline v0::text
