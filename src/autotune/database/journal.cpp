#include "autotune/database/journal.hpp"

#include "autotune/database/row_reader.hpp"
#include "autotune/database/schema.hpp"
#include "cairn/context.hpp"

#include <fmt/format.h>

#include <chrono>
#include <random>
#include <thread>

namespace cairn::autotune {
namespace {

constexpr std::chrono::seconds max_final_wait{10};

}  // namespace

Journal::Journal(DatabaseReader* reader, std::string program) : reader_(reader), program_(std::move(program)) {
    if (reader_ == nullptr) return;
    reader_->database().before_closing([this] {
        writer_.reset();
        written_ = 0;
    });
}

const std::string& Journal::session_of(const TimingEnvironment& environment) {
    std::string& id = sessions_[{environment.hard, environment.soft}];
    if (!id.empty()) return id;
    std::random_device random;
    const std::int64_t time = now();
    id = id_of(fmt::format("{}\n{}\n{}\n{}", environment.hard, time, random(), random()));
    rows_.emplace_back(SessionRow{id, environment.hard, environment.soft, std::string(version()), program_, time});
    return id;
}

bool Journal::flush() {
    if (reader_ == nullptr || !has_work()) return true;
    Database& database = reader_->database();
    // Checks the file even if all rows are written: the path may name another file now.
    for (int attempt = 0; attempt < 2; ++attempt) {
        reader_->release_snapshot();
        SqliteFile* const file = database.use_for_writing();
        if (file == nullptr) break;
        try {
            if (const auto quarantined = database.take_quarantined()) salvage(*file, *quarantined);
            write(*file);
            return true;
        } catch (const DatabaseFault& fault) {
            database.fault(fault);
            if (fault.kind != FaultKind::corrupt) break;
        }
    }
    return unwritten() == 0;
}

void Journal::write(SqliteFile& file) {
    if (unwritten() == 0) return;
    if (!writer_) writer_.emplace(file);
    Transaction transaction(file);
    for (std::size_t i = written_; i < rows_.size(); ++i) writer_->insert(rows_[i]);
    transaction.commit();
    written_ = rows_.size();
    reader_->database().wait_for_locks();
}

/// Copies the readable rows of a damaged file to the one that replaced it.
void Journal::salvage(SqliteFile& file, const Database::QuarantinedFile& quarantined) {
    std::size_t saved = 0;
    try {
        SqliteFile damaged(quarantined.path, Access::read_only);
        const std::int64_t version = readable_version(damaged);
        RowWriter writer(file);
        Transaction transaction(file);
        read_rows(damaged, version, {[&](const Row& row) { saved += writer.insert(row) ? 1 : 0; }});
        transaction.commit();
    } catch (const DatabaseFault&) { saved = 0; }
    reader_->clear_lookups();
    reader_->database().log_once(fmt::format("{}; it was set aside as .corrupt and created again with {} rows of it",
                                             quarantined.reason, saved));
}

void Journal::flush_at_last() {
    if (reader_ == nullptr) return;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + max_final_wait;
    Database& database = reader_->database();
    do {
        database.try_again();
        database.wait_for_locks();
        if (flush()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    } while (database.last_fault() == FaultKind::busy && Clock::now() < end);
    // For other faults the log already says that rows stay in memory.
    if (database.last_fault() == FaultKind::busy || database.last_fault() == FaultKind::full)
        database.log_once(fmt::format("{} rows could not be written", unwritten()));
}

}  // namespace cairn::autotune
