#include "autotune/database/rows.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <tuple>

namespace cairn::autotune {
namespace {

constexpr int max_samples = 1'000'000'000;

bool is_time(double seconds) { return seconds > 0 && std::isfinite(seconds); }
/// An error may be infinite: NaN results are recorded as infinity.
bool is_error(double error) { return error >= 0; }

std::string why_invalid(const SessionRow& row) { return row.id.size() == 16 ? "" : "its id is not a digest"; }
std::string why_invalid(const TimeRow& row) { return autotune::why_invalid(row.timing); }
std::string why_invalid(const ErrorRow& row) { return autotune::why_invalid(row.figures); }
std::string why_invalid(const ChoiceRow& row) { return autotune::why_invalid(row.choice); }
std::string why_invalid(const RuleRow& row) {
    return row.rule.action == RuleAction::ban || row.rule.action == RuleAction::pin ? "" : "its action is invalid";
}

std::string text_of(const SessionRow& row) { return row.id; }
std::string text_of(const TimeRow& row) {
    return fmt::format("{}\n{}\n{}\n{}", row.key.id(), row.time, row.timing.median, row.timing.min);
}
std::string text_of(const ErrorRow& row) {
    return fmt::format("{}\n{}\n{}\n{}", row.key.id(), row.time, row.figures.relative, row.figures.largest);
}
std::string text_of(const ChoiceRow& row) {
    return fmt::format("{}\n{}\n{}\n{}", row.key_id(), row.time, row.choice.answer, row.choice.ratio);
}
std::string text_of(const RuleRow& row) {
    return fmt::format("{}\n{}\n{}\n{}\n{}", row.rule.kernel, row.rule.problem, static_cast<int>(row.rule.action),
                       row.is_lifted, row.time);
}

}  // namespace

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string ChoiceRow::key_id() const { return id_of(fmt::format("choice\n{}\n{}\n{}", question, hard, policy)); }

std::string id_of_row(const Row& row) {
    if (const auto* session = std::get_if<SessionRow>(&row)) return session->id;
    return id_of(std::visit([](const auto& one) { return text_of(one); }, row));
}

std::string why_invalid(const Timing& timing) {
    if (timing.quality < 0 || timing.quality > 3) return fmt::format("its quality is {}", timing.quality);
    if (timing.samples < 0 || timing.samples > max_samples) return fmt::format("it has {} samples", timing.samples);
    for (const double number : {timing.min, timing.p10, timing.median, timing.p90, timing.mad, timing.bound})
        if (!std::isfinite(number)) return fmt::format("it holds the number {}", number);
    switch (timing.status) {
        case TimingStatus::failed: return {};
        case TimingStatus::censored:
            return is_time(timing.bound) ? std::string() : fmt::format("its bound is {} s", timing.bound);
        case TimingStatus::ok: break;
        default: return fmt::format("its status is {}", static_cast<int>(timing.status));
    }
    if (timing.samples < 1 || timing.inner < 1)
        return fmt::format("it has {} samples of {} runs", timing.samples, timing.inner);
    for (const double seconds : {timing.min, timing.p10, timing.median, timing.p90})
        if (!is_time(seconds)) return fmt::format("it took {} s", seconds);
    if (!(timing.min <= timing.p10 && timing.p10 <= timing.median && timing.median <= timing.p90))
        return fmt::format("its quantiles are {}, {}, {}, {}", timing.min, timing.p10, timing.median, timing.p90);
    return timing.mad >= 0 ? std::string() : fmt::format("its spread is {}", timing.mad);
}

std::string why_invalid(const ErrorMeasurement& figures) {
    for (const double error : {figures.relative, figures.largest})
        if (!is_error(error)) return fmt::format("its error is {}", error);
    return figures.promised >= 0 && std::isfinite(figures.promised)
               ? std::string()
               : fmt::format("the stated error is {}", figures.promised);
}

std::string why_invalid(const Choice& choice) {
    if (choice.samples < 0 || choice.samples > max_samples) return fmt::format("it has {} samples", choice.samples);
    if (!is_time(choice.low) || !is_time(choice.high) || !(choice.low <= choice.ratio && choice.ratio <= choice.high))
        return fmt::format("its ratio {} is not in {} .. {}", choice.ratio, choice.low, choice.high);
    return {};
}

std::string why_invalid(const Row& row) {
    return std::visit(
        [](const auto& one) { return one.time > 0 ? why_invalid(one) : fmt::format("its time is {}", one.time); }, row);
}

bool is_better(const Timing& a, std::int64_t time_of_a, const Timing& b, std::int64_t time_of_b) {
    return std::tie(a.quality, a.samples, time_of_a) > std::tie(b.quality, b.samples, time_of_b);
}

}  // namespace cairn::autotune
