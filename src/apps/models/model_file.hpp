#pragma once

#include "cairn/models/checkpoint.hpp"

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::models {

/// True for a path that ends in `.gguf`.
bool is_gguf(const std::filesystem::path& path);

/// The opened weights of a model: a `.gguf` file, or a Hugging Face folder with safetensors files.
class ModelFile {
public:
    /// Throws Error(file) if there are no such files, or they are damaged.
    explicit ModelFile(const std::filesystem::path& path);

    /// The configuration that the file or the folder states: Config::read() of either.
    template <typename Config>
    Config config() const {
        return gguf_ ? Config::read(*gguf_) : Config::read(path_ / "config.json");
    }
    /// The `.gguf` file; null for a folder.
    const Gguf* gguf() const { return gguf_ ? &*gguf_ : nullptr; }
    /// Looks up the tensors of a model and sets how they are stored, by find_weights(). `prefix` and `names` are those
    /// of stored_weights().
    void find(std::vector<WeightSpec>& wanted, const std::string& prefix, std::span<const GgufName> names) const;
    /// Throws Error(file) for tensors of a safetensors file that are neither in `known`, under their own or a tied
    /// name, nor `unused`: the model would compute something else than its author's.
    void refuse_others(const std::vector<WeightSpec>& known, std::initializer_list<std::string_view> unused) const;
    /// A source of these tensors.
    WeightSource source(const std::vector<WeightSpec>& weights, const std::string& prefix,
                        std::span<const GgufName> names) const;
    /// Identifies the contents.
    std::string fingerprint() const;

private:
    std::filesystem::path path_;
    std::optional<Gguf> gguf_;
    std::optional<Safetensors> safetensors_;
};

}  // namespace cairn::inline v0::models
