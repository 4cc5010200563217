#include "apps/compare/config_table.hpp"

#include "cairn/error.hpp"
#include "io/suggest_names/suggest_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace cairn::compare {

struct ConfigFile::Data {
    std::filesystem::path path;
    toml::table root;
};

struct ConfigTable::Data {
    const std::filesystem::path& path;
    const toml::table& table;
    std::string name;                            ///< as messages name it: `[measure]`; empty: the file's root
    std::set<std::string, std::less<>> asked{};  ///< keys
};

namespace {

[[noreturn]] void fail_at(const std::filesystem::path& path, const toml::source_region& where, std::string_view what) {
    throw Error(ErrorKind::file, "config", fmt::format("{}:{}: {}", path.string(), where.begin.line, what));
}

/// The value of an entry, noted as asked for; null if it is absent.
const toml::node* find(ConfigTable::Data& data, std::string_view key) {
    data.asked.emplace(key);
    return data.table.get(key);
}

/// The value of `node` as T. Throws for another type; `expected` is as in "a text".
template <typename T>
T value_of(const ConfigTable& table, std::string_view key, const toml::node& node, std::string_view expected) {
    if (const auto value = node.value_exact<T>()) return *value;
    table.fail(key, fmt::format("{} must be {}", key, expected));
}

std::string range_text(auto low, auto high) { return fmt::format("{} to {}", low, high); }

}  // namespace

ConfigFile::ConfigFile(const std::string& text, const std::filesystem::path& path) : data_(new Data{path, {}}) {
    try {
        data_->root = toml::parse(text);
    } catch (const toml::parse_error& error) { fail_at(path, error.source(), error.description()); }
}

ConfigFile::~ConfigFile() = default;

ConfigTable ConfigFile::root() const {
    return ConfigTable(
        std::shared_ptr<ConfigTable::Data>(new ConfigTable::Data{data_->path, data_->root, std::string()}));
}

std::optional<std::string> ConfigTable::text(std::string_view key) const {
    const toml::node* node = find(*data_, key);
    if (node == nullptr) return {};
    return value_of<std::string>(*this, key, *node, "a text in quotes");
}

std::optional<std::string> ConfigTable::choice(std::string_view key, const std::vector<std::string>& choices) const {
    const auto value = text(key);
    if (value && std::ranges::find(choices, *value) == choices.end())
        fail(key, fmt::format("{} must be one of {}, not \"{}\"", key, fmt::join(choices, ", "), *value));
    return value;
}

std::optional<std::filesystem::path> ConfigTable::path(std::string_view key) const {
    const auto value = text(key);
    if (!value) return {};
    if (value->empty()) fail(key, fmt::format("{} must not be empty", key));
    return std::filesystem::absolute(data_->path).parent_path() / *value;
}

std::optional<bool> ConfigTable::flag(std::string_view key) const {
    const toml::node* node = find(*data_, key);
    if (node == nullptr) return {};
    return value_of<bool>(*this, key, *node, "true or false");
}

std::optional<std::int64_t> ConfigTable::integer(std::string_view key, std::int64_t low, std::int64_t high) const {
    const toml::node* node = find(*data_, key);
    if (node == nullptr) return {};
    const std::string expected = "an integer from " + range_text(low, high);
    const auto value = value_of<std::int64_t>(*this, key, *node, expected);
    if (value < low || value > high) fail(key, fmt::format("{} must be {}, not {}", key, expected, value));
    return value;
}

std::optional<double> ConfigTable::number(std::string_view key, double low, double high) const {
    const toml::node* node = find(*data_, key);
    if (node == nullptr) return {};
    const std::string expected = "a number from " + range_text(low, high);
    const double value = node->is_integer() ? static_cast<double>(value_of<std::int64_t>(*this, key, *node, expected))
                                            : value_of<double>(*this, key, *node, expected);
    if (!(value >= low && value <= high)) fail(key, fmt::format("{} must be {}, not {}", key, expected, value));
    return value;
}

std::optional<std::vector<std::int64_t>> ConfigTable::integers(std::string_view key, std::int64_t low,
                                                               std::int64_t high) const {
    const toml::node* node = find(*data_, key);
    if (node == nullptr) return {};
    const std::string expected = "a list of different integers from " + range_text(low, high);
    std::vector<std::int64_t> values;
    if (const toml::array* list = node->as_array())
        for (const toml::node& each : *list) {
            values.push_back(value_of<std::int64_t>(*this, key, each, expected));
            if (values.back() < low || values.back() > high || std::ranges::count(values, values.back()) > 1)
                fail(key, fmt::format("{} must be {}", key, expected));
        }
    if (values.empty()) fail(key, fmt::format("{} must be {}", key, expected));
    return values;
}

std::optional<std::vector<std::string>> ConfigTable::texts(std::string_view key) const {
    const toml::node* node = find(*data_, key);
    if (node == nullptr) return {};
    constexpr std::string_view expected = "a list of texts in quotes";
    const toml::array* list = node->as_array();
    if (list == nullptr) fail(key, fmt::format("{} must be {}", key, expected));
    std::vector<std::string> values;
    for (const toml::node& each : *list) values.push_back(value_of<std::string>(*this, key, each, expected));
    return values;
}

std::optional<std::map<std::string, std::string>> ConfigTable::text_map(std::string_view key) const {
    const toml::node* node = find(*data_, key);
    if (node == nullptr) return {};
    constexpr std::string_view expected = "a table of texts in quotes";
    const toml::table* table = node->as_table();
    if (table == nullptr) fail(key, fmt::format("{} must be {}", key, expected));
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : *table)
        texts[std::string(name.str())] = value_of<std::string>(*this, key, value, expected);
    return texts;
}

std::optional<ConfigTable> ConfigTable::table(std::string_view key) const {
    const toml::node* node = find(*data_, key);
    if (node == nullptr) return {};
    const toml::table* table = node->as_table();
    if (table == nullptr) fail(key, fmt::format("{} must be a table: [{}]", key, key));
    return ConfigTable(std::shared_ptr<Data>(new Data{data_->path, *table, fmt::format("[{}]", key)}));
}

std::vector<ConfigTable> ConfigTable::tables(std::string_view key) const {
    const toml::node* node = find(*data_, key);
    if (node == nullptr) return {};
    std::vector<ConfigTable> all;
    const toml::array* list = node->as_array();
    if (list == nullptr) fail(key, fmt::format("{} must be a list of tables: [[{}]]", key, key));
    for (const toml::node& each : *list) {
        const toml::table* table = each.as_table();
        if (table == nullptr) fail(key, fmt::format("{} must be a list of tables: [[{}]]", key, key));
        all.emplace_back(std::shared_ptr<Data>(new Data{data_->path, *table, fmt::format("[[{}]]", key)}));
    }
    return all;
}

void ConfigTable::refuse_others() const {
    for (const auto& [key, node] : data_->table) {
        if (data_->asked.contains(key.str())) continue;
        const std::vector<std::string_view> known(data_->asked.begin(), data_->asked.end());
        const std::string where = data_->name.empty() ? "outside of tables" : "in " + data_->name;
        fail_at(data_->path, key.source(),
                fmt::format("there is no key {} {}, the nearest is {}", key.str(), where,
                            files::suggest_names(key.str(), known, 1).front()));
    }
}

void ConfigTable::fail(std::string_view key, std::string_view what) const {
    const toml::node* node = data_->table.get(key);
    fail_at(data_->path, node == nullptr ? data_->table.source() : node->source(), what);
}

void ConfigTable::fail_missing(std::string_view key) const {
    const std::string where = data_->name.empty() ? "" : " in " + data_->name;
    fail_at(data_->path, data_->table.source(), fmt::format("{} is missing{}", key, where));
}

}  // namespace cairn::compare
