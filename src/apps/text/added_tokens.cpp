#include "apps/text/added_tokens.hpp"

#include "apps/text/character_kinds.hpp"
#include "apps/text/unicode.hpp"

#include <algorithm>
#include <limits>

namespace cairn::inline v0::text {

namespace {

/// Length of the white space that `text` begins with.
std::size_t leading_space(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size()) {
        const Utf8Step step = read_utf8(text.substr(end));
        if (!is_white_space(step.code)) break;
        end += step.length;
    }
    return end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) {
    std::stable_sort(tokens.begin(), tokens.end(),
                     [](const AddedToken& a, const AddedToken& b) { return a.content.size() > b.content.size(); });
    for (AddedToken& token : tokens)
        if (!token.content.empty())
            by_first_byte_[static_cast<unsigned char>(token.content[0])].push_back(std::move(token));
}

bool SpecialPlaces::allow(const AddedToken& token, std::size_t begin) const {
    const auto after =
        std::partition_point(plain_.begin(), plain_.end(), [&](TextRange range) { return range.end <= begin; });
    const bool is_plain = after != plain_.end() && after->begin < begin + token.content.size();
    if (is_plain) return !token.special && leading_space(token.content) == token.content.size();
    return anywhere_ || !token.special;
}

SpecialPlaces SpecialPlaces::in_normalized() const {
    static constexpr TextRange whole{0, std::numeric_limits<std::size_t>::max()};
    return has_ranges() ? SpecialPlaces(std::span(&whole, 1)) : *this;
}

const AddedToken* AddedTokens::match(std::string_view text, std::size_t at, const SpecialPlaces& special) const {
    for (const AddedToken& token : by_first_byte_[static_cast<unsigned char>(text[at])])
        if (text.substr(at).starts_with(token.content) && special.allow(token, at)) return &token;
    return nullptr;
}

std::vector<Segment> AddedTokens::split(std::string_view text, const SpecialPlaces& special) const {
    std::vector<Segment> segments;
    std::size_t plain = 0;  // start of the text that is not in a segment yet
    for (std::size_t at = 0; at < text.size();) {
        const AddedToken* token = match(text, at, special);
        if (token == nullptr) {
            ++at;
            continue;
        }
        std::string_view before = text.substr(plain, at - plain);
        if (token->lstrip) before = before.substr(0, trailing_space(before));
        if (!before.empty()) segments.push_back({before});
        segments.push_back({token->content, static_cast<std::int32_t>(token->id)});
        at += token->content.size();
        if (token->rstrip) at += leading_space(text.substr(at));
        plain = at;
    }
    if (plain < text.size()) segments.push_back({text.substr(plain)});
    return segments;
}

std::pair<AddedTokens, AddedTokens> AddedTokens::by_stage(
    std::vector<AddedToken> tokens, const std::function<std::string(std::string_view)>& normalize) {
    std::vector<AddedToken> given, normalized;
    for (AddedToken& token : tokens) {
        if (token.normalized) token.content = normalize(token.content);
        (token.normalized ? normalized : given).push_back(std::move(token));
    }
    return {AddedTokens(std::move(given)), AddedTokens(std::move(normalized))};
}

}  // namespace cairn::inline v0::text
