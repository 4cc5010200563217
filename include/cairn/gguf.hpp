#pragma once

#include "cairn/weights.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0 {

/// A GGUF file (ggml-org/ggml, docs/gguf.md), the format of llama.cpp, or all files of a split model, mapped read-only
/// and never copied: opening reads keys, values and the list of tensors, and views point into the map.
///
///     const auto file = Gguf::open("model.Q4_K_M.gguf");
///     file.text("general.architecture");               // "gpt2"
///     file.integer("gpt2.block_count");                // 12
///     file.view("blk.0.attn_qkv.weight").shape;        // {2304, 3, 144}: 3 blocks of 256 elements in 144 bytes a row
///
/// Versions 2 and 3, little-endian. Every count, length, size and offset is checked against the file before it is used:
/// keys and names are given once; tensors have at most four axes and a known type, rows of whole blocks, sizes without
/// overflow, and data that begins at the alignment, inside the file, without overlap.
///
/// Truncating a mapped file ends the process with SIGBUS, as with any mapping: replace files, do not truncate them. A
/// moved-from object throws Error(argument) on any use.
class CAIRN_API Gguf {
public:
    /// A tensor as the file lists it.
    struct Tensor {
        std::string name;                 ///< unique
        std::string type;                 ///< ggml's name: `F32`, `BF16`, `Q4_K`
        std::vector<std::int64_t> shape;  ///< in elements; the last axis is contiguous (files list sizes in reverse)
    };

    /// Opens a `.gguf` file; of a model split into files `NAME-00001-of-00003.gguf` any of them, and with it the others
    /// in its folder. Throws Error(file) with the path and the first fault found, or all missing files.
    static Gguf open(const std::filesystem::path& path);
    Gguf(Gguf&&) noexcept;
    Gguf& operator=(Gguf&&) noexcept;
    ~Gguf();

    /// The file that was opened.
    const std::filesystem::path& path() const;
    /// All tensors, sorted by name.
    const std::vector<Tensor>& tensors() const;
    /// True if there is a tensor of that name.
    bool contains(std::string_view name) const;
    /// Names of tensors that a misspelled name most likely means, as Safetensors::nearest.
    std::vector<std::string> nearest(std::string_view name, std::size_t max_count = 4) const;

    /// All keys of the metadata, sorted. Of a split model, those of its first file.
    std::vector<std::string> keys() const;
    /// True if there is a value of that key.
    bool has(std::string_view key) const;
    /// The value of a key: an integer of any size, a number (of any integer or float type), a bool, a string. Throws
    /// Error(file) if the key is absent, naming the nearest ones, or if its value is of another type or, as an integer,
    /// beyond 64 bits signed. Strings are not checked to be UTF-8.
    std::int64_t integer(std::string_view key) const;
    double number(std::string_view key) const;
    bool flag(std::string_view key) const;
    std::string text(std::string_view key) const;
    /// The elements of an array, likewise.
    std::vector<std::int64_t> integers(std::string_view key) const;
    std::vector<double> numbers(std::string_view key) const;
    std::vector<std::string> texts(std::string_view key) const;

    /// A view of a tensor in the map; valid as long as this object or a copy of its source() lives. Tensors of F32,
    /// F16, BF16, F64, I8, I32 and I64 have that dtype; those of blocks are the bytes of their blocks, u8 with the last
    /// axis [K] replaced by [K / elements of a block, bytes of a block]. Copied if the file does not align it to its
    /// element size. Throws Error(file) for an unknown name, and Error(unsupported) for I16, for which Cairn has no
    /// dtype.
    InputView view(std::string_view name) const;
    /// view() as a WeightSource that keeps the maps open. The pages of a view are returned to the system when it is
    /// released.
    WeightSource source() const;
    /// 32 hexadecimal digits that identify the contents of all tensors, as Safetensors::fingerprint.
    std::string fingerprint() const;

private:
    struct State;
    explicit Gguf(std::shared_ptr<const State> state);
    const State& state() const;
    std::shared_ptr<const State> state_;
};

}  // namespace cairn::inline v0
