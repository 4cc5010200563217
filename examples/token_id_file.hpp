#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Files of token ids: a JSON array, or {"ids": [...], "mask": [...]}, a line. Empty lines do not count.
namespace token_id_file {

struct Line {
    std::vector<std::int32_t> ids;
    std::vector<bool> mask;  ///< as long as `ids`; all true where none is given
};

/// What a model takes.
struct Limits {
    std::int64_t vocabulary = 0, longest = 0;
};

/// Throws cairn::Error(file), with the number of the line, for what is malformed or outside the limits, and for a file
/// without a line.
std::vector<Line> read(const std::string& path, const Limits& limits);

}  // namespace token_id_file
