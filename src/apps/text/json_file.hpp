#pragma once

#include "apps/text/file_errors.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace cairn::inline v0::text {

/// Whether anything is there; false too where the folder may not be read.
bool file_exists(const std::filesystem::path& path);

/// The bytes of a file. Throws Error (file) where it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// A JSON file, held to the rules of json_reader::parse_json, whose outermost value is an object. Throws Error (file)
/// where it is anything else.
nlohmann::json read_json_object(const std::filesystem::path& path);

/// A member of an object that may be missing or null: then `otherwise`. Throws Error (file), naming the key, where the
/// member is of another type than T: bool, std::int64_t or std::string. read_member<bool>(j, "lstrip", false, source)
template <class T>
T read_member(const nlohmann::json& object, const std::string& key, T otherwise, const std::string& source);

}  // namespace cairn::inline v0::text
