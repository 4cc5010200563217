#pragma once

#include <string>
#include <string_view>

/// Names of graphs, tensors and outputs: any text a person can read. They are written as JSON strings in text forms.
namespace cairn::ir {

/// What is wrong with a name, in words (`is empty`); empty when nothing is. Names are valid UTF-8 of 1 to 1024 bytes
/// without control characters.
std::string verify_name(std::string_view name);

/// `"h.0.attn"`: with backslash and double quote escaped.
std::string quoted(std::string_view name);

}  // namespace cairn::ir
