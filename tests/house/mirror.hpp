#pragma once

#include "tests/house/tree.hpp"

#include <span>
#include <string_view>

namespace cairn::house {

/// A source without a test file of its own name, the test that covers it, and what that test checks. A folder, which
/// ends with `/`, stands for all such sources in it.
struct CoveredElsewhere {
    std::string_view source, test, how;
};

/// The sources of src/<room>/ that another test covers.
std::span<const CoveredElsewhere> covered_elsewhere();

/// Each .cpp in src/<room>/ of more than 60 lines must be tested by tests/<room>/<name>_test.cpp, or be listed in
/// `exceptions` with a test that exists. An exception that is no longer needed is a fault.
Faults untested_sources(const Tree& tree, std::span<const CoveredElsewhere> exceptions);

}  // namespace cairn::house
