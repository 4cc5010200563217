#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace cairn::inline v0::json_text {

/// The tree of a JSON text, held to the rules of walk_json, no object having a key twice. `refuse` must throw; it is
/// given what the text does wrong, as in "is not valid JSON at byte 7". No other exception comes out.
///
///     read_json(R"({"a": [1, 2]})", refuse)["a"][1]  ->  2
nlohmann::json read_json(std::string_view text, const std::function<void(const std::string& what)>& refuse);

}  // namespace cairn::inline v0::json_text
