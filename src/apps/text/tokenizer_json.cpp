#include "apps/text/tokenizer_json.hpp"

#include "apps/text/byte_level_bpe.hpp"
#include "apps/text/json_file.hpp"
#include "apps/text/post_processor.hpp"
#include "apps/text/tokenizer_class.hpp"
#include "apps/text/vocabulary_files.hpp"
#include "apps/text/word_piece.hpp"

namespace cairn::inline v0::text {

namespace {

using nlohmann::json;

const json& member(const json& object, const std::string& key, const std::string& source) {
    const auto found = object.find(key);
    if (found == object.end()) throw_bad_file(source, "expected a member " + quoted_name(key));
    return *found;
}

/// The `type` of one part of the pipeline; "null" if the part is absent.
std::string type_of(const json& object, const std::string& key, const std::string& source) {
    const auto part = object.find(key);
    if (part == object.end() || part->is_null()) return "null";
    return part->is_object() ? read_member<std::string>(*part, "type", "", source) : part->type_name();
}

void require_type(const json& root, const std::string& part, std::initializer_list<const char*> known,
                  const std::string& source) {
    const std::string type = type_of(root, part, source);
    for (const char* name : known)
        if (type == name) return;
    throw_unsupported_file(source, "a " + part + " of type " + quoted_name(type) + " is not supported with this model");
}

/// Reads the members that both kinds of tokenizer share.
void read_shared(const json& root, const TokenizerConfig& config, const std::string& source, TokenizerParts& parts) {
    parts.source = source;
    parts.entries = vocabulary_entries(member(member(root, "model", source), "vocab", source), source);
    if (const auto tokens = root.find("added_tokens"); tokens != root.end() && !tokens->is_null()) {
        if (!tokens->is_array()) throw_bad_file(source, "expected an array for 'added_tokens'");
        for (const json& token : *tokens) {
            if (!token.is_object()) throw_bad_file(source, "expected objects in 'added_tokens'");
            const auto id = read_member<std::int64_t>(token, "id", -1, source);
            parts.added.push_back(read_added_token(token, id, source));
        }
    }
    parts.template_tokens = read_post_processor(root, source);
    apply_config(config, parts);
}

bool knows(const TokenizerParts& parts, const std::string& token) {
    for (const AddedToken& added : parts.added)
        if (added.content == token) return true;
    for (const VocabularyEntry& entry : parts.entries)
        if (entry.token == token) return true;
    return false;
}

/// Merges are "a b" in files up to 2024, and ["a", "b"] since, because tokens may contain spaces.
std::vector<std::pair<std::string, std::string>> read_merges(const json& merges, const std::string& source) {
    if (!merges.is_array()) throw_bad_file(source, "expected an array for 'merges'");
    std::vector<std::pair<std::string, std::string>> pairs;
    pairs.reserve(merges.size());
    for (const json& merge : merges) {
        if (merge.is_string()) {
            pairs.push_back(merge_pair(merge.get_ref<const std::string&>(), source));
        } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
            pairs.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
        } else {
            throw_bad_file(source, "expected two tokens for merge " + std::to_string(pairs.size() + 1));
        }
    }
    return pairs;
}

/// Refuses members that change the BPE algorithm and that GPT-2 does not use.
void refuse_bpe_variants(const json& model, const std::string& source) {
    for (const char* flag : {"byte_fallback", "ignore_merges"})
        if (read_member(model, flag, false, source))
            throw_unsupported_file(source, std::string("BPE with ") + flag + " is not supported");
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!read_member<std::string>(model, affix, "", source).empty())
            throw_unsupported_file(source, std::string("BPE with a ") + affix + " is not supported");
    if (const auto dropout = model.find("dropout"); dropout != model.end() && !dropout->is_null() && *dropout != 0)
        throw_unsupported_file(source, "BPE with dropout is not supported");
}

std::unique_ptr<Tokenizer> read_bpe(const json& root, const TokenizerConfig& config, const std::string& source) {
    const json& model = root["model"];
    refuse_bpe_variants(model, source);
    require_type(root, "normalizer", {"null"}, source);
    require_type(root, "pre_tokenizer", {"ByteLevel"}, source);
    require_type(root, "decoder", {"null", "ByteLevel"}, source);
    const json& pre_tokenizer = root["pre_tokenizer"];
    if (!read_member(pre_tokenizer, "use_regex", true, source))
        throw_unsupported_file(source, "a ByteLevel pre_tokenizer without its regex is not supported");

    BpeParts parts;
    read_shared(root, config, source, parts);
    parts.merges_source = source;
    parts.merges = read_merges(member(model, "merges", source), source);
    parts.add_prefix_space = resolve({.key = "add_prefix_space",
                                      .given = config.add_prefix_space,
                                      .class_default = false,
                                      .tokenizer_json = "add_prefix_space of the pre_tokenizer",
                                      .stored = read_member(pre_tokenizer, "add_prefix_space", true, source)},
                                     bpe_precedence(config), config, source);
    if (parts.special_names.empty() && knows(parts, gpt2_end_of_text))
        parts.special_names = {{"bos_token", gpt2_end_of_text}, {"eos_token", gpt2_end_of_text}};
    parts.template_tokens.truncate_start = config.truncate_start;
    return std::make_unique<ByteLevelBpe>(parts);
}

/// If no file names the roles, cls_token is the first token before a text, sep_token the last one after it.
void name_template_roles(WordPieceParts& parts) {
    if (!parts.template_tokens.before.empty())
        parts.special_names.try_emplace("cls_token", parts.template_tokens.before.front());
    if (!parts.template_tokens.after.empty())
        parts.special_names.try_emplace("sep_token", parts.template_tokens.after.back());
}

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

std::unique_ptr<Tokenizer> read_word_piece(const json& root, const TokenizerConfig& config, const std::string& source) {
    const json& model = root["model"];
    require_type(root, "normalizer", {"BertNormalizer"}, source);
    require_type(root, "pre_tokenizer", {"BertPreTokenizer"}, source);

    WordPieceParts parts;
    read_shared(root, config, source, parts);
    read_normalizer(root["normalizer"], config, source, parts);
    parts.prefix = read_member<std::string>(model, "continuing_subword_prefix", "##", source);
    const auto most = read_member<std::int64_t>(model, "max_input_chars_per_word", 100, source);
    if (most < 0)
        throw_bad_file(source, "expected 'max_input_chars_per_word' of at least 0, got " + std::to_string(most));
    parts.max_word_characters = static_cast<std::size_t>(most);

    name_template_roles(parts);
    for (const auto& [role, token] : bert_special_names)
        if (!parts.special_names.contains(role) && knows(parts, token)) parts.special_names[role] = token;
    parts.special_names["unk_token"] = read_member<std::string>(model, "unk_token", "[UNK]", source);
    read_word_piece_decoder(root, source, parts);
    if (is_bert_class(config)) require_bert_defaults(parts, config);
    parts.template_tokens.truncate_start = config.truncate_start;
    parts.clean_up_text = config.clean_up_text;
    return std::make_unique<WordPiece>(parts);
}

}  // namespace

std::unique_ptr<Tokenizer> read_tokenizer_json(const std::filesystem::path& path, const TokenizerConfig& config) {
    const std::string source = path.string();
    const json root = read_json_object(path);
    const json& model = member(root, "model", source);
    if (!model.is_object()) throw_bad_file(source, "expected an object for 'model'");
    std::string type = read_member<std::string>(model, "type", "", source);
    if (type.empty() && model.contains("merges")) type = "BPE";  // left out by early writers
    if (type == "BPE") return read_bpe(root, config, source);
    if (type == "WordPiece") return read_word_piece(root, config, source);
    throw_unsupported_file(source, "a model of type " + quoted_name(type) + " is not supported; BPE and WordPiece are");
}

}  // namespace cairn::inline v0::text
