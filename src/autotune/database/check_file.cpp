#include "autotune/database/rules.hpp"
#include "autotune/database/timing_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

// Database maintenance: integrity check and garbage collection.
namespace cairn::inline v0 {
namespace {

using autotune::SqliteFile, autotune::Statement;

constexpr std::string_view better_exists = R"sql(EXISTS (SELECT 1 FROM measurement b WHERE b.key=measurement.key AND
  (b.quality, b.samples, b.time) > (measurement.quality, measurement.samples, measurement.time)))sql";
constexpr std::string_view worse_exists =
    "EXISTS (SELECT 1 FROM accuracy b WHERE b.key=accuracy.key AND (b.error, b.time) > (accuracy.error, "
    "accuracy.time))";
constexpr std::string_view later_exists =
    "EXISTS (SELECT 1 FROM choice b WHERE b.key=choice.key AND b.time > choice.time)";

// Deletes rows that nothing refers to any more.
constexpr std::string_view orphans = R"sql(
DELETE FROM session WHERE id NOT IN (SELECT session FROM measurement UNION SELECT session FROM accuracy
  UNION SELECT session FROM choice UNION SELECT session FROM rule);
DELETE FROM problem WHERE id NOT IN (SELECT problem FROM measurement UNION SELECT problem FROM accuracy);
DELETE FROM candidate WHERE id NOT IN (SELECT candidate FROM measurement UNION SELECT candidate FROM accuracy);
DELETE FROM policy WHERE id NOT IN (SELECT policy FROM measurement UNION SELECT policy FROM choice);
DELETE FROM environment WHERE id NOT IN (SELECT environment FROM measurement UNION SELECT environment FROM accuracy
  UNION SELECT environment FROM choice UNION SELECT environment FROM session);
)sql";

/// Ids of the environments that are not kept.
std::vector<std::string> other_environments(SqliteFile& file, const TimingRetention& which) {
    std::vector<std::string> ids;
    Statement rows = file.prepare("SELECT id, hard FROM environment");
    while (rows.step()) {
        const std::string hard = rows.text(1);
        const bool is_kept = autotune::matches(which.keep_environment, hard) ||
                             std::any_of(which.keep_also.begin(), which.keep_also.end(),
                                         [&](const std::string& kept) { return autotune::matches(kept, hard); });
        if (!is_kept) ids.push_back(rows.text(0));
    }
    return ids;
}

}  // namespace

std::size_t TimingFile::collect(const TimingRetention& which) {
    const std::size_t removed = state_->with_transaction([&](SqliteFile& file) {
        std::int64_t count = 0;
        const std::vector<std::string> others = other_environments(file, which);
        for (const auto& [table, is_superseded] :
             {std::pair{"measurement", better_exists}, std::pair{"accuracy", worse_exists},
              std::pair{"choice", later_exists}}) {
            file.prepare(fmt::format("DELETE FROM {} WHERE time < ?1 AND {}", table, is_superseded))
                .bind(1, which.before)
                .step();
            count += file.changes();
            for (const std::string& environment : others) {
                file.prepare(fmt::format("DELETE FROM {} WHERE environment=?1", table))
                    .bind_blob(1, environment)
                    .step();
                count += file.changes();
            }
        }
        file.execute(std::string(orphans));
        return static_cast<std::size_t>(count);
    });
    state_->with_file([](SqliteFile& file) {
        file.execute("VACUUM");
        return 0;
    });
    return removed;
}

std::vector<std::string> TimingFile::check() const {
    std::vector<std::string> faults;
    state_->with_file([&](SqliteFile& file) {
        try {
            Statement check = file.prepare("PRAGMA integrity_check(100)");
            while (check.step())
                if (const std::string line = check.text(0); line != "ok") faults.push_back(line);
        } catch (const autotune::DatabaseFault& fault) {
            if (fault.kind != autotune::FaultKind::corrupt) throw;
            faults.push_back(fault.reason);
        }
        return 0;
    });
    state_->each_row({[](const autotune::Row&) {}, [&](const std::string& fault) { faults.push_back(fault); }});
    return faults;
}

}  // namespace cairn::inline v0
