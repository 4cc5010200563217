#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cairn::house {

/// One file of the repository: its path from the root (`src/graph/ir/print.cpp`) and its text.
struct File {
    std::string path;
    std::string text;
};

/// What a rule reads. Tests hand in small trees that break the rule; the real one comes from read_tree().
using Tree = std::vector<File>;

/// What a rule found, one sentence each, beginning with the path. Empty: the rule is kept.
using Faults = std::vector<std::string>;

/// All sources, build files, scripts and documents under `root`, sorted by path; no data, nothing that was built.
Tree read_tree(const std::string& root);

/// True for a path below `folder` (`src/graph/ir` holds `src/graph/ir/print.cpp`, not `src/iron.cpp`).
bool is_under(std::string_view path, std::string_view folder);
/// `src/graph/ir` of `src/graph/ir/print.cpp`; empty for a file in the root.
std::string folder_of(std::string_view path);
/// `print.cpp` of `src/graph/ir/print.cpp`.
std::string name_of(std::string_view path);
/// True for C++ and CUDA sources and headers.
bool is_source(std::string_view path);

}  // namespace cairn::house
