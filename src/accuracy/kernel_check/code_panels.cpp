#include "accuracy/kernel_check/code_panels.hpp"

#include "accuracy/kernel_check/element_bytes.hpp"
#include "cairn/error.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace cairn::kernel_check {
namespace {

constexpr std::int64_t width = 32;
constexpr std::string_view transposed_mark = ".t";
constexpr CodePanelFormat formats[] = {{"panel32_q8", 8, 32, 0, false, true},   {"panel32_q4", 4, 32, 8, false, true},
                                       {"panel32_q8a", 8, 32, 0, true, false},  {"panel32_q4a", 4, 32, 0, true, false},
                                       {"panel32_q8s", 8, 16, 0, false, false}, {"panel32_q4s", 4, 16, 0, true, false}};

/// The nearest number of 11 significant bits, and an f16 if it must be: its products with codes are exact in f32.
double nearest_scale(double value, bool is_half) {
    if (is_half && value >= 65504) return 65504;
    const int least = is_half ? -14 : -100;
    const double unit = std::exp2(std::max(value < std::exp2(least) ? least : std::ilogb(value), least) - 10);
    return std::round(value / unit) * unit;
}

}  // namespace

const CodePanelFormat* code_panel_format(std::string_view layout) {
    if (layout.ends_with(transposed_mark)) layout.remove_suffix(transposed_mark.size());
    const auto* found = std::find_if(std::begin(formats), std::end(formats),
                                     [&](const CodePanelFormat& format) { return format.layout == layout; });
    return found == std::end(formats) ? nullptr : found;
}

CodePanels::CodePanels(std::string_view layout, std::int64_t depth, std::int64_t columns)
    : format_(code_panel_format(layout)),
      depth_(depth),
      columns_(columns),
      is_transposed_(layout.ends_with(transposed_mark)) {
    if (format_ == nullptr || depth % 32 != 0)
        throw Error(ErrorKind::argument, "check_kernel",
                    std::string(layout) + " needs a K that is a multiple of 32, got " + std::to_string(depth));
}

std::size_t CodePanels::bytes() const {
    return static_cast<std::size_t>((columns_ + width - 1) / width * (depth_ / format_->group)) *
           format_->group_bytes();
}

std::size_t CodePanels::index(std::int64_t k, std::int64_t n) const {
    return static_cast<std::size_t>(is_transposed_ ? n * depth_ + k : k * columns_ + n);
}

std::size_t CodePanels::group_at(std::int64_t k, std::int64_t n) const {
    return static_cast<std::size_t>(n / width * (depth_ / format_->group) + k / format_->group) *
           format_->group_bytes();
}

// The byte of a code, from the beginning of its group.
std::size_t CodePanels::code_at(std::int64_t k, std::int64_t n) const {
    const std::int64_t rows = format_->group * format_->bits / 8;
    return format_->head_bytes() + static_cast<std::size_t>(k % format_->group % rows * width + n % width);
}

CodePanels::GroupNumbers CodePanels::numbers_of(const std::vector<double>& elements, std::int64_t first,
                                                std::int64_t column) const {
    GroupNumbers numbers{0, 0, 0, 0};
    numbers.lowest = format_->bits == 8 ? -128 : -format_->zero;
    numbers.highest = format_->bits == 8 ? 127 : 15 - format_->zero;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (std::int64_t k = first; k < first + format_->group; ++k) {
        const double x = elements[index(k, column)];
        if (!std::isfinite(x)) return {x, 0, 1, 1};
        low = std::min(low, x), high = std::max(high, x);
    }
    if (!format_->has_offsets) {
        numbers.scale = nearest_scale(std::max(high, -low) / numbers.highest, format_->has_half_scales);
        return numbers;
    }
    numbers.scale = nearest_scale((high - low) / (numbers.highest - numbers.lowest), format_->has_half_scales);
    numbers.offset = low - numbers.scale * numbers.lowest;
    // Eighths of a step: sums with codes are exact, so that what was read is written as it was.
    const double unit = numbers.scale / 8;
    if (unit > 0) numbers.offset = std::round(numbers.offset / unit) * unit;
    return numbers;
}

void CodePanels::write(const std::vector<double>& elements, std::byte* to) const {
    for (std::int64_t n = 0; n < columns_; ++n)
        for (std::int64_t first = 0; first < depth_; first += format_->group) {
            const GroupNumbers numbers = numbers_of(elements, first, n);
            std::byte* const group = to + group_at(first, n);
            const auto column = static_cast<std::size_t>(n % width);
            if (format_->has_half_scales)
                put(group + column * 2, encode16(numbers.scale, true));
            else
                put(group + column * 4, static_cast<float>(numbers.scale));
            if (format_->has_offsets)
                put(group + format_->scale_bytes() + column * 4, static_cast<float>(numbers.offset));
            for (std::int64_t k = first; k < first + format_->group; ++k) {
                const double steps = (elements[index(k, n)] - numbers.offset) / numbers.scale;
                const bool is_special = numbers.scale == 0 || !std::isfinite(numbers.scale);
                const int code =
                    is_special
                        ? numbers.lowest
                        : static_cast<int>(std::clamp<double>(std::round(steps), numbers.lowest, numbers.highest));
                std::byte& byte = group[code_at(k, n)];
                if (format_->bits == 8)
                    byte = static_cast<std::byte>(code);
                else if (k % format_->group < format_->group / 2)
                    byte = (byte & std::byte{0xf0}) | static_cast<std::byte>(code + format_->zero);
                else
                    byte = (byte & std::byte{0x0f}) | static_cast<std::byte>((code + format_->zero) << 4);
            }
        }
}

std::vector<double> CodePanels::read(const std::byte* from) const {
    std::vector<double> elements(static_cast<std::size_t>(depth_ * columns_));
    for (std::int64_t n = 0; n < columns_; ++n)
        for (std::int64_t k = 0; k < depth_; ++k) {
            const std::byte* const group = from + group_at(k, n);
            const auto column = static_cast<std::size_t>(n % width);
            const double scale = format_->has_half_scales ? decode16(get<std::uint16_t>(group + column * 2), true)
                                                          : get<float>(group + column * 4);
            const int byte = static_cast<int>(group[code_at(k, n)]);
            const int code = format_->bits == 8                        ? static_cast<std::int8_t>(byte)
                             : k % format_->group < format_->group / 2 ? (byte & 15) - format_->zero
                                                                       : (byte >> 4) - format_->zero;
            auto value = static_cast<float>(scale * code);
            if (format_->has_offsets) value += get<float>(group + format_->scale_bytes() + column * 4);
            elements[index(k, n)] = value;
        }
    return elements;
}

}  // namespace cairn::kernel_check
