#include "apps/text/json_file.hpp"

#include "io/json_reader/dom_parser.hpp"

#include <fstream>
#include <iterator>
#include <system_error>
#include <type_traits>

namespace cairn::inline v0::text {

bool file_exists(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

std::string read_file(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        throw_bad_file(path.string(), "expected a file that can be read");
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad()) throw_bad_file(path.string(), "expected a file that can be read");
    return bytes;
}

nlohmann::json read_json_object(const std::filesystem::path& path) {
    nlohmann::json value = json_reader::parse_json(
        read_file(path), [&](const std::string& what) { throw_bad_file(path.string(), "the text " + what); });
    if (!value.is_object())
        throw_bad_file(path.string(), std::string("expected a JSON object, got ") + value.type_name());
    return value;
}

template <class T>
T read_member(const nlohmann::json& object, const std::string& key, T default_value, const std::string& source) {
    const auto member = object.find(key);
    if (member == object.end() || member->is_null()) return default_value;
    bool fits = false;
    const char* expected = "a string";
    if constexpr (std::is_same_v<T, bool>) {
        fits = member->is_boolean();
        expected = "true or false";
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        fits = member->is_number_integer();
        expected = "an integer";
    } else {
        fits = member->is_string();
    }
    if (!fits)
        throw_bad_file(
            source, "expected " + std::string(expected) + " for " + quoted_name(key) + ", got " + member->type_name());
    return member->get<T>();
}

template bool read_member(const nlohmann::json&, const std::string&, bool, const std::string&);
template std::int64_t read_member(const nlohmann::json&, const std::string&, std::int64_t, const std::string&);
template std::string read_member(const nlohmann::json&, const std::string&, std::string, const std::string&);

}  // namespace cairn::inline v0::text
