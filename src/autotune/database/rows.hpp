#pragma once

#include "autotune/database/key.hpp"
#include "cairn/timing_db.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

/// What a timing database holds, one row a fact that was found at some time. Rows are never changed: what counts of
/// several is a matter of who looks.
namespace cairn::autotune {

/// Nanoseconds since 1970.
std::int64_t now();

/// Who added rows, on which machine. Rows of times before the third schema have no session.
struct SessionRow {
    std::string id;  ///< a blob
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
    std::string class_text;  ///< class_of its problem
    ErrorMeasurement figures;
    std::int64_t time = 0;
    std::string session = {};
};

struct ChoiceRow {
    std::string question, hard, soft, policy;
    Choice choice;
    std::int64_t time = 0;
    std::string session = {};
    /// What it is found by.
    std::string key_id() const;
};

/// A rule, or that there is none any more for its patterns. The latest row of two patterns counts.
struct RuleRow {
    KernelRule rule;
    bool is_lifted = false;
    std::int64_t time = 0;
    std::string session = {};
};

/// What is added to the number of a verdict that is lifted.
constexpr int lifted = 16;

using Row = std::variant<SessionRow, TimeRow, ErrorRow, ChoiceRow, RuleRow>;

/// The digest of what it says: equal rows of two files are one.
std::string id_of_row(const Row& row);

/// Why these can be no row; empty where they can.
std::string why_invalid(const Timing& timing);
std::string why_invalid(const ErrorMeasurement& figures);
std::string why_invalid(const Choice& choice);
std::string why_invalid(const Row& row);

/// Whether the first counts more: by quality, then samples, then time.
bool is_better(const Timing& a, std::int64_t time_of_a, const Timing& b, std::int64_t time_of_b);

}  // namespace cairn::autotune
