#include "apps/text/character_kinds.hpp"
#include "apps/text/unicode.hpp"
#include "cairn/text/words.hpp"

#include <utility>

namespace cairn::inline v0::text {

std::vector<std::string> folded_words(std::string_view text) {
    constexpr char32_t apostrophe = U'\'', right_quote = 0x2019;
    std::vector<std::string> words;
    std::string word;
    bool has_apostrophe = false;  // behind the word, which may go on
    const auto end_word = [&] {
        if (!word.empty()) words.push_back(std::exchange(word, {}));
        has_apostrophe = false;
    };
    while (!text.empty()) {
        const Utf8Step step = read_utf8(text);
        text.remove_prefix(step.length);
        if (const CharacterKind kind = kind_of(step.code); letters_and_marks.contains(kind) || numbers.contains(kind)) {
            if (has_apostrophe) word += '\'';
            has_apostrophe = false;
            append_case_folded(word, step.code);
        } else if ((step.code == apostrophe || step.code == right_quote) && !word.empty() && !has_apostrophe) {
            has_apostrophe = true;
        } else {
            end_word();  // also for U+FFFD, which stands for bytes that are not UTF-8
        }
    }
    end_word();
    return words;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const Utf8Step step = read_utf8(text);
        if (step.status != Utf8Step::Status::valid) return false;
        text.remove_prefix(step.length);
    }
    return true;
}

}  // namespace cairn::inline v0::text
