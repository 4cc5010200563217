#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cairn::weights {

/// Reads a `*.safetensors.index.json`: the name of each tensor and the file, beside the index, that holds it. File
/// names that would lead out of the index's folder are refused, and so are repeated names. Throws Error(file).
///
///     {"weight_map": {"wte": "a.safetensors"}}   ->   {"wte": "a.safetensors"}
std::map<std::string, std::string> parse_shard_index(std::string_view text, std::string_view file);

}  // namespace cairn::weights
