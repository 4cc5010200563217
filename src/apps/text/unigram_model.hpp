#pragma once

#include "apps/text/prefix_trie.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cairn::inline v0::text {

/// A piece of a Unigram model with the logarithm of its probability.
struct ScoredPiece {
    std::string text;
    double score;
};

/// Unigram language model (Kudo 2018): a word's segmentation is the one whose pieces have the largest sum of scores, by
/// the Viterbi algorithm. A character without a piece of its own has the least score of the pieces minus 10; a run of
/// them is one unknown piece.
class UnigramModel {
public:
    /// Ids are indices of `pieces`. `byte_fallback`: an unknown piece becomes its bytes `<0x00>` .. `<0xFF>`, if there
    /// are pieces for all of them.
    UnigramModel(std::vector<ScoredPiece> pieces, std::int32_t unk_id, bool byte_fallback);

    /// Appends the ids of a word in UTF-8. Takes O(n m) for n bytes and pieces of at most m bytes. Throws Error
    /// (argument) for a word of 2^31 - 1 bytes or more.
    void append(std::string_view word, std::vector<std::int32_t>& ids) const;

private:
    struct Step;

    std::vector<Step> best_steps(std::string_view word) const;
    void append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const;

    std::vector<double> scores_;
    PrefixTrie trie_;
    double unknown_score_;
    std::int32_t unk_id_;
    std::unordered_map<std::string, std::int32_t> ids_;
    std::array<std::int32_t, 256> byte_ids_;  // -1: no such piece, or no byte fallback
};

}  // namespace cairn::inline v0::text
