#pragma once

#include "cairn/timing_db.hpp"

#include <string>
#include <string_view>

/// What rows are found by.
namespace cairn::autotune {

/// The Problem, in its text form, of rows that are figures of a machine (machine.hpp): no kernel has one without
/// operands.
inline constexpr std::string_view machine_problem = "machine |";

/// The 128-bit digest of a text, as a blob.
std::string id_of(std::string_view text);

/// The texts that a row belongs to. Errors have no policy.
struct Key {
    std::string problem, kernel, hard, soft, policy;
    std::string id() const;
    friend bool operator==(const Key&, const Key&) = default;
};

/// All that a policy says, as text.
std::string policy_text(const TimingPolicy& policy);

/// What a Problem has in common with those that are computed by the same code: its text without sizes, strides and
/// numbers. `matmul | f32[4,8] f32[8,2]! -> f32[4,2]` is of the class `matmul | f32[] f32[] -> f32[]`.
std::string class_of(const Problem& problem);

}  // namespace cairn::autotune
