#include "cairn/timing_db.hpp"

#include "timing/accuracy.hpp"
#include "timing/key.hpp"
#include "timing/schema.hpp"
#include "timing/sqlite_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <system_error>

namespace cairn::inline v0 {
namespace {

using timing::Access;
using timing::DatabaseFault;
using timing::id_of;
using timing::Key;
using timing::ParentIds;
using timing::SqliteFile;
using timing::Statement;

constexpr std::string_view columns = "status, samples, inner, min, p10, median, p90, mad, bound, quality, note";

std::string policy_text(const TimingPolicy& policy) {
    return fmt::format("threads={} {} inputs={}", policy.threads, policy.cold ? "cold" : "hot", policy.inputs);
}

bool is_better(const Timing& a, const Timing& b) {
    return a.quality != b.quality ? a.quality > b.quality : a.samples >= b.samples;
}

Timing read_timing(const Statement& row) {
    Timing timing;
    timing.status = static_cast<TimingStatus>(row.integer(0));
    timing.samples = static_cast<int>(row.integer(1));
    timing.inner = static_cast<int>(row.integer(2));
    timing.min = row.number(3);
    timing.p10 = row.number(4);
    timing.median = row.number(5);
    timing.p90 = row.number(6);
    timing.mad = row.number(7);
    timing.bound = row.number(8);
    timing.quality = static_cast<int>(row.integer(9));
    timing.note = row.text(10);
    return timing;
}

void insert(SqliteFile& file, const Key& key, const Timing& timing, std::int64_t time) {
    const ParentIds parents = timing::insert_parents(file, key);
    Statement row = file.prepare(
        "INSERT OR IGNORE INTO measurement VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18)");
    row.bind_blob(1, id_of(fmt::format("{}\n{}\n{}\n{}", key.id(), time, timing.median, timing.min)));
    row.bind_blob(2, key.id()).bind_blob(3, parents.problem).bind_blob(4, parents.candidate);
    row.bind_blob(5, parents.environment).bind_blob(6, parents.policy);
    row.bind(7, static_cast<int>(timing.status)).bind(8, timing.samples).bind(9, timing.inner);
    row.bind(10, timing.min).bind(11, timing.p10).bind(12, timing.median).bind(13, timing.p90).bind(14, timing.mad);
    row.bind(15, timing.bound).bind(16, timing.quality).bind(17, timing.note).bind(18, time);
    row.step();
}

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace

struct TimingDb::State {
    std::filesystem::path path;
    std::function<void(std::string_view)> log;
    std::unique_ptr<SqliteFile> file;
    std::unique_ptr<Statement> lookup;
    bool writable = true, faulted = false;
    std::map<std::string, Timing> memory;  // the best row of each key that was recorded or looked up
    timing::Accuracy accuracy;
    std::size_t recorded = 0;
    mutable std::mutex mutex;

    void open() {
        file = std::make_unique<SqliteFile>(path, Access::read_write);
        bool newer = false;
        try {
            timing::prepare_schema(*file, newer);
        } catch (const DatabaseFault& fault) {
            if (!newer) throw;
            writable = false;
            say("a newer version wrote it: it is read, and new rows stay in memory");
        }
        timing::check_pages(*file);
        // A file system without shared memory refuses the write-ahead log; the rollback journal then stays.
        if (writable) file->execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=OFF;");
        lookup = std::make_unique<Statement>(file->prepare(fmt::format(
            "SELECT {} FROM measurement WHERE key=?1 ORDER BY quality DESC, samples DESC, time DESC LIMIT 1",
            columns)));
        accuracy.open(*file);
        std::error_code ignored;
        std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
                                     ignored);
    }

    void close() {
        lookup.reset();
        accuracy.close();
        file.reset();
    }

    void set_aside() {
        close();
        std::filesystem::path aside = path;
        aside += ".corrupt";
        std::error_code failure;
        std::filesystem::rename(path, aside, failure);
        for (const char* tail : {"-wal", "-shm"}) {
            std::filesystem::path companion = path;
            companion += tail;
            std::error_code ignored;
            std::filesystem::remove(companion, ignored);
        }
        if (failure) throw DatabaseFault{failure.message(), false};
    }

    void say(std::string_view text) {
        if (log) log(fmt::format("timing database {}: {}", path.string(), text));
    }

    void give_up(const DatabaseFault& fault) {
        close();
        if (!std::exchange(faulted, true)) say(fault.reason + "; timings are kept in memory");
    }
};

TimingDb::TimingDb(const std::filesystem::path& path, std::function<void(std::string_view)> log)
    : state_(std::make_unique<State>()) {
    state_->path = path;
    state_->log = std::move(log);
    if (path.empty()) return;
    std::error_code ignored;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    try {
        try {
            state_->open();
        } catch (const DatabaseFault& fault) {
            if (!fault.corrupt) throw;
            state_->set_aside();
            state_->say(fault.reason + "; it was set aside as .corrupt and begun anew");
            state_->open();
        }
    } catch (const DatabaseFault& fault) { state_->give_up(fault); }
}

TimingDb::~TimingDb() { state_->close(); }

std::optional<Timing> TimingDb::find(const Problem& problem, std::string_view kernel,
                                     const TimingEnvironment& environment, const TimingPolicy& policy) const {
    return find(std::string_view(to_string(problem)), kernel, environment, policy);
}

std::optional<Timing> TimingDb::find(std::string_view problem, std::string_view kernel,
                                     const TimingEnvironment& environment, const TimingPolicy& policy) const {
    const std::string id =
        Key{std::string(problem), std::string(kernel), environment.hard, {}, policy_text(policy)}.id();
    const std::scoped_lock lock(state_->mutex);
    if (const auto it = state_->memory.find(id); it != state_->memory.end()) return it->second;
    if (state_->lookup == nullptr) return std::nullopt;
    try {
        std::optional<Timing> found;
        state_->lookup->bind_blob(1, id);
        if (state_->lookup->step()) found = read_timing(*state_->lookup);
        state_->lookup->reset();
        if (found) state_->memory.emplace(id, *found);
        return found;
    } catch (const DatabaseFault& fault) {
        state_->give_up(fault);
        return std::nullopt;
    }
}

void TimingDb::record(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                      const TimingPolicy& policy, const Timing& timing) {
    const Key key{to_string(problem), std::string(kernel), environment.hard, environment.soft, policy_text(policy)};
    const std::scoped_lock lock(state_->mutex);
    const auto [it, fresh] = state_->memory.try_emplace(key.id(), timing);
    if (!fresh && is_better(timing, it->second)) it->second = timing;
    ++state_->recorded;
    if (state_->file == nullptr || !state_->writable) return;
    try {
        state_->file->execute("BEGIN IMMEDIATE");
        insert(*state_->file, key, timing, now());
        state_->file->execute("COMMIT");
    } catch (const DatabaseFault& fault) { state_->give_up(fault); }
}

std::optional<ErrorFigures> TimingDb::find_error(const Problem& problem, std::string_view kernel,
                                                 const TimingEnvironment& environment) const {
    const Key key{to_string(problem), std::string(kernel), environment.hard, {}, {}};
    const std::scoped_lock lock(state_->mutex);
    try {
        return state_->accuracy.worst(key);
    } catch (const DatabaseFault& fault) { state_->give_up(fault); }
    return state_->accuracy.worst(key);
}

std::optional<ErrorFigures> TimingDb::broken_promise(const Problem& problem, std::string_view kernel,
                                                     const TimingEnvironment& environment) const {
    const Key key{timing::class_of(problem), std::string(kernel), environment.hard, {}, {}};
    const std::scoped_lock lock(state_->mutex);
    try {
        return state_->accuracy.worst_broken(key);
    } catch (const DatabaseFault& fault) { state_->give_up(fault); }
    return state_->accuracy.worst_broken(key);
}

void TimingDb::record_error(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                            const ErrorFigures& given) {
    // What is no number is as wrong as can be.
    ErrorFigures figures = given;
    for (double* figure : {&figures.relative, &figures.largest})
        if (std::isnan(*figure)) *figure = std::numeric_limits<double>::infinity();
    const Key key{to_string(problem), std::string(kernel), environment.hard, environment.soft, {}};
    const std::string class_text = timing::class_of(problem);
    const std::scoped_lock lock(state_->mutex);
    state_->accuracy.remember(key, class_text, figures);
    if (state_->file == nullptr || !state_->writable) return;
    try {
        state_->file->execute("BEGIN IMMEDIATE");
        timing::insert_accuracy(*state_->file, key, class_text, figures, now());
        state_->file->execute("COMMIT");
    } catch (const DatabaseFault& fault) { state_->give_up(fault); }
}

std::size_t TimingDb::merge(const std::filesystem::path& other) {
    const std::scoped_lock lock(state_->mutex);
    if (state_->file == nullptr || !state_->writable) return 0;
    std::size_t added = 0;
    try {
        SqliteFile source(other, Access::read_only);
        const std::int64_t version = source.ask("PRAGMA user_version");
        if (source.ask("PRAGMA application_id") != timing::application_id || version < 1 ||
            version > timing::schema_version)
            throw DatabaseFault{other.string() + " is no timing database of this version", false};
        timing::check_pages(source);
        Statement rows =
            source.prepare(fmt::format("SELECT {}, m.time, p.text, c.kernel, e.hard, e.soft, y.text FROM measurement m "
                                       "JOIN problem p ON p.id=m.problem "
                                       "JOIN candidate c ON c.id=m.candidate JOIN environment e ON e.id=m.environment "
                                       "JOIN policy y ON y.id=m.policy",
                                       columns));
        state_->file->execute("BEGIN IMMEDIATE");
        while (rows.step()) {
            const Key key{rows.text(12), rows.text(13), rows.text(14), rows.text(15), rows.text(16)};
            insert(*state_->file, key, read_timing(rows), rows.integer(11));
            added += static_cast<std::size_t>(state_->file->changes());
        }
        if (version >= 2) added += timing::merge_accuracy(*state_->file, source);
        state_->file->execute("COMMIT");
        state_->memory.clear();
        state_->accuracy.forget();
    } catch (const DatabaseFault& fault) {
        state_->say(fault.reason);
        try {
            state_->file->execute("ROLLBACK");
        } catch (const DatabaseFault&) { added = 0; }  // no transaction was open
        return 0;
    }
    return added;
}

void TimingDb::export_to(const std::filesystem::path& path) const {
    const std::scoped_lock lock(state_->mutex);
    if (state_->file == nullptr) return state_->say("nothing to export: rows are in memory only");
    try {
        Statement vacuum = state_->file->prepare("VACUUM INTO ?1");
        vacuum.bind(1, path.string()).step();
    } catch (const DatabaseFault& fault) { state_->say("export failed: " + fault.reason); }
}

std::size_t TimingDb::size() const {
    const std::scoped_lock lock(state_->mutex);
    if (state_->file == nullptr) return state_->recorded;
    try {
        return static_cast<std::size_t>(state_->file->ask("SELECT count(*) FROM measurement")) +
               (state_->writable ? 0 : state_->recorded);
    } catch (const DatabaseFault& fault) {
        state_->give_up(fault);
        return state_->recorded;
    }
}

bool TimingDb::persistent() const noexcept { return state_->file != nullptr && state_->writable; }

}  // namespace cairn::inline v0
