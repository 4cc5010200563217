#include "apps/models/config_file.hpp"

#include "io/json_reader/dom_parser.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace cairn::inline v0::models {

using nlohmann::json;

std::string read_text(const std::filesystem::path& path, std::string_view part) {
    const auto unreadable = [&] { throw Error(ErrorKind::file, part, "cannot read " + path.string()); };
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) unreadable();  // opening a pipe would block
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad()) unreadable();
    return bytes;
}

json read_json(const std::filesystem::path& path) {
    return json_reader::parse_json(read_text(path, "config"), [&](const std::string& what) {
        throw Error(ErrorKind::file, "config", path.string() + ": it " + what);
    });
}

namespace {

bool is_size(const json& value) {
    constexpr std::int64_t largest = std::int64_t{1} << 31;
    return value.is_number_integer() && value.get<std::int64_t>() >= 1 && value.get<std::int64_t>() <= largest;
}

}  // namespace

ConfigFile::ConfigFile(const std::filesystem::path& path)
    : path_(path), json_(std::make_unique<json>(read_json(path))) {
    if (!json_->is_object()) fail("it is not a JSON object");
}

ConfigFile::ConfigFile(const std::filesystem::path& path, const json& object)
    : path_(path), json_(std::make_unique<json>(object)) {}

ConfigFile::ConfigFile(ConfigFile&&) noexcept = default;
ConfigFile::~ConfigFile() = default;

void ConfigFile::fail(std::string_view what) const {
    throw Error(ErrorKind::file, "config", path_.string() + ": " + std::string(what));
}

void ConfigFile::unsupported(std::string_view what) const {
    throw Error(ErrorKind::unsupported, "config", path_.string() + ": " + std::string(what));
}

const json* ConfigFile::entry(std::string_view key) const {
    const auto it = json_->find(key);
    return it == json_->end() || it->is_null() ? nullptr : &*it;
}

std::int64_t ConfigFile::size(Key both, std::optional<std::int64_t> default_value) const {
    const json* value = entry(both.name);
    const char* key = both.name;
    if (const json* general = both.general == nullptr ? nullptr : entry(both.general)) {
        if (value != nullptr && *value != *general)
            fail("entry \"" + std::string(key) + "\" is " + value->dump() + ", but \"" + both.general + "\" is " +
                 general->dump());
        if (value == nullptr) key = both.general;
        value = general;
    }
    if (value == nullptr && default_value) return *default_value;
    if (value == nullptr) fail("entry \"" + std::string(key) + "\" is missing");
    if (!is_size(*value)) fail("entry \"" + std::string(key) + "\" must be a positive integer, got " + value->dump());
    return value->get<std::int64_t>();
}

std::int64_t ConfigFile::layers(Key key, std::optional<std::int64_t> default_value) const {
    constexpr std::int64_t most = 10'000;
    const std::int64_t count = size(key, default_value);
    if (count > most)
        fail("entry \"" + std::string(key.name) + "\" must be at most " + std::to_string(most) + ", got " +
             std::to_string(count));
    return count;
}

double ConfigFile::number(std::string_view key, double default_value) const {
    const json* value = entry(key);
    if (value == nullptr) return default_value;
    if (!value->is_number() || !(value->get<double>() >= 0))
        fail("entry \"" + std::string(key) + "\" must be a number of at least 0, got " + value->dump());
    return value->get<double>();
}

bool ConfigFile::flag(std::string_view key, bool default_value) const {
    const json* value = entry(key);
    if (value == nullptr) return default_value;
    if (!value->is_boolean()) fail("entry \"" + std::string(key) + "\" must be true or false, got " + value->dump());
    return value->get<bool>();
}

std::string ConfigFile::text(std::string_view key, std::string_view default_value) const {
    const json* value = entry(key);
    if (value == nullptr) return std::string(default_value);
    if (!value->is_string()) fail("entry \"" + std::string(key) + "\" must be a string, got " + value->dump());
    return value->get<std::string>();
}

bool ConfigFile::is_text(std::string_view key) const {
    const json* value = entry(key);
    return value != nullptr && value->is_string();
}

bool ConfigFile::is_asked_for(std::string_view key) const {
    const json* value = entry(key);
    return value != nullptr && *value != false && !(value->is_structured() && value->empty());
}

std::vector<std::pair<std::string, double>> ConfigFile::numbers(std::string_view key) const {
    const json* value = entry(key);
    std::vector<std::pair<std::string, double>> all;
    if (value == nullptr) return all;
    if (!value->is_object()) fail("entry \"" + std::string(key) + "\" must be an object, got " + value->dump());
    for (const auto& [name, number] : value->items()) {
        if (!number.is_number() || !(number.get<double>() >= 0))
            fail("entry \"" + std::string(key) + "\" must have numbers of at least 0, got " + number.dump());
        all.emplace_back(name, number.get<double>());
    }
    return all;
}

std::optional<ConfigFile> ConfigFile::part(const char* key) const {
    const json* value = entry(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_object()) fail("entry \"" + std::string(key) + "\" must be an object, got " + value->dump());
    return ConfigFile(path_, *value);
}

std::vector<std::string> ConfigFile::texts(std::string_view key) const {
    const json* value = entry(key);
    std::vector<std::string> list;
    if (value == nullptr) return list;
    const bool is_list = value->is_array() &&
                         std::all_of(value->begin(), value->end(), [](const json& item) { return item.is_string(); });
    if (!is_list) fail("entry \"" + std::string(key) + "\" must be a list of strings, got " + value->dump());
    for (const json& item : *value) list.push_back(item.get<std::string>());
    return list;
}

std::vector<std::int64_t> ConfigFile::sizes(std::string_view key) const {
    const json* value = entry(key);
    if (value == nullptr) return {};
    if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_size))
        fail("entry \"" + std::string(key) + "\" must be a list of positive integers, got " + value->dump());
    return value->get<std::vector<std::int64_t>>();
}

std::string ConfigFile::shown(std::string_view key) const {
    const json* value = entry(key);
    return value == nullptr ? std::string() : value->dump();
}

bool ConfigFile::is_null(std::string_view key) const {
    const auto it = json_->find(key);
    return it != json_->end() && it->is_null();
}

std::int64_t ConfigFile::count(std::string_view key, std::int64_t default_value) const {
    const json* value = entry(key);
    if (value == nullptr) return default_value;
    constexpr std::int64_t largest = std::int64_t{1} << 31;
    if (!value->is_number_integer() || value->get<std::int64_t>() < 0 || value->get<std::int64_t>() >= largest)
        fail("entry \"" + std::string(key) + "\" must be a whole number of at least 0, got " + value->dump());
    return value->get<std::int64_t>();
}

std::vector<std::string> ConfigFile::labels() const {
    std::vector<std::string> labels;
    const json* value = entry("id2label");
    constexpr std::int64_t most = 1'000'000;
    const std::int64_t count = size("num_labels", 2);
    if (count > most)
        fail("entry \"num_labels\" must be at most " + std::to_string(most) + ", got " + std::to_string(count));
    if (value == nullptr) {
        for (std::int64_t i = 0; i < count; ++i) labels.push_back("LABEL_" + std::to_string(i));
        return labels;
    }
    if (!value->is_object() || value->empty()) fail("entry \"id2label\" must be an object that names the labels");
    if (entry("num_labels") != nullptr && static_cast<std::size_t>(count) != value->size())
        fail("entry \"num_labels\" is " + std::to_string(count) + ", but \"id2label\" names " +
             std::to_string(value->size()) + " labels");
    for (std::size_t i = 0; i < value->size(); ++i) {
        const auto it = value->find(std::to_string(i));
        if (it == value->end() || !(it->is_string() || it->is_number() || it->is_boolean()))
            fail("entry \"id2label\" must name labels 0 to " + std::to_string(value->size() - 1));
        labels.push_back(it->is_string() ? it->get<std::string>() : it->dump());
    }
    return labels;
}

}  // namespace cairn::inline v0::models
