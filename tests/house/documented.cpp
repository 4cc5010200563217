#include "tests/house/documented.hpp"

#include "tests/house/declarations.hpp"
#include "tests/house/source.hpp"

#include <functional>
#include <set>

namespace cairn::house {
namespace {

bool is_comment_line(const std::string& line) {
    const auto first = line.find_first_not_of(" \t");
    return first != std::string::npos && line.compare(first, 3, "///") == 0;
}

/// The lines of one header, and which of them have a `///` comment.
class HeaderLines {
public:
    explicit HeaderLines(std::string_view text) : lines_(lines_of(text)), code_(lines_of(code_of(text))) {}

    /// True if a `///` comment ends on the line above `line`, or follows code on one of the lines up to `last`.
    bool has_comment(int line, int last) const {
        if (line >= 2 && is_comment_line(lines_[index(line - 1)])) return true;
        for (int i = line; i <= last; ++i) {
            const std::string& text = lines_[index(i)];
            const auto mark = text.find("///");
            if (mark != std::string::npos && !is_comment_line(text) && code_[index(i)].find("///") == std::string::npos)
                return true;
        }
        return false;
    }

    /// The words of the comment that ends on the line above `line`.
    std::set<std::string> comment_words(int line) const {
        std::set<std::string> words;
        for (int i = line - 1; i >= 1 && is_comment_line(lines_[index(i)]); --i) {
            std::string word;
            for (char c : lines_[index(i)] + " ") {
                if (is_word(c)) {
                    word += c;
                } else if (!word.empty()) {
                    words.insert(word);
                    word.clear();
                }
            }
        }
        return words;
    }

    const std::vector<std::string>& code() const { return code_; }

private:
    static std::size_t index(int line) { return static_cast<std::size_t>(line - 1); }
    std::vector<std::string> lines_;
    std::vector<std::string> code_;
};

/// Counts the public names of a header and collects those without a comment.
class CommentChecker {
public:
    explicit CommentChecker(const HeaderLines& page) : page_(page) {}

    /// Checks the declarations of a scope. `within` is the type that they are members of; null for a namespace.
    void check(const std::vector<Declaration>& declarations, const Declaration* within) {
        const Declaration* before = nullptr;
        bool run_is_documented = false;
        for (const Declaration& one : declarations) {
            const bool follows = before != nullptr && one.line <= before->last_line + 1 && one.kind == before->kind;
            bool documented = page_.has_comment(one.line, one.head_line);
            if (!documented && follows && one.kind != Declaration::Kind::type) documented = run_is_documented;
            run_is_documented = documented;
            before = &one;
            if (one.needs_comment) {
                ++count;
                if (!documented && !shares_comment(one, within)) undocumented.emplace_back(one.line, one.name());
            }
            check(one.members, &one);
        }
    }

    int count = 0;
    std::vector<std::pair<int, std::string>> undocumented;

private:
    bool shares_comment(const Declaration& one, const Declaration* within) const {
        if (within == nullptr || one.kind != Declaration::Kind::variable) return false;
        const auto words = page_.comment_words(within->line);
        for (const auto& name : one.names)
            if (!words.contains(name)) return false;
        return true;
    }

    const HeaderLines& page_;
};

/// Checks the macros of a public header. Other directives, such as `#if`, do not end a run of `#define` lines.
void check_macros(const HeaderLines& page, CommentChecker& check) {
    std::set<std::string> seen;
    bool run_is_documented = false;
    int line = 0;
    for (const std::string& text : page.code()) {
        ++line;
        if (!text.starts_with("#")) {
            run_is_documented = false;
            continue;
        }
        run_is_documented = run_is_documented || page.has_comment(line, line);
        if (!text.starts_with("#define ")) continue;
        std::string name = text.substr(8);
        name = name.substr(0, name.find_first_of(" (\t"));
        if (!seen.insert(name).second) continue;
        ++check.count;
        if (!run_is_documented) check.undocumented.emplace_back(line, name);
    }
}

/// Calls `found` with the path and the result of each public header.
void for_each_header(const Tree& tree, const std::function<void(const std::string&, const CommentChecker&)>& found) {
    for (const File& file : tree) {
        if (!is_under(file.path, "include") || !is_source(file.path)) continue;
        const HeaderLines page(file.text);
        CommentChecker check(page);
        check_macros(page, check);
        check.check(public_declarations(file.text), nullptr);
        found(file.path, check);
    }
}

}  // namespace

Faults undocumented_names(const Tree& tree) {
    Faults faults;
    for_each_header(tree, [&](const std::string& path, const CommentChecker& check) {
        for (const auto& [line, name] : check.undocumented)
            faults.push_back(path + ":" + std::to_string(line) + ": " + name + " has no /// comment");
    });
    return faults;
}

int count_public_names(const Tree& tree) {
    int count = 0;
    for_each_header(tree, [&](const std::string&, const CommentChecker& check) { count += check.count; });
    return count;
}

}  // namespace cairn::house
