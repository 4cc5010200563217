#include "apps/console/timestamp.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

namespace cairn::console {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

constexpr std::int64_t second = 1'000'000'000;

/// The number that a text of digits denotes; nothing for other texts.
std::optional<int> digits_of(std::string_view text) {
    int value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = fault == std::errc() && end == text.data() + text.size() && text[0] != '-';
    return is_whole ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> age_of(std::string_view text) {
    constexpr std::pair<char, std::int64_t> units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}, {'w', 604'800}};
    for (const auto& [unit, seconds] : units) {
        if (!text.ends_with(unit)) continue;
        const std::string_view number = text.substr(0, text.size() - 1);
        double count = 0;
        const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), count);
        if (fault != std::errc() || end != number.data() + number.size() || !(count >= 0)) return std::nullopt;
        const double age = count * static_cast<double>(seconds) * static_cast<double>(second);
        constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max();
        return age < static_cast<double>(longest) ? static_cast<std::int64_t>(age) : longest;
    }
    return std::nullopt;
}

/// Seconds since midnight of `T18:59:53` or `T18:59:53Z`; 0 for an empty text.
std::optional<int> clock_of(std::string_view text) {
    if (text.ends_with('Z')) text.remove_suffix(1);
    if (text.empty()) return 0;
    if (text.size() != 9 || text[0] != 'T' || text[3] != ':' || text[6] != ':') return std::nullopt;
    const auto hour = digits_of(text.substr(1, 2)), minute = digits_of(text.substr(4, 2)),
               seconds = digits_of(text.substr(7, 2));
    if (!hour || !minute || !seconds || *hour > 23 || *minute > 59 || *seconds > 59) return std::nullopt;
    return (*hour * 60 + *minute) * 60 + *seconds;
}

std::optional<std::int64_t> date_of(std::string_view text) {
    constexpr int first_year = 1970, last_year = 2261;  // years whose nanoseconds since 1970 fit in 64 bits
    if (text.size() < 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
    const auto year = digits_of(text.substr(0, 4)), month = digits_of(text.substr(5, 2)),
               day = digits_of(text.substr(8, 2)), clock = clock_of(text.substr(10));
    if (!year || !month || !day || !clock || *year < first_year || *year > last_year) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    return Nanoseconds(std::chrono::sys_days(date).time_since_epoch()).count() + *clock * second;
}

}  // namespace

std::int64_t now() {
    return std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<std::int64_t> parse_timestamp(const std::string& text, std::int64_t now) {
    if (const std::optional<std::int64_t> age = age_of(text)) return *age < now ? now - *age : 0;
    return date_of(text);
}

std::string timestamp_error(const std::string& text) {
    return parse_timestamp(text, 0) ? "" : "expected an age or a date, as 30d or 2026-11-23, got " + text;
}

std::string timestamp_text(std::int64_t time) {
    if (time == 0) return "never";
    const std::chrono::sys_time<Nanoseconds> point{Nanoseconds(time)};
    const auto day = std::chrono::floor<std::chrono::days>(point);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(point - day));
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count());
}

}  // namespace cairn::console
