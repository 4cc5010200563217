#include "apps/text/character_bpe.hpp"

#include "apps/text/byte_piece.hpp"
#include "apps/text/file_errors.hpp"
#include "apps/text/merge_table.hpp"
#include "apps/text/replaced.hpp"
#include "apps/text/unicode.hpp"

#include <algorithm>

namespace cairn::inline v0::text {
CharacterBpe::CharacterBpe(const CharacterBpeParts& parts)
    : TableTokenizer(parts),
      stages_(added(), parts.normalizer, false),
      splitter_(parts.pre_tokenizer),
      merges_(merge_table(parts, vocabulary())),
      byte_fallback_(parts.byte_fallback),
      fuses_unk_(parts.fuses_unk),
      ignores_merges_(parts.ignores_merges),
      drops_first_space_(parts.drops_first_space) {
    const Vocabulary& vocabulary = this->vocabulary();
    if (parts.unk_token) {
        unk_ = vocabulary.find(*parts.unk_token);
        if (!unk_)
            throw_bad_file(parts.source,
                           "the unknown token " + quoted_name(*parts.unk_token) + " is not in the vocabulary");
    }
    byte_ids_.fill(no_token);
    const auto decoded = [&](const std::string& token) {
        return parts.space.empty() ? token : replaced(token, parts.space, " ");
    };
    pieces_.reserve(vocabulary.size());
    for (std::size_t id = 0; id < vocabulary.size(); ++id) {
        const std::string& token = vocabulary.token(static_cast<std::int32_t>(id));
        const auto byte = byte_of_piece(token);
        if (byte) byte_ids_[*byte] = static_cast<std::int32_t>(id);
        pieces_.push_back(byte && parts.decodes_bytes ? std::string(1, static_cast<char>(*byte)) : decoded(token));
        longest_token_ = std::max(longest_token_, token.size());
    }
    // A token that is matched in normalized text stands for what it matched: "▁<tag>".
    for (const AddedToken& token : added())
        if (token.normalized)
            pieces_[static_cast<std::size_t>(token.id)] = decoded(stages_.normalize(token.content).text);
}

/// The tokens of the characters of a word. An unknown token follows the byte tokens after it, as in Hugging Face
/// tokenizers: it is added before the next character that has a token.
void CharacterBpe::append_symbols(std::string_view word, std::vector<std::int32_t>& symbols) const {
    const Vocabulary& vocabulary = this->vocabulary();
    bool unknown = false;  // a character is, and its token is not added yet
    const auto end_unknown = [&] {
        if (unknown) symbols.push_back(*unk_);
        unknown = false;
    };
    while (!word.empty()) {
        const std::string_view character = word.substr(0, read_utf8(word).length);
        word.remove_prefix(character.size());
        const auto byte_id = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
        if (const auto id = vocabulary.find(character)) {
            end_unknown();
            symbols.push_back(*id);
        } else if (byte_fallback_ && std::all_of(character.begin(), character.end(),
                                                 [&](char byte) { return byte_id(byte) != no_token; })) {
            for (const char byte : character) symbols.push_back(byte_id(byte));
        } else if (unk_) {
            if (!fuses_unk_) end_unknown();
            unknown = true;
        }
    }
    end_unknown();
}

std::vector<std::int32_t> CharacterBpe::ids_of(std::string_view text, const SpecialPlaces& special) const {
    std::vector<std::int32_t> ids, symbols;
    BpeMerger merger(merges_);
    stages_.apply(text, special, ids, [&](std::string_view part, bool begins_text) {
        for (const std::string& word : splitter_.apply({std::string(part)}, begins_text)) {
            symbols.clear();
            // Longer words than all tokens need no look-up.
            const bool may_be_token = ignores_merges_ && word.size() <= longest_token_;
            if (const auto whole = may_be_token ? vocabulary().find(word) : std::nullopt) {
                symbols.push_back(*whole);
            } else {
                append_symbols(word, symbols);
                merger.merge(symbols);
            }
            ids.insert(ids.end(), symbols.begin(), symbols.end());
        }
    });
    return ids;
}

std::string CharacterBpe::piece(std::int32_t id, bool first) const {
    token(id);  // throws for an id outside the vocabulary
    const std::string& text = pieces_[static_cast<std::size_t>(id)];
    return first && drops_first_space_ && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace cairn::inline v0::text
