#pragma once

#include "autotune/database/database.hpp"
#include "autotune/database/row_reader.hpp"
#include "cairn/timing_file.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace cairn::autotune {

/// True if a filter selects a row with this key and time. The policy pattern does not apply to errors, which have no
/// policy.
bool matches_filter(const Key& key, std::int64_t time, const TimingFilter& filter);

}  // namespace cairn::autotune

namespace cairn::inline v0 {

/// State of a TimingFile: the database file. Errors thrown by its operations name the file.
struct TimingFile::State {
    State(const std::filesystem::path& path, Use use);

    autotune::Database database;

    /// Calls `work` with the open file.
    template <typename F>
    std::invoke_result_t<F, autotune::SqliteFile&> with_file(const F& work);
    /// As with_file(), in one transaction; waits for locks.
    template <typename F>
    std::invoke_result_t<F, autotune::SqliteFile&> with_transaction(const F& work);
    /// Visits all valid rows.
    void each_row(const autotune::RowVisitor& visitor) {
        with_file([&](autotune::SqliteFile& file) {
            autotune::read_rows(file, database.version(), visitor);
            return 0;
        });
    }
    [[noreturn]] void fail(const std::string& reason) const;
};

template <typename F>
std::invoke_result_t<F, autotune::SqliteFile&> TimingFile::State::with_file(const F& work) {
    try {
        if (autotune::SqliteFile* const file = database.use()) return work(*file);
    } catch (const autotune::DatabaseFault& fault) { fail(fault.reason); }
    fail(database.reason());
}

template <typename F>
std::invoke_result_t<F, autotune::SqliteFile&> TimingFile::State::with_transaction(const F& work) {
    return with_file([&](autotune::SqliteFile& file) {
        if (!database.is_writable()) fail("it was opened to be read, or may only be read");
        autotune::Transaction transaction(file);
        auto result = work(file);
        transaction.commit();
        return result;
    });
}

}  // namespace cairn::inline v0
