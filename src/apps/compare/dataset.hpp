#pragma once

#include "apps/compare/settings.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cairn::compare {

/// One row of the data.
struct DataRow {
    std::string text{};                  ///< empty for Task::run
    nlohmann::json inputs{};             ///< of Task::run: an object, nested lists of numbers by the names of inputs
    std::optional<std::string> label{};  ///< expected; nothing: unknown
};

/// The rows of a comparison, with a digest of all that is compared.
struct Dataset {
    std::vector<DataRow> rows;
    std::string sha256;  ///< of the file, in hexadecimal
    bool has_labels() const;
};

/// Reads the first `limit` rows of the file; empty lines are skipped. Throws Error(file) with the line for one that is
/// no JSON object, lacks the text or the inputs, or has a label that is no text, and for a file without rows.
Dataset read_dataset(const DataSettings& settings, Task task);

}  // namespace cairn::compare
