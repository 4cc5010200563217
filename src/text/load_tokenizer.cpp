#include "cairn/text/tokenizer.hpp"
#include "text/byte_level_bpe.hpp"
#include "text/json_file.hpp"
#include "text/tokenizer_config.hpp"
#include "text/tokenizer_json.hpp"
#include "text/vocabulary_files.hpp"
#include "text/word_piece.hpp"

#include <algorithm>

namespace cairn::inline v0::text {

namespace {

/// The vocabulary files alone do not tell RoBERTa from GPT-2, or MPNet from BERT: the class does, where it is told.
void require_class(const TokenizerConfig& config, std::initializer_list<const char*> known) {
    std::string name = config.tokenizer_class;
    if (name.ends_with("Fast")) name.resize(name.size() - 4);
    if (name.empty()) return;
    for (const char* one : known)
        if (name == one) return;
    unsupported_file(config.source, "a tokenizer of class " + in_quotes(config.tokenizer_class) +
                                        " is not supported with these vocabulary files");
}

/// added_tokens.json, where there is one: tokens appended to a vocabulary file, by older versions of transformers.
void read_added_tokens_file(const std::filesystem::path& path, std::vector<AddedToken>& added) {
    if (!file_exists(path)) return;
    for (VocabularyEntry& entry : vocabulary_entries(read_json_object(path), path.string())) {
        const bool known = std::any_of(added.begin(), added.end(),
                                       [&](const AddedToken& token) { return token.content == entry.token; });
        if (!known) added.push_back({.content = std::move(entry.token), .id = entry.id, .normalized = true});
    }
}

void take_config(const TokenizerConfig& config, const std::filesystem::path& folder, TokenizerParts& parts) {
    parts.added = config.added;
    parts.model_max_length = config.model_max_length;
    for (const auto& [role, token] : config.special_names) parts.special_names[role] = token;
    read_added_tokens_file(folder / "added_tokens.json", parts.added);
}

std::unique_ptr<Tokenizer> read_bpe_files(const std::filesystem::path& folder, const TokenizerConfig& config) {
    require_class(config, {"GPT2Tokenizer"});
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
    parts.add_prefix_space = config.add_prefix_space;
    for (const VocabularyEntry& entry : parts.entries)
        if (entry.token == gpt2_end_of_text)
            parts.special_names = {{"bos_token", gpt2_end_of_text}, {"eos_token", gpt2_end_of_text}};
    take_config(config, folder, parts);
    if (config.add_bos_token) {
        const auto bos = parts.special_names.find("bos_token");
        if (bos == parts.special_names.end()) bad_file(config.source, "add_bos_token needs a bos_token");
        parts.frame = {.before = {bos->second}, .pair_before = {bos->second}, .between = {bos->second}};
    }
    return std::make_unique<ByteLevelBpe>(parts);
}

std::unique_ptr<Tokenizer> read_word_piece_files(const std::filesystem::path& folder, const TokenizerConfig& config) {
    require_class(config, {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"});
    WordPieceParts parts;
    const auto vocabulary = folder / "vocab.txt";
    parts.source = vocabulary.string();
    parts.entries = read_vocabulary_lines(vocabulary);
    parts.lower_case = config.lower_case;
    parts.chinese_chars = config.chinese_chars;
    parts.strip_accents = config.strip_accents;
    for (const auto& [role, token] : bert_special_names)
        for (const VocabularyEntry& entry : parts.entries)
            if (entry.token == token) parts.special_names[role] = token;
    take_config(config, folder, parts);
    const auto named = [&](const char* role, const char* otherwise) {
        const auto name = parts.special_names.find(role);
        return name == parts.special_names.end() ? otherwise : name->second;
    };
    parts.frame = bert_frame(named("cls_token", "[CLS]"), named("sep_token", "[SEP]"));
    parts.clean_up_text = config.clean_up_text;
    return std::make_unique<WordPiece>(parts);
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
    const auto has = [&](const char* name) { return file_exists(folder / name); };
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
        bad_file(folder.string(), "expected a folder of tokenizer files");
    const TokenizerConfig config = read_tokenizer_config(folder / "tokenizer_config.json");
    if (has("tokenizer.json")) return read_tokenizer_json(folder / "tokenizer.json", config);
    if (has("vocab.json") || has("merges.txt")) return read_bpe_files(folder, config);
    if (has("vocab.txt")) return read_word_piece_files(folder, config);
    for (const char* name : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
        if (has(name)) unsupported_file((folder / name).string(), "a SentencePiece model is not supported");
    bad_file(folder.string(), "expected tokenizer.json, vocab.json with merges.txt, or vocab.txt, got none of them");
}

}  // namespace cairn::inline v0::text
