#include "apps/text/word_splitter.hpp"

#include "apps/text/replaced.hpp"
#include "apps/text/unicode.hpp"

#include <utility>

namespace cairn::inline v0::text {

namespace {

/// A part of the text between steps.
struct Word {
    std::string text;
    bool begins_text;
};

void split_at_white_space(const Word& word, std::vector<Word>& words) {
    const std::string_view text = word.text;
    std::size_t start = 0;
    const auto end_word = [&](std::size_t end) {
        if (end > start)
            words.push_back({std::string(text.substr(start, end - start)), word.begins_text && start == 0});
    };
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Step step = read_utf8(text.substr(at));
        if (is_white_space(step.code)) {
            end_word(at);
            start = at + step.length;
        }
        at += step.length;
    }
    end_word(text.size());
}

void split_metaspace(const SplitStep& step, const Word& word, std::vector<Word>& words) {
    std::string text = replaced(word.text, " ", step.replacement);
    const bool prepends =
        step.prepend == SplitStep::Prepend::always || (step.prepend == SplitStep::Prepend::first && word.begins_text);
    if (prepends && !text.starts_with(step.replacement)) text.insert(0, step.replacement);
    std::size_t start = 0;
    while (step.split && start < text.size()) {
        const std::size_t end = text.find(step.replacement, start + 1);
        if (end == text.npos) break;
        words.push_back({text.substr(start, end - start), word.begins_text && start == 0});
        start = end;
    }
    words.push_back({text.substr(start), word.begins_text && start == 0});
}

void split_after(const SplitStep& step, const Word& word, std::vector<Word>& words) {
    for (std::size_t start = 0; start < word.text.size();) {
        const std::size_t found = word.text.find(step.replacement, start);
        const std::size_t end = found == word.text.npos ? word.text.size() : found + step.replacement.size();
        words.push_back({word.text.substr(start, end - start), word.begins_text && start == 0});
        start = end;
    }
}

}  // namespace

std::string shown_steps(const std::vector<SplitStep>& steps) {
    constexpr const char* schemes[] = {"always", "first", "never"};
    std::string shown;
    for (const SplitStep& step : steps) {
        shown += shown.empty() ? "" : ", ";
        if (step.kind == SplitStep::Kind::white_space) {
            shown += "WhitespaceSplit";
        } else if (step.kind == SplitStep::Kind::after) {
            shown += "Split";
        } else {
            shown.append("Metaspace (").append(schemes[static_cast<std::size_t>(step.prepend)]);
            shown += step.split ? ")" : ", without split)";
        }
    }
    return shown.empty() ? "null" : shown;
}

std::vector<std::string> WordSplitter::apply(NormalizedText text, bool begins_text) const {
    std::vector<Word> words;
    if (!text.text.empty()) words.push_back({std::move(text.text), begins_text && text.keeps_start});
    for (const SplitStep& step : steps_) {
        std::vector<Word> parts;
        for (const Word& word : words) {
            switch (step.kind) {
                case SplitStep::Kind::white_space: split_at_white_space(word, parts); break;
                case SplitStep::Kind::metaspace: split_metaspace(step, word, parts); break;
                case SplitStep::Kind::after: split_after(step, word, parts); break;
            }
        }
        words = std::move(parts);
    }
    std::vector<std::string> texts;
    texts.reserve(words.size());
    for (Word& word : words) texts.push_back(std::move(word.text));
    return texts;
}

}  // namespace cairn::inline v0::text
