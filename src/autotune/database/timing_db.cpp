#include "cairn/timing_db.hpp"

#include "autotune/database/database_reader.hpp"
#include "autotune/database/journal.hpp"
#include "autotune/database/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

namespace cairn::inline v0 {
namespace {

using autotune::Access, autotune::ChoiceRow, autotune::ErrorRow, autotune::Timestamped, autotune::Key,
    autotune::DatabaseReader, autotune::RuleRow, autotune::TimeRow;

template <typename T>
using Cache = std::map<std::string, T>;

/// Sets `worst` to the larger of two errors, either of which may be unknown.
void update_worst(std::optional<ErrorMeasurement>& worst, const std::optional<ErrorMeasurement>& other) {
    if (other && (!worst || other->counted() > worst->counted())) worst = other;
}

template <typename T>
std::optional<T> find_in(const Cache<T>& known, const std::string& id) {
    const auto it = known.find(id);
    return it == known.end() ? std::nullopt : std::optional<T>(it->second);
}

void keep_worse(Cache<ErrorMeasurement>& known, const std::string& id, const ErrorMeasurement& figures) {
    std::optional<ErrorMeasurement> worst = figures;
    update_worst(worst, find_in(known, id));
    known[id] = *worst;
}

}  // namespace

struct TimingDb::State {
    State(const std::filesystem::path& path, std::function<void(std::string_view)> sink, TimingDbOptions options)
        : log(std::move(sink)), journal(add_reader(path), std::move(options.program)) {
        for (const std::filesystem::path& shipped : options.shipped_timings)
            if (!shipped.empty()) readers.emplace_back(shipped, Access::read_only, log);
    }
    DatabaseReader* add_reader(const std::filesystem::path& path) {
        return path.empty() ? nullptr : own = &readers.emplace_back(path, Access::read_write, log);
    }
    /// Calls `find_row` for each file and passes each result to `visit`. Repeats the query if the own file was
    /// quarantined.
    template <typename FindRow, typename Visit>
    void query_all(const FindRow& find_row, const Visit& visit) {
        for (DatabaseReader& reader : readers) {
            auto answer = find_row(reader);
            if (&reader == own && own->database().has_quarantined()) {
                journal.flush();
                answer = find_row(reader);
            }
            visit(answer);
        }
    }
    /// True if a value is valid as a row. An invalid one is counted, and the first one is logged.
    template <typename T>
    bool is_valid(const T& figures) {
        const std::string fault = autotune::why_invalid(figures);
        if (fault.empty()) return true;
        ++invalid_rows;
        if (log && !std::exchange(has_refused, true)) log("invalid measurement, not recorded: " + fault);
        return false;
    }

    std::function<void(std::string_view)> log;
    std::deque<DatabaseReader> readers;  // the own file first, if there is one; a deque keeps addresses stable
    DatabaseReader* own = nullptr;
    autotune::Journal journal;
    // The best of what this process recorded, by id. Kept in memory, so that it survives the loss of the file.
    Cache<Timestamped<Timing>> times;
    Cache<ErrorMeasurement> errors, violations;
    Cache<Timestamped<Choice>> choices;
    std::size_t recorded = 0, invalid_rows = 0;
    bool has_refused = false;
    int readings = 0;
    mutable std::mutex mutex;
};

TimingDb::TimingDb(const std::filesystem::path& path, std::function<void(std::string_view)> log,
                   TimingDbOptions options)
    : state_(std::make_unique<State>(path, std::move(log), std::move(options))) {
    for (DatabaseReader& reader : state_->readers) reader.database().use();
    state_->journal.flush();
}

TimingDb::~TimingDb() {
    try {
        state_->journal.flush_at_last();
    } catch (...) {  // exceptions of the log callback are dropped
    }
}

TimingDb::ReadSnapshot::ReadSnapshot(const TimingDb& db) : db_(&db) {
    const std::scoped_lock lock(db_->state_->mutex);
    if (db_->state_->readings++ == 0)
        for (DatabaseReader& reader : db_->state_->readers) reader.begin_snapshot();
}

TimingDb::ReadSnapshot::ReadSnapshot(ReadSnapshot&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}

TimingDb::ReadSnapshot::~ReadSnapshot() {
    if (db_ == nullptr) return;
    const std::scoped_lock lock(db_->state_->mutex);
    if (--db_->state_->readings > 0) return;
    try {
        for (DatabaseReader& reader : db_->state_->readers) reader.end_snapshot();
    } catch (...) {  // exceptions of the log callback are dropped
    }
}

std::optional<Timing> TimingDb::find(const Problem& problem, std::string_view kernel,
                                     const TimingEnvironment& environment, const TimingPolicy& policy) const {
    return find(std::string_view(to_string(problem)), kernel, environment, policy);
}

std::optional<Timing> TimingDb::find(std::string_view problem, std::string_view kernel,
                                     const TimingEnvironment& environment, const TimingPolicy& policy) const {
    const std::string id =
        Key{std::string(problem), std::string(kernel), environment.hard, {}, autotune::policy_text(policy)}.id();
    const std::scoped_lock lock(state_->mutex);
    std::optional<Timestamped<Timing>> best = find_in(state_->times, id);
    state_->query_all(
        [&](DatabaseReader& reader) { return reader.best_time(id); },
        [&](std::optional<Timestamped<Timing>>& found) {
            if (found && (!best || autotune::is_better(found->value, found->time, best->value, best->time)))
                best = std::move(found);
        });
    return best ? std::optional<Timing>(std::move(best->value)) : std::nullopt;
}

void TimingDb::record(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                      const TimingPolicy& policy, const Timing& timing) {
    TimeRow row{
        {to_string(problem), std::string(kernel), environment.hard, environment.soft, autotune::policy_text(policy)},
        timing,
        autotune::now()};
    const std::scoped_lock lock(state_->mutex);
    if (!state_->is_valid(timing)) return;
    const auto [it, fresh] = state_->times.try_emplace(row.key.id(), Timestamped<Timing>{timing, row.time});
    if (!fresh && autotune::is_better(timing, row.time, it->second.value, it->second.time))
        it->second = {timing, row.time};
    if (row.key.problem != autotune::machine_problem) ++state_->recorded;
    state_->journal.add(std::move(row), environment);
    state_->journal.flush();
}

std::optional<ErrorMeasurement> TimingDb::find_error(const Problem& problem, std::string_view kernel,
                                                     const TimingEnvironment& environment) const {
    const std::string id = Key{to_string(problem), std::string(kernel), environment.hard, {}, {}}.id();
    const std::scoped_lock lock(state_->mutex);
    std::optional<ErrorMeasurement> worst = find_in(state_->errors, id);
    state_->query_all([&](DatabaseReader& reader) { return reader.worst_error(id); },
                      [&](const std::optional<ErrorMeasurement>& found) { update_worst(worst, found); });
    return worst;
}

std::optional<ErrorMeasurement> TimingDb::find_error_violation(const Problem& problem, std::string_view kernel,
                                                               const TimingEnvironment& environment) const {
    const std::string id = Key{autotune::class_of(problem), std::string(kernel), environment.hard, {}, {}}.id();
    const std::scoped_lock lock(state_->mutex);
    std::optional<ErrorMeasurement> worst = find_in(state_->violations, id);
    state_->query_all([&](DatabaseReader& reader) { return reader.worst_violation(id); },
                      [&](const std::optional<ErrorMeasurement>& found) { update_worst(worst, found); });
    return worst;
}

void TimingDb::record_error(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                            const ErrorMeasurement& given) {
    // A NaN error is recorded as infinity.
    ErrorMeasurement figures = given;
    for (double* figure : {&figures.relative, &figures.largest})
        if (std::isnan(*figure)) *figure = std::numeric_limits<double>::infinity();
    ErrorRow row{{to_string(problem), std::string(kernel), environment.hard, environment.soft, {}},
                 autotune::class_of(problem),
                 figures,
                 autotune::now()};
    const std::scoped_lock lock(state_->mutex);
    if (!state_->is_valid(figures)) return;
    keep_worse(state_->errors, row.key.id(), figures);
    if (figures.counted() > figures.promised)
        keep_worse(state_->violations, Key{row.class_text, row.key.kernel, environment.hard, {}, {}}.id(), figures);
    state_->journal.add(std::move(row), environment);
    state_->journal.flush();
}

std::optional<Choice> TimingDb::find_choice(std::string_view question, const TimingEnvironment& environment,
                                            const TimingPolicy& policy) const {
    const std::string id =
        ChoiceRow{std::string(question), environment.hard, {}, autotune::policy_text(policy), {}}.key_id();
    const std::scoped_lock lock(state_->mutex);
    std::optional<Timestamped<Choice>> latest = find_in(state_->choices, id);
    state_->query_all([&](DatabaseReader& reader) { return reader.latest_choice(id); },
                      [&](std::optional<Timestamped<Choice>>& found) {
                          if (found && (!latest || found->time > latest->time)) latest = std::move(found);
                      });
    return latest ? std::optional<Choice>(std::move(latest->value)) : std::nullopt;
}

void TimingDb::record_choice(std::string_view question, const TimingEnvironment& environment,
                             const TimingPolicy& policy, const Choice& choice) {
    ChoiceRow row{std::string(question),         environment.hard, environment.soft,
                  autotune::policy_text(policy), choice,           autotune::now()};
    const std::scoped_lock lock(state_->mutex);
    if (!state_->is_valid(choice)) return;
    state_->choices[row.key_id()] = {choice, row.time};
    state_->journal.add(std::move(row), environment);
    state_->journal.flush();
}

std::vector<TimingEnvironment> TimingDb::environments() const {
    const std::scoped_lock lock(state_->mutex);
    if (state_->own == nullptr) return {};
    if (state_->own->database().has_quarantined()) state_->journal.flush();
    return state_->own->environments();
}

std::vector<TimingEnvironment> TimingDb::shipped_environments() const {
    const std::scoped_lock lock(state_->mutex);
    std::map<std::string, TimingEnvironment> by_hard;
    for (DatabaseReader& reader : state_->readers)
        if (&reader != state_->own)
            for (TimingEnvironment& each : reader.environments()) by_hard.try_emplace(each.hard, each);
    std::vector<TimingEnvironment> environments;
    for (auto& [hard, environment] : by_hard) environments.push_back(std::move(environment));
    return environments;
}

std::vector<ShippedTiming> TimingDb::shipped_timings_of(const TimingEnvironment& environment,
                                                        const TimingPolicy& policy) const {
    const std::scoped_lock lock(state_->mutex);
    std::vector<TimeRow> rows;
    for (DatabaseReader& reader : state_->readers)
        if (&reader != state_->own)
            for (TimeRow& row : reader.times(environment.hard, autotune::policy_text(policy)))
                rows.push_back(std::move(row));
    std::sort(rows.begin(), rows.end(), [](const TimeRow& a, const TimeRow& b) {
        if (const auto order = std::tie(a.key.problem, a.key.kernel) <=> std::tie(b.key.problem, b.key.kernel);
            order != 0)
            return order < 0;
        return autotune::is_better(a.timing, a.time, b.timing, b.time);
    });
    std::vector<ShippedTiming> times;
    for (TimeRow& row : rows)
        if (times.empty() || times.back().problem != row.key.problem || times.back().kernel != row.key.kernel)
            times.push_back({std::move(row.key.problem), std::move(row.key.kernel), std::move(row.timing)});
    return times;
}

std::vector<KernelRule> TimingDb::rules() const {
    const std::scoped_lock lock(state_->mutex);
    std::vector<RuleRow> rows;
    state_->query_all([](DatabaseReader& reader) { return reader.rules(); },
                      [&](const std::vector<RuleRow>& found) { rows.insert(rows.end(), found.begin(), found.end()); });
    for (const autotune::Row& row : state_->journal.rows())
        if (const auto* rule = std::get_if<RuleRow>(&row)) rows.push_back(*rule);
    return autotune::rules_in_force(rows);
}

void TimingDb::add_rule(const KernelRule& rule) {
    const std::scoped_lock lock(state_->mutex);
    state_->journal.add(RuleRow{rule, false, autotune::now()}, {});
    state_->journal.flush();
}

bool TimingDb::remove_rule(std::string_view kernel, std::string_view problem) {
    for (const KernelRule& rule : rules()) {
        if (rule.kernel != kernel || rule.problem != problem) continue;
        const std::scoped_lock lock(state_->mutex);
        state_->journal.add(RuleRow{rule, true, autotune::now()}, {});
        state_->journal.flush();
        return true;
    }
    return false;
}

bool TimingDb::flush() {
    const std::scoped_lock lock(state_->mutex);
    if (state_->own != nullptr) state_->own->database().try_again();
    return state_->journal.flush();
}

std::size_t TimingDb::unwritten() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->own == nullptr ? state_->journal.rows().size() : state_->journal.unwritten();
}

std::size_t TimingDb::invalid_rows() const {
    const std::scoped_lock lock(state_->mutex);
    std::size_t count = state_->invalid_rows;
    for (const DatabaseReader& reader : state_->readers) count += static_cast<std::size_t>(reader.invalid_rows());
    return count;
}

std::size_t TimingDb::size() const {
    const std::scoped_lock lock(state_->mutex);
    if (state_->own == nullptr) return state_->recorded;
    const auto in_file = static_cast<std::size_t>(state_->own->size());
    const std::vector<autotune::Row>& rows = state_->journal.rows();
    return in_file + static_cast<std::size_t>(
                         std::count_if(rows.end() - static_cast<std::ptrdiff_t>(state_->journal.unwritten()),
                                       rows.end(), [](const autotune::Row& row) {
                                           const auto* time = std::get_if<TimeRow>(&row);
                                           return time != nullptr && time->key.problem != autotune::machine_problem;
                                       }));
}

bool TimingDb::persistent() const noexcept {
    const std::scoped_lock lock(state_->mutex);
    return state_->own != nullptr && state_->own->database().is_writable();
}

}  // namespace cairn::inline v0
