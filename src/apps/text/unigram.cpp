#include "apps/text/unigram.hpp"

#include "apps/text/replaced.hpp"

#include <tuple>
#include <utility>

namespace cairn::inline v0::text {

namespace {

std::vector<ScoredPiece> pieces_of(const UnigramParts& parts) {
    std::vector<ScoredPiece> pieces;
    pieces.reserve(parts.entries.size());
    for (std::size_t id = 0; id < parts.entries.size(); ++id)
        pieces.push_back({parts.entries[id].token, parts.scores[id]});
    return pieces;
}

}  // namespace

Unigram::Unigram(const UnigramParts& parts)
    : TableTokenizer(parts),
      normalizer_(parts.normalizer),
      splitter_(parts.pre_tokenizer),
      model_(pieces_of(parts), parts.unk_id, parts.byte_fallback),
      space_(parts.space),
      drops_first_space_(parts.drops_first_space),
      clean_up_text_(parts.clean_up_text) {
    std::tie(added_, added_normalized_) =
        AddedTokens::by_stage(added(), [&](std::string_view text) { return normalizer_.apply(text).text; });
}

void Unigram::encode_plain(std::string_view text, bool begins_text, bool parse_special,
                           std::vector<std::int32_t>& ids) const {
    const NormalizedText normalized = normalizer_.apply(text);
    for (const Segment& segment : added_normalized_.split(normalized.text, parse_special)) {
        if (segment.id != Segment::plain) {
            ids.push_back(segment.id);
            continue;
        }
        const bool is_first = segment.text.data() == normalized.text.data();
        for (const std::string& word :
             splitter_.apply({std::string(segment.text), normalized.keeps_start}, begins_text && is_first))
            model_.append(word, ids);
    }
}

std::vector<std::int32_t> Unigram::ids_of(std::string_view text, bool parse_special) const {
    std::vector<std::int32_t> ids;
    for (const Segment& segment : added_.split(text, parse_special)) {
        if (segment.id == Segment::plain)
            encode_plain(segment.text, segment.text.data() == text.data(), parse_special, ids);
        else
            ids.push_back(segment.id);
    }
    return ids;
}

std::string Unigram::piece(std::int32_t id, bool first) const {
    return replaced(token(id), space_, first && drops_first_space_ ? "" : " ");
}

}  // namespace cairn::inline v0::text
