#pragma once

#include "cairn/types.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0 {

/// Returns the tensor of a name on demand. Called at most once for each name, from the thread that binds. A source that
/// creates data on demand passes ownership with InputView::release.
using WeightSource = std::function<InputView(std::string_view name)>;

/// A safetensors file, or a folder of them with an index (`model.safetensors.index.json`), mapped read-only and never
/// copied: opening a file reads its header only, and views point into the map. Checked as strictly as by the reference
/// loader (huggingface/safetensors): 8 length bytes, header at most 100,000,000 bytes and inside the file, valid UTF-8
/// and JSON beginning with `{`, no duplicate key, no unknown field, string metadata, known dtypes, sizes without
/// overflow, spans equal to shape x dtype, no hole, no overlap, no trailing bytes.
///
/// With an index, each name of its `weight_map` must be in the file it names, inside the index's folder, and in no
/// other; one Error lists all missing files and tensors. Tensors that the index does not name are hidden.
///
/// Truncating a mapped file ends the process with SIGBUS, as with any mapping: replace files, do not truncate them. A
/// moved-from object throws Error(argument) on any use.
class CAIRN_API Safetensors {
public:
    /// A tensor as the header describes it.
    struct Tensor {
        std::string name;   ///< unique in the file
        std::string dtype;  ///< as written in the file (`F16`, `BF16`, `F8_E4M3`, ...)
        std::vector<std::int64_t> shape;
    };

    /// Opens a `.safetensors` file, an index file, or a folder that contains `model.safetensors` or
    /// `model.safetensors.index.json`. Throws Error(file) with the path and the first fault found.
    static Safetensors open(const std::filesystem::path& path);
    Safetensors(Safetensors&&) noexcept;
    Safetensors& operator=(Safetensors&&) noexcept;
    ~Safetensors();

    /// The file or index that was opened: `DIR/model.safetensors` for open(DIR).
    const std::filesystem::path& path() const;
    /// All tensors, sorted by name.
    const std::vector<Tensor>& tensors() const;
    /// True if there is a tensor of that name.
    bool contains(std::string_view name) const;
    /// Names of tensors that a misspelled name most likely means, the likeliest first: those that differ by a prefix
    /// (`wte.weight`, `transformer.wte.weight`), then by edit distance.
    std::vector<std::string> nearest(std::string_view name, std::size_t max_count = 4) const;
    /// String metadata of that key (of the first file that has it); empty if absent.
    std::string metadata(std::string_view key) const;
    /// A view of a tensor in the map, of u8 for F8_E4M3 and F8_E5M2; valid as long as this object or a copy of its
    /// source() lives. If the file does not align the tensor to its element size, it is an aligned copy that the view's
    /// `release` frees. Throws Error(file) for an unknown name, with the nearest names and the number of tensors, and
    /// Error(unsupported) for a dtype that Cairn does not support.
    InputView view(std::string_view name) const;
    /// view() as a WeightSource that keeps the maps open. The pages of a view are returned to the system when it is
    /// released.
    WeightSource source() const;
    /// 32 hexadecimal digits that identify the contents, computed in a few milliseconds: from names, dtypes and shapes,
    /// from each file's size and time of last change, and from up to 8 samples of 64 bytes of each tensor. Does not
    /// detect a change of single elements outside these samples if the file's time was set back.
    std::string fingerprint() const;

private:
    struct State;
    explicit Safetensors(std::shared_ptr<const State> state);
    const State& state() const;
    std::shared_ptr<const State> state_;
};

/// A tensor to write, with its name.
struct NamedTensor {
    std::string name;
    InputView view;  ///< dense
};

/// The `__metadata__` of a safetensors file; readers in Python expect `{"format", "pt"}` there.
using SafetensorsMetadata = std::map<std::string, std::string>;

/// Writes tensors to a safetensors file: those of 8-byte elements first, then 4, 2 and 1, otherwise in the given order,
/// so that each begins at a multiple of its element size, as by the reference writer. The first begins at a multiple of
/// `alignment`, itself a multiple of 8. The file is written under a temporary name and renamed once complete and on
/// disk. Each view is released, also after an error. Throws Error(file) if the file cannot be written, Error(argument)
/// for a repeated name, a name that is not UTF-8, a view that is not dense, or another alignment.
CAIRN_API void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                                 const SafetensorsMetadata& metadata = {}, std::size_t alignment = 8);

}  // namespace cairn::inline v0
