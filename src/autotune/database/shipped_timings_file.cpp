#include "autotune/database/row_writer.hpp"
#include "autotune/database/rules.hpp"
#include "autotune/database/schema.hpp"
#include "autotune/database/timing_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <system_error>

// Writes a database of shipped timings: the rows that are useful on other machines.
namespace cairn::inline v0 {
namespace {

using autotune::ErrorRow, autotune::Row, autotune::RuleRow, autotune::SessionRow, autotune::SqliteFile,
    autotune::TimeRow;

bool is_trustworthy(const Timing& timing, const ShippedTimingsOptions& options) {
    if (timing.status == TimingStatus::failed || timing.quality < options.min_quality) return false;
    return timing.status == TimingStatus::censored || timing.p90 - timing.p10 <= options.max_spread * timing.median;
}

/// Collects rows and keeps those to be shipped.
class ShippedRows {
public:
    explicit ShippedRows(const ShippedTimingsOptions& options) : options_(options) {}

    void operator()(const Row& row) {
        if (const auto* session = std::get_if<SessionRow>(&row)) sessions_.emplace(session->id, *session);
        if (const auto* time = std::get_if<TimeRow>(&row)) add(*time);
        if (const auto* error = std::get_if<ErrorRow>(&row)) add(*error);
        if (const auto* rule = std::get_if<RuleRow>(&row); rule != nullptr && options_.rules) rules_.push_back(*rule);
    }

    void write(autotune::RowWriter& writer) const {
        std::set<std::string> environments, sessions;
        for (const auto& [key, row] : times_) environments.insert(row.key.hard);
        const auto put = [&](const auto& row) {
            const auto session = sessions_.find(row.session);
            if (session != sessions_.end() && sessions.insert(row.session).second) writer.insert(session->second);
            writer.insert(row);
        };
        for (const auto& [key, row] : times_) put(row);
        for (const auto& [key, row] : machines_)
            if (environments.contains(row.key.hard)) put(row);
        for (const auto& [key, row] : errors_) put(row);
        const std::vector<KernelRule> in_force = autotune::rules_in_force(rules_);
        for (const RuleRow& row : rules_)
            if (!row.is_lifted && std::find(in_force.begin(), in_force.end(), row.rule) != in_force.end()) put(row);
    }

private:
    void add(const TimeRow& row) {
        // Calibration rows have one sample each and are not filtered: calibrate() has taken care of their quality.
        const bool is_machine = row.key.problem == autotune::machine_problem;
        if (!is_machine &&
            (!autotune::matches_filter(row.key, row.time, options_.times) || !is_trustworthy(row.timing, options_)))
            return;
        const auto [best, fresh] = (is_machine ? machines_ : times_).try_emplace(row.key.id(), row);
        if (!fresh && autotune::is_better(row.timing, row.time, best->second.timing, best->second.time))
            best->second = row;
    }
    void add(const ErrorRow& row) {
        if (!options_.errors || !autotune::matches_filter(row.key, row.time, options_.times)) return;
        const auto [worst, fresh] = errors_.try_emplace(row.key.id(), row);
        if (!fresh && row.figures.counted() > worst->second.figures.counted()) worst->second = row;
    }

    const ShippedTimingsOptions& options_;
    std::map<std::string, SessionRow> sessions_;
    std::map<std::string, TimeRow> times_, machines_;
    std::map<std::string, ErrorRow> errors_;
    std::vector<RuleRow> rules_;
};

/// Creates a new file and removes it in the destructor unless keep() was called.
class NewFile {
public:
    explicit NewFile(const std::filesystem::path& path) : path_(path) {
        std::FILE* const file = std::fopen(path.c_str(), "wbx");
        if (file == nullptr)
            throw Error(ErrorKind::file, "timings",
                        fmt::format("{}: {}", path.string(), std::generic_category().message(errno)));
        std::fclose(file);
    }
    ~NewFile() {
        std::error_code ignored;
        if (!is_kept_) std::filesystem::remove(path_, ignored);
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    void keep() noexcept { is_kept_ = true; }

private:
    const std::filesystem::path& path_;
    bool is_kept_ = false;
};

}  // namespace

TimingFileInfo TimingFile::write_shipped_timings(const std::filesystem::path& path,
                                                 const ShippedTimingsOptions& options) const {
    ShippedRows shipped(options);
    state_->each_row({[&](const Row& row) { shipped(row); }});
    NewFile made(path);
    try {
        // Uses the rollback journal, which is removed when the file is closed.
        SqliteFile file(path, autotune::Access::read_write);
        prepare_schema(file);
        {
            autotune::RowWriter writer(file);
            autotune::Transaction transaction(file);
            shipped.write(writer);
            transaction.commit();
        }
        file.execute("VACUUM");
    } catch (const autotune::DatabaseFault& fault) {
        throw Error(ErrorKind::file, "timings", fmt::format("{}: {}", path.string(), fault.reason));
    }
    const TimingFileInfo info = TimingFile(path, Use::read).info();
    if (info.bytes > options.max_bytes)
        throw Error(ErrorKind::file, "timings",
                    fmt::format("{}: {} bytes exceed the limit of {}: select fewer times", path.string(), info.bytes,
                                options.max_bytes));
    made.keep();
    return info;
}

}  // namespace cairn::inline v0
