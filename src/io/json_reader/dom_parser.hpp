#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace cairn::json_reader {

/// Parses a JSON text into a tree, under the rules of parse_json_events; an object with a key twice is a fault. At a
/// fault, calls `refuse`, which must throw, with a description as in "is not valid JSON at byte 7". No other exception
/// is thrown.
///
///     parse_json(R"({"a": [1, 2]})", refuse)["a"][1]  ->  2
nlohmann::json parse_json(std::string_view text, const std::function<void(const std::string& what)>& refuse);

}  // namespace cairn::json_reader
