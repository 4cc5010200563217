#include "apps/text/unigram.hpp"

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
    : table_(parts),
      normalizer_(parts.normalizer),
      splitter_(parts.pre_tokenizer),
      model_(pieces_of(parts), parts.unk_id, parts.byte_fallback),
      space_(parts.space),
      drops_first_space_(parts.drops_first_space),
      clean_up_text_(parts.clean_up_text),
      template_processor_(parts.template_tokens, table_.vocabulary(), parts.source),
      model_max_length_(parts.model_max_length) {
    std::vector<AddedToken> given;
    std::vector<AddedToken> normalized;
    for (AddedToken token : table_.added()) {
        if (token.normalized) token.content = normalizer_.apply(token.content).text;
        (token.normalized ? normalized : given).push_back(std::move(token));
    }
    added_ = AddedTokens(std::move(given));
    added_normalized_ = AddedTokens(std::move(normalized));
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

std::vector<std::int32_t> Unigram::encode_segments(std::string_view text, bool parse_special) const {
    std::vector<std::int32_t> ids;
    for (const Segment& segment : added_.split(text, parse_special)) {
        if (segment.id == Segment::plain)
            encode_plain(segment.text, segment.text.data() == text.data(), parse_special, ids);
        else
            ids.push_back(segment.id);
    }
    return ids;
}

std::vector<std::int32_t> Unigram::encode(std::string_view text, const EncodeOptions& options) const {
    return template_processor_.apply(encode_segments(text, table_.parses_special(options)), options);
}

std::vector<std::int32_t> Unigram::encode_pair(std::string_view first, std::string_view second,
                                               const EncodeOptions& options) const {
    const bool parse_special = table_.parses_special(options);
    return template_processor_.apply(encode_segments(first, parse_special), encode_segments(second, parse_special),
                                     options);
}

std::string Unigram::piece(std::int32_t id, bool first) const {
    const std::string& token = table_.vocabulary().token(id);
    const std::string_view written = first && drops_first_space_ ? "" : " ";
    std::string text;
    std::size_t start = 0;
    for (std::size_t at = token.find(space_); at != token.npos; at = token.find(space_, start)) {
        text.append(token, start, at - start).append(written);
        start = at + space_.size();
    }
    return text.append(token, start);
}

}  // namespace cairn::inline v0::text
