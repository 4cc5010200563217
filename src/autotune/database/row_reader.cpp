#include "autotune/database/row_reader.hpp"

#include <fmt/format.h>

#include <limits>
#include <unordered_map>

namespace cairn::autotune {
namespace {

/// Converts to int; -1, which no valid count is, if the value is out of range.
int small(std::int64_t value) {
    return value >= 0 && value <= std::numeric_limits<int>::max() ? static_cast<int>(value) : -1;
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

/// Reads the rows of one table, each once. A damaged page ends a scan; the remaining rows are read from the other end.
class Scan {
public:
    Scan(SqliteFile& file, const RowVisitor& visitor) : file_(file), visitor_(visitor) {}

    /// Calls `row` with the id and the statement for each row. The id must be the first of `columns`.
    template <typename F>
    void table(const std::string& name, const std::string& columns, const F& row) {
        std::string last;
        if (!scan_forward(name, columns, last, row)) scan_backward(name, columns, last, row);
    }
    void fault(const std::string& text) const {
        if (visitor_.fault) visitor_.fault(text);
    }

private:
    /// Ascending scan. False if damage ended it after the row `last`.
    template <typename F>
    bool scan_forward(const std::string& name, const std::string& columns, std::string& last, const F& row) {
        try {
            Statement rows = file_.prepare(fmt::format("SELECT {} FROM {} ORDER BY id", columns, name));
            for (; rows.step(); last = rows.text(0)) row(rows.text(0), rows);
            return true;
        } catch (const DatabaseFault& fault) {
            if (fault.kind != FaultKind::corrupt) throw;
            this->fault(fmt::format("{}: {}", name, fault.reason));
            return false;
        }
    }
    /// Descending scan from the last row to the damage, or to `last`.
    template <typename F>
    void scan_backward(const std::string& name, const std::string& columns, const std::string& last, const F& row) {
        try {
            Statement rows = file_.prepare(fmt::format("SELECT {} FROM {} ORDER BY id DESC", columns, name));
            while (rows.step() && rows.text(0) > last) row(rows.text(0), rows);
        } catch (const DatabaseFault& fault) {
            if (fault.kind != FaultKind::corrupt) throw;
        }
    }

    SqliteFile& file_;
    const RowVisitor& visitor_;
};

using Texts = std::unordered_map<std::string, std::string>;

/// The texts that rows refer to, by id.
struct Parents {
    Texts problems, kernels, hard, soft, policies;

    explicit Parents(Scan& scan) {
        const auto texts = [&](const char* table, const char* column, Texts& to) {
            scan.table(table, fmt::format("id, {}", column),
                       [&](const std::string& id, const Statement& row) { to.emplace(id, row.text(1)); });
        };
        texts("problem", "text", problems);
        texts("candidate", "kernel", kernels);
        texts("policy", "text", policies);
        scan.table("environment", "id, hard, soft", [&](const std::string& id, const Statement& row) {
            hard.emplace(id, row.text(1));
            soft.emplace(id, row.text(2));
        });
    }
};

/// Resolves the references of one row; records whether all of them exist.
class ReferenceResolver {
public:
    const std::string& in(const Texts& texts, const std::string& id) {
        const auto it = texts.find(id);
        if (it != texts.end()) return it->second;
        is_whole_ = false;
        return none_;
    }
    bool is_whole() const noexcept { return is_whole_; }

private:
    bool is_whole_ = true;
    std::string none_;
};

class Reader {
public:
    Reader(SqliteFile& file, std::int64_t version, const RowVisitor& visitor)
        : scan_(file, visitor), visitor_(visitor), parents_(scan_), session_(version < 3 ? "x''" : "session") {}

    void sessions() {
        scan_.table(
            "session", "id, environment, version, program, time", [&](const std::string& id, const Statement& row) {
                ReferenceResolver referred;
                visit("session", id, referred,
                      SessionRow{id, referred.in(parents_.hard, row.text(1)), referred.in(parents_.soft, row.text(1)),
                                 row.text(2), row.text(3), row.integer(4)});
            });
    }
    void times() {
        scan_.table("measurement",
                    fmt::format("id, {}, problem, candidate, environment, policy, time, {}", timing_columns, session_),
                    [&](const std::string& id, const Statement& row) {
                        constexpr int at = 1 + timing_column_count;
                        ReferenceResolver referred;
                        Key key = this->key(referred, row, at);
                        key.policy = referred.in(parents_.policies, row.text(at + 3));
                        visit("measurement", id, referred,
                              TimeRow{std::move(key), timing_of(row, 1), row.integer(at + 4), row.text(at + 5)});
                    });
    }
    void errors() {
        scan_.table(
            "accuracy",
            fmt::format("id, {}, problem, candidate, environment, class_text, time, {}", error_columns, session_),
            [&](const std::string& id, const Statement& row) {
                constexpr int at = 1 + figures_column_count;
                ReferenceResolver referred;
                Key key = this->key(referred, row, at);
                visit("accuracy", id, referred,
                      ErrorRow{std::move(key), row.text(at + 3), error_of(row, 1), row.integer(at + 4),
                               row.text(at + 5)});
            });
    }
    void choices() {
        scan_.table("choice", fmt::format("id, {}, question, environment, policy, time, session", choice_columns),
                    [&](const std::string& id, const Statement& row) {
                        constexpr int at = 1 + choice_column_count;
                        ReferenceResolver referred;
                        visit("choice", id, referred,
                              ChoiceRow{row.text(at), referred.in(parents_.hard, row.text(at + 1)),
                                        referred.in(parents_.soft, row.text(at + 1)),
                                        referred.in(parents_.policies, row.text(at + 2)), choice_of(row, 1),
                                        row.integer(at + 3), row.text(at + 4)});
                    });
    }
    void rules() {
        scan_.table("rule", fmt::format("id, {}, session", rule_columns),
                    [&](const std::string& id, const Statement& row) {
                        RuleRow rule = rule_of(row, 1);
                        rule.session = row.text(6);
                        visit("rule", id, {}, std::move(rule));
                    });
    }

private:
    /// Key from three columns starting at `at`: problem, candidate, environment.
    Key key(ReferenceResolver& referred, const Statement& row, int at) const {
        const std::string environment = row.text(at + 2);
        return {referred.in(parents_.problems, row.text(at)),
                referred.in(parents_.kernels, row.text(at + 1)),
                referred.in(parents_.hard, environment),
                referred.in(parents_.soft, environment),
                {}};
    }
    void visit(std::string_view table, const std::string& id, const ReferenceResolver& referred, Row row) const {
        std::string fault = referred.is_whole() ? why_invalid(row) : "a row it refers to is missing";
        if (fault.empty()) {
            visitor_.row(row);
            if (visitor_.fault && id_of_row(row) != id) fault = "its id is not the digest of its key, time and figures";
        }
        if (!fault.empty()) scan_.fault(fmt::format("{} {}: {}", table, hex(id), fault));
    }

    Scan scan_;
    const RowVisitor& visitor_;
    Parents parents_;
    std::string session_;
};

}  // namespace

Timing timing_of(const Statement& row, int first) {
    Timing timing;
    const int status = small(row.integer(first));
    timing.status = status >= 0 && status <= 255 ? static_cast<TimingStatus>(status) : TimingStatus{255};
    timing.samples = small(row.integer(first + 1));
    timing.inner = small(row.integer(first + 2));
    timing.min = row.number(first + 3);
    timing.p10 = row.number(first + 4);
    timing.median = row.number(first + 5);
    timing.p90 = row.number(first + 6);
    timing.mad = row.number(first + 7);
    timing.bound = row.number(first + 8);
    timing.quality = small(row.integer(first + 9));
    timing.note = row.text(first + 10);
    return timing;
}

ErrorMeasurement error_of(const Statement& row, int first) {
    return {row.number(first), row.number(first + 1), row.number(first + 2), row.text(first + 3), row.text(first + 4)};
}

Choice choice_of(const Statement& row, int first) {
    return {row.text(first), row.number(first + 1), row.number(first + 2), row.number(first + 3),
            small(row.integer(first + 4))};
}

RuleRow rule_of(const Statement& row, int first) {
    RuleRow rule;
    rule.rule = {row.text(first), row.text(first + 1), RuleAction{255}, row.text(first + 3)};
    const int action = small(row.integer(first + 2));
    rule.is_lifted = action >= lifted;
    if (action >= 0 && action < 2 * lifted) rule.rule.action = static_cast<RuleAction>(action % lifted);
    rule.time = row.integer(first + 4);
    return rule;
}

void read_rows(SqliteFile& file, std::int64_t version, const RowVisitor& visitor) {
    Reader reader(file, version, visitor);
    if (version >= 3) reader.sessions();
    reader.times();
    if (version >= 2) reader.errors();
    if (version < 3) return;
    reader.choices();
    reader.rules();
}

}  // namespace cairn::autotune
