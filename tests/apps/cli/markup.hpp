#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Parses HTML pages and SVG drawings.
namespace cairn::test {

struct Element {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::string text;  ///< direct text content, with entities as written
    std::size_t depth = 0;

    double number(const std::string& attribute) const;
    bool has_class(std::string_view word) const;
};

/// All elements in the order of their start tags. Throws std::invalid_argument unless the text is well-formed XML,
/// apart from a leading doctype.
std::vector<Element> elements_in(std::string_view markup);

}  // namespace cairn::test
