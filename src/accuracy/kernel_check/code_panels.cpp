#include "accuracy/kernel_check/code_panels.hpp"

#include "accuracy/kernel_check/half_bits.hpp"
#include "cairn/error.hpp"

#include <algorithm>
#include <cstring>

namespace cairn::kernel_check {
namespace {

constexpr std::int64_t width = 32, group_size = 32, group_bytes = 64 + 1024;

/// The largest f16 that is not larger than a number >= 0.
double floor_to_half(double value) {
    if (std::isnan(value) || value >= 65504) return std::isfinite(value) ? 65504 : value;
    const double unit = std::exp2(std::max(value < 0x1p-14 ? -14 : std::ilogb(value), -14) - 10);
    return std::trunc(value / unit) * unit;
}

std::size_t code_at(std::int64_t k, std::int64_t n) {
    return static_cast<std::size_t>(64 + k % group_size * width + n % width);
}

}  // namespace

bool is_code_panels(std::string_view layout) { return layout == "panel32_q8" || layout == "panel32_q8.t"; }

CodePanels::CodePanels(std::int64_t depth, std::int64_t columns, bool is_transposed)
    : depth_(depth), columns_(columns), is_transposed_(is_transposed) {
    if (depth % group_size != 0)
        throw Error(ErrorKind::argument, "check_kernel", "panel32_q8 needs a K that is a multiple of 32");
}

std::size_t CodePanels::bytes() const {
    return static_cast<std::size_t>((columns_ + width - 1) / width * (depth_ / group_size) * group_bytes);
}

std::size_t CodePanels::index(std::int64_t k, std::int64_t n) const {
    return static_cast<std::size_t>(is_transposed_ ? n * depth_ + k : k * columns_ + n);
}

std::size_t CodePanels::group_at(std::int64_t k, std::int64_t n) const {
    return static_cast<std::size_t>((n / width * (depth_ / group_size) + k / group_size) * group_bytes);
}

void CodePanels::write(const std::vector<double>& elements, std::byte* to) const {
    for (std::int64_t n = 0; n < columns_; ++n)
        for (std::int64_t first = 0; first < depth_; first += group_size) {
            double largest = 0;
            for (std::int64_t k = first; k < first + group_size; ++k)
                if (const double x = std::fabs(elements[index(k, n)]); std::isnan(x) || x > largest) {
                    largest = x;
                    if (std::isnan(x)) break;
                }
            const double scale = floor_to_half(largest / 127);
            std::byte* const group = to + group_at(first, n);
            const std::uint16_t bits = encode16(scale, true);
            std::memcpy(group + n % width * 2, &bits, sizeof bits);
            for (std::int64_t k = first; k < first + group_size; ++k) {
                const double x = elements[index(k, n)];
                double code = scale == 0 || std::isnan(scale) ? 0 : std::clamp(std::round(x / scale), -128.0, 127.0);
                if (std::isinf(scale)) code = std::signbit(x) ? -1 : 1;
                group[code_at(k, n)] = static_cast<std::byte>(static_cast<std::int8_t>(code));
            }
        }
}

std::vector<double> CodePanels::read(const std::byte* from) const {
    std::vector<double> elements(static_cast<std::size_t>(depth_ * columns_));
    for (std::int64_t n = 0; n < columns_; ++n)
        for (std::int64_t k = 0; k < depth_; ++k) {
            const std::byte* const group = from + group_at(k, n);
            std::uint16_t scale;
            std::memcpy(&scale, group + n % width * 2, sizeof scale);
            elements[index(k, n)] = decode16(scale, true) * static_cast<std::int8_t>(group[code_at(k, n)]);
        }
    return elements;
}

}  // namespace cairn::kernel_check
