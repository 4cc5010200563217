#pragma once

#include "cairn/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// config.json of a Hugging Face folder, entry by entry, each checked where it is read.
namespace cairn::inline v0::models {

class ConfigFile {
public:
    /// The name of an entry, and the general one that transformers takes in its place (`n_embd`, `hidden_size`).
    struct Key {
        Key(const char* entry_name, const char* general_name = nullptr) : name(entry_name), general(general_name) {}
        const char* name;
        const char* general;
    };

    /// Throws Error(file) when it cannot be read or is no JSON object.
    explicit ConfigFile(const std::filesystem::path& path);
    ~ConfigFile();

    /// A positive integer; `otherwise` where the entry is absent or null. Throws Error(file) when there is neither, and
    /// when both names of the key are there with different values.
    std::int64_t size(Key key, std::optional<std::int64_t> otherwise = {}) const;
    /// A size that a list of weights is made by, so that a wrong file cannot ask for more of them than memory holds.
    std::int64_t layers(Key key) const;
    /// A number of at least 0.
    double number(std::string_view key, double otherwise) const;
    bool flag(std::string_view key, bool otherwise) const;
    std::string text(std::string_view key, std::string_view otherwise) const;
    /// The names of the classes: `id2label` as a list; LABEL_0, LABEL_1, ... where it is absent, as many as
    /// `num_labels` says, or 2. Throws Error(file) unless the keys of `id2label` are 0, 1, ... and as many as a
    /// `num_labels` beside it.
    std::vector<std::string> labels() const;
    [[noreturn]] void fail(std::string_view what) const;
    [[noreturn]] void unsupported(std::string_view what) const;

private:
    const nlohmann::json* entry(std::string_view key) const;

    std::filesystem::path path_;
    std::unique_ptr<nlohmann::json> json_;
};

}  // namespace cairn::inline v0::models
