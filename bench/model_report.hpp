#pragma once

#include "bench/model_profile.hpp"
#include "bench/model_timing.hpp"
#include "cairn/tuning.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace bench {

/// Results of one run of model_bench.
struct Report {
    Workload work;
    std::string model, mode, features;
    int threads = 1;
    std::vector<double> iterations;  ///< nanoseconds each
    std::optional<PairedTimes> beside;
    int busy_cpu = -1;
    std::string plan;                              ///< digest of the text of all programs
    std::map<std::string, std::int64_t> families;  ///< instructions by family of kernels
    double compile_seconds = 0;
    double first_logits = 0;          ///< nanoseconds from main() to the logits of the first iteration
    double first_logits_clock = 0;    ///< monotonic clock at that time, nanoseconds
    std::int64_t resident_bytes = 0;  ///< peak resident memory of the process before calibration
    cairn::MemoryReport memory;       ///< at the sizes of the workload
    MinimumWork needs;
    cairn::Calibration before, after;
    std::vector<cairn::VerifiedError> verified;  ///< against the exact program, of the iterations' bucket
    std::optional<double> error;
    std::string reference;
    std::vector<InstructionGroup> profile;  ///< empty without --profile
};

/// Roofline: the least time that `needs` can take on the machine, the larger of flops / peak and bytes / bandwidth. The
/// bandwidth is that of the caches if the bytes fit into them. Arithmetic and reads may overlap, so the times are not
/// added.
struct RooflineLimit {
    double flops = 0, bandwidth = 0;  ///< per second; the higher values of the two calibrations
    double compute_seconds = 0, read_seconds = 0;
    double seconds() const { return compute_seconds > read_seconds ? compute_seconds : read_seconds; }
};
RooflineLimit roofline_limit(const MinimumWork& needs, const cairn::Calibration& before,
                             const cairn::Calibration& after);

/// The two rates from which limits are computed: peak flops and read bandwidth.
nlohmann::ordered_json json_of(const cairn::Calibration& machine);
std::string line_of(const cairn::Calibration& machine);

nlohmann::ordered_json json_of(const Report& report);
std::string table_of(const Report& report);

}  // namespace bench
