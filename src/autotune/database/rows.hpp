#pragma once

#include "autotune/database/key.hpp"
#include "cairn/timing_db.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

/// Rows of a timing database. Each row is one fact found at one time and never changes; the reader decides which of
/// several rows counts.
namespace cairn::autotune {

/// Nanoseconds since 1970.
std::int64_t now();

/// The origin of rows: program, version and machine. Rows written before schema version 3 have no session.
struct SessionRow {
    std::string id;  ///< a digest of 16 bytes
    std::string hard, soft, version, program;
    std::int64_t time = 0;
    friend bool operator==(const SessionRow&, const SessionRow&) = default;
};

struct TimeRow {
    Key key;
    Timing timing;
    std::int64_t time = 0;
    std::string session = {};
};

struct ErrorRow {
    Key key;
    std::string class_text;  ///< class_of() its problem
    ErrorMeasurement figures;
    std::int64_t time = 0;
    std::string session = {};
};

struct ChoiceRow {
    std::string question, hard, soft, policy;
    Choice choice;
    std::int64_t time = 0;
    std::string session = {};
    /// Id of the key: question, environment and policy.
    std::string key_id() const;
};

/// A rule, or its removal. The latest row for a pair of patterns counts.
struct RuleRow {
    KernelRule rule;
    bool is_lifted = false;
    std::int64_t time = 0;
    std::string session = {};
};

/// Added to the stored number of a RuleAction if the rule was removed.
constexpr int lifted = 16;

using Row = std::variant<SessionRow, TimeRow, ErrorRow, ChoiceRow, RuleRow>;

/// The digest of a row's contents: equal rows of two files have the same id.
std::string id_of_row(const Row& row);

/// Why a value is invalid as a row; empty if it is valid.
std::string why_invalid(const Timing& timing);
std::string why_invalid(const ErrorMeasurement& figures);
std::string why_invalid(const Choice& choice);
std::string why_invalid(const Row& row);

/// True if the first timing takes precedence: by quality, then samples, then time.
bool is_better(const Timing& a, std::int64_t time_of_a, const Timing& b, std::int64_t time_of_b);

}  // namespace cairn::autotune
