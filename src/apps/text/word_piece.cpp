#include "apps/text/word_piece.hpp"

#include "apps/text/clean_up.hpp"
#include "apps/text/file_errors.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cairn::inline v0::text {

namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

WordPiece::WordPiece(const WordPieceParts& parts)
    : TableTokenizer(parts),
      normalizer_{.clean_text = parts.clean_text,
                  .chinese_chars = parts.chinese_chars,
                  .strip_accents = parts.strip_accents.value_or(parts.lower_case),
                  .lower_case = parts.lower_case},
      prefix_(parts.prefix),
      max_word_characters_(parts.max_word_characters),
      clean_up_pieces_(parts.clean_up_pieces),
      clean_up_text_(parts.clean_up_text) {
    if (!special().unk) throw_bad_file(parts.source, "WordPiece needs an unk_token in its vocabulary");

    for (std::size_t id = 0; id < vocabulary().size(); ++id) {
        std::string_view token = vocabulary().token(static_cast<std::int32_t>(id));
        longest_piece_ = std::max(longest_piece_, token.size());
        if (token.starts_with(prefix_))
            continuations_.emplace(token.substr(prefix_.size()), static_cast<std::int32_t>(id));
    }

    std::tie(added_, added_normalized_) =
        AddedTokens::by_stage(added(), [&](std::string_view text) { return normalizer_.apply(text); });
}

std::optional<std::int32_t> WordPiece::find_piece(std::string_view part, bool begins_word) const {
    if (begins_word) return vocabulary().find(part);
    const auto found = continuations_.find(part);
    return found == continuations_.end() ? std::nullopt : std::optional(found->second);
}

void WordPiece::append_word(std::string_view word, std::vector<std::int32_t>& ids) const {
    const std::size_t mark = ids.size();
    const auto is_start = [](char byte) { return !continues_character(byte); };
    bool known = static_cast<std::size_t>(std::count_if(word.begin(), word.end(), is_start)) <= max_word_characters_;
    for (std::size_t start = 0; known && start < word.size();) {
        // No piece is longer than longest_piece_, so the cost of a word is linear in its length.
        std::size_t end = std::min(word.size(), start + longest_piece_);
        known = false;
        for (; end > start; --end) {
            if (end < word.size() && continues_character(word[end])) continue;
            const std::string_view part = word.substr(start, end - start);
            const auto id = find_piece(part, start == 0);
            if (!id) continue;
            ids.push_back(*id);
            start = end;
            known = true;
            break;
        }
    }
    if (known) return;
    ids.resize(mark);
    ids.push_back(*special().unk);
}

std::vector<std::int32_t> WordPiece::ids_of(std::string_view text, const SpecialPlaces& special) const {
    std::vector<std::int32_t> ids;
    for (const Segment& outer : added_.split(text, special)) {
        if (outer.id != Segment::plain) {
            ids.push_back(outer.id);
            continue;
        }
        const std::string normalized = normalizer_.apply(outer.text);
        for (const Segment& inner : added_normalized_.split(normalized, special.in_normalized())) {
            if (inner.id != Segment::plain) {
                ids.push_back(inner.id);
                continue;
            }
            for (const std::string_view word : bert_pre_tokenize(inner.text)) append_word(word, ids);
        }
    }
    return ids;
}

std::string WordPiece::piece(std::int32_t id, bool first) const {
    const std::string& token = vocabulary().token(id);
    std::string text = first ? token : token.starts_with(prefix_) ? token.substr(prefix_.size()) : " " + token;
    return clean_up_pieces_ ? clean_up(std::move(text)) : text;
}

}  // namespace cairn::inline v0::text
