#include "tests/house/arrows.hpp"

#include "tests/house/source.hpp"

#include <algorithm>

namespace cairn::house {
namespace {

/// All words in backquotes of a line.
std::set<std::string> quoted_words(std::string_view line) {
    std::set<std::string> words;
    for (auto open = line.find('`'); open != std::string_view::npos; open = line.find('`', open + 1)) {
        const auto close = line.find('`', open + 1);
        if (close == std::string_view::npos) break;
        words.emplace(line.substr(open + 1, close - open - 1));
        open = close;
    }
    return words;
}

/// Parses the rows `| `room` | `seen` `seen` |` of the table under the line `## Arrows`.
PermittedIncludes arrows_on(std::string_view page) {
    PermittedIncludes arrows;
    bool inside = false;
    for (const std::string& line : lines_of(page)) {
        if (line.starts_with("## ")) inside = line == "## Arrows";
        if (!inside || !line.starts_with("| `")) continue;
        const auto bar = line.find('|', 1);
        const auto names = quoted_words(line.substr(0, bar));
        if (names.size() == 1) arrows[*names.begin()] = quoted_words(line.substr(bar));
    }
    return arrows;
}

std::string listed(const std::set<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
    return text.empty() ? "nobody" : text;
}

}  // namespace

Faults layout_page_faults(const Tree& tree) {
    const auto page =
        std::find_if(tree.begin(), tree.end(), [](const File& file) { return file.path == "docs/layout.md"; });
    if (page == tree.end()) return {"docs/layout.md: is not there"};
    Faults faults;
    std::set<std::string> folders;
    for (const File& file : tree)
        if (is_source(file.path) &&
            (is_under(file.path, "include") || is_under(file.path, "src") || is_under(file.path, "kernels") ||
             is_under(file.path, "bench") || is_under(file.path, "shipped_timings") ||
             is_under(file.path, "examples") || is_under(file.path, "tests")))
            folders.insert(is_under(file.path, "tests") ? "tests" : folder_of(file.path));
    for (const auto& folder : folders)
        if (page->text.find("`" + folder + "/`") == std::string::npos)
            faults.push_back("docs/layout.md: does not describe `" + folder + "/`");

    const PermittedIncludes drawn = arrows_on(page->text);
    for (const auto& [room, seen] : permitted_includes()) {
        const auto row = drawn.find(room);
        if (row == drawn.end())
            faults.push_back("docs/layout.md: the table of arrows lacks `" + room + "`");
        else if (row->second != seen)
            faults.push_back("docs/layout.md: `" + room + "` sees " + listed(row->second) + " there, but " +
                             listed(seen) + " in the test");
    }
    for (const auto& [room, seen] : drawn)
        if (!permitted_includes().contains(room)) faults.push_back("docs/layout.md: unknown room `" + room + "`");
    return faults;
}

}  // namespace cairn::house
