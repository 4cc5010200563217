#pragma once

#include "tests/house/tree.hpp"

#include <span>
#include <string_view>

namespace cairn::house {

/// A source without a test of its own name, the test that tries all that it decides, and how.
struct CoveredElsewhere {
    std::string_view source, test, how;
};

/// The sources of src/<room>/ that others' tests cover.
std::span<const CoveredElsewhere> covered_elsewhere();

/// Each .cpp in src/<room>/ of more than 60 lines is tested by tests/<room>/<name>_test.cpp, or stands in `exceptions`
/// with a test that is there. An exception that is no longer one has to go.
Faults untested_sources(const Tree& tree, std::span<const CoveredElsewhere> exceptions);

}  // namespace cairn::house
