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

/// A time as a database holds it. All texts are as they were recorded.
struct TimingRecord {
    std::string problem;     ///< its text form
    std::string kernel;      ///< its id
    std::string hard, soft;  ///< the environment
    std::string policy;      ///< `threads=2 cold inputs=normal`
    Timing timing;           ///< what it came to
    std::int64_t time = 0;   ///< when, in nanoseconds since 1970
};

/// Which times are asked for: those that agree with all of it. In patterns `*` is any text and `?` any character.
struct TimingFilter {
    std::string kernel = "*";       ///< pattern of Kernel::id
    std::string problem = "*";      ///< pattern of the Problem's text form
    std::string environment = "*";  ///< pattern of TimingEnvironment::hard
    std::string policy = "*";       ///< pattern of the policy's text
    std::int64_t since = 0;         ///< nanoseconds since 1970
    bool best_only = false;         ///< of each problem, kernel, environment and policy the one that counts
    /// Also what calibrations found, as the time that something takes: rows whose problem is `machine |`.
    bool with_calibrations = false;
};

/// What a database holds, in numbers.
struct TimingFileInfo {
    std::int64_t version = 0;                                    ///< of its schema
    std::uintmax_t bytes = 0;                                    ///< on the disk
    std::int64_t times = 0, errors = 0, choices = 0, rules = 0;  ///< rows
    std::int64_t figures = 0;                                    ///< rows of calibrations, not among the times
    std::int64_t sessions = 0, problems = 0, kernels = 0;        ///< rows of these
    std::int64_t oldest = 0, newest = 0;                         ///< when times were measured; 0: there is none
    std::vector<std::pair<TimingEnvironment, std::int64_t>> environments;  ///< and how many times are of each
};

/// Who measured, when and where.
struct TimingSession {
    std::int64_t begun = 0;                           ///< nanoseconds since 1970
    TimingEnvironment environment;                    ///< where
    std::string version;                              ///< of the library
    std::string program;                              ///< as the program calls itself; may be empty
    std::int64_t times = 0, errors = 0, choices = 0;  ///< rows it added
};

/// What goes into a seed. The defaults let in what was measured on a quiet machine.
struct ShippedTimingsOptions {
    TimingFilter times = {};             ///< of these; `best_only` is implied
    int min_quality = 2;                 ///< see Timing::quality
    double max_spread = 0.5;             ///< of its blocks: (p90 - p10) / median
    bool errors = true;                  ///< and the largest error measured of each problem, kernel and environment
    bool rules = false;                  ///< and the rules in force
    std::uintmax_t max_bytes = 4 << 20;  ///< a file that would be larger is not written
};

/// What two databases know differently: the best time that each has, of one problem, kernel, environment and policy.
struct TimingDifference {
    std::optional<TimingRecord> here;   ///< of this one, if it has any
    std::optional<TimingRecord> there;  ///< of the other
};

/// Which rows TimingFile::collect removes.
struct TimingRetention {
    std::int64_t before = 0;             ///< times, errors and choices made earlier, but for the ones that count still
    std::string keep_environment = "*";  ///< and all those of environments whose `hard` does not match this pattern
};

/// A timing database as a file to look into and to tend: what a program's own tools need. Where TimingDb goes on
/// without its file this one throws: Error(file) for whatever is wrong with it, a missing folder and a lock that is
/// held for ten seconds among it.
class CAIRN_API TimingFile {
public:
    /// What the file is opened for.
    enum class Use {
        read,   ///< it must exist, and is not changed
        write,  ///< it is made if absent, in a folder that exists
    };
    /// Opens it.
    TimingFile(const std::filesystem::path& path, Use use);
    ~TimingFile();
    TimingFile(TimingFile&& other) noexcept;
    TimingFile& operator=(TimingFile&&) = delete;

    /// How much there is of what.
    TimingFileInfo info() const;
    /// Who measured, the latest first.
    std::vector<TimingSession> sessions() const;
    /// Times, in the order of problem, kernel, environment, policy, the best of each first.
    std::vector<TimingRecord> query(const TimingFilter& filter = {}) const;

    /// All rows as text, one JSON object a line; numbers with all their digits. Equal databases give equal texts.
    std::size_t export_rows(std::ostream& out) const;
    /// Adds the rows of such a text that are not here yet: all of them or, where a line is wrong, none: Error(file)
    /// tells which. The number added.
    std::size_t import_rows(std::istream& in);
    /// Adds the rows of another database that are not here yet; the number added. Rows that can be none stay there.
    std::size_t merge(const TimingFile& other);
    /// What the two know differently, in the order of query().
    std::vector<TimingDifference> differences(const TimingFile& other) const;
    /// Writes all rows to a new file that is safe to copy, and to be read by who may write neither it nor its folder.
    void copy_to(const std::filesystem::path& path) const;

    /// Writes a new file to be shipped and read as ContextOptions::shipped_timings: of each problem, kernel,
    /// environment and policy the best time that can be trusted, with what calibrations found of the machines. It is
    /// read also where neither it nor its folder may be written. Throws Error(file) too where there is such a file, and
    /// for one that would have too many bytes. What it holds, its size among it.
    TimingFileInfo write_shipped_timings(const std::filesystem::path& path,
                                         const ShippedTimingsOptions& options = {}) const;

    /// Removes rows and gives the space back; the number of times, errors and choices removed.
    std::size_t collect(const TimingRetention& which);
    /// What is wrong with it: damaged pages, rows that can be none. Empty: all is well.
    std::vector<std::string> check() const;

    /// The rules in force.
    std::vector<KernelRule> rules() const;
    /// Adds a rule, in place of the one for the same patterns.
    void add_rule(const KernelRule& rule);
    /// Lifts the rule for these patterns. False: there is none.
    bool remove_rule(std::string_view kernel, std::string_view problem);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cairn::inline v0
