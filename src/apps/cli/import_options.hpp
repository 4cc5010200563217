#pragma once

#include "cairn/onnx/import.hpp"

#include <deque>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cairn::cli {

/// Options of an import as written on the command line.
struct ImportTexts {
    std::vector<std::string> sizes;   ///< `N=1`, `N=1..64`, `H=32..1280/32`, `M=N`
    std::vector<std::string> values;  ///< `sr=16000`, `axes=0,1`
};

/// `--size`, `--value`.
void add_import_options(CLI::App& app, ImportTexts& texts);

/// ImportOptions of these texts, with the memory of their values.
class ImportValues {
public:
    /// Throws Error(argument) for a text that is no size or value, and for a value of an input that the model does not
    /// have, that has more than one axis, or whose dtype cannot hold it.
    ImportValues(const ImportTexts& texts, const onnx::Model& model);
    ImportValues(const ImportValues&) = delete;
    ImportValues& operator=(const ImportValues&) = delete;

    const onnx::ImportOptions& options() const noexcept { return options_; }

private:
    void add_value(const std::string& text, const onnx::Model& model);

    std::deque<std::vector<std::byte>> elements_;
    onnx::ImportOptions options_;
};

}  // namespace cairn::cli
