#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cairn::test {

/// The faults of a JSON value under a JSON schema, each with its path. Understood are type, const, enum, minimum,
/// maximum, pattern, required, properties, additionalProperties, items, anyOf and $ref into $defs; title and
/// description say nothing. Throws std::runtime_error for another keyword, so that none is passed over.
std::vector<std::string> schema_faults(const nlohmann::json& value, const nlohmann::json& schema);

}  // namespace cairn::test
