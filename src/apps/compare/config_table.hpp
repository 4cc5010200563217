#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::compare {

/// A table of a TOML file, whose entries are checked as they are read. Each member function returns nothing for an
/// entry that is absent, and throws Error(file) with file and line for one of another type or out of range. A table is
/// valid as long as its ConfigFile.
class ConfigTable {
public:
    struct Data;
    explicit ConfigTable(std::shared_ptr<Data> data) : data_(std::move(data)) {}

    std::optional<std::string> text(std::string_view key) const;
    /// One of `choices`.
    std::optional<std::string> choice(std::string_view key, const std::vector<std::string>& choices) const;
    /// A path, relative to the folder of the file.
    std::optional<std::filesystem::path> path(std::string_view key) const;
    std::optional<bool> flag(std::string_view key) const;
    std::optional<std::int64_t> integer(std::string_view key, std::int64_t low, std::int64_t high) const;
    /// A number, which may be written as an integer.
    std::optional<double> number(std::string_view key, double low, double high) const;
    /// Different integers, at least one.
    std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::int64_t low, std::int64_t high) const;
    std::optional<std::vector<std::string>> texts(std::string_view key) const;
    /// A table of texts: `{ POSITIVE = "good", NEGATIVE = "bad" }`.
    std::optional<std::map<std::string, std::string>> text_map(std::string_view key) const;
    std::optional<ConfigTable> table(std::string_view key) const;
    /// The tables of `[[key]]`; none if there are none.
    std::vector<ConfigTable> tables(std::string_view key) const;

    /// Throws Error(file) for an entry that no call has asked for, naming the nearest one that a call has.
    void refuse_others() const;
    /// Throws Error(file) with the line of an entry.
    [[noreturn]] void fail(std::string_view key, std::string_view what) const;
    /// Throws Error(file): the entry is missing.
    [[noreturn]] void fail_missing(std::string_view key) const;

private:
    std::shared_ptr<Data> data_;
};

/// A TOML file.
class ConfigFile {
public:
    /// Parses a text. Throws Error(file) with the line if it is not TOML.
    ConfigFile(const std::string& text, const std::filesystem::path& path);
    ~ConfigFile();
    ConfigTable root() const;

private:
    struct Data;
    std::unique_ptr<Data> data_;
};

}  // namespace cairn::compare
