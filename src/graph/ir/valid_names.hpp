#pragma once

#include <string>
#include <string_view>

/// Validity of the names of graphs, tensors and outputs: any readable text. Text forms have them as JSON strings.
namespace cairn::ir {

/// Describes what is wrong with a name (`is empty`); empty if it is valid. Names are valid UTF-8 of 1 to 1024 bytes
/// without control characters.
std::string verify_name(std::string_view name);

/// The name in quotes, with backslash and double quote escaped: `"h.0.attn"`.
std::string quoted(std::string_view name);

}  // namespace cairn::ir
