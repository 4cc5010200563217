#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// Options of BERT's normalizer; all true for bert-base-uncased.
struct BertNormalizer {
    bool clean_text;     ///< drop control characters, NUL and U+FFFD; replace white space by spaces
    bool chinese_chars;  ///< put spaces around CJK ideographs
    bool strip_accents;  ///< decompose (NFD) and drop nonspacing marks
    bool lower_case;

    /// "Ça va,\t中?" -> "ca va,  中 ?" (the tab is a space, and spaces surround the ideograph).
    /// Ill-formed UTF-8 is read as U+FFFD. Unassigned code points stay, as Hugging Face tokenizers leaves them.
    std::string apply(std::string_view text) const;
};

/// Splits normalized text at white space, and makes each punctuation mark a word of its own:
/// "don't stop!" -> "don" "'" "t" "stop" "!". The views are into `text`.
std::vector<std::string_view> bert_pre_tokenize(std::string_view text);

}  // namespace cairn::inline v0::text
