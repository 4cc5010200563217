#pragma once

#include "cairn/kernel.hpp"
#include "cairn/problem.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0 {

/// How a measurement was made. Times of different policies are never mixed.
struct TimingPolicy {
    int threads = 1;                ///< number of threads that ran the kernel together
    bool cold = true;               ///< operands rotated through more memory than the last-level cache holds
    std::string inputs = "normal";  ///< how operands were filled
    friend bool operator==(const TimingPolicy&, const TimingPolicy&) = default;
};

/// The machine and build that a time is valid for, as text: the device and its usable CPUs, threads, library version,
/// and the build of the code.
struct TimingEnvironment {
    std::string hard;  ///< a row is used only if this is equal
    std::string soft;  ///< kernel release, governor, microcode: for information only
};

/// Result of a measurement: times, none (`note` gives the reason), or a lower bound.
enum class TimingStatus : std::uint8_t { ok, failed, censored };

/// One measurement. All times are in seconds.
struct Timing {
    TimingStatus status = TimingStatus::ok;                 ///< determines which of the fields below are valid
    int samples = 0;                                        ///< blocks timed
    int inner = 1;                                          ///< runs per block
    double min = 0, p10 = 0, median = 0, p90 = 0, mad = 0;  ///< of the blocks; mad: median absolute deviation
    double bound = 0;                                       ///< if censored: a lower bound of the time
    /// 2: normal. 1: the machine was busy. 0: coarse, from Mode::quick or a very short budget. Ignored if a measurement
    /// of better quality exists.
    int quality = 2;
    std::string note;  ///< reason of a failure
};

/// Measured error of a kernel that states one, against its definition in float64, on one Problem.
struct ErrorMeasurement {
    double relative = 0;   ///< L2 norm of y - r divided by that of r, for the output where it is largest
    double largest = 0;    ///< largest |y - r| / max(|r|, RMS r) of all elements
    double promised = 0;   ///< value of Kernel::error
    std::string inputs;    ///< how operands were filled: `uniform`
    std::string compared;  ///< the Problem that was run: the same, or one with smaller sizes
    /// The error as defined at Kernel::error and Tolerance: the larger of `relative` and a tenth of `largest`.
    double counted() const noexcept { return relative > largest / 10 ? relative : largest / 10; }
};

/// A recorded choice between alternatives: the one found to be faster, for a question that can be asked again. Question
/// and answer are texts defined by the caller (digests, for example).
struct Choice {
    std::string answer;        ///< what was chosen
    double ratio = 1;          ///< time of the answer divided by that of what it was compared with: 0.9 is a tenth less
    double low = 1, high = 1;  ///< interval that contains `ratio`
    int samples = 0;           ///< pairs timed; 0: none, the safe answer was chosen
    friend bool operator==(const Choice&, const Choice&) = default;
};

/// Effect of a rule on the kernels that it names.
enum class RuleAction : std::uint8_t {
    ban,  ///< never use them on these Problems
    pin,  ///< on a Problem that one of them supports, use only them
};
/// `ban`, `pin`.
CAIRN_API std::string_view to_string(RuleAction action) noexcept;

/// A user's rule about kernels. It takes precedence over times, in every compile that reads the database. In patterns
/// `*` matches any text and `?` any character.
///
///     {"cpu.eigen_*", "matmul | f32[1,*", RuleAction::ban, "slow on one row"}
struct KernelRule {
    std::string kernel = "*";             ///< pattern of Kernel::id
    std::string problem = "*";            ///< pattern of a Problem's text form, with plain or with packed operands
    RuleAction action = RuleAction::ban;  ///< effect of the rule
    std::string reason = {};              ///< repeated in refusals
    /// True if both patterns match.
    CAIRN_API bool covers(std::string_view kernel_id, std::string_view problem_text) const noexcept;
    friend bool operator==(const KernelRule&, const KernelRule&) = default;
};

/// A time in a shipped database.
struct ShippedTiming {
    std::string problem;  ///< text form of the Problem
    std::string kernel;   ///< Kernel::id
    Timing timing;        ///< the best of the recorded ones
};

/// Options of a TimingDb besides its file.
struct TimingDbOptions {
    /// Databases that are read and never written, such as one shipped with a program or shared by a team. The best row
    /// of all files counts: by quality, then samples, then time of measurement.
    std::vector<std::filesystem::path> shipped_timings = {};
    std::string program = {};  ///< name of the measuring program, recorded with its sessions
};

/// Timing database: measurements by problem, kernel, environment and policy in one SQLite file. All are stored;
/// selections are derived from them. Rows are only added. No function throws for a fault of the database; each kind of
/// fault is logged once, and no row is lost while this object lives:
///
/// - A file that is locked, on a full disk, deleted or replaced gets the rows later: with the next row, on flush(), or
///   in the destructor, which waits up to ten seconds for a lock.
/// - A read-only file or folder is read; recorded rows stay in memory.
/// - A damaged file is renamed to `.corrupt` and recreated with the rows that could be read.
/// - A file of another program, or of a version too new to read, is left unchanged.
/// - Folders are not created. New files get the permissions of the process; existing files keep theirs.
/// - Invalid rows (a time below 0, a text for a number) are ignored; TimingFile::check() lists them.
///
/// Safe to use from several threads and processes.
class CAIRN_API TimingDb {
public:
    /// Opens or creates the file; an empty path keeps rows in memory only.
    explicit TimingDb(const std::filesystem::path& path, std::function<void(std::string_view)> log = {},
                      TimingDbOptions options = {});
    ~TimingDb();
    TimingDb(const TimingDb&) = delete;
    TimingDb& operator=(const TimingDb&) = delete;

    /// Read snapshot: while one exists, all lookups read one state of the files (until something is recorded), and
    /// repeated lookups do not read them again. Each compile holds one. Must not outlive the database.
    class CAIRN_API ReadSnapshot {
    public:
        explicit ReadSnapshot(const TimingDb& db);
        ReadSnapshot(ReadSnapshot&& other) noexcept;
        ReadSnapshot& operator=(ReadSnapshot&&) = delete;
        ~ReadSnapshot();

    private:
        const TimingDb* db_;
    };

    /// The best timing of `kernel` (Kernel::id) on a Problem of constant sizes: highest quality, then most samples,
    /// then latest.
    std::optional<Timing> find(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                               const TimingPolicy& policy) const;
    /// As above, for the text form of the Problem, as to_string() returns it: for lookups of many kernels.
    std::optional<Timing> find(std::string_view problem, std::string_view kernel, const TimingEnvironment& environment,
                               const TimingPolicy& policy) const;
    /// Adds a measurement. An invalid one (see above) is rejected and logged.
    void record(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                const TimingPolicy& policy, const Timing& timing);
    /// The largest measured error of `kernel` on a Problem of constant sizes.
    std::optional<ErrorMeasurement> find_error(const Problem& problem, std::string_view kernel,
                                               const TimingEnvironment& environment) const;
    /// The worst measured error above the one that the kernel stated, on any Problem that differs from this one only in
    /// sizes, strides and numbers: `matmul` of the same dtypes and layouts, for example. Sizes may be symbols.
    std::optional<ErrorMeasurement> find_error_violation(const Problem& problem, std::string_view kernel,
                                                         const TimingEnvironment& environment) const;
    /// Adds a measured error.
    void record_error(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                      const ErrorMeasurement& figures);
    /// The latest answer to a question.
    std::optional<Choice> find_choice(std::string_view question, const TimingEnvironment& environment,
                                      const TimingPolicy& policy) const;
    /// Adds an answer. An invalid one (a ratio outside its interval, no samples) is rejected.
    void record_choice(std::string_view question, const TimingEnvironment& environment, const TimingPolicy& policy,
                       const Choice& choice);

    /// The environments recorded in the file itself, in the order of `hard`.
    std::vector<TimingEnvironment> environments() const;
    /// The environments recorded in shipped databases, in the order of `hard`.
    std::vector<TimingEnvironment> shipped_environments() const;
    /// All times of an environment and policy in shipped databases, in the order of problem and kernel.
    std::vector<ShippedTiming> shipped_timings_of(const TimingEnvironment& environment,
                                                  const TimingPolicy& policy) const;

    /// The rules in force, those of shipped databases included, in the order of their patterns. Of two rules for the
    /// same patterns the later one counts.
    std::vector<KernelRule> rules() const;
    /// Adds a rule; it replaces the one for the same patterns.
    void add_rule(const KernelRule& rule);
    /// Removes the rule for these patterns from this file; other users of a shipped database keep theirs. Returns false
    /// if there is none.
    bool remove_rule(std::string_view kernel, std::string_view problem);

    /// Writes pending rows, without waiting for long; returns false while some cannot be written.
    bool flush();
    /// Number of rows recorded here that are not (yet) in the file.
    std::size_t unwritten() const;
    /// Number of invalid rows found so far.
    std::size_t invalid_rows() const;
    /// Number of times, without those of shipped databases and without calibration results.
    std::size_t size() const;
    /// True if the file is open for writing, so that rows reach it.
    bool persistent() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cairn::inline v0
