#include "tests/guide/snippets.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace cairn::guide {

std::vector<Snippet> snippets_of(std::string_view page) {
    std::vector<Snippet> snippets;
    std::istringstream lines{std::string(page)};
    enum class In { text, code, output, other } in = In::text;
    bool after_code = false;  // only empty lines since the last C++ block
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const bool fence = line.starts_with("```");
        if (in == In::text && fence) {
            in = line == "```cpp" ? In::code : line == "```" && after_code ? In::output : In::other;
            if (in == In::code) snippets.push_back({.line = number + 1, .code = {}});
            if (in == In::output) snippets.back().has_output = true;
            after_code = false;
        } else if (fence) {
            after_code = in == In::code;
            in = In::text;
        } else if (in == In::code) {
            snippets.back().code.push_back(line);
        } else if (in == In::output) {
            snippets.back().output += line + "\n";
        } else if (!line.empty()) {
            after_code = false;
        }
    }
    return snippets;
}

std::string read_page(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace cairn::guide
