#include "apps/text/vocabulary_files.hpp"

#include "apps/text/json_file.hpp"

#include <algorithm>

namespace cairn::inline v0::text {

namespace {

/// Lines of a file without their ends ("\n" or "\r\n") and without a leading byte order mark. No other character ends a
/// line, as tokens may contain any.
std::vector<std::string> read_lines(const std::filesystem::path& path) {
    const std::string bytes = read_file(path);
    std::vector<std::string> lines;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    for (std::size_t start = bytes.starts_with(byte_order_mark) ? byte_order_mark.size() : 0; start < bytes.size();) {
        const std::size_t end = std::min(bytes.find('\n', start), bytes.size());
        const bool carriage_return = end > start && bytes[end - 1] == '\r';
        lines.push_back(bytes.substr(start, end - start - (carriage_return ? 1 : 0)));
        start = end + 1;
    }
    return lines;
}

}  // namespace

std::vector<VocabularyEntry> vocabulary_entries(const nlohmann::json& tokens, const std::string& source) {
    if (!tokens.is_object())
        throw_bad_file(source, std::string("expected tokens and their ids, got ") + tokens.type_name());
    std::vector<VocabularyEntry> entries;
    entries.reserve(tokens.size());
    for (const auto& [token, id] : tokens.items()) {
        if (!id.is_number_integer())
            throw_bad_file(source,
                           "expected an integer as the id of " + quoted_name(token) + ", got " + id.type_name());
        entries.push_back({token, id.get<std::int64_t>()});
    }
    return entries;
}

std::pair<std::string, std::string> merge_pair(std::string_view line, const std::string& source) {
    const std::size_t space = line.find(' ');
    if (space == 0 || space == line.npos || space + 1 == line.size() || line.find(' ', space + 1) != line.npos)
        throw_bad_file(source, "expected a merge of two tokens separated by a space, got " + quoted_name(line));
    return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

std::vector<std::pair<std::string, std::string>> read_merges_file(const std::filesystem::path& path) {
    std::vector<std::pair<std::string, std::string>> merges;
    std::size_t number = 0;
    for (const std::string& line : read_lines(path)) {
        ++number;
        if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
        merges.push_back(merge_pair(line, path.string() + ":" + std::to_string(number)));
    }
    return merges;
}

std::vector<VocabularyEntry> read_vocabulary_lines(const std::filesystem::path& path) {
    std::vector<VocabularyEntry> entries;
    for (std::string& line : read_lines(path)) {
        const auto id = static_cast<std::int64_t>(entries.size());
        entries.push_back({std::move(line), id});
    }
    while (!entries.empty() && entries.back().token.empty()) entries.pop_back();
    for (const VocabularyEntry& entry : entries)
        if (entry.token.empty())
            throw_bad_file(path.string() + ":" + std::to_string(entry.id + 1), "expected a token, got an empty line");
    return entries;
}

}  // namespace cairn::inline v0::text
