#pragma once

#include "cairn/graph.hpp"
#include "cairn/onnx/import.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace cairn::inline v0::onnx {

/// The sizes that a file names, as symbols of a graph.
class SizeNames {
public:
    SizeNames(Graph graph, const ImportOptions& options) : graph_(std::move(graph)), options_(options) {}

    /// The size of that name, the same at each call: a symbol with the bounds that the options have for it, times what
    /// it is a multiple of, or a constant if only one value is left. The symbol's name has `_` for characters that
    /// symbols cannot have. Throws Error(argument) if no value is left.
    Dim size(const std::string& name);
    /// Throws Error(argument) if the options have bounds of a size that was never asked for.
    void check_all_used() const;
    /// Symbols whose names are not those of the file.
    std::map<std::string, std::string> symbol_names() const;

private:
    Dim find(const std::string& name);
    std::string symbol_for(std::string_view name, std::int64_t multiple);

    Graph graph_;
    const ImportOptions& options_;
    std::map<std::string, Dim> sizes_;
    std::map<std::string, std::string> symbols_;  ///< by their name in the file
    std::set<std::string> taken_, declared_;
};

}  // namespace cairn::inline v0::onnx
