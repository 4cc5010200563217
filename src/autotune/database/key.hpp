#pragma once

#include "cairn/timing_db.hpp"

#include <string>
#include <string_view>

/// Keys by which rows are found.
namespace cairn::autotune {

/// Problem text of calibration rows (autotune/measurement/calibration_records.hpp). No kernel has a problem without
/// operands.
inline constexpr std::string_view machine_problem = "machine |";

/// The 128-bit digest of a text, as 16 bytes.
std::string id_of(std::string_view text);

/// The texts that identify what a row is about. Errors have no policy.
struct Key {
    std::string problem, kernel, hard, soft, policy;
    std::string id() const;
    friend bool operator==(const Key&, const Key&) = default;
};

/// Text form of all fields of a policy.
std::string policy_text(const TimingPolicy& policy);

/// Class of a Problem: the text shared by all problems that the same code computes, without sizes, strides and numbers.
/// `matmul | f32[4,8] f32[8,2]! -> f32[4,2]` is of the class `matmul | f32[] f32[] -> f32[]`.
std::string class_of(const Problem& problem);

}  // namespace cairn::autotune
