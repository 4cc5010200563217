#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/weights.hpp"
#include "io/mapped_file/mapped_file.hpp"

namespace cairn::weights {

/// A tensor of a mapped file, proved to lie inside it.
struct StoredTensor {
    std::string name;
    std::string_view type;             ///< the file format's name of its type
    std::optional<DType> dtype;        ///< of its elements in Cairn; none: Cairn has no type for it
    std::vector<std::int64_t> shape;   ///< in elements of `dtype`
    std::size_t file = 0;              ///< index of the file
    std::uint64_t begin = 0, end = 0;  ///< bytes from the start of the file
};

/// The tensors of one or more mapped files, by name: what the formats share once their headers are read.
class TensorTable {
public:
    /// `format` begins the text of errors; `path` names the whole in them. Tensors have different names.
    TensorTable(std::string_view format, std::filesystem::path path, std::vector<std::unique_ptr<files::MappedFile>> files,
                std::vector<StoredTensor> tensors);

    const std::filesystem::path& path() const noexcept { return path_; }
    /// Sorted by name.
    const std::vector<StoredTensor>& tensors() const noexcept { return tensors_; }
    /// The tensor of a name; null if there is none.
    const StoredTensor* find(std::string_view name) const noexcept;
    std::vector<std::string> nearest(std::string_view name, std::size_t max_count) const;
    /// A view in the map, or an aligned copy if the file does not align the tensor to its elements. Throws Error(file)
    /// for an unknown name, with the nearest ones, and Error(unsupported) for a tensor without a dtype.
    InputView view(std::string_view name) const;
    /// view() as a WeightSource that shares ownership of the table; see Safetensors::source().
    static WeightSource source(std::shared_ptr<const TensorTable> table);
    /// Identifies the contents; see Safetensors::fingerprint().
    std::string fingerprint() const;

private:
    std::span<const std::byte> bytes(const StoredTensor& tensor) const;
    [[noreturn]] void throw_missing(std::string_view name, bool with_nearest) const;
    InputView view_of(const StoredTensor& tensor) const;

    std::string_view format_;
    std::filesystem::path path_;
    std::vector<std::unique_ptr<files::MappedFile>> files_;
    std::vector<StoredTensor> tensors_;
};

}  // namespace cairn::weights
