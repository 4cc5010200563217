#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::jinja {

struct Token {
    enum class Kind {
        data,          ///< text outside of tags
        output_begin,  ///< {{
        output_end,    ///< }}
        block_begin,   ///< {%
        block_end,     ///< %}
        name,
        string,  ///< without quotes and escapes
        integer,
        real,
        sign,  ///< an operator or a bracket
        end,
    };

    Kind kind;
    std::string text;
    std::size_t line;
};

/// Splits a template into tokens, as Jinja with trim_blocks and lstrip_blocks, which transformers sets: the newline
/// behind a block or a comment is dropped, and so are spaces before one that begins a line; `-` strips all white space
/// on its side, `+` keeps it. Throws Error (unsupported) for text that is no template.
std::vector<Token> tokens_of(std::string_view source);

}  // namespace cairn::jinja
