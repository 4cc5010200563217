#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace cairn::json_reader {

/// The tree of a JSON text, held to the rules of parse_json_events, no object having a key twice. `refuse` must throw;
/// it is given what the text does wrong, as in "is not valid JSON at byte 7". No other exception comes out.
///
///     parse_json(R"({"a": [1, 2]})", refuse)["a"][1]  ->  2
nlohmann::json parse_json(std::string_view text, const std::function<void(const std::string& what)>& refuse);

}  // namespace cairn::json_reader
