#pragma once

#include "cairn/timing_file.hpp"
#include "timing/database.hpp"
#include "timing/row_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace cairn::inline v0::timing {

/// Whether a filter asks for the row of a key, recorded then. Errors belong to no policy.
bool is_asked_for(const Key& key, std::int64_t time, const TimingFilter& filter);

}  // namespace cairn::inline v0::timing

namespace cairn::inline v0 {

/// The file that the operations work on. What they throw is an Error that names it.
struct TimingFile::State {
    State(const std::filesystem::path& path, Use use);

    timing::Database database;

    /// `work`, given the open file.
    template <typename F>
    std::invoke_result_t<F, timing::SqliteFile&> with_file(const F& work);
    /// The same in one transaction, waiting for whoever holds the lock.
    template <typename F>
    std::invoke_result_t<F, timing::SqliteFile&> with_transaction(const F& work);
    /// All rows that can be one.
    void each_row(const timing::RowVisitor& visitor) {
        with_file([&](timing::SqliteFile& file) {
            timing::read_rows(file, database.version(), visitor);
            return 0;
        });
    }
    [[noreturn]] void fail(const std::string& reason) const;
};

template <typename F>
std::invoke_result_t<F, timing::SqliteFile&> TimingFile::State::with_file(const F& work) {
    try {
        if (timing::SqliteFile* const file = database.use()) return work(*file);
    } catch (const timing::DatabaseFault& fault) { fail(fault.reason); }
    fail(database.reason());
}

template <typename F>
std::invoke_result_t<F, timing::SqliteFile&> TimingFile::State::with_transaction(const F& work) {
    return with_file([&](timing::SqliteFile& file) {
        if (!database.is_writable()) fail("it was opened to be read, or may only be read");
        timing::Transaction transaction(file);
        auto result = work(file);
        transaction.commit();
        return result;
    });
}

}  // namespace cairn::inline v0
