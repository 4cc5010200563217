#include "tests/apps/compare/json_schema.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <stdexcept>

namespace cairn::test {
namespace {

using nlohmann::json;

class Validator {
public:
    explicit Validator(const json& root) : root_(root) {}

    void check(const json& value, const json& schema, const std::string& path) {
        if (schema.is_boolean()) {
            if (!schema.get<bool>()) faults.push_back(path + ": is not permitted");
            return;
        }
        for (const auto& [keyword, expected] : schema.items()) check(value, schema, keyword, expected, path);
    }

    std::vector<std::string> faults;

private:
    static bool is_of(const json& value, const std::string& type) {
        if (type == "integer") return value.is_number_integer();
        if (type == "number") return value.is_number();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "array") return value.is_array();
        if (type == "object") return value.is_object();
        if (type == "null") return value.is_null();
        throw std::runtime_error("unknown type " + type);
    }

    void check(const json& value, const json& schema, const std::string& keyword, const json& expected,
               const std::string& path) {
        static const std::set<std::string> silent{"$schema", "$defs", "title", "description", "properties"};
        const auto require = [&](bool holds) {
            if (!holds) faults.push_back(path + ": " + keyword + " " + expected.dump() + ", not " + value.dump());
        };
        if (keyword == "type") {
            const json types = expected.is_array() ? expected : json::array({expected});
            require(std::ranges::any_of(types, [&](const json& type) { return is_of(value, type); }));
        } else if (keyword == "const") {
            require(value == expected);
        } else if (keyword == "enum") {
            require(std::ranges::find(expected, value) != expected.end());
        } else if (keyword == "minimum") {
            require(!value.is_number() || value.get<double>() >= expected.get<double>());
        } else if (keyword == "maximum") {
            require(!value.is_number() || value.get<double>() <= expected.get<double>());
        } else if (keyword == "pattern") {
            require(!value.is_string() ||
                    std::regex_search(value.get<std::string>(), std::regex(expected.get<std::string>())));
        } else if (keyword == "required") {
            for (const json& name : expected)
                if (value.is_object() && !value.contains(name.get<std::string>()))
                    faults.push_back(path + ": lacks " + name.get<std::string>());
        } else if (keyword == "additionalProperties") {
            check_properties(value, schema, expected, path);
        } else if (keyword == "items") {
            for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
                check(value[i], expected, path + "/" + std::to_string(i));
        } else if (keyword == "anyOf") {
            require(std::ranges::any_of(expected, [&](const json& each) {
                Validator alone(root_);
                alone.check(value, each, path);
                return alone.faults.empty();
            }));
        } else if (keyword == "$ref") {
            check(value, root_.at(json::json_pointer(expected.get<std::string>().substr(1))), path);
        } else if (!silent.contains(keyword)) {
            throw std::runtime_error("unknown keyword " + keyword);
        }
    }

    void check_properties(const json& value, const json& schema, const json& others, const std::string& path) {
        if (!value.is_object()) return;
        const json properties = schema.value("properties", json::object());
        for (const auto& [name, member] : value.items())
            check(member, properties.contains(name) ? properties[name] : others, path + "/" + name);
    }

    const json& root_;
};

}  // namespace

std::vector<std::string> schema_faults(const json& value, const json& schema) {
    Validator validator(schema);
    validator.check(value, schema, "");
    return validator.faults;
}

}  // namespace cairn::test
