#include "cairn/types.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <ostream>

namespace cairn::inline v0 {

Device Device::cuda(int index) {
    if (index < 0 || index > std::numeric_limits<std::uint8_t>::max())
        throw Error(ErrorKind::argument, "device", fmt::format("there is no device cuda:{}", index));
    return {DeviceKind::cuda, static_cast<std::uint8_t>(index)};
}

std::string to_string(Device device) {
    if (device.kind == DeviceKind::cpu) return "cpu";
    return device.index == 0 ? "cuda" : fmt::format("cuda:{}", device.index);
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << to_string(device); }

std::optional<Device> parse_device(std::string_view text) noexcept {
    constexpr std::string_view prefix = "cuda:";
    if (text == "cpu") return Device::cpu;
    if (text == "cuda") return Device{DeviceKind::cuda, 0};
    if (!text.starts_with(prefix)) return std::nullopt;
    const std::string_view digits = text.substr(prefix.size());
    std::uint8_t index = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    const bool is_canonical = !digits.empty() && digits[0] != '0';
    if (fault != std::errc() || end != digits.data() + digits.size() || !is_canonical) return std::nullopt;
    return Device{DeviceKind::cuda, index};
}

}  // namespace cairn::inline v0
