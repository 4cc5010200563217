#pragma once

#include <string>

namespace cairn::test {

/// The text of docs/laws.md: the rows of the rules of simplify, of the equivalence rules and of the identities of the
/// normal form.
std::string laws_page();

}  // namespace cairn::test
