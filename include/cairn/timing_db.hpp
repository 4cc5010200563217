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

/// The machine and build a time belongs to, as text: CPU vendor, model, stepping, cache sizes, level in use, thread
/// affinity, library version.
struct TimingEnvironment {
    std::string hard;  ///< a row is used only where this is equal
    std::string soft;  ///< kernel release, governor: kept for the record
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
    int quality = 2;                                        ///< 1: the machine was busy meanwhile
    std::string note;                                       ///< why it failed
};

/// How far the results of a kernel that states an error lay from its definition in float64, on one Problem.
struct ErrorFigures {
    double relative = 0;   ///< L2 of y - r by L2 of r: of the output where it is largest
    double largest = 0;    ///< the largest |y - r| / max(|r|, RMS r) of any element
    double promised = 0;   ///< what Kernel::error said
    std::string inputs;    ///< how operands were filled: `uniform`
    std::string compared;  ///< the Problem that was run: the same, or with smaller sizes
    /// As Kernel::error and Tolerance count: the larger of `relative` and a tenth of `largest`.
    double counted() const noexcept { return relative > largest / 10 ? relative : largest / 10; }
};

/// Measurements kept in one SQLite file: problem x kernel x environment x policy, every one of them; what to choose is
/// derived. Rows are only added. No function throws for a fault of the database (locked, corrupt, read-only, full, of a
/// newer version): the fault is logged once, and from then on rows live in memory. Safe to use from several threads and
/// processes.
class CAIRN_API TimingDb {
public:
    /// Opens or makes the file; an empty path keeps rows in memory only. A corrupt file is renamed aside and begun
    /// anew.
    explicit TimingDb(const std::filesystem::path& path, std::function<void(std::string_view)> log = {});
    ~TimingDb();
    TimingDb(const TimingDb&) = delete;
    TimingDb& operator=(const TimingDb&) = delete;

    /// The best known timing of `kernel` (Kernel::id) on a Problem of constant sizes: highest quality, then most
    /// samples, then latest.
    std::optional<Timing> find(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                               const TimingPolicy& policy) const;
    /// The same of a problem in its text form, as to_string() gives it: for those who ask about many kernels.
    std::optional<Timing> find(std::string_view problem, std::string_view kernel, const TimingEnvironment& environment,
                               const TimingPolicy& policy) const;
    /// Adds a measurement.
    void record(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                const TimingPolicy& policy, const Timing& timing);
    /// The largest error measured of `kernel` on a Problem of constant sizes.
    std::optional<ErrorFigures> find_error(const Problem& problem, std::string_view kernel,
                                           const TimingEnvironment& environment) const;
    /// The worst measurement that was above what the kernel promised, on any Problem that differs from this one in
    /// sizes, strides and numbers alone: `matmul` of the same dtypes and layouts, say. Sizes may be symbols.
    std::optional<ErrorFigures> broken_promise(const Problem& problem, std::string_view kernel,
                                               const TimingEnvironment& environment) const;
    /// Adds a measurement of an error.
    void record_error(const Problem& problem, std::string_view kernel, const TimingEnvironment& environment,
                      const ErrorFigures& figures);
    /// Adds the rows of another database that are not here yet; the number added.
    std::size_t merge(const std::filesystem::path& other);
    /// Writes all rows to a new database file that is safe to copy.
    void export_to(const std::filesystem::path& path) const;
    /// Times known.
    std::size_t size() const;
    /// False when the file cannot be used and rows are kept in memory only.
    bool persistent() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cairn::inline v0
