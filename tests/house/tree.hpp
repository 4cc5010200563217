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

/// The files that a rule checks: the repository, by read_tree(), or a small tree of a test that violates the rule.
using Tree = std::vector<File>;

/// Violations of a rule, one sentence each, starting with the path. Empty: none.
using Faults = std::vector<std::string>;

/// All sources, build files, scripts and documents under `root`, sorted by path; no data and no build outputs.
Tree read_tree(const std::string& root);

/// True for a path below `folder` (`src/graph/ir` contains `src/graph/ir/print.cpp`, not `src/iron.cpp`).
bool is_under(std::string_view path, std::string_view folder);
/// `src/graph/ir` of `src/graph/ir/print.cpp`; empty for a file in the root.
std::string folder_of(std::string_view path);
/// `print.cpp` of `src/graph/ir/print.cpp`.
std::string name_of(std::string_view path);
/// True for C++ and CUDA sources and headers.
bool is_source(std::string_view path);

}  // namespace cairn::house
