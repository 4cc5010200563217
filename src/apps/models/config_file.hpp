#pragma once

#include "cairn/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The config.json of a Hugging Face folder. Each entry is checked when it is read.
namespace cairn::inline v0::models {

/// The contents of a file. Throws Error(file) of that part if it cannot be read.
std::string read_text(const std::filesystem::path& path, std::string_view part);
/// The value of a JSON file. Throws Error(file) if it cannot be read or is not JSON.
nlohmann::json read_json(const std::filesystem::path& path);

class ConfigFile {
public:
    /// The name of an entry, and the general name that transformers accepts in its place (`n_embd`, `hidden_size`).
    struct Key {
        Key(const char* entry_name, const char* general_name = nullptr) : name(entry_name), general(general_name) {}
        const char* name;
        const char* general;
    };

    /// Throws Error(file) if the file cannot be read or is not a JSON object.
    explicit ConfigFile(const std::filesystem::path& path);
    ConfigFile(ConfigFile&&) noexcept;
    ~ConfigFile();

    /// A positive integer; `default_value` if the entry is absent or null. Throws Error(file) if there is no
    /// `default_value` either, and if both names of the key are present with different values.
    std::int64_t size(Key key, std::optional<std::int64_t> default_value = {}) const;
    /// A size that determines the number of weights. It is bounded, so that a wrong file cannot exhaust memory.
    std::int64_t layers(Key key, std::optional<std::int64_t> default_value = {}) const;
    /// A number that is not negative.
    double number(std::string_view key, double default_value) const;
    bool flag(std::string_view key, bool default_value) const;
    std::string text(std::string_view key, std::string_view default_value) const;
    /// True if the entry is there and not null; is_text: and is a string.
    bool has(std::string_view key) const { return entry(key) != nullptr; }
    bool is_text(std::string_view key) const;
    /// True unless the entry is absent, null, false or empty.
    bool is_asked_for(std::string_view key) const;
    /// An object of numbers that are not negative; empty if the entry is absent or null.
    std::vector<std::pair<std::string, double>> numbers(std::string_view key) const;
    /// An object in the file, whose entries are read as those of a file; nothing if the entry is absent or null.
    std::optional<ConfigFile> part(const char* key) const;
    /// A list of strings; empty if the entry is absent.
    std::vector<std::string> texts(std::string_view key) const;
    /// A list of positive integers; empty if the entry is absent.
    std::vector<std::int64_t> sizes(std::string_view key) const;
    /// The entry as JSON text; empty if it is absent or null.
    std::string shown(std::string_view key) const;
    /// True for an entry that is null.
    bool is_null(std::string_view key) const;
    /// A whole number of at least 0; `default_value` if the entry is absent or null.
    std::int64_t count(std::string_view key, std::int64_t default_value) const;
    /// The names of the classes: the values of `id2label`. If it is absent, LABEL_0, LABEL_1, ..., in the number given
    /// by `num_labels`, by default 2. Throws Error(file) unless the keys of `id2label` are 0, 1, ... and their number
    /// is `num_labels`, if that is given.
    std::vector<std::string> labels() const;
    [[noreturn]] void fail(std::string_view what) const;
    [[noreturn]] void unsupported(std::string_view what) const;

private:
    ConfigFile(const std::filesystem::path& path, const nlohmann::json& object);
    const nlohmann::json* entry(std::string_view key) const;

    std::filesystem::path path_;
    std::unique_ptr<nlohmann::json> json_;
};

}  // namespace cairn::inline v0::models
