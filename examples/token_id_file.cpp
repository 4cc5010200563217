#include "examples/token_id_file.hpp"

#include "examples/support.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace token_id_file {
namespace {

using nlohmann::json;

bool is_id(const json& value) { return value.is_number_integer(); }

bool is_bit(const json& value) { return value.is_boolean() || value == 0 || value == 1; }

/// Parses a line into `line`. Returns the fault, or an empty string.
std::string parse(const std::string& text, const Limits& limits, Line& line) {
    const json value = json::parse(text, nullptr, false);
    const json ids = value.is_object() ? value.value("ids", json()) : value;
    if (!ids.is_array() || !std::all_of(ids.begin(), ids.end(), is_id)) return "expected an array of token ids";
    if (ids.empty() || ids.size() > static_cast<std::size_t>(limits.longest))
        return std::to_string(ids.size()) + " ids, expected 1 to " + std::to_string(limits.longest);
    for (const json& id : ids)
        if (id < 0 || id >= limits.vocabulary)
            return "token id " + id.dump() + " is not in the vocabulary of " + std::to_string(limits.vocabulary);
    line.ids = ids.get<std::vector<std::int32_t>>();
    line.mask.assign(line.ids.size(), true);
    if (!value.is_object() || !value.contains("mask")) return {};
    const json& mask = value["mask"];
    if (!mask.is_array() || !std::all_of(mask.begin(), mask.end(), is_bit))
        return "expected an array of 0 and 1 as mask";
    if (mask.size() != ids.size())
        return std::to_string(ids.size()) + " ids have a mask of " + std::to_string(mask.size());
    std::transform(mask.begin(), mask.end(), line.mask.begin(),
                   [](const json& bit) { return bit == true || bit == 1; });
    return {};
}

}  // namespace

std::vector<Line> read(const std::string& path, const Limits& limits) {
    std::vector<Line> lines;
    support::for_each_line(path, [&](const std::string& text) { return parse(text, limits, lines.emplace_back()); });
    if (lines.empty()) throw cairn::Error(cairn::ErrorKind::file, "input", path + " contains no ids");
    return lines;
}

}  // namespace token_id_file
