#include "timing/layer.hpp"

#include "timing/row_reader.hpp"

#include <fmt/format.h>

#include <utility>

namespace cairn::inline v0::timing {
namespace {

void prepare(std::optional<Statement>& statement, SqliteFile& file, std::string_view columns, std::string_view rest) {
    statement.emplace(file.prepare(fmt::format("SELECT {} FROM {}", columns, rest)));
}

}  // namespace

Layer::Lookups::Lookups(SqliteFile& file, std::int64_t version) {
    prepare(time.statement, file, fmt::format("{}, time", timing_columns),
            "measurement WHERE key=?1 ORDER BY quality DESC, samples DESC, time DESC");
    if (version < 2) return;
    prepare(error.statement, file, figures_columns, "accuracy WHERE key=?1 ORDER BY error DESC");
    prepare(broken.statement, file, figures_columns,
            "accuracy WHERE class=?1 AND error > promised ORDER BY error DESC");
    if (version < 3) return;
    prepare(choice.statement, file, fmt::format("{}, time", choice_columns), "choice WHERE key=?1 ORDER BY time DESC");
}

Layer::Layer(std::filesystem::path path, Access access, Database::Log log)
    : database_(std::move(path), access, std::move(log)) {
    database_.before_closing([this] {
        lookups_.reset();
        holds_state_ = false;
    });
}

void Layer::end_reading() {
    is_reading_ = false;
    let_go();
}

void Layer::let_go() {
    if (!std::exchange(holds_state_, false)) return;
    try {
        if (SqliteFile* const file = database_.open_file()) file->execute("COMMIT");
    } catch (const DatabaseFault& fault) { database_.fault(fault); }
}

SqliteFile* Layer::ready() {
    // A state that is held needs no look at the path.
    SqliteFile* const file = holds_state_ ? database_.open_file() : database_.use();
    if (file == nullptr) return nullptr;
    if (!lookups_) {
        lookups_.emplace(*file, database_.version());
        state_ = -1;
    }
    if (is_reading_ && !holds_state_) take_state(*file);
    return file;
}

void Layer::take_state(SqliteFile& file) {
    file.execute("BEGIN");
    holds_state_ = true;
    const std::int64_t state = file.ask("PRAGMA data_version");
    if (std::exchange(state_, state) == state) return;
    lookups_->time.known.clear();
    lookups_->error.known.clear();
    lookups_->broken.known.clear();
    lookups_->choice.known.clear();
}

template <typename F>
std::invoke_result_t<F, SqliteFile&> Layer::reading(const F& work) {
    try {
        if (SqliteFile* const file = ready()) return work(*file);
    } catch (const DatabaseFault& fault) {
        // A damaged file is closed by this, once. Only then is there no transaction left to end, which would fail too.
        database_.fault(fault);
        let_go();
    }
    return {};
}

template <typename T, typename Read>
std::optional<T> Layer::look_up(Lookup<T> Lookups::*which, const std::string& id, const Read& read) {
    return reading([&](SqliteFile&) -> std::optional<T> {
        Lookup<T>& lookup = (*lookups_).*which;
        if (!lookup.statement) return std::nullopt;
        if (is_reading_)
            if (const auto it = lookup.known.find(id); it != lookup.known.end()) return it->second;
        Statement& row = *lookup.statement;
        std::optional<T> found;
        row.bind_blob(1, id);
        while (!found && row.step()) {
            found = read(row);
            if (!found) ++nonsense_;
        }
        row.reset();
        if (is_reading_) lookup.known.emplace(id, found);
        return found;
    });
}

std::optional<Found<Timing>> Layer::best_time(const std::string& key) {
    return look_up(&Lookups::time, key, [](const Statement& row) -> std::optional<Found<Timing>> {
        Timing timing = timing_of(row);
        if (!fault_of(timing).empty()) return std::nullopt;
        return Found<Timing>{std::move(timing), row.integer(timing_column_count)};
    });
}

namespace {

std::optional<ErrorFigures> sane_figures(const Statement& row) {
    ErrorFigures figures = figures_of(row);
    if (!fault_of(figures).empty()) return std::nullopt;
    return figures;
}

}  // namespace

std::optional<ErrorFigures> Layer::worst_error(const std::string& key) {
    return look_up(&Lookups::error, key, sane_figures);
}

std::optional<ErrorFigures> Layer::worst_broken(const std::string& class_id) {
    return look_up(&Lookups::broken, class_id, sane_figures);
}

std::optional<Found<Choice>> Layer::latest_choice(const std::string& key) {
    return look_up(&Lookups::choice, key, [](const Statement& row) -> std::optional<Found<Choice>> {
        Choice choice = choice_of(row);
        if (!fault_of(choice).empty()) return std::nullopt;
        return Found<Choice>{std::move(choice), row.integer(choice_column_count)};
    });
}

std::vector<RuleRow> Layer::rules() {
    return reading([&](SqliteFile& file) {
        std::vector<RuleRow> rules;
        if (database_.version() < 3) return rules;
        Statement rows = file.prepare(fmt::format("SELECT {} FROM rule", rule_columns));
        while (rows.step()) {
            RuleRow rule = rule_of(rows);
            if (fault_of(Row(rule)).empty())
                rules.push_back(std::move(rule));
            else
                ++nonsense_;
        }
        return rules;
    });
}

std::vector<TimingEnvironment> Layer::environments() {
    return reading([](SqliteFile& file) {
        std::vector<TimingEnvironment> environments;
        Statement rows = file.prepare("SELECT hard, soft FROM environment ORDER BY hard");
        while (rows.step()) environments.push_back({rows.text(0), rows.text(1)});
        return environments;
    });
}

std::vector<TimeRow> Layer::times(const std::string& hard, const std::string& policy) {
    return reading([&](SqliteFile& file) {
        std::vector<TimeRow> times;
        Statement rows = file.prepare(fmt::format(
            "SELECT {}, time, p.text, c.kernel FROM measurement m JOIN problem p ON p.id=m.problem JOIN candidate c ON "
            "c.id=m.candidate WHERE m.environment IN (SELECT id FROM environment WHERE hard=?1) AND m.policy IN "
            "(SELECT id FROM policy WHERE text=?2)",
            timing_columns));
        rows.bind(1, hard).bind(2, policy);
        constexpr int at = timing_column_count;
        while (rows.step()) {
            TimeRow row{{rows.text(at + 1), rows.text(at + 2), hard, {}, policy}, timing_of(rows), rows.integer(at)};
            if (fault_of(Row(row)).empty())
                times.push_back(std::move(row));
            else
                ++nonsense_;
        }
        return times;
    });
}

std::int64_t Layer::size() {
    return reading([](SqliteFile& file) {
        const std::string machine = id_of(machine_problem);
        Statement row = file.prepare("SELECT count(*) FROM measurement WHERE problem != ?1");
        return row.bind_blob(1, machine).step() ? row.integer(0) : 0;
    });
}

}  // namespace cairn::inline v0::timing
