#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::test {

/// A model folder of one layer, which compiles quickly. Tests damage it before it is written.
struct TinyModel {
    struct Tensor {
        std::string name;
        std::vector<std::int64_t> shape;
        std::vector<float> values;
    };
    nlohmann::json config;
    std::vector<Tensor> tensors;
    std::map<std::string, std::string> files;  ///< in addition to, or in place of, config.json and model.safetensors

    Tensor& tensor(std::string_view name);
    void erase(std::string_view name);
    /// The header of model.safetensors, and the file's bytes with that or another header.
    nlohmann::json header() const;
    std::string weights() const { return weights(header().dump()); }
    std::string weights(const std::string& header) const;
    /// Writes all files to a folder, which is created if needed.
    void write(const std::filesystem::path& folder) const;
};

/// Width 8, 16 positions, the vocabulary of examples/models/shakespeare-gpt2.
TinyModel tiny_gpt2();

/// Width 8, 256 positions, the tokenizer of tests/data/transformers5/llama3, and a chat template.
TinyModel tiny_llama();

/// Width 8, 16 positions, labels NO and YES, words `a` to `z`.
TinyModel tiny_distilbert();

}  // namespace cairn::test
