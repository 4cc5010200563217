#include "apps/text/unigram.hpp"

#include "apps/text/replaced.hpp"

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
      stages_(added(), parts.normalizer, false),
      splitter_(parts.pre_tokenizer),
      model_(pieces_of(parts), parts.unk_id, parts.byte_fallback),
      space_(parts.space),
      drops_first_space_(parts.drops_first_space),
      clean_up_text_(parts.clean_up_text) {}

std::vector<std::int32_t> Unigram::ids_of(std::string_view text, const SpecialPlaces& special) const {
    std::vector<std::int32_t> ids;
    stages_.apply(text, special, ids, [&](std::string_view part, bool begins_text) {
        for (const std::string& word : splitter_.apply({std::string(part)}, begins_text)) model_.append(word, ids);
    });
    return ids;
}

std::string Unigram::piece(std::int32_t id, bool first) const {
    return replaced(token(id), space_, first && drops_first_space_ ? "" : " ");
}

}  // namespace cairn::inline v0::text
