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

/// Gives the tensor of a name, when it is wanted and not before. It may be called once a name and from the thread that
/// binds. A source that makes its data on demand hands it over with InputView::release.
using WeightSource = std::function<InputView(std::string_view name)>;

/// A safetensors file, or a folder of them with an index (`model.safetensors.index.json`), mapped read-only and never
/// copied: opening a file reads its header only, and views point into the map. Checked as strictly as the reference
/// loader (huggingface/safetensors): 8 length bytes, header at most 100,000,000 bytes and inside the file, valid UTF-8
/// and JSON beginning with `{`, no duplicate key, no unknown field, string metadata, known dtypes, sizes without
/// overflow, spans equal to shape x dtype, no hole, no overlap, no byte left over.
///
/// With an index, each name of its `weight_map` must be in the file it names, inside the index's folder, and in no
/// other; missing files and tensors are all named in one Error. Tensors that the index does not name are not shown.
///
/// A file that is made shorter while it is mapped ends the process with SIGBUS, as with any mapping: replace files, do
/// not truncate them. A moved-from object throws Error(argument) wherever it is used.
class CAIRN_API Safetensors {
public:
    /// A tensor as the header describes it.
    struct Tensor {
        std::string name;   ///< unique in the file
        std::string dtype;  ///< as the file spells it (`F16`, `BF16`, `F8_E4M3`, ...)
        std::vector<std::int64_t> shape;
    };

    /// Opens a `.safetensors` file, an index file, or a folder that holds `model.safetensors` or
    /// `model.safetensors.index.json`. Throws Error(file) with the path and the first thing that is wrong.
    static Safetensors open(const std::filesystem::path& path);
    Safetensors(Safetensors&&) noexcept;
    Safetensors& operator=(Safetensors&&) noexcept;
    ~Safetensors();

    /// The file or index that was opened: `DIR/model.safetensors` where open() was given DIR.
    const std::filesystem::path& path() const;
    /// All tensors, sorted by name.
    const std::vector<Tensor>& tensors() const;
    /// True when there is a tensor of that name.
    bool contains(std::string_view name) const;
    /// The names of tensors that a misspelled name most likely stands for, the likeliest first: first those that differ
    /// by a prefix (`wte.weight`, `transformer.wte.weight`), then by edit distance.
    std::vector<std::string> nearest(std::string_view name, std::size_t most = 4) const;
    /// The string metadata of that key (of the first file that has it); empty when absent.
    std::string metadata(std::string_view key) const;
    /// A tensor inside the map; valid as long as this object or a copy of its source() lives. Where the file does not
    /// align the tensor to its element size, an aligned copy, which the view's `release` frees. Throws Error(file) for
    /// an unknown name, with the names nearest to it and how many there are, and Error(unsupported) for a dtype that
    /// Cairn has no type for.
    InputView view(std::string_view name) const;
    /// view() as a WeightSource that keeps the maps open. After a view is released its pages are given back to the
    /// system.
    WeightSource source() const;
    /// 32 hexadecimal digits that tell these contents from others, found in a few milliseconds: of names, dtypes and
    /// shapes, of each file's size and time of last change, and of up to 8 stretches of 64 bytes of each tensor. A
    /// file whose time was set back after a change of single elements elsewhere is not told apart.
    std::string fingerprint() const;

private:
    struct State;
    explicit Safetensors(std::shared_ptr<const State> state);
    const State& state() const;
    std::shared_ptr<const State> state_;
};

/// A tensor to be written under a name.
struct NamedTensor {
    std::string name;
    InputView view;  ///< dense
};

/// The `__metadata__` of a safetensors file; readers in Python expect `{"format", "pt"}` there.
using SafetensorsMetadata = std::map<std::string, std::string>;

/// Writes tensors to a safetensors file: those of 8-byte elements first, then 4, 2 and 1, otherwise in the order given,
/// so that each begins at a multiple of its element size, as the reference writer does. The first begins at a multiple
/// of `alignment`, itself one of 8. The file is written beside its name and renamed when complete and on the disk. Each
/// view is released, also after a fault. Throws Error(file) when the file cannot be written, Error(argument) for a
/// repeated name, a name that is not UTF-8, a view that is not dense, or another alignment.
CAIRN_API void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                                 const SafetensorsMetadata& metadata = {}, std::size_t alignment = 8);

}  // namespace cairn::inline v0
