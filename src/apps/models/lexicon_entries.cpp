#include "apps/models/lexicon_entries.hpp"

#include "apps/models/config_file.hpp"
#include "cairn/error.hpp"
#include "cairn/text/words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace cairn::inline v0::models {
namespace {

/// The number that a text is, and nothing else; nothing for another text.
std::optional<float> finite_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    float value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
    return value;
}

}  // namespace

bool LexiconEntries::add(const std::vector<std::string>& words, float score) {
    std::uint32_t node = 0;
    for (const std::string& word : words) {
        const std::uint32_t number = words_.try_emplace(word, static_cast<std::uint32_t>(words_.size())).first->second;
        const auto [child, is_new] =
            children_.try_emplace(std::uint64_t{node} << 32 | number, static_cast<std::uint32_t>(entry_of_.size()));
        if (is_new) entry_of_.push_back(-1);
        node = child->second;
    }
    if (entry_of_[node] >= 0) return false;
    entry_of_[node] = static_cast<std::int32_t>(scores.size());
    scores.push_back(score);
    return true;
}

LexiconEntries LexiconEntries::parse(std::string_view lines, const std::filesystem::path& file) {
    LexiconEntries entries;
    std::size_t number = 0;
    const auto refuse = [&](const std::string& what) {
        throw Error(ErrorKind::file, "lexicon", file.string() + ":" + std::to_string(number) + ": " + what);
    };
    while (!lines.empty()) {
        ++number;
        std::string_view line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!text::is_utf8(line)) refuse("the line is not UTF-8");
        const std::size_t tab = line.find('\t');
        if (tab == line.npos) refuse("there is no tab between word and score");
        const std::string entry(line.substr(0, tab)), score(line.substr(tab + 1));
        const std::optional<float> value = finite_number(score);
        if (!value) refuse("the score \"" + score + "\" is no finite number");
        const std::vector<std::string> words = text::folded_words(entry);
        if (words.empty()) refuse("the entry \"" + entry + "\" has no word");
        if (!entries.add(words, *value)) refuse("the entry \"" + entry + "\" is there already");
    }
    if (number == 0) throw Error(ErrorKind::file, "lexicon", file.string() + " has no lines");
    return entries;
}

LexiconEntries LexiconEntries::read(const std::filesystem::path& path) {
    return parse(read_text(path, "lexicon"), path);
}

std::vector<std::int32_t> LexiconEntries::find(std::string_view searched) const {
    constexpr std::uint32_t unknown = ~std::uint32_t{0};
    std::vector<std::uint32_t> numbers;
    for (const std::string& word : text::folded_words(searched)) {
        const auto found = words_.find(word);
        numbers.push_back(found == words_.end() ? unknown : found->second);
    }
    std::vector<std::int32_t> found;
    for (std::size_t first = 0; first < numbers.size();) {
        std::int32_t longest = -1;
        std::size_t next = first + 1;
        std::uint32_t node = 0;
        for (std::size_t i = first; i < numbers.size(); ++i) {
            const auto child = children_.find(std::uint64_t{node} << 32 | numbers[i]);
            if (child == children_.end()) break;
            node = child->second;
            if (entry_of_[node] >= 0) longest = entry_of_[node], next = i + 1;
        }
        if (longest >= 0) found.push_back(longest);
        first = next;
    }
    return found;
}

}  // namespace cairn::inline v0::models
