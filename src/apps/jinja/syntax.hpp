#pragma once

#include "apps/jinja/value.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::jinja {

/// An expression of a template.
struct Expression {
    enum class Kind {
        constant,
        name,         ///< `text`
        attribute,    ///< parts[0].text
        item,         ///< parts[0][parts[1]]
        slice,        ///< parts[0][parts[1]:parts[2]:parts[3]]; `absent` for one left out
        absent,       ///< a part that is left out
        call,         ///< parts[0](parts[1], ..)
        filter,       ///< parts[0] | text(parts[1], ..)
        test,         ///< parts[0] is text(parts[1], ..)
        unary,        ///< text parts[0]
        binary,       ///< parts[0] text parts[1]
        conditional,  ///< parts[0] if parts[1] else parts[2]
        list,
        dict,  ///< keys and values in turn
    };

    Kind kind = Kind::constant;
    std::size_t line = 0;
    std::string text{};
    Value constant{};
    std::vector<Expression> parts{};
    std::vector<std::string> names{};  ///< of arguments, by part; empty: positional
    int depth = 1;                     ///< of the expression tree
};

/// A statement of a template.
struct Statement {
    enum class Kind {
        data,       ///< `text`
        output,     ///< expressions[0]
        branch,     ///< if expressions[0]: body, else: otherwise
        loop,       ///< for targets in expressions[0] if expressions[1]: body, else: otherwise
        set,        ///< targets = expressions[0]; a target `a.b` is an attribute
        set_block,  ///< targets[0] = the output of body
        macro,      ///< text(targets) with the defaults expressions, of the last targets
        group,      ///< body, in the scope around it
        leave,      ///< break
        next,       ///< continue
    };

    Kind kind = Kind::data;
    std::size_t line = 0;
    std::string text{};
    std::vector<Expression> expressions{};
    std::vector<std::string> targets{};
    std::vector<Statement> body{}, otherwise{};
};

/// Parses a template. Throws Error (unsupported), naming what is not known and its line.
std::vector<Statement> parse(std::string_view source);

}  // namespace cairn::jinja
