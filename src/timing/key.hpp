#pragma once

#include "cairn/problem.hpp"
#include "timing/sqlite_file.hpp"

#include <string>
#include <string_view>

/// What rows are found by.
namespace cairn::inline v0::timing {

/// The 128-bit digest of a text, as a blob.
std::string id_of(std::string_view text);

/// The texts that a row belongs to. Errors have no policy.
struct Key {
    std::string problem, kernel, hard, soft, policy;
    std::string id() const;
};

/// What a Problem has in common with those that are computed by the same code: its text without sizes, strides and
/// numbers. `matmul | f32[4,8] f32[8,2]! -> f32[4,2]` is of the class `matmul | f32[] f32[] -> f32[]`.
std::string class_of(const Problem& problem);

/// Rows of the texts of a key, made where they are missing.
struct ParentIds {
    std::string problem, candidate, environment, policy;  ///< no policy where the key has none
};
ParentIds insert_parents(SqliteFile& file, const Key& key);

}  // namespace cairn::inline v0::timing
