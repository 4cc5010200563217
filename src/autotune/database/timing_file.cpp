#include "autotune/database/timing_file.hpp"

#include "autotune/database/row_writer.hpp"
#include "autotune/database/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <tuple>

namespace cairn::autotune {

bool matches_filter(const Key& key, std::int64_t time, const TimingFilter& filter) {
    return time >= filter.since && matches(filter.kernel, key.kernel) && matches(filter.problem, key.problem) &&
           matches(filter.environment, key.hard) && (key.policy.empty() || matches(filter.policy, key.policy));
}

}  // namespace cairn::autotune

namespace cairn::inline v0 {
namespace {

using autotune::Access, autotune::Row, autotune::RuleRow, autotune::SqliteFile, autotune::Statement, autotune::TimeRow;

constexpr int max_wait_ms = 10'000;

std::int64_t or_zero(std::int64_t value) { return std::max<std::int64_t>(value, 0); }

}  // namespace

TimingFile::State::State(const std::filesystem::path& path, Use use)
    : database(path, use == Use::read ? Access::read_only : Access::read_write, {}) {}

void TimingFile::State::fail(const std::string& reason) const {
    throw Error(ErrorKind::file, "timings", fmt::format("{}: {}", database.shown_path(), reason));
}

TimingFile::TimingFile(const std::filesystem::path& path, Use use) : state_(std::make_unique<State>(path, use)) {
    std::error_code ignored;
    // A file that is not a timing database is left untouched: opening it for reading throws.
    if (use == Use::write && std::filesystem::exists(path, ignored)) TimingFile(path, Use::read);
    state_->database.wait_for_locks(max_wait_ms);
    state_->with_file([](SqliteFile&) { return 0; });
    if (use == Use::write && !state_->database.is_writable()) state_->fail("it may only be read");
}

TimingFile::~TimingFile() = default;
TimingFile::TimingFile(TimingFile&& other) noexcept = default;

TimingFileInfo TimingFile::info() const {
    return state_->with_file([&](SqliteFile& file) {
        TimingFileInfo info;
        const std::int64_t version = state_->database.version();
        std::error_code ignored;
        info.bytes = std::filesystem::file_size(state_->database.path(), ignored);
        info.version = file.ask("PRAGMA user_version");
        const std::string machine = autotune::id_of(autotune::machine_problem);
        const auto ask = [&](std::string_view what) {
            Statement row = file.prepare(what);
            return row.bind_blob(1, machine).step() ? row.integer(0) : 0;
        };
        info.times = ask("SELECT count(*) FROM measurement WHERE problem != ?1");
        info.calibrations = ask("SELECT count(*) FROM measurement WHERE problem = ?1");
        info.problems = ask("SELECT count(*) FROM problem WHERE id != ?1");
        info.kernels = ask(
            "SELECT count(*) FROM candidate WHERE id NOT IN (SELECT candidate FROM measurement WHERE problem = ?1)");
        info.oldest = or_zero(ask("SELECT min(time) FROM measurement WHERE problem != ?1"));
        info.newest = or_zero(ask("SELECT max(time) FROM measurement WHERE problem != ?1"));
        if (version >= 2) info.errors = file.ask("SELECT count(*) FROM accuracy");
        if (version >= 3) {
            info.choices = file.ask("SELECT count(*) FROM choice");
            info.rules = file.ask("SELECT count(*) FROM rule");
            info.sessions = file.ask("SELECT count(*) FROM session");
        }
        Statement rows = file.prepare(
            "SELECT e.hard, e.soft, count(m.id) AS times FROM environment e LEFT JOIN measurement m ON "
            "m.environment=e.id AND m.problem != ?1 GROUP BY e.id HAVING times > 0 ORDER BY times DESC, e.id");
        rows.bind_blob(1, machine);
        while (rows.step())
            info.environments.emplace_back(TimingEnvironment{rows.text(0), rows.text(1)}, rows.integer(2));
        return info;
    });
}

std::vector<TimingSession> TimingFile::sessions() const {
    std::map<std::string, TimingSession> by_id;
    const auto count = [&](const std::string& session, std::int64_t TimingSession::*rows) {
        if (const auto it = by_id.find(session); it != by_id.end()) ++(it->second.*rows);
    };
    // Sessions come before the rows that belong to them.
    state_->each_row({[&](const Row& row) {
        if (const auto* session = std::get_if<autotune::SessionRow>(&row))
            by_id[session->id] = {session->time, {session->hard, session->soft}, session->version, session->program};
        if (const auto* time = std::get_if<TimeRow>(&row))
            if (time->key.problem != autotune::machine_problem) count(time->session, &TimingSession::times);
        if (const auto* error = std::get_if<autotune::ErrorRow>(&row)) count(error->session, &TimingSession::errors);
        if (const auto* choice = std::get_if<autotune::ChoiceRow>(&row))
            count(choice->session, &TimingSession::choices);
    }});
    std::vector<TimingSession> sessions;
    for (auto& [id, session] : by_id) sessions.push_back(std::move(session));
    std::stable_sort(sessions.begin(), sessions.end(),
                     [](const TimingSession& a, const TimingSession& b) { return a.begun > b.begun; });
    return sessions;
}

std::vector<TimingRecord> TimingFile::query(const TimingFilter& filter) const {
    std::vector<TimingRecord> records;
    state_->each_row({[&](const Row& row) {
        const auto* time = std::get_if<TimeRow>(&row);
        if (time == nullptr) return;
        const autotune::Key& key = time->key;
        if (!filter.with_calibrations && key.problem == autotune::machine_problem) return;
        if (!autotune::matches_filter(key, time->time, filter)) return;
        records.push_back({key.problem, key.kernel, key.hard, key.soft, key.policy, time->timing, time->time});
    }});
    const auto sort_key = [](const TimingRecord& record) {
        return std::tie(record.problem, record.kernel, record.hard, record.policy);
    };
    std::sort(records.begin(), records.end(), [&](const TimingRecord& a, const TimingRecord& b) {
        if (sort_key(a) != sort_key(b)) return sort_key(a) < sort_key(b);
        return autotune::is_better(a.timing, a.time, b.timing, b.time);
    });
    if (filter.best_only)
        records.erase(
            std::unique(records.begin(), records.end(),
                        [&](const TimingRecord& a, const TimingRecord& b) { return sort_key(a) == sort_key(b); }),
            records.end());
    return records;
}

std::vector<KernelRule> TimingFile::rules() const {
    std::vector<RuleRow> rows;
    state_->each_row({[&](const Row& row) {
        if (const auto* rule = std::get_if<RuleRow>(&row)) rows.push_back(*rule);
    }});
    return autotune::rules_in_force(rows);
}

void TimingFile::add_rule(const KernelRule& rule) {
    state_->with_transaction([&](SqliteFile& file) {
        return autotune::RowWriter(file).insert(RuleRow{rule, false, autotune::now()});
    });
}

bool TimingFile::remove_rule(std::string_view kernel, std::string_view problem) {
    for (const KernelRule& rule : rules()) {
        if (rule.kernel != kernel || rule.problem != problem) continue;
        return state_->with_transaction([&](SqliteFile& file) {
            return autotune::RowWriter(file).insert(RuleRow{rule, true, autotune::now()});
        });
    }
    return false;
}

}  // namespace cairn::inline v0
