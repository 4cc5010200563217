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

/// How something was measured. Times of different policies are never mixed.
struct TimingPolicy {
    int threads = 1;                ///< that ran it together
    bool cold = true;               ///< operands rotated through more memory than the last-level cache holds
    std::string inputs = "normal";  ///< how operands were filled
    friend bool operator==(const TimingPolicy&, const TimingPolicy&) = default;
};

/// The machine and build a time belongs to, as text: the device and the CPUs it may use, threads, library version, what
/// its code was built with.
struct TimingEnvironment {
    std::string hard;  ///< a row is used only where this is equal
    std::string soft;  ///< kernel release, governor, microcode: kept for the record
};

/// What a measurement came to: times, nothing (`note` says why), or a lower bound.
enum class TimingStatus : std::uint8_t { ok, failed, censored };

/// One measurement. All times in seconds.
struct Timing {
    TimingStatus status = TimingStatus::ok;                 ///< which of the fields below count
    int samples = 0;                                        ///< blocks timed
    int inner = 1;                                          ///< runs in a block
    double min = 0, p10 = 0, median = 0, p90 = 0, mad = 0;  ///< of the blocks; mad: median absolute deviation
    double bound = 0;                                       ///< censored: it takes at least this long
    /// 2: as it should be; 1: the machine was busy meanwhile; 0: coarse, of Mode::quick or a very short budget. Where a
    /// better one is known, it does not count.
    int quality = 2;
    std::string note;  ///< why it failed
};

/// How far the results of a kernel that states an error lay from its definition in float64, on one Problem.
struct ErrorMeasurement {
    double relative = 0;   ///< L2 of y - r by L2 of r: of the output where it is largest
    double largest = 0;    ///< the largest |y - r| / max(|r|, RMS r) of any element
    double promised = 0;   ///< what Kernel::error said
    std::string inputs;    ///< how operands were filled: `uniform`
    std::string compared;  ///< the Problem that was run: the same, or with smaller sizes
    /// As Kernel::error and Tolerance count: the larger of `relative` and a tenth of `largest`.
    double counted() const noexcept { return relative > largest / 10 ? relative : largest / 10; }
};

/// Which of several ways was found to be the faster, for a question that anybody can ask again: both are texts
/// (digests, say) of the caller's own making.
struct Choice {
    std::string answer;        ///< what was chosen
    double ratio = 1;          ///< its time by that of what it was compared with: 0.9 is a tenth less
    double low = 1, high = 1;  ///< between which `ratio` lies
    int samples = 0;           ///< pairs timed; 0: nothing was, what is careful was chosen
    friend bool operator==(const Choice&, const Choice&) = default;
};

/// What a rule says of the kernels it names.
enum class RuleAction : std::uint8_t {
    ban,  ///< never use them on these problems
    pin,  ///< where one of them can do such a problem, use none but them
};
/// `ban`, `pin`.
CAIRN_API std::string_view to_string(RuleAction action) noexcept;

/// A rule of the user's about kernels: it stands above times, in every compile that reads the database. In patterns `*`
/// is any text and `?` any character.
///
///     {"cpu.eigen_*", "matmul | f32[1,*", RuleAction::ban, "slow on one row"}
struct KernelRule {
    std::string kernel = "*";   ///< pattern of Kernel::id
    std::string problem = "*";  ///< pattern of the text form, that with plain operands or that with packed ones
    RuleAction action = RuleAction::ban;  ///< what it says
    std::string reason = {};              ///< as refusals repeat it
    /// True of what both patterns cover.
    CAIRN_API bool covers(std::string_view kernel_id, std::string_view problem_text) const noexcept;
    friend bool operator==(const KernelRule&, const KernelRule&) = default;
};

/// A time that a seed holds.
struct ShippedTiming {
    std::string problem;  ///< its text form
    std::string kernel;   ///< its id
    Timing timing;        ///< the best of those it has
};

/// What a TimingDb reads and writes besides its file.
struct TimingDbOptions {
    /// Databases that are read and never written: shipped with a program, of a team. What is known best counts,
    /// whichever file it is in: by quality, then samples, then how late it was.
    std::vector<std::filesystem::path> shipped_timings = {};
    std::string program = {};  ///< who measures, as sessions note it
};

/// Measurements kept in one SQLite file: problem x kernel x environment x policy, every one of them; what to choose is
/// derived. Rows are only added. No function throws for a fault of the database, each kind of fault is logged once, and
/// no row is given up while this object lives:
///
/// - A file that is locked, on a full disk, deleted or replaced takes the rows later: with the next one, on flush() or
///   at the end, which waits up to ten seconds for a lock.
/// - A file or folder that may only be read is read; what is recorded stays in memory.
/// - A damaged file is renamed to `.corrupt` and begun anew with the rows that could be read.
/// - A file of another program, or of a version too new to be read, is left alone.
/// - Folders are not made. Permissions are those of the process, and of files that exist their own.
/// - Rows that can be no measurement (a time below 0, a text for a number) count as none; TimingFile::check() lists
/// them.
///
/// Safe to use from several threads and processes.
class CAIRN_API TimingDb {
public:
    /// Opens or makes the file; an empty path keeps rows in memory only.
    explicit TimingDb(const std::filesystem::path& path, std::function<void(std::string_view)> log = {},
                      TimingDbOptions options = {});
    ~TimingDb();
    TimingDb(const TimingDb&) = delete;
    TimingDb& operator=(const TimingDb&) = delete;

    /// While one lives, whatever is looked up is read from one state of the files (until something is recorded), and
    /// what was asked before is not read again: each compile holds one. Must not outlive the database.
    class CAIRN_API Reading {
    public:
        explicit Reading(const TimingDb& db);
        Reading(Reading&& other) noexcept;
        Reading& operator=(Reading&&) = delete;
        ~Reading();

    private:
        const TimingDb* db_;
    };

    /// The best known timing of `kernel` (Kernel::id) on a Problem of constant sizes: highest quality, then most
    /// samples, then latest.
    std::optional<Timing> find(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                               const TimingPolicy& policy) const;
    /// The same of a problem in its text form, as to_string() gives it: for those who ask about many kernels.
    std::optional<Timing> find(std::string_view problem, std::string_view kernel, const TimingEnvironment& environment,
                               const TimingPolicy& policy) const;
    /// Adds a measurement. One that can be none (see above) is not taken, and that is logged.
    void record(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                const TimingPolicy& policy, const Timing& timing);
    /// The largest error measured of `kernel` on a Problem of constant sizes.
    std::optional<ErrorMeasurement> find_error(const Problem& problem, std::string_view kernel,
                                               const TimingEnvironment& environment) const;
    /// The worst measurement that was above what the kernel promised, on any Problem that differs from this one in
    /// sizes, strides and numbers alone: `matmul` of the same dtypes and layouts, say. Sizes may be symbols.
    std::optional<ErrorMeasurement> find_error_violation(const Problem& problem, std::string_view kernel,
                                                         const TimingEnvironment& environment) const;
    /// Adds a measurement of an error.
    void record_error(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                      const ErrorMeasurement& figures);
    /// The latest answer to a question.
    std::optional<Choice> find_choice(std::string_view question, const TimingEnvironment& environment,
                                      const TimingPolicy& policy) const;
    /// Adds an answer. One that can be none (a ratio outside of its interval, no samples) is not taken.
    void record_choice(std::string_view question, const TimingEnvironment& environment, const TimingPolicy& policy,
                       const Choice& choice);

    /// The environments that the file itself tells of, by their hard parts.
    std::vector<TimingEnvironment> environments() const;
    /// The environments that seeds tell of, by their hard parts.
    std::vector<TimingEnvironment> shipped_environments() const;
    /// All times that seeds hold of an environment and policy, in the order of problem and kernel.
    std::vector<ShippedTiming> shipped_timings_of(const TimingEnvironment& environment,
                                                  const TimingPolicy& policy) const;

    /// The rules in force, those of seeds among them, in the order of their patterns. Of two for the same patterns the
    /// later counts.
    std::vector<KernelRule> rules() const;
    /// Adds a rule, in place of the one for the same patterns.
    void add_rule(const KernelRule& rule);
    /// Lifts the rule for these patterns, here: those who share a seed keep theirs. False: there is none.
    bool remove_rule(std::string_view kernel, std::string_view problem);

    /// Writes what could not be written yet, without waiting for long; false while some of it cannot.
    bool flush();
    /// Rows recorded here that the file does not hold (yet).
    std::size_t unwritten() const;
    /// Rows met so far that can be no measurement.
    std::size_t invalid_rows() const;
    /// Times known, those of seeds apart; figures of calibrations are none.
    std::size_t size() const;
    /// Whether rows reach the file: it is open for writing now.
    bool persistent() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cairn::inline v0
