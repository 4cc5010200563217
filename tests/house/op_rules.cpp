#include "tests/house/op_rules.hpp"

#include "tests/house/source.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace cairn::house {
namespace {

constexpr std::array<std::string_view, 4> enums_of_ops = {"Op", "OpClass", "ElementCode", "BlockCode"};

/// Index of the bracket that closes the one at `open`.
std::size_t closing(const std::vector<Token>& tokens, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < tokens.size(); ++i) {
        const std::string& text = tokens[i].text;
        if (text == "(" || text == "{") ++depth;
        if ((text == ")" || text == "}") && --depth == 0) return i;
    }
    return tokens.size();
}

/// The tokens of a `switch`: of its condition, and of its body without nested switches.
struct Switch {
    std::vector<Token> condition, body;
};

std::vector<Switch> switches_of(const std::vector<Token>& tokens) {
    std::vector<Switch> found;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        if (tokens[i].text != "switch" || tokens[i + 1].text != "(") continue;
        const std::size_t end = closing(tokens, i + 1), last = closing(tokens, end + 1);
        Switch each;
        each.condition.assign(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 2,
                              tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end, tokens.size())));
        for (std::size_t k = end + 1; k < last; ++k) {
            if (tokens[k].text == "switch") k = closing(tokens, closing(tokens, k + 1) + 1);
            if (k < last) each.body.push_back(tokens[k]);
        }
        found.push_back(std::move(each));
    }
    return found;
}

bool is_over_ops(const Switch& each) {
    std::vector<std::string> called;
    for (const Token& token : each.condition)
        if (token.text != "(" && token.text != ")") called.push_back(token.text);
    if (!called.empty() && (called.back() == "op" || called.back() == "op_" || called.back() == "code")) return true;
    bool in_label = false;
    for (std::size_t i = 0; i + 1 < each.body.size(); ++i) {
        if (each.body[i].text == "case") in_label = true;
        if (each.body[i].text == ":") in_label = false;
        const bool is_enum = std::ranges::find(enums_of_ops, each.body[i].text) != enums_of_ops.end();
        if (in_label && is_enum && each.body[i + 1].text == "::") return true;
    }
    return false;
}

/// True if `word` occurs in `text` as a whole word outside comments; `code` is code_of(text).
bool holds(const std::string& text, const std::string& code, const std::string& word) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool ends = !is_word(word.back()) || end == text.size() || !is_word(text[end]);
        const bool begins = at == 0 || !is_word(text[at - 1]);
        if (begins && ends && code[at] == text[at]) return true;
    }
    return false;
}

bool names_op(const File& file, const std::string& code, const std::string& op) {
    if (is_under(file.path, "include")) return holds(file.text, code, "Tensor " + op + "(");
    return holds(file.text, code, "Op::" + op) || holds(file.text, code, '"' + op + '"') ||
           holds(file.text, code, "OP(" + op + ",") || holds(file.text, code, "ROW(" + op + ",");
}

/// Names of the unary and binary ops of op_list.hpp.
std::vector<std::string> elementwise_ops(const std::string& list) {
    std::vector<std::string> ops;
    const std::string rows = list.substr(0, list.find("define CAIRN_OTHER_OPS"));
    for (std::size_t at = rows.find(" OP("); at != rows.npos; at = rows.find(" OP(", at + 1))
        ops.push_back(rows.substr(at + 4, rows.find(',', at) - at - 4));
    return ops;
}

/// The texts in backquotes on the lines that start with `begin`.
std::set<std::string> quoted_in(const std::string& page, std::string_view begin) {
    std::set<std::string> found;
    for (const std::string& line : lines_of(page)) {
        if (!line.starts_with(begin)) continue;
        for (std::size_t at = line.find('`'); at != line.npos;) {
            const std::size_t end = line.find('`', at + 1);
            if (end == line.npos) break;
            found.insert(line.substr(at + 1, end - at - 1));
            at = line.find('`', end + 1);
        }
    }
    return found;
}

const std::string* text_of(const Tree& tree, std::string_view path) {
    for (const File& file : tree)
        if (file.path == path) return &file.text;
    return nullptr;
}

}  // namespace

Faults defaults_over_ops(const Tree& tree) {
    Faults faults;
    for (const File& file : tree) {
        if (!is_source(file.path) || (!is_under(file.path, "src") && !is_under(file.path, "kernels"))) continue;
        for (const Switch& each : switches_of(tokens_of(code_of(file.text)))) {
            if (!is_over_ops(each)) continue;
            for (const Token& token : each.body)
                if (token.text == "default")
                    faults.push_back(file.path + ":" + std::to_string(token.line) +
                                     ": a switch over ops has a default: handle each op, or add a trait to its row");
        }
    }
    return faults;
}

Faults op_page_faults(const Tree& tree) {
    const std::string page_path = "docs/add_an_op.md", list_path = "src/graph/ir/op_list.hpp";
    const std::string *page = text_of(tree, page_path), *list = text_of(tree, list_path);
    if (page == nullptr || list == nullptr) return {page_path + " or " + list_path + " is not there"};
    std::set<std::string> listed_paths;
    for (const std::string& line : lines_of(*page))
        if (line.starts_with("| `")) listed_paths.insert(line.substr(3, line.find('`', 3) - 3));
    const std::set<std::string> free = quoted_in(*page, "Nothing is needed in ");
    const std::vector<std::string> ops = elementwise_ops(*list);
    Faults faults;
    for (const std::string& path : listed_paths)
        if (text_of(tree, path) == nullptr) faults.push_back(page_path + ": there is no " + path);
    for (const File& file : tree) {
        // src/graph/types has no ops: its `min` and `max` are of sizes.
        const bool is_ours = is_under(file.path, "src") && !is_under(file.path, "src/graph/types");
        if (!is_ours && !is_under(file.path, "include") && !is_under(file.path, "kernels") &&
            !listed_paths.contains(file.path))
            continue;
        const bool is_free =
            std::ranges::any_of(free, [&](const std::string& folder) { return file.path.starts_with(folder); });
        if (!is_source(file.path) || is_free) continue;
        const bool is_listed_path = listed_paths.contains(file.path), is_test = is_under(file.path, "tests");
        const std::string code = code_of(file.text);
        for (const std::string& op : ops) {
            const bool named = is_test ? file.text.find("= " + op + " %") != file.text.npos : names_op(file, code, op);
            if (named && !is_listed_path)
                faults.push_back(file.path + ": names " + op + ", and " + page_path + " does not list it");
            if (!named && is_listed_path)
                faults.push_back(file.path + ": lacks " + op + ", which " + page_path + " lists");
        }
    }
    return faults;
}

}  // namespace cairn::house
