#include "bench/model_report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

namespace bench {
namespace {

const char* name_of(Workload::Kind kind) {
    return kind == Workload::Kind::prefill ? "prefill" : kind == Workload::Kind::decode ? "decode" : "classify";
}

double best(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

[[gnu::format(printf, 2, 3)]] void add_line(std::string& text, const char* format, ...) {
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text.append(line).append("\n");
}

std::int64_t instructions(const Report& report) {
    std::int64_t count = 0;
    for (const auto& [family, each] : report.families) count += each;
    return count;
}

}  // namespace

RooflineLimit roofline_limit(const MinimumWork& needs, const cairn::Calibration& before,
                             const cairn::Calibration& after) {
    RooflineLimit limit{std::max(before.flops, after.flops), std::max(before.bandwidth, after.bandwidth)};
    if (needs.bytes <= std::max(before.cache_bytes, after.cache_bytes))
        limit.bandwidth = std::max({limit.bandwidth, before.cache_bandwidth, after.cache_bandwidth});
    limit.compute_seconds = needs.flops / limit.flops;
    limit.read_seconds = needs.bytes / limit.bandwidth;
    return limit;
}

nlohmann::ordered_json json_of(const cairn::Calibration& machine) {
    return {{"peak_flops_per_second", machine.flops}, {"read_bytes_per_second", machine.bandwidth}};
}

std::string line_of(const cairn::Calibration& machine) {
    std::array<char, 100> line{};
    std::snprintf(line.data(), line.size(), "peak %.1f GFLOP/s, read %.1f GB/s", machine.flops / 1e9,
                  machine.bandwidth / 1e9);
    return line.data();
}

nlohmann::ordered_json json_of(const Report& report) {
    const RooflineLimit limit = roofline_limit(report.needs, report.before, report.after);
    const double middle = median(report.iterations), least = best(report.iterations);
    nlohmann::ordered_json all{
        {"model", report.model},
        {"work", name_of(report.work.kind)},
        {"length", report.work.length},
        {"batch", report.work.batch},
        {"logits", report.work.all_logits ? "all" : "last"},
        {"threads", report.threads},
        {"features", report.features},
        {"mode", report.mode},
        {"plan", report.plan},
        {"instructions", instructions(report)},
        {"families", report.families},
        {"iterations_ns", report.iterations},
        {"best_ns", least},
        {"median_ns", middle},
        {"peak_flops_per_second", limit.flops},
        {"read_bytes_per_second", limit.bandwidth},
        {"needed_flops", report.needs.flops},
        {"needed_bytes", report.needs.bytes},
        {"limit_compute_ns", 1e9 * limit.compute_seconds},
        {"limit_read_ns", 1e9 * limit.read_seconds},
        {"limit_ns", 1e9 * limit.seconds()},
        {"fraction_of_limit_best", 1e9 * limit.seconds() / least},
        {"fraction_of_limit_median", 1e9 * limit.seconds() / middle},
        {"fraction_of_peak_flops", 1e9 * limit.compute_seconds / middle},
        {"fraction_of_bandwidth", 1e9 * limit.read_seconds / middle},
        {"peak_resident_bytes", report.resident_bytes},
        {"arena_bytes", report.memory.arena},
        {"weight_bytes", report.memory.weights},
        {"bound_bytes", report.memory.bound},
        {"state_bytes", report.memory.states},
        {"compile_seconds", report.compile_seconds},
        {"first_logits_ns", report.first_logits},
        {"first_logits_clock_ns", report.first_logits_clock},
        {"error", report.error ? nlohmann::ordered_json(*report.error) : nlohmann::ordered_json()},
        {"reference", report.error ? nlohmann::ordered_json(report.reference) : nlohmann::ordered_json()}};
    for (const cairn::VerifiedError& row : report.verified)
        all["verified"].push_back({{"value", row.value},
                                   {"allowed", row.allowed},
                                   {"promised", row.expected},
                                   {"measured", row.error},
                                   {"fell_back", row.fell_back}});
    if (report.beside)
        all["beside"] = {{"cpu", report.busy_cpu},
                         {"alone_ns", report.beside->alone},
                         {"beside_ns", report.beside->beside},
                         {"slowdown_median", median(report.beside->beside) / median(report.beside->alone)}};
    for (const InstructionGroup& kind : report.profile)
        all["profile"].push_back({{"kernel", kind.kernel},
                                  {"problem", kind.problem},
                                  {"count", kind.count},
                                  {"seconds", kind.seconds},
                                  {"idle", kind.idle}});
    return all;
}

std::string table_of(const Report& report) {
    const RooflineLimit limit = roofline_limit(report.needs, report.before, report.after);
    const double middle = median(report.iterations), least = best(report.iterations);
    std::string text;
    const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
    add_line(text, "%s, %s of %lld, batch %lld, %s logits, %d thread%s, %s, mode %s", report.model.c_str(),
             name_of(report.work.kind), static_cast<long long>(report.work.length),
             static_cast<long long>(report.work.batch), report.work.all_logits ? "all" : "last", report.threads,
             report.threads == 1 ? "" : "s", report.features.c_str(), report.mode.c_str());
    add_line(text, "  %-22s best %.3f ms, median %.3f ms of %zu iterations", "time", least / 1e6, middle / 1e6,
             report.iterations.size());
    add_line(text, "  %-22s %.3f ms: %.2f GFLOP at %.1f GFLOP/s %.3f ms, %.1f MB at %.1f GB/s %.3f ms, the larger",
             "limit", 1e3 * limit.seconds(), report.needs.flops / 1e9, limit.flops / 1e9, 1e3 * limit.compute_seconds,
             report.needs.bytes / 1e6, limit.bandwidth / 1e9, 1e3 * limit.read_seconds);
    add_line(text, "  %-22s best %.3f, median %.3f", "part of the limit", 1e9 * limit.seconds() / least,
             1e9 * limit.seconds() / middle);
    add_line(text, "  %-22s %s, %lld instructions", "plan", report.plan.c_str(),
             static_cast<long long>(instructions(report)));
    std::string families;
    for (const auto& [family, count] : report.families)
        families += (families.empty() ? "" : ", ") + std::to_string(count) + " " + family;
    add_line(text, "  %-22s %s", "kernels", families.c_str());
    add_line(text, "  %-22s peak resident %.1f MiB; planned arena %.1f, weights in place %.1f, bound %.1f, states %.1f",
             "memory", mib(report.resident_bytes), mib(report.memory.arena), mib(report.memory.weights),
             mib(report.memory.bound), mib(report.memory.states));
    add_line(text, "  %-22s compile and bind %.3f s, from main() to the first logits %.3f s", "start",
             report.compile_seconds, report.first_logits / 1e9);
    if (report.error)
        add_line(text, "  %-22s relative L2 %.2e against %s", "error", *report.error, report.reference.c_str());
    else
        add_line(text, "  %-22s no reference for this model", "error");
    for (const cairn::VerifiedError& row : report.verified)
        if (row.value.starts_with("output"))
            add_line(text, "  %-22s %s: promised %.2e, measured %.2e against the exact program%s", "verified",
                     row.value.c_str(), row.expected, row.error, row.fell_back ? ", which runs instead" : "");
    if (report.beside)
        add_line(text, "  %-22s alone %.3f ms, beside a busy process on CPU %d %.3f ms: median slow-down %.2fx",
                 "beside", median(report.beside->alone) / 1e6, report.busy_cpu, median(report.beside->beside) / 1e6,
                 median(report.beside->beside) / median(report.beside->alone));
    if (!report.profile.empty()) text += "  profile, in milliseconds\n";
    for (const InstructionGroup& kind : report.profile)
        add_line(text, "  %9.3f %3d times, %4.1f %% waiting  %s  %s", 1e3 * kind.seconds, kind.count, 100 * kind.idle,
                 kind.kernel.c_str(), kind.problem.c_str());
    return text;
}

}  // namespace bench
