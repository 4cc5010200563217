#pragma once

#include "cairn/timing_db.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::inline v0 {

/// A recorded time. All texts are as recorded.
struct TimingRecord {
    std::string problem;     ///< text form of the Problem
    std::string kernel;      ///< Kernel::id
    std::string hard, soft;  ///< TimingEnvironment
    std::string policy;      ///< `threads=2 cold inputs=normal`
    Timing timing;           ///< the measurement
    std::int64_t time = 0;   ///< of the measurement, in nanoseconds since 1970
};

/// Selects the times that match all fields. In patterns `*` matches any text and `?` any character.
struct TimingFilter {
    std::string kernel = "*";       ///< pattern of Kernel::id
    std::string problem = "*";      ///< pattern of the Problem's text form
    std::string environment = "*";  ///< pattern of TimingEnvironment::hard
    std::string policy = "*";       ///< pattern of the policy's text
    std::int64_t since = 0;         ///< nanoseconds since 1970
    bool best_only = false;         ///< only the time that counts, for each problem, kernel, environment and policy
    /// Also select calibration results, stored as times: rows whose problem is `machine |`.
    bool with_calibrations = false;
};

/// Statistics of a database.
struct TimingFileInfo {
    std::int64_t version = 0;                                    ///< of its schema
    std::uintmax_t bytes = 0;                                    ///< file size
    std::int64_t times = 0, errors = 0, choices = 0, rules = 0;  ///< numbers of rows
    std::int64_t calibrations = 0;  ///< number of calibration rows, which are not among the times
    std::int64_t sessions = 0, problems = 0, kernels = 0;  ///< numbers of each
    std::int64_t oldest = 0, newest = 0;                   ///< time of the first and last measurement; 0: none
    std::vector<std::pair<TimingEnvironment, std::int64_t>> environments;  ///< each with its number of times
};

/// A measuring session: program, time and environment.
struct TimingSession {
    std::int64_t begun = 0;                           ///< nanoseconds since 1970
    TimingEnvironment environment;                    ///< where
    std::string version;                              ///< of the library
    std::string program;                              ///< name given by the program; may be empty
    std::int64_t times = 0, errors = 0, choices = 0;  ///< numbers of rows that it added
};

/// Selects the contents of a shipped database. The defaults admit what was measured on a quiet machine.
struct ShippedTimingsOptions {
    TimingFilter times = {};             ///< the times to choose from; `best_only` is implied
    int min_quality = 2;                 ///< see Timing::quality
    double max_spread = 0.5;             ///< of the blocks: (p90 - p10) / median
    bool errors = true;                  ///< include the largest measured error of each problem, kernel and environment
    bool rules = false;                  ///< include the rules in force
    std::uintmax_t max_bytes = 4 << 20;  ///< a larger file is not written
};

/// A difference between two databases: the best time of each for one problem, kernel, environment and policy.
struct TimingDifference {
    std::optional<TimingRecord> here;   ///< of this one, if any
    std::optional<TimingRecord> there;  ///< of the other, if any
};

/// Selects the rows that TimingFile::collect removes.
struct TimingRetention {
    std::int64_t before = 0;                  ///< older times, errors and choices, except those that still count
    std::string keep_environment = "*";       ///< and all rows of environments whose `hard` does not match this pattern
    std::vector<std::string> keep_also = {};  ///< nor any of these
};

/// Inspects and maintains a timing database file: for tools. Unlike TimingDb it throws Error(file) for every fault of
/// the file, including a missing folder and a lock held for ten seconds.
class CAIRN_API TimingFile {
public:
    /// Access mode.
    enum class Use {
        read,   ///< the file must exist and is not changed
        write,  ///< the file is created if absent, in an existing folder
    };
    /// Opens the file.
    TimingFile(const std::filesystem::path& path, Use use);
    ~TimingFile();
    TimingFile(TimingFile&& other) noexcept;
    TimingFile& operator=(TimingFile&&) = delete;

    /// Statistics of the database.
    TimingFileInfo info() const;
    /// All measuring sessions, the latest first.
    std::vector<TimingSession> sessions() const;
    /// Times in the order of problem, kernel, environment and policy; for each of these the best first.
    std::vector<TimingRecord> query(const TimingFilter& filter = {}) const;

    /// Writes all rows as text, one JSON object a line, with all digits of numbers. Equal databases give equal texts.
    /// Returns the number of rows.
    std::size_t export_rows(std::ostream& out) const;
    /// Adds the rows of an exported text that are not here yet; returns their number. If a line is invalid nothing is
    /// added: Error(file) names the line.
    std::size_t import_rows(std::istream& in);
    /// Adds the rows of another database that are not here yet; returns their number. Invalid rows are skipped.
    std::size_t merge(const TimingFile& other);
    /// Times that differ between the two databases, in the order of query().
    std::vector<TimingDifference> differences(const TimingFile& other) const;
    /// Writes all rows to a new file that is safe to copy, and readable by users who can write neither it nor its
    /// folder.
    void copy_to(const std::filesystem::path& path) const;

    /// Writes a new file for use as ContextOptions::shipped_timings: for each problem, kernel, environment and policy
    /// the best trusted time, and the calibration results of the machines. It can also be read where neither it nor its
    /// folder is writable. Throws Error(file) also if the file exists or would be too large. Returns its statistics.
    TimingFileInfo write_shipped_timings(const std::filesystem::path& path,
                                         const ShippedTimingsOptions& options = {}) const;

    /// Removes rows and releases their space; returns the number of times, errors and choices removed.
    std::size_t collect(const TimingRetention& which);
    /// Faults of the file: damaged pages, invalid rows. Empty: none.
    std::vector<std::string> check() const;

    /// The rules in force.
    std::vector<KernelRule> rules() const;
    /// Adds a rule; it replaces the one for the same patterns.
    void add_rule(const KernelRule& rule);
    /// Removes the rule for these patterns. Returns false if there is none.
    bool remove_rule(std::string_view kernel, std::string_view problem);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cairn::inline v0
