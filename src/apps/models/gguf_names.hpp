#pragma once

#include "cairn/version.hpp"

#include <filesystem>

namespace cairn::inline v0::models {

/// True for a path that ends in `.gguf`.
bool is_gguf(const std::filesystem::path& path);

}  // namespace cairn::inline v0::models
