#pragma once

#include "bench/model_profile.hpp"
#include "bench/model_timing.hpp"
#include "cairn/tuning.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace bench {

/// What one run of model_bench found.
struct Report {
    Workload work;
    std::string model, mode, features;
    int threads = 1;
    std::vector<double> iterations;  ///< nanoseconds each
    std::optional<PairedTimes> beside;
    int busy_cpu = -1;
    std::string plan;  ///< the digest of all programs' text form
    std::int64_t instructions = 0;
    double compile_seconds = 0;
    double first_logits = 0;          ///< nanoseconds from main() to the first logits, without an iteration before
    double first_logits_clock = 0;    ///< what the monotonic clock showed then, nanoseconds
    std::int64_t resident_bytes = 0;  ///< the most so far, of the process, before the machine was calibrated
    cairn::MemoryReport memory;       ///< at the sizes of the work
    MinimumWork needs;
    cairn::Calibration before, after;
    std::optional<double> error;
    std::string reference;
    std::vector<InstructionGroup> profile;  ///< none where it was not asked for
};

/// The least time that `needs` can take on the machine: the larger of flops over its peak and bytes over its bandwidth,
/// which is that of its caches for what fits in them. A machine may do both at once, so they are not added.
struct RooflineLimit {
    double flops = 0, bandwidth = 0;  ///< of the two calibrations the better ones
    double compute_seconds = 0, read_seconds = 0;
    double seconds() const { return compute_seconds > read_seconds ? compute_seconds : read_seconds; }
};
RooflineLimit roofline_limit(const MinimumWork& needs, const cairn::Calibration& before,
                             const cairn::Calibration& after);

/// The two rates that limits stand on.
nlohmann::ordered_json json_of(const cairn::Calibration& machine);
std::string line_of(const cairn::Calibration& machine);

nlohmann::ordered_json json_of(const Report& report);
std::string table_of(const Report& report);

}  // namespace bench
