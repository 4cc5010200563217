#pragma once

#include "cairn/version.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// How byte-level BPE splits a text into words before it merges bytes: by the regular expressions that were published
/// with models. A space belongs to the word after it. Rules marked `part` match parts of a text; a word is then a
/// match, or what lies between two.
enum class WordRule : std::uint8_t {
    /// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
    ///
    ///     "He's  42!" -> "He" "'s" " " " 42" "!"
    gpt2,
    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
    /// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    ///
    ///     "He's  1234!\n" -> "He" "'s" " " " " "123" "4" "!\n"
    llama3,
    /// As llama3, but \p{N} in place of \p{N}{1,3}.
    qwen2,
    /// As qwen2, but marks are letters: [\p{L}\p{M}] in place of \p{L}.
    qwen35,
    /// Words of llama3 with a case: upper-case letters come before lower-case ones, and a contraction belongs to the
    /// word before it. Letters without case and marks are both. With U for [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], L for
    /// [\p{Ll}\p{Lm}\p{Lo}\p{M}] and C for a contraction:
    /// `[^\r\n\p{L}\p{N}]?U*L+C?|[^\r\n\p{L}\p{N}]?U+L*C?|\p{N}{1,3}|
    /// ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    ///
    ///     "aCat's 2024" -> "a" "Cat's" " " "202" "4"
    gpt4o,
    /// As gpt4o, but without contractions, and \p{N} in place of \p{N}{1,3}.
    tekken,
    /// `[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
    /// ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, part
    deepseek3,
    digit,                 ///< `\p{N}`, part
    three_digits,          ///< `\p{N}{1,3}`, part
    ascii_digits,          ///< `[0-9][0-9][0-9]`, part
    newline,               ///< `[\r\n]`, part
    spaced_letters,        ///< `\s?\p{L}+`, part
    spaced_punctuation,    ///< `\s?\p{P}+`, part
    spaced_cased_letters,  ///< `\s?[..]+`, part: letters with a case, as DeepSeek LLM lists them
    spaced_signs,          ///< `\s?[!-/:-~！-／：-～‘-‟　-。]+`, part
    last_spaces,           ///< `\s+$`, part
    falcon_signs,          ///< ``[\p{P}\$\+<=>\^~\|`]+``, part
    east_asian,            ///< U+0800 to U+9FA5 and U+AC00 to U+D7FF, part
    han_and_kana,          ///< U+4E00 to U+9FA5 and U+3040 to U+30FF, part
};

/// Rules that apply in order, each to the words of the one before: SmolLM has `digit`, then `gpt2`.
struct WordRules {
    std::vector<WordRule> rules{};
    bool ignores_merges = false;  ///< a word that is a token is not merged from its bytes
    bool adds_bos = false;        ///< a text begins with the token `bos` unless the file says otherwise

    bool operator==(const WordRules&) const = default;
};

/// The rules that llama.cpp names so in `tokenizer.ggml.pre`; nothing for another name.
std::optional<WordRules> word_rules_named(std::string_view pre);

/// The rule of a regular expression, as tokenizer.json files write it; nothing for another one.
std::optional<WordRule> word_rule_of(std::string_view expression);

/// Length in bytes of the first word of `text`, which must not be empty. An ill-formed byte sequence counts as one
/// character that is neither letter, number nor space, like U+FFFD. A loop over a text is linear: a run of spaces is
/// read at most twice.
std::size_t word_length(std::string_view text, WordRule rule);

/// True if the words of the rule are its matches: it matches at every place of every text.
bool matches_everywhere(WordRule rule);

/// Calls `take` with each word of the text, none of which is empty.
template <typename Take>
void for_each_word(std::string_view text, std::span<const WordRule> rules, const Take& take) {
    while (!text.empty()) {
        const std::size_t length = rules.empty() ? text.size() : word_length(text, rules.front());
        const std::string_view word = text.substr(0, length);
        if (rules.size() > 1)
            for_each_word(word, rules.subspan(1), take);
        else
            take(word);
        text.remove_prefix(length);
    }
}

}  // namespace cairn::inline v0::text
