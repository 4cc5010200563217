#pragma once

#include "apps/text/file_errors.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace cairn::inline v0::text {

/// True if the path exists; false also if its folder cannot be read.
bool file_exists(const std::filesystem::path& path);

/// The bytes of a file. Throws Error (file) if it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Reads a JSON file by the rules of json_reader::parse_json. Throws Error (file) unless its outermost value is an
/// object.
nlohmann::json read_json_object(const std::filesystem::path& path);

/// A member of an object; `default_value` if it is missing or null. Throws Error (file), naming the key, unless the
/// member is of type T: bool, std::int64_t or std::string. read_member<bool>(j, "lstrip", false, source)
template <class T>
T read_member(const nlohmann::json& object, const std::string& key, T default_value, const std::string& source);

}  // namespace cairn::inline v0::text
