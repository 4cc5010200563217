#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Reads files of token ids. A line is a JSON array of ids or {"ids": [...], "mask": [...]}; blank lines are skipped.
namespace token_id_file {

struct Line {
    std::vector<std::int32_t> ids;
    std::vector<bool> mask;  ///< same length as `ids`; all true if the line has no mask
};

/// The ids and lengths that a model accepts: ids below `vocabulary`, at most `longest` ids in a line.
struct Limits {
    std::int64_t vocabulary = 0, longest = 0;
};

/// Throws cairn::Error(file) with the line number if a line is malformed or exceeds the limits, and if no line has ids.
std::vector<Line> read(const std::string& path, const Limits& limits);

}  // namespace token_id_file
