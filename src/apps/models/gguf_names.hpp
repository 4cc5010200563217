#pragma once

#include "cairn/models/checkpoint.hpp"

#include <optional>
#include <span>
#include <string>

namespace cairn::inline v0::models {

/// The row of a tensor in a table of names, and its name in the file.
struct StoredName {
    const GgufName* row;
    std::string stored;
};
/// Nothing if `names` lacks the tensor.
std::optional<StoredName> stored_name(const std::string& name, std::span<const GgufName> names);

}  // namespace cairn::inline v0::models
