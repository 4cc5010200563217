#pragma once

#include "tests/house/tree.hpp"

namespace cairn::house {

/// Every public name of the headers under include/ has a `///` comment: on the line above it, on its own line, or above
/// a run of declarations of one kind that follow each other without a blank line (an overload group).
///
///     /// The sum.             documented
///     int add(int a, int b);
///     float add(float, float);  documented: the same run
///
///     int sub(int a, int b);    refused
///
/// Public names are macros, types, aliases, functions, variables and public members outside `namespace detail`. A type
/// never shares another's comment. Enumerators, constructors and assignments share their type's; a data member does
/// where that comment names it. Forward declarations, friends that are classes, destructors, and what is `= default` or
/// `= delete` need none.
Faults undocumented_names(const Tree& tree);

/// How many public names undocumented_names() looked at.
int count_public_names(const Tree& tree);

}  // namespace cairn::house
