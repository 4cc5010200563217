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

/// Whether a filter asks for the row of a key, recorded then. Errors belong to no policy.
bool matches_filter(const Key& key, std::int64_t time, const TimingFilter& filter);

}  // namespace cairn::autotune

namespace cairn::inline v0 {

/// The file that the operations work on. What they throw is an Error that names it.
struct TimingFile::State {
    State(const std::filesystem::path& path, Use use);

    autotune::Database database;

    /// `work`, given the open file.
    template <typename F>
    std::invoke_result_t<F, autotune::SqliteFile&> with_file(const F& work);
    /// The same in one transaction, waiting for whoever holds the lock.
    template <typename F>
    std::invoke_result_t<F, autotune::SqliteFile&> with_transaction(const F& work);
    /// All rows that can be one.
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
