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
constexpr CodePanelFormat formats[] = {
    {"panel32k4_q8", 8, 32, -128, false, DType::f16},   {"panel32k8_q4", 4, 32, -8, false, DType::f16},
    {"panel32k4_q8a", 8, 32, -128, true, DType::f32},   {"panel32k8_q4a", 4, 32, 0, true, DType::f32},
    {"panel32k4_q8s", 8, 16, -128, false, DType::f32},  {"panel32k8_q4s", 4, 16, 0, true, DType::f32},
    {"panel32k4_q8b", 8, 32, -128, false, DType::bf16}, {"panel32k2_q16b", 16, 32, -32768, false, DType::bf16}};

/// The nearest number of 11 significant bits, and an f16 if it must be; for bf16, which has 8 bits, the next power of
/// two, so that the largest code is not reduced. Its products with codes are exact in f32.
double nearest_scale(double value, DType dtype) {
    if (dtype == DType::bf16) return value == 0 ? 0 : std::exp2(std::max(std::ceil(std::log2(value)), -100.0));
    const bool is_half = dtype == DType::f16;
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

// Where the code of an element is in its group: two, four or eight steps of k are a word, in it even ones before odd
// ones.
CodePanels::CodePlace CodePanels::code_at(std::int64_t k, std::int64_t n) const {
    const int in_word = 32 / format_->bits, step = static_cast<int>(k % in_word);
    const std::int64_t word = k % format_->group / in_word * width + n % width;
    const int bit = (step % 2 * in_word / 2 + step / 2) * format_->bits;
    return {format_->head_bytes() + static_cast<std::size_t>(word * 4), bit};
}

CodePanels::GroupNumbers CodePanels::numbers_of(const std::vector<double>& elements, std::int64_t first,
                                                std::int64_t column) const {
    GroupNumbers numbers{0, 0, 0, 0};
    numbers.lowest = format_->lowest;
    numbers.highest = format_->lowest + (1 << format_->bits) - 1;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (std::int64_t k = first; k < first + format_->group; ++k) {
        const double x = elements[index(k, column)];
        if (!std::isfinite(x)) return {x, 0, 1, 1};
        low = std::min(low, x), high = std::max(high, x);
    }
    if (!format_->has_offsets) {
        numbers.scale = nearest_scale(std::max(high, -low) / numbers.highest, format_->scales);
        return numbers;
    }
    numbers.scale = nearest_scale((high - low) / (numbers.highest - numbers.lowest), format_->scales);
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
            if (format_->scales == DType::f32)
                put(group + column * 4, static_cast<float>(numbers.scale));
            else
                put(group + column * 2, encode16(numbers.scale, format_->scales == DType::f16));
            if (format_->has_offsets)
                put(group + format_->scale_bytes() + column * 4, static_cast<float>(numbers.offset));
            for (std::int64_t k = first; k < first + format_->group; ++k) {
                const double steps = (elements[index(k, n)] - numbers.offset) / numbers.scale;
                const bool is_special = numbers.scale == 0 || !std::isfinite(numbers.scale);
                const int code =
                    is_special
                        ? numbers.lowest
                        : static_cast<int>(std::clamp<double>(std::round(steps), numbers.lowest, numbers.highest));
                const auto [at, bit] = code_at(k, n);
                const std::uint32_t mask = (1U << format_->bits) - 1;
                const std::uint32_t others = get<std::uint32_t>(group + at) & ~(mask << bit);
                put(group + at, others | (static_cast<std::uint32_t>(code) & mask) << bit);
            }
        }
}

std::vector<double> CodePanels::read(const std::byte* from) const {
    std::vector<double> elements(static_cast<std::size_t>(depth_ * columns_));
    for (std::int64_t n = 0; n < columns_; ++n)
        for (std::int64_t k = 0; k < depth_; ++k) {
            const std::byte* const group = from + group_at(k, n);
            const auto column = static_cast<std::size_t>(n % width);
            const double scale = format_->scales == DType::f32
                                     ? get<float>(group + column * 4)
                                     : decode16(get<std::uint16_t>(group + column * 2), format_->scales == DType::f16);
            const auto [at, bit] = code_at(k, n);
            const int values = 1 << format_->bits;
            int code = static_cast<int>(get<std::uint32_t>(group + at) >> bit) & (values - 1);
            if (code >= format_->lowest + values) code -= values;
            auto value = static_cast<float>(scale * code);
            if (format_->has_offsets) value += get<float>(group + format_->scale_bytes() + column * 4);
            elements[index(k, n)] = value;
        }
    return elements;
}

std::vector<double> CodePanels::replace_unrepresentable(std::vector<double> elements,
                                                        const std::vector<double>& expected) const {
    for (std::int64_t n = 0; n < columns_; ++n)
        for (std::int64_t first = 0; first < depth_; first += format_->group) {
            bool is_finite = true;
            for (std::int64_t k = first; k < first + format_->group; ++k)
                is_finite = is_finite && std::isfinite(expected[index(k, n)]);
            for (std::int64_t k = first; !is_finite && k < first + format_->group; ++k)
                if (const double element = expected[index(k, n)]; std::isfinite(element))
                    elements[index(k, n)] = element;
        }
    return elements;
}

}  // namespace cairn::kernel_check
