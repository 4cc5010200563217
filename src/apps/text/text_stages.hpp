#pragma once

#include "apps/text/added_tokens.hpp"
#include "apps/text/text_normalizer.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace cairn::inline v0::text {

/// The stages before a text is split into words: it is split at added tokens, what lies between is normalized, and
/// split at the added tokens of normalized text.
class TextStages {
public:
    /// Without steps the bytes of a text are kept, ill-formed ones too, if `keeps_bytes`.
    TextStages(std::vector<AddedToken> added, std::vector<NormalizerStep> steps, bool keeps_bytes)
        : keeps_bytes_(keeps_bytes && steps.empty()), normalizer_(std::move(steps)) {
        as_written_ = AddedTokens(added);
        std::tie(raw_, normalized_) =
            AddedTokens::by_stage(std::move(added), [&](std::string_view text) { return normalize(text).text; });
    }

    /// Appends the ids of added tokens and calls `take(text, begins)` for the texts between them, in order. `begins`:
    /// the text begins with what stems from the first character of the whole one.
    template <typename Take>
    void apply(std::string_view text, const SpecialPlaces& special, std::vector<std::int32_t>& ids,
               const Take& take) const {
        for (const Segment& segment : (special.has_ranges() ? as_written_ : raw_).split(text, special)) {
            if (segment.id != Segment::plain) {
                ids.push_back(segment.id);
                continue;
            }
            const NormalizedText normalized = normalize(segment.text);
            const bool begins = normalized.keeps_start && segment.text.data() == text.data();
            for (const Segment& part : normalized_.split(normalized.text, special.in_normalized())) {
                if (part.id != Segment::plain)
                    ids.push_back(part.id);
                else
                    take(part.text, begins && part.text.data() == normalized.text.data());
            }
        }
    }

    NormalizedText normalize(std::string_view text) const {
        return keeps_bytes_ ? NormalizedText{std::string(text)} : normalizer_.apply(text);
    }

private:
    bool keeps_bytes_;
    TextNormalizer normalizer_;
    AddedTokens raw_, normalized_;
    AddedTokens as_written_;  // all of them, for texts with plain ranges, which normalization would move
};

}  // namespace cairn::inline v0::text
