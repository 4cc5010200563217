#include "check/guarded_tensor.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace cairn::inline v0::check {
namespace {

constexpr std::size_t guard_bytes = 512;

// The packed form spelled a second time: element [k, n] of the matrix (or, transposed, [n, k]) by its place among
// 32-column panels.
std::size_t panel_index(std::int64_t k, std::int64_t n, std::int64_t depth) {
    return static_cast<std::size_t>((n / 32) * depth * 32 + k * 32 + n % 32);
}

// IEEE encodings of 16 bits, by search over all of them: slow, and obviously right.
double decode16(std::uint16_t bits, bool is_half) {
    if (!is_half) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    const double magnitude = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                             : exponent == 0 ? std::ldexp(mantissa, -24)
                                             : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// `value` is exactly some number of the format.
std::uint16_t encode16(double value, bool is_half) {
    const std::uint16_t infinity = is_half ? 0x7c00 : 0x7f80, sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return static_cast<std::uint16_t>(infinity + 1);
    std::uint16_t low = 0, high = infinity;
    while (low < high) {
        const auto middle = static_cast<std::uint16_t>((low + high) / 2);
        if (decode16(middle, is_half) < std::fabs(value))
            low = static_cast<std::uint16_t>(middle + 1);
        else
            high = middle;
    }
    return static_cast<std::uint16_t>(sign | low);
}

template <typename T>
void put(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}
template <typename T>
T get(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

void put_element(std::byte* to, const meaning::Value& value, std::size_t i) {
    switch (value.dtype) {
        case DType::f64: return put(to, value.data[i]);
        case DType::f32: return put(to, static_cast<float>(value.data[i]));
        case DType::f16: return put(to, encode16(value.data[i], true));
        case DType::bf16: return put(to, encode16(value.data[i], false));
        case DType::i64: return put(to, value.integers[i]);
        case DType::i32: return put(to, static_cast<std::int32_t>(value.integers[i]));
        default: return put(to, static_cast<std::uint8_t>(value.integers[i]));
    }
}

void get_element(const std::byte* from, meaning::Value& value, std::size_t i) {
    switch (value.dtype) {
        case DType::f64: value.data[i] = get<double>(from); return;
        case DType::f32: value.data[i] = get<float>(from); return;
        case DType::f16: value.data[i] = decode16(get<std::uint16_t>(from), true); return;
        case DType::bf16: value.data[i] = decode16(get<std::uint16_t>(from), false); return;
        case DType::i64: value.integers[i] = get<std::int64_t>(from); return;
        case DType::i32: value.integers[i] = get<std::int32_t>(from); return;
        case DType::i8: value.integers[i] = get<std::int8_t>(from); return;
        default: value.integers[i] = get<std::uint8_t>(from); return;
    }
}

bool holds_only(const std::vector<std::byte>& memory, std::size_t begin, std::size_t end, std::uint8_t poison) {
    // Equal to its own neighbour all the way: one call instead of a loop that sanitizers would slow down.
    return begin == end || (memory[begin] == static_cast<std::byte>(poison) &&
                            std::memcmp(memory.data() + begin, memory.data() + begin + 1, end - begin - 1) == 0);
}

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    return count;
}

}  // namespace

bool GuardedTensor::knows(std::string_view layout) {
    return layout.empty() || layout == "panel32" || layout == "panel32.t";
}

GuardedTensor::GuardedTensor(const TensorDesc& tensor, std::uint8_t poison, int misalignment)
    : dtype_(tensor.dtype), layout_(tensor.layout), poison_(poison) {
    for (const Dim& size : tensor.shape) shape_.push_back(size.constant());
    const std::size_t bytes = size_of(dtype_);
    if (!knows(layout_))
        throw Error(ErrorKind::unsupported, "check_kernel",
                    "no packed form but panel32 can be checked, got " + layout_);
    if (layout_.empty()) {
        std::int64_t last = 0;
        for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
            strides_.push_back(tensor.strides[axis].constant());
            last += std::max<std::int64_t>(0, shape_[axis] - 1) * strides_[axis];
        }
        size_ = count_of(shape_) == 0 ? 0 : static_cast<std::size_t>(last + 1) * bytes;
    } else {
        const std::size_t rank = shape_.size();
        const std::int64_t k = layout_ == "panel32" ? shape_.at(rank - 2) : shape_.at(rank - 1);
        const std::int64_t n = layout_ == "panel32" ? shape_.at(rank - 1) : shape_.at(rank - 2);
        size_ = static_cast<std::size_t>((n + 31) / 32 * 32 * k) * bytes;
        strides_.assign(rank, 0);
    }
    memory_.assign(size_ + 2 * guard_bytes + 64, static_cast<std::byte>(poison));
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + guard_bytes;
    begin_ = guard_bytes + (64 - address % 64) % 64 + static_cast<std::size_t>(misalignment) * bytes;
    places_ = places();
    if (!layout_.empty()) {
        if (size_ > 0) owned_ = {{begin_, begin_ + size_}};
        return;
    }
    std::vector<char> marks(memory_.size(), 0);
    for (const std::size_t place : places_) std::memset(marks.data() + place, 1, bytes);
    for (auto end = marks.begin();;) {
        const auto begin = std::find(end, marks.end(), 1);
        if (begin == marks.end()) break;
        end = std::find(begin, marks.end(), 0);
        owned_.emplace_back(begin - marks.begin(), end - marks.begin());
    }
}

std::vector<std::size_t> GuardedTensor::places() const {
    const std::size_t bytes = size_of(dtype_), rank = shape_.size();
    std::vector<std::size_t> found(static_cast<std::size_t>(count_of(shape_)));
    std::vector<std::int64_t> index(rank, 0);
    for (std::size_t& place : found) {
        std::size_t element = 0;
        if (layout_ == "panel32") {
            element = panel_index(index[rank - 2], index[rank - 1], shape_[rank - 2]);
        } else if (layout_ == "panel32.t") {
            element = panel_index(index[rank - 1], index[rank - 2], shape_[rank - 1]);
        } else {
            for (std::size_t axis = 0; axis < rank; ++axis)
                element += static_cast<std::size_t>(index[axis] * strides_[axis]);
        }
        place = begin_ + element * bytes;
        for (std::size_t axis = rank; axis-- > 0 && ++index[axis] == shape_[axis];) index[axis] = 0;
    }
    return found;
}

void GuardedTensor::write(const meaning::Value& value) {
    if (!layout_.empty()) std::memset(data(), 0, size_);
    for (std::size_t i = 0; i < places_.size(); ++i) put_element(memory_.data() + places_[i], value, i);
}

meaning::Value GuardedTensor::read() const {
    meaning::Value value;
    value.dtype = dtype_;
    value.shape = shape_;
    (is_float(dtype_) ? value.data.resize(places_.size()) : value.integers.resize(places_.size()));
    for (std::size_t i = 0; i < places_.size(); ++i) get_element(memory_.data() + places_[i], value, i);
    return value;
}

bool GuardedTensor::gaps_untouched() const {
    std::size_t gap = 0;
    for (const auto& [begin, end] : owned_) {
        if (!holds_only(memory_, gap, begin, poison_)) return false;
        gap = end;
    }
    return holds_only(memory_, gap, memory_.size(), poison_);
}

std::vector<std::uint8_t> GuardedTensor::bits() const {
    std::vector<std::uint8_t> found;
    for (const auto& [begin, end] : owned_) {
        const std::size_t size = found.size();
        found.resize(size + end - begin);
        std::memcpy(found.data() + size, memory_.data() + begin, end - begin);
    }
    return found;
}

TensorArg GuardedTensor::argument() {
    return {data(), shape_.data(), strides_.data(), static_cast<int>(shape_.size())};
}

void GuardedTensor::close_guards([[maybe_unused]] bool closed) {
#if defined(__SANITIZE_ADDRESS__)
    const std::size_t behind = begin_ + size_;
    if (closed)
        __asan_poison_memory_region(memory_.data() + behind, memory_.size() - behind);
    else
        __asan_unpoison_memory_region(memory_.data(), memory_.size());
#endif
}

Scratch::Scratch(std::size_t count, std::uint8_t poison)
    : memory_(count + 2 * guard_bytes + 64, static_cast<std::byte>(poison)), count_(count), poison_(poison) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) + guard_bytes;
    begin_ = guard_bytes + (64 - address % 64) % 64;
}

bool Scratch::guards_untouched() const {
    return holds_only(memory_, 0, begin_, poison_) && holds_only(memory_, begin_ + count_, memory_.size(), poison_);
}

}  // namespace cairn::inline v0::check
