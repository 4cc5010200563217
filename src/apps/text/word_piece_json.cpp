#include "apps/text/class_defaults.hpp"
#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/model_json.hpp"
#include "apps/text/tokenizer_class.hpp"
#include "apps/text/vocabulary_files.hpp"
#include "apps/text/word_piece.hpp"

namespace cairn::inline v0::text {

namespace {

using nlohmann::json;

void read_word_piece_decoder(const json& root, const std::string& source, WordPieceParts& parts) {
    require_type(root, "decoder", {"null", "WordPiece"}, source);
    const auto decoder = root.find("decoder");
    if (decoder == root.end() || decoder->is_null()) return;
    parts.clean_up_pieces = read_member(*decoder, "cleanup", true, source);
    if (read_member<std::string>(*decoder, "prefix", "##", source) != parts.prefix)
        throw_unsupported_file(source, "a WordPiece decoder with a prefix other than the model's is not supported");
}

/// Reads BERT's normalizer. The class decides whether its settings come from tokenizer_config.json.
void read_normalizer(const json& normalizer, const TokenizerConfig& config, const std::string& source,
                     WordPieceParts& parts) {
    const Precedence precedence = word_piece_precedence(config);
    parts.clean_text = read_member(normalizer, "clean_text", true, source);
    const bool stored_lower_case = read_member(normalizer, "lowercase", true, source);
    parts.lower_case = resolve({.key = "do_lower_case",
                                .given = config.lower_case,
                                .class_default = true,
                                .tokenizer_json = "lowercase of the normalizer",
                                .stored = stored_lower_case},
                               precedence, config, source);
    parts.chinese_chars = resolve({.key = "tokenize_chinese_chars",
                                   .given = config.chinese_chars,
                                   .class_default = true,
                                   .tokenizer_json = "handle_chinese_chars of the normalizer",
                                   .stored = read_member(normalizer, "handle_chinese_chars", true, source)},
                                  precedence, config, source);
    // If strip_accents is null, accents are stripped if the case is lowered.
    parts.strip_accents = resolve({.key = "strip_accents",
                                   .given = config.strip_accents,
                                   .class_default = parts.lower_case,
                                   .tokenizer_json = "strip_accents of the normalizer",
                                   .stored = read_member(normalizer, "strip_accents", stored_lower_case, source)},
                                  precedence, config, source);
}

}  // namespace

std::unique_ptr<Tokenizer> read_word_piece_json(const json& root, const TokenizerConfig& config,
                                                const std::string& source) {
    const json& model = root["model"];
    require_type(root, "normalizer", {"BertNormalizer"}, source);
    require_type(root, "pre_tokenizer", {"BertPreTokenizer"}, source);

    WordPieceParts parts;
    parts.entries = vocabulary_entries(required_member(model, "vocab", source), source);
    read_shared_parts(root, config, source, parts);
    read_normalizer(root["normalizer"], config, source, parts);
    parts.prefix = read_member<std::string>(model, "continuing_subword_prefix", "##", source);
    const auto most = read_member<std::int64_t>(model, "max_input_chars_per_word", 100, source);
    if (most < 0)
        throw_bad_file(source, "expected 'max_input_chars_per_word' of at least 0, got " + std::to_string(most));
    parts.max_word_characters = static_cast<std::size_t>(most);

    name_template_roles(parts);
    name_roles(bert_special_names, parts);
    parts.special_names["unk_token"] = read_member<std::string>(model, "unk_token", "[UNK]", source);
    read_word_piece_decoder(root, source, parts);
    if (is_bert_class(config)) require_bert_defaults(parts, config);
    parts.template_tokens.truncate_start = config.truncate_start;
    parts.clean_up_text = config.clean_up_text;
    return std::make_unique<WordPiece>(parts);
}

}  // namespace cairn::inline v0::text
