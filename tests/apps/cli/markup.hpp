#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Reads pages and drawings back.
namespace cairn::test {

struct Element {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::string text;  ///< right inside, entities as they stand
    std::size_t depth = 0;

    double number(const std::string& attribute) const;
    bool has_class(std::string_view word) const;
};

/// All elements in the order of their begin tags; throws std::invalid_argument where the text is not well-formed XML
/// (but for the doctype in front).
std::vector<Element> elements_in(std::string_view markup);

}  // namespace cairn::test
