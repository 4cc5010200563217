#pragma once

#include "cairn/error.hpp"
#include "io/json_reader/quoted_name.hpp"

#include <string>
#include <string_view>

namespace cairn::inline v0::text {

using json_reader::quoted_name;

/// Throws `[tokenizer] message (source)`; `source` is a path, with `:line` if there is a line.
[[noreturn]] inline void throw_bad_file(std::string_view source, const std::string& message) {
    throw Error(ErrorKind::file, "tokenizer", message + " (" + std::string(source) + ")");
}

/// As throw_bad_file, for valid files with contents that Cairn does not support.
[[noreturn]] inline void throw_unsupported_file(std::string_view source, const std::string& message) {
    throw Error(ErrorKind::unsupported, "tokenizer", message + " (" + std::string(source) + ")");
}

}  // namespace cairn::inline v0::text
