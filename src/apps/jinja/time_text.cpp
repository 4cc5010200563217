#include "apps/jinja/time_text.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

namespace cairn::jinja {

std::string time_text(std::chrono::sys_seconds time, std::string_view format) {
    constexpr const char* months[] = {"January", "February", "March",     "April",   "May",      "June",
                                      "July",    "August",   "September", "October", "November", "December"};
    constexpr const char* days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    const int year = static_cast<int>(date.year());
    const unsigned month = static_cast<unsigned>(date.month());
    const std::string_view month_name = months[month - 1];
    const std::string_view day_name = days[std::chrono::weekday(day).c_encoding()];
    const auto hour = clock.hours().count();
    const auto field = [&](char letter) -> std::string {
        switch (letter) {
            case 'a': return std::string(day_name.substr(0, 3));
            case 'A': return std::string(day_name);
            case 'b': return std::string(month_name.substr(0, 3));
            case 'B': return std::string(month_name);
            case 'd': return fmt::format("{:02}", static_cast<unsigned>(date.day()));
            case 'H': return fmt::format("{:02}", hour);
            case 'I': return fmt::format("{:02}", (hour + 11) % 12 + 1);
            case 'j': return fmt::format("{:03}", (day - std::chrono::sys_days(date.year() / 1 / 1)).count() + 1);
            case 'm': return fmt::format("{:02}", month);
            case 'M': return fmt::format("{:02}", clock.minutes().count());
            case 'p': return hour < 12 ? "AM" : "PM";
            case 'S': return fmt::format("{:02}", clock.seconds().count());
            case 'y': return fmt::format("{:02}", year % 100);
            case 'Y': return fmt::format("{}", year);
            case '%': return "%";
            default: break;
        }
        throw Error(ErrorKind::unsupported, "chat template",
                    fmt::format("the time format %{} is not supported", letter));
    };
    std::string text;
    for (std::size_t i = 0; i < format.size(); ++i)
        text += format[i] == '%' && i + 1 < format.size() ? field(format[++i]) : std::string(1, format[i]);
    return text;
}

}  // namespace cairn::jinja
