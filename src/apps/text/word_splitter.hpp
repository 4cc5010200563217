#pragma once

#include "apps/text/text_normalizer.hpp"

#include <string>
#include <vector>

namespace cairn::inline v0::text {

/// One step of the pre-tokenizer of a tokenizer.json with a Unigram model, or with a BPE of characters.
struct SplitStep {
    enum class Kind {
        white_space,  ///< WhitespaceSplit: drops white space and splits there
        metaspace,    ///< Metaspace: writes spaces as `replacement`, and splits before each
        after,        ///< Split at a string that belongs to the word before it, `replacement`
    };
    enum class Prepend { always, first, never };

    Kind kind;
    std::string replacement{};          ///< one character, or the string of a Split
    Prepend prepend = Prepend::always;  ///< which words get a replacement in front, unless they begin with one; first:
                                        ///< the one that begins the whole text
    bool split = true;

    bool operator==(const SplitStep&) const = default;
};

/// The types of the steps as tokenizer.json names them: "WhitespaceSplit, Metaspace (always)"; "null" without steps.
std::string shown_steps(const std::vector<SplitStep>& steps);

/// Splits normalized text into words by steps in order: WhitespaceSplit and Metaspace split "to be" into "▁to" "▁be".
class WordSplitter {
public:
    explicit WordSplitter(std::vector<SplitStep> steps) : steps_(std::move(steps)) {}

    /// The words, none of them empty. `begins_text`: the text before normalization begins the whole input. Linear in
    /// the text.
    std::vector<std::string> apply(NormalizedText text, bool begins_text) const;

private:
    std::vector<SplitStep> steps_;
};

}  // namespace cairn::inline v0::text
