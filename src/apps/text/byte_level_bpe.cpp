#include "apps/text/byte_level_bpe.hpp"

#include "apps/text/byte_alphabet.hpp"
#include "apps/text/file_errors.hpp"
#include "apps/text/merge_table.hpp"

#include <algorithm>
#include <limits>

namespace cairn::inline v0::text {
ByteLevelBpe::ByteLevelBpe(const ByteLevelBpeParts& parts)
    : TableTokenizer(parts),
      stages_(added(), parts.normalizer, true),
      merges_(merge_table(parts, vocabulary())),
      add_prefix_space_(parts.add_prefix_space),
      word_rules_(parts.word_rules),
      ignores_merges_(parts.ignores_merges) {
    const Vocabulary& vocabulary = this->vocabulary();
    for (unsigned byte = 0; byte < 256; ++byte) {
        const auto id = vocabulary.find(alphabet_.character(static_cast<unsigned char>(byte)));
        if (!id && !parts.may_lack_bytes)
            throw_bad_file(parts.source, "byte " + std::to_string(byte) + ", spelled " +
                                             quoted_name(alphabet_.character(static_cast<unsigned char>(byte))) +
                                             ", has no token: a byte-level vocabulary needs all 256");
        byte_ids_[byte] = id.value_or(no_token);
    }
    bytes_.reserve(vocabulary.size());
    for (std::size_t id = 0; id < vocabulary.size(); ++id) {
        const std::string& token = vocabulary.token(static_cast<std::int32_t>(id));
        bytes_.push_back(alphabet_.bytes_of(token).value_or(token));
        longest_token_ = std::max(longest_token_, bytes_.back().size());
    }
    for (const AddedToken& token : added()) bytes_[static_cast<std::size_t>(token.id)] = token.content;
}

std::optional<std::int32_t> ByteLevelBpe::whole_word(std::string_view word) const {
    // Longer words than all tokens need no look-up, which keeps a long text linear.
    if (word.size() > longest_token_) return std::nullopt;
    std::string token;
    for (const char byte : word) token += alphabet_.character(static_cast<unsigned char>(byte));
    return vocabulary().find(token);
}

void ByteLevelBpe::encode_plain(std::string_view text, BpeMerger& merger, std::vector<std::int32_t>& ids) const {
    std::string with_space;
    if (add_prefix_space_ && !text.starts_with(' ')) {
        with_space.append(" ").append(text);
        text = with_space;
    }
    std::vector<std::int32_t> merged;
    for_each_word(text, word_rules_, [&](std::string_view word) {
        merged.clear();
        if (const auto whole = ignores_merges_ ? whole_word(word) : std::nullopt) {
            merged.push_back(*whole);
        } else {
            for (const char byte : word) merged.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
            merger.merge(merged);
        }
        ids.insert(ids.end(), merged.begin(), merged.end());
    });
}

std::vector<std::int32_t> ByteLevelBpe::ids_of(std::string_view text, const SpecialPlaces& special) const {
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    if (text.size() >= most)
        throw Error(
            ErrorKind::argument, "tokenizer",
            "expected a text of less than " + std::to_string(most) + " bytes, got " + std::to_string(text.size()));
    std::vector<std::int32_t> ids;
    BpeMerger merger(merges_);
    stages_.apply(text, special, ids, [&](std::string_view part, bool) { encode_plain(part, merger, ids); });
    return ids;
}

std::string ByteLevelBpe::piece(std::int32_t id, bool) const {
    token(id);  // throws for an id outside the vocabulary
    return bytes_[static_cast<std::size_t>(id)];
}

}  // namespace cairn::inline v0::text
