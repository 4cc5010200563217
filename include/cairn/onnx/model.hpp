#pragma once

#include "cairn/types.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// ONNX files (onnx.ai): opened here, and made graphs by import.hpp.
namespace cairn::inline v0::onnx {

/// A size in the declared shape of an input or output.
struct Dimension {
    std::optional<std::int64_t> value;  ///< a number that the file states
    std::string name;                   ///< else its name (`dim_param`); empty: none is given
};

/// An input or output as the file declares it.
struct Port {
    std::string name;            ///< unique among the inputs, or outputs
    std::string type;            ///< name of the element type in ONNX: `FLOAT`, `INT64`; empty for other than tensors
    std::optional<DType> dtype;  ///< the dtype with the same elements; empty: there is none
    bool has_shape = false;      ///< false: the rank is not known either
    std::vector<Dimension> shape;
};

class ModelFile;

/// An ONNX file, mapped read-only. It is parsed and checked when it is opened; weights stay in the file and are views
/// of the mapping. A copy is a handle to the same file.
///
///     const onnx::Model file = onnx::Model::open("detector.onnx");
class CAIRN_API Model {
public:
    /// Throws Error(file) for a file that cannot be mapped, that is no ONNX model (IR versions 3 to 14), whose values
    /// are undefined, defined twice or in a cycle; all such faults in one message.
    static Model open(const std::filesystem::path& path);

    /// The file's name.
    const std::string& name() const noexcept;
    /// Inputs without those that have an initializer, and outputs, in the order of the file.
    const std::vector<Port>& inputs() const noexcept;
    const std::vector<Port>& outputs() const noexcept;
    /// Versions of operator sets by domain; the domain `ai.onnx` is the empty one.
    const std::map<std::string, std::int64_t>& opsets() const noexcept;
    /// The file's metadata (`metadata_props`).
    const std::map<std::string, std::string>& metadata() const noexcept;
    /// Number of nodes of the main graph, and bytes of all weights.
    std::size_t node_count() const noexcept;
    std::size_t weight_bytes() const noexcept;

    /// The parsed file, for import().
    const std::shared_ptr<const ModelFile>& file() const noexcept { return file_; }

private:
    explicit Model(std::shared_ptr<const ModelFile> file) noexcept : file_(std::move(file)) {}
    std::shared_ptr<const ModelFile> file_;
};

}  // namespace cairn::inline v0::onnx
