#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::house {

/// One declaration of a header, with the properties that the rule about comments needs.
struct Declaration {
    enum class Kind { type, function, variable, alias };
    Kind kind = Kind::variable;
    std::vector<std::string> names;  ///< more than one for `int a, b;`
    int line = 0;                    ///< of its first token
    int head_line = 0;               ///< of the `;` or `{` that ends its head
    int last_line = 0;               ///< of its last token
    bool needs_comment = true;       ///< false for forward declarations, constructors, destructors, defaulted ones ...
    std::vector<Declaration> members;  ///< of a class, struct or union: the public ones

    std::string name() const { return names.empty() ? std::string("?") : names.front(); }
};

/// The public declarations of a header in order: those of all namespaces but `detail`, with the public members of their
/// types. The parser supports the subset of C++ that this project's headers use.
std::vector<Declaration> public_declarations(std::string_view text);

}  // namespace cairn::house
