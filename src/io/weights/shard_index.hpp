#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cairn::weights {

/// Parses a `*.safetensors.index.json`: the name of each tensor and the file, next to the index, that holds it. File
/// names that lead out of the index's folder are rejected, and so are repeated names. Throws Error(file).
///
///     {"weight_map": {"wte": "a.safetensors"}}   ->   {"wte": "a.safetensors"}
std::map<std::string, std::string> parse_shard_index(std::string_view text, std::string_view file);

}  // namespace cairn::weights
