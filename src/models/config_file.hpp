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
    /// Throws Error(file) when it cannot be read or is no JSON object.
    explicit ConfigFile(const std::filesystem::path& path);
    ~ConfigFile();

    /// A positive integer; `otherwise` where the entry is absent or null. Throws Error(file) when there is neither.
    std::int64_t size(std::string_view key, std::optional<std::int64_t> otherwise = {}) const;
    /// A size that a list of weights is made by, so that a wrong file cannot ask for more of them than memory holds.
    std::int64_t layers(std::string_view key) const;
    /// A number of at least 0.
    double number(std::string_view key, double otherwise) const;
    bool flag(std::string_view key, bool otherwise) const;
    std::string text(std::string_view key, std::string_view otherwise) const;
    /// `id2label` as a list; empty where absent. Throws Error(file) unless its keys are 0, 1, ...
    std::vector<std::string> labels() const;
    [[noreturn]] void fail(std::string_view what) const;
    [[noreturn]] void unsupported(std::string_view what) const;

private:
    const nlohmann::json* entry(std::string_view key) const;

    std::filesystem::path path_;
    std::unique_ptr<nlohmann::json> json_;
};

}  // namespace cairn::inline v0::models
