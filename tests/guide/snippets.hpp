#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::guide {

/// A C++ block of a Markdown page, and its output: the block without a language that follows it.
struct Snippet {
    std::size_t line = 0;  ///< number of the first line of code, counted from 1
    std::vector<std::string> code;
    bool has_output = false;
    std::string output{};
};

/// The snippets of a page, in order.
std::vector<Snippet> snippets_of(std::string_view page);

std::string read_page(const std::string& path);

}  // namespace cairn::guide
