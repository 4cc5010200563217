#include "apps/text/score_bpe.hpp"

#include "apps/text/file_errors.hpp"
#include "apps/text/replaced.hpp"
#include "apps/text/unicode.hpp"

#include <algorithm>
#include <array>
#include <queue>

namespace cairn::inline v0::text {
namespace {

constexpr std::string_view space = "\xE2\x96\x81";  // U+2581

/// A run of characters of the text; of size 0 if it is merged into its left neighbour.
struct Symbol {
    std::size_t begin, size;
    std::ptrdiff_t previous, next;  // -1: none
};

/// Two neighbours that form a token.
struct Pair {
    double score;
    std::ptrdiff_t left, right;
    std::size_t size;

    bool operator<(const Pair& other) const {  // the queue returns the largest first
        return score != other.score ? score < other.score : left > other.left;
    }
};

}  // namespace

ScoreBpe::ScoreBpe(const ScoreBpeParts& parts)
    : TableTokenizer(parts), added_(added()), scores_(parts.scores), add_space_prefix_(parts.add_space_prefix) {
    const Vocabulary& vocabulary = this->vocabulary();
    if (scores_.size() != vocabulary.size())
        throw_bad_file(parts.source, std::to_string(vocabulary.size()) + " tokens have " +
                                         std::to_string(scores_.size()) + " scores");
    if (std::any_of(scores_.begin(), scores_.end(), [](double score) { return score != score; }))
        throw_bad_file(parts.source, "a score is not a number");
    byte_ids_.fill(special().unk.value_or(-1));
    for (std::size_t id = 0; id < vocabulary.size(); ++id) {
        const std::string& token = vocabulary.token(static_cast<std::int32_t>(id));
        const std::optional<unsigned char> byte = id < parts.byte_of.size() ? parts.byte_of[id] : std::nullopt;
        if (byte) byte_ids_[*byte] = static_cast<std::int32_t>(id);
        pieces_.push_back(byte ? std::string(1, static_cast<char>(*byte)) : replaced(token, space, " "));
        longest_token_ = std::max(longest_token_, token.size());
    }
    for (const AddedToken& token : added()) pieces_[static_cast<std::size_t>(token.id)] = token.content;
    if (std::find(byte_ids_.begin(), byte_ids_.end(), -1) != byte_ids_.end())
        throw_bad_file(parts.source, "some bytes have no token, and there is no unknown token");
}

void ScoreBpe::encode_plain(std::string_view text, std::vector<std::int32_t>& ids) const {
    const Vocabulary& vocabulary = this->vocabulary();
    std::vector<Symbol> symbols;
    for (std::size_t at = 0; at < text.size();) {
        const auto index = static_cast<std::ptrdiff_t>(symbols.size());
        const std::size_t size = read_utf8(text.substr(at)).length;
        symbols.push_back({at, size, index - 1, at + size < text.size() ? index + 1 : -1});
        at += size;
    }
    const auto symbol = [&](std::ptrdiff_t index) -> Symbol& { return symbols[static_cast<std::size_t>(index)]; };
    std::priority_queue<Pair> pairs;
    const auto push = [&](std::ptrdiff_t left, std::ptrdiff_t right) {
        if (left < 0 || right < 0) return;
        const std::size_t size = symbol(left).size + symbol(right).size;
        if (size > longest_token_) return;
        if (const auto id = vocabulary.find(text.substr(symbol(left).begin, size)))
            pairs.push({scores_[static_cast<std::size_t>(*id)], left, right, size});
    };
    for (std::size_t i = 1; i < symbols.size(); ++i)
        push(static_cast<std::ptrdiff_t>(i) - 1, static_cast<std::ptrdiff_t>(i));
    while (!pairs.empty()) {
        const Pair pair = pairs.top();
        pairs.pop();
        Symbol &left = symbol(pair.left), &right = symbol(pair.right);
        if (left.size == 0 || right.size == 0 || left.size + right.size != pair.size) continue;  // one has changed
        left.size = pair.size;
        right.size = 0;
        left.next = right.next;
        if (right.next >= 0) symbol(right.next).previous = pair.left;
        push(left.previous, pair.left);
        push(pair.left, left.next);
    }
    for (const Symbol& each : symbols) {
        const std::string_view token = text.substr(each.begin, each.size);
        if (token.empty()) continue;
        if (const auto id = vocabulary.find(token))
            ids.push_back(*id);
        else
            for (const char byte : token) ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    }
}

std::vector<std::int32_t> ScoreBpe::ids_of(std::string_view text, const SpecialPlaces& special) const {
    std::vector<std::int32_t> ids;
    bool follows_plain = false;
    for (const Segment& segment : added_.split(text, special)) {
        const bool is_plain = segment.id == Segment::plain;
        if (!is_plain)
            ids.push_back(segment.id);
        else
            encode_plain(
                (add_space_prefix_ && !follows_plain ? std::string(space) : "") + replaced(segment.text, " ", space),
                ids);
        follows_plain = is_plain;
    }
    return ids;
}

std::string ScoreBpe::piece(std::int32_t id, bool first) const {
    token(id);  // throws for an id outside the vocabulary
    const std::string& text = pieces_[static_cast<std::size_t>(id)];
    return first && add_space_prefix_ && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace cairn::inline v0::text
