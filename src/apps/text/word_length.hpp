#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cairn::inline v0::text {

/// How byte-level BPE splits a text into words before it merges bytes: by the pattern that was published with a model.
/// A space belongs to the word after it.
enum class WordRule : std::uint8_t {
    /// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
    ///
    ///     "He's  42!" -> "He" "'s" " " " 42" "!"
    gpt2,
    /// Each character of \p{N} is a word, and what lies between is split by gpt2.
    ///
    ///     "He's  42!" -> "He" "'s" "  " "4" "2" "!"
    smollm,
    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
    /// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    ///
    ///     "He's  1234!\n" -> "He" "'s" " " " " "123" "4" "!\n"
    llama3,
    /// As llama3, but \p{N} in place of \p{N}{1,3}.
    qwen2,
};

/// The rule that llama.cpp names so in `tokenizer.ggml.pre`; nothing for another name.
std::optional<WordRule> word_rule_named(std::string_view pre);

/// Length in bytes of the first word of `text`, which must not be empty. An ill-formed byte sequence counts as one
/// character that is neither letter, number nor space, like U+FFFD. A loop over a text is linear: a run of spaces is
/// read at most twice.
std::size_t word_length(std::string_view text, WordRule rule);

}  // namespace cairn::inline v0::text
