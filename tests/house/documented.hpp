#pragma once

#include "tests/house/tree.hpp"

namespace cairn::house {

/// Every public name of the headers under include/ must have a `///` comment: on the line above it, on its own line, or
/// above a run of declarations of the same kind without blank lines (an overload group).
///
///     /// The sum.             documented
///     int add(int a, int b);
///     float add(float, float);  documented: the same run
///
///     int sub(int a, int b);    refused
///
/// Public names are macros, types, aliases, functions, variables and public members outside `namespace detail`. A type
/// needs a comment of its own. Enumerators, constructors and assignments share their type's comment; a data member does
/// if the comment names it. Forward declarations, friend classes, destructors, and functions that are `= default` or
/// `= delete` need none.
Faults undocumented_names(const Tree& tree);

/// Number of public names that undocumented_names() checks.
int count_public_names(const Tree& tree);

}  // namespace cairn::house
