#pragma once

#include "apps/compare/implementation.hpp"

#include <optional>
#include <span>
#include <string>

namespace cairn::compare {

/// The share of rows whose expected label is the label of the answer, of the rows that have one. Nothing if none has.
std::optional<double> accuracy_of(std::span<const DataRow> rows, std::span<const Answer> answers);

/// How far two implementations agree on the same rows.
struct Agreement {
    std::string one, other;              ///< their names
    double share = 0;                    ///< of the rows on which they agree
    std::optional<double> difference{};  ///< the largest relative L2 difference of values; nothing: not comparable
};

/// Compares answers to the same rows. Answers agree if their labels (Task::classify) or tokens (Task::generate) are
/// equal, or if the relative L2 difference of their values, |a - b| / max(|a|, |b|), is at most `tolerance`.
Agreement agreement_of(std::span<const Answer> one, std::span<const Answer> other, Task task, double tolerance);

}  // namespace cairn::compare
