#pragma once

#include <cstddef>
#include <string_view>

namespace cairn::inline v0::text {

/// Length in bytes of the first word of `text`, which must not be empty, by the pattern published with GPT-2:
///
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// "He's  42!" is split into "He" "'s" " " " 42" "!": a space belongs to the word after it.
/// An ill-formed byte sequence counts as one character that is neither letter, number nor space, like U+FFFD.
/// A loop over a text is linear: only the last character of a run of spaces is read twice.
std::size_t gpt2_word_length(std::string_view text);

}  // namespace cairn::inline v0::text
