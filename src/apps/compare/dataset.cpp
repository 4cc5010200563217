#include "apps/compare/dataset.hpp"

#include "apps/compare/sha256.hpp"
#include "apps/console/text_file.hpp"
#include "cairn/error.hpp"
#include "io/json_reader/dom_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cairn::compare {
namespace {

DataRow row_of(std::string_view line, const DataSettings& settings, Task task,
               const std::function<void(const std::string&)>& refuse) {
    nlohmann::json json = json_reader::parse_json(line, [&](const std::string& what) { refuse("the line " + what); });
    if (!json.is_object()) refuse("a JSON object is expected");
    DataRow row;
    if (task == Task::run) {
        const auto inputs = json.find(settings.inputs);
        if (inputs == json.end() || !inputs->is_object()) refuse("there is no object \"" + settings.inputs + '"');
        row.inputs = *inputs;
    } else {
        const auto text = json.find(settings.text);
        if (text == json.end() || !text->is_string()) refuse("there is no text \"" + settings.text + '"');
        row.text = text->get<std::string>();
    }
    if (const auto label = json.find(settings.label); label != json.end() && !label->is_null()) {
        if (!label->is_string()) refuse("\"" + settings.label + "\" is no text");
        row.label = label->get<std::string>();
    }
    return row;
}

}  // namespace

bool Dataset::has_labels() const {
    return std::ranges::any_of(rows, [](const DataRow& row) { return row.label.has_value(); });
}

Dataset read_dataset(const DataSettings& settings, Task task) {
    const std::string file = console::read_text(settings.file.string());
    Dataset data;
    data.sha256 = sha256_of_text(file);
    const auto limit = static_cast<std::size_t>(settings.limit);
    std::size_t number = 0;
    for (std::string_view rest = file; !rest.empty() && (limit == 0 || data.rows.size() < limit);) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        ++number;
        if (line.find_first_not_of(" \t\r") == line.npos) continue;
        data.rows.push_back(row_of(line, settings, task, [&](const std::string& what) {
            throw Error(ErrorKind::file, "data", fmt::format("{}:{}: {}", settings.file.string(), number, what));
        }));
    }
    if (data.rows.empty()) throw Error(ErrorKind::file, "data", settings.file.string() + ": there are no rows");
    return data;
}

}  // namespace cairn::compare
