#pragma once

#include "cairn/text/tokenizer.hpp"

#include <cstdint>
#include <string>

namespace cairn::inline v0::text {

/// Decodes ids to text incrementally. Never splits a character: a token may contain a part of one. If the tokenizer
/// `cleans_up`, the last word is held back until the next one. All returned text is valid UTF-8; ill-formed bytes
/// become U+FFFD, one for each maximal ill-formed sequence.
///
///     StreamDecoder stream(*tokenizer);
///     for (auto id : ids) std::cout << stream.push(id) << std::flush;
///     std::cout << stream.finish();
class CAIRN_API StreamDecoder {
public:
    /// The tokenizer must outlive the decoder.
    explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

    /// Adds an id and returns the text that is now complete; empty while a character is incomplete, or the last word of
    /// a text that is cleaned up. Throws Error (argument) for an id outside the vocabulary, and is then unchanged.
    std::string push(std::int32_t id);

    /// Ends the text: an incomplete character becomes U+FFFD. Resets the decoder.
    std::string finish();

private:
    std::string flush_complete(bool at_end);
    std::string flush_cleaned(std::string text, bool at_end);

    const Tokenizer* tokenizer_;
    std::string pending_;      // bytes of an incomplete character
    std::string not_cleaned_;  // text whose end the next token may change
    bool first_ = true;
};

}  // namespace cairn::inline v0::text
