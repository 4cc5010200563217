#include "cairn/text/gguf_vocabulary.hpp"

#include "apps/text/byte_level_bpe.hpp"
#include "apps/text/byte_piece.hpp"
#include "apps/text/character_bpe.hpp"
#include "apps/text/file_errors.hpp"
#include "apps/text/score_bpe.hpp"
#include "apps/text/vocabulary_files.hpp"
#include "apps/text/word_piece.hpp"

#include <optional>
#include <utility>

namespace cairn::inline v0::text {
namespace {

constexpr std::int64_t control = 3, user_defined = 4, byte = 6;
constexpr std::string_view begins_word = "\xE2\x96\x81";  // U+2581

std::int64_t type_of(const GgufVocabulary& vocabulary, std::size_t id) {
    return vocabulary.types.empty() ? 1 : vocabulary.types[id];
}

/// The token of a role. Throws Error (file) if its id is none of the vocabulary.
std::optional<std::string> token_of(const GgufVocabulary& vocabulary, const char* role,
                                    const std::optional<std::int64_t>& id) {
    if (!id) return std::nullopt;
    if (*id < 0 || *id >= static_cast<std::int64_t>(vocabulary.tokens.size()))
        throw_bad_file(vocabulary.source, std::string("the ") + role + " has the id " + std::to_string(*id) +
                                              ", but there are " + std::to_string(vocabulary.tokens.size()) +
                                              " tokens");
    return vocabulary.tokens[static_cast<std::size_t>(*id)];
}

/// What both kinds have: entries, added tokens, roles. `as_written(id)` is the token as vocabulary files write it.
template <typename AsWritten>
void read_tokens(const GgufVocabulary& vocabulary, TokenizerParts& parts, const AsWritten& as_written) {
    parts.source = vocabulary.source;
    if (vocabulary.tokens.empty()) throw_bad_file(vocabulary.source, "there are no tokens");
    if (!vocabulary.types.empty() && vocabulary.types.size() != vocabulary.tokens.size())
        throw_bad_file(vocabulary.source, std::to_string(vocabulary.tokens.size()) + " tokens have " +
                                              std::to_string(vocabulary.types.size()) + " types");
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
        const auto number = static_cast<std::int64_t>(id);
        std::string token = as_written(id);
        const std::int64_t type = type_of(vocabulary, id);
        if (type == control || type == user_defined)
            parts.added.push_back({.content = token, .id = number, .special = type == control});
        parts.entries.push_back({std::move(token), number});
    }
    const std::pair<const char*, const std::optional<std::int64_t>&> roles[] = {
        {"bos_token", vocabulary.bos},  {"eos_token", vocabulary.eos}, {"unk_token", vocabulary.unk},
        {"sep_token", vocabulary.sep},  {"pad_token", vocabulary.pad}, {"cls_token", vocabulary.cls},
        {"mask_token", vocabulary.mask}};
    for (const auto& [role, id] : roles)
        if (token_of(vocabulary, role, id)) parts.special_names[role] = as_written(static_cast<std::size_t>(*id));
}

/// The tokens at the start and the end of texts, as the file asks for them.
TemplateTokens template_of(const GgufVocabulary& vocabulary, const TokenizerParts& parts, bool adds_bos) {
    const auto role = [&](bool is_added, const char* name) -> std::vector<std::string> {
        if (!is_added) return {};
        const auto found = parts.special_names.find(name);
        if (found == parts.special_names.end())
            throw_bad_file(vocabulary.source, std::string("add_") + name + " needs a " + name);
        return {found->second};
    };
    const auto before = role(vocabulary.add_bos.value_or(adds_bos), "bos_token"),
               after = role(vocabulary.add_eos.value_or(false), "eos_token");
    std::vector<std::string> between = after;
    between.insert(between.end(), before.begin(), before.end());
    return {.before = before, .after = after, .pair_before = before, .between = between, .pair_after = after};
}

void read_merges(const GgufVocabulary& vocabulary, BpeParts& parts) {
    parts.merges_source = vocabulary.source;
    for (const std::string& merge : vocabulary.merges) parts.merges.push_back(merge_pair(merge, vocabulary.source));
}

std::unique_ptr<Tokenizer> make_byte_level_bpe(const GgufVocabulary& vocabulary) {
    const auto words = word_rules_named(vocabulary.pre.empty() ? "gpt-2" : vocabulary.pre);
    if (!words)
        throw_unsupported_file(vocabulary.source,
                               "text that is split as " + quoted_name(vocabulary.pre) + " is not supported");
    ByteLevelBpeParts parts;
    parts.word_rules = words->rules;
    parts.may_lack_bytes = true;
    parts.ignores_merges = words->ignores_merges;
    read_tokens(vocabulary, parts, [&](std::size_t id) { return vocabulary.tokens[id]; });
    read_merges(vocabulary, parts);
    parts.template_tokens = template_of(vocabulary, parts, words->adds_bos && vocabulary.bos.has_value());
    return std::make_unique<ByteLevelBpe>(parts);
}

/// Gemma 4. A space is U+2581, and a character without a token is given by the tokens of its bytes.
std::unique_ptr<Tokenizer> make_character_bpe(const GgufVocabulary& vocabulary) {
    CharacterBpeParts parts;
    read_tokens(vocabulary, parts, [&](std::size_t id) { return vocabulary.tokens[id]; });
    read_merges(vocabulary, parts);
    parts.normalizer = {{.kind = NormalizerStep::Kind::replace, .from = " ", .to = std::string(begins_word)}};
    parts.byte_fallback = parts.decodes_bytes = parts.fuses_unk = true;
    parts.space = begins_word;
    if (const auto unk = parts.special_names.find("unk_token"); unk != parts.special_names.end())
        parts.unk_token = unk->second;
    parts.template_tokens = template_of(vocabulary, parts, vocabulary.bos.has_value());
    return std::make_unique<CharacterBpe>(parts);
}

std::unique_ptr<Tokenizer> make_score_bpe(const GgufVocabulary& vocabulary) {
    ScoreBpeParts parts;
    read_tokens(vocabulary, parts, [&](std::size_t id) { return vocabulary.tokens[id]; });
    parts.scores = vocabulary.scores;
    parts.add_space_prefix = vocabulary.add_space_prefix;
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
        const std::string& token = vocabulary.tokens[id];
        const bool is_byte = type_of(vocabulary, id) == byte;
        parts.byte_of.push_back(is_byte ? byte_of_piece(token) : std::nullopt);
        if (is_byte && !parts.byte_of.back())
            throw_bad_file(vocabulary.source, "expected a byte as <0x0A>, got " + quoted_name(token));
    }
    parts.template_tokens = template_of(vocabulary, parts, vocabulary.bos.has_value());
    return std::make_unique<ScoreBpe>(parts);
}

std::unique_ptr<Tokenizer> make_word_piece(const GgufVocabulary& vocabulary) {
    WordPieceParts parts;
    read_tokens(vocabulary, parts, [&](std::size_t id) {
        const std::string& token = vocabulary.tokens[id];
        const std::int64_t type = type_of(vocabulary, id);
        if (type == control || type == user_defined) return token;
        if (token.starts_with(begins_word)) return token.substr(begins_word.size());
        // Special tokens of files without types are in brackets.
        const bool is_bracketed = vocabulary.types.empty() && token.starts_with('[') && token.ends_with(']');
        return is_bracketed ? token : parts.prefix + token;
    });
    for (const auto& [role, token] : bert_special_names)
        for (const VocabularyEntry& entry : parts.entries)
            if (entry.token == token) parts.special_names.try_emplace(role, token);
    const auto named = [&](const char* role, const char* other, const char* otherwise) {
        for (const char* name : {role, other})
            if (const auto found = parts.special_names.find(name); found != parts.special_names.end())
                return found->second;
        return std::string(otherwise);
    };
    parts.template_tokens =
        bert_template(named("cls_token", "bos_token", "[CLS]"), named("sep_token", "eos_token", "[SEP]"));
    return std::make_unique<WordPiece>(parts);
}

}  // namespace

std::unique_ptr<Tokenizer> make_tokenizer(const GgufVocabulary& vocabulary) {
    if (vocabulary.model == "gpt2") return make_byte_level_bpe(vocabulary);
    if (vocabulary.model == "gemma4") return make_character_bpe(vocabulary);
    if (vocabulary.model == "bert") return make_word_piece(vocabulary);
    if (vocabulary.model == "llama") return make_score_bpe(vocabulary);
    throw_unsupported_file(vocabulary.source, "a tokenizer of the model " + quoted_name(vocabulary.model) +
                                                  " is not supported; supported are gpt2, bert, llama and gemma4");
}

}  // namespace cairn::inline v0::text
