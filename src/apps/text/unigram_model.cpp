#include "apps/text/unigram_model.hpp"

#include "apps/text/byte_piece.hpp"
#include "apps/text/unicode.hpp"
#include "cairn/error.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cairn::inline v0::text {

namespace {

constexpr double unknown_penalty = 10;

std::vector<std::string> texts_of(const std::vector<ScoredPiece>& pieces) {
    std::vector<std::string> texts;
    texts.reserve(pieces.size());
    for (const ScoredPiece& piece : pieces) texts.push_back(piece.text);
    return texts;
}

}  // namespace

/// The last piece of the best segmentation that ends at a position.
struct UnigramModel::Step {
    double score = 0;         ///< of the whole segmentation
    std::int32_t start = -1;  ///< of the last piece; -1: no segmentation ends here
    std::int32_t id = 0;
};

UnigramModel::UnigramModel(std::vector<ScoredPiece> pieces, std::int32_t unk_id, bool byte_fallback)
    : trie_(texts_of(pieces)), unk_id_(unk_id) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t id = 0; id < pieces.size(); ++id) {
        least = std::min(least, pieces[id].score);
        scores_.push_back(pieces[id].score);
        ids_[std::move(pieces[id].text)] = static_cast<std::int32_t>(id);
    }
    unknown_score_ = least - unknown_penalty;
    byte_ids_.fill(-1);
    for (unsigned byte = 0; byte_fallback && byte < 256; ++byte)
        if (const auto found = ids_.find(byte_piece(static_cast<unsigned char>(byte))); found != ids_.end())
            byte_ids_[byte] = found->second;
}

std::vector<UnigramModel::Step> UnigramModel::best_steps(std::string_view word) const {
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    if (word.size() >= most)
        throw Error(
            ErrorKind::argument, "tokenizer",
            "expected a word of less than " + std::to_string(most) + " bytes, got " + std::to_string(word.size()));
    std::vector<Step> best(word.size() + 1);
    const auto offer = [&](std::size_t start, std::size_t end, double score, std::int32_t id) {
        Step& step = best[end];
        const double total = score + best[start].score;
        if (step.start < 0 || total > step.score) step = {total, static_cast<std::int32_t>(start), id};
    };
    for (std::size_t start = 0; start < word.size();) {
        const std::size_t character = read_utf8(word.substr(start)).length;
        bool has_character = false;
        trie_.for_prefixes(word.substr(start), [&](std::size_t length, std::int32_t id) {
            offer(start, start + length, scores_[static_cast<std::size_t>(id)], id);
            has_character = has_character || length == character;
        });
        if (!has_character) offer(start, start + character, unknown_score_, unk_id_);
        start += character;
    }
    return best;
}

void UnigramModel::append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const {
    if (const auto found = ids_.find(std::string(text)); found != ids_.end()) {
        ids.push_back(found->second);
        return;
    }
    const auto id_of = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
    if (std::any_of(text.begin(), text.end(), [&](char byte) { return id_of(byte) < 0; }))
        ids.push_back(unk_id_);
    else
        for (const char byte : text) ids.push_back(id_of(byte));
}

void UnigramModel::append(std::string_view word, std::vector<std::int32_t>& ids) const {
    const std::vector<Step> best = best_steps(word);
    std::vector<std::int32_t> ends;  // of the pieces, last first
    for (auto end = static_cast<std::int32_t>(word.size()); end > 0; end = best[static_cast<std::size_t>(end)].start)
        ends.push_back(end);
    std::size_t unknown = 0;  // start of the unknown piece that has not ended yet
    std::size_t start = 0;
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
        const auto at = static_cast<std::size_t>(*end);
        if (best[at].id != unk_id_) {
            if (unknown < start) append_unknown(word.substr(unknown, start - unknown), ids);
            ids.push_back(best[at].id);
            unknown = at;
        }
        start = at;
    }
    if (unknown < start) append_unknown(word.substr(unknown, start - unknown), ids);
}

}  // namespace cairn::inline v0::text
