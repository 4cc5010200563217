#include "kernels/cpu/reference/element.hpp"

#include "graph/types/half.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace cairn::kernels::cpu::reference {
namespace {

// Bits of a 16-bit float with `mantissa` explicit bits and smallest normal exponent `low`. Converting directly from
// double avoids double rounding through float.
template <int mantissa, int low>
std::uint16_t narrow(double value) noexcept {
    constexpr std::uint16_t infinity = static_cast<std::uint16_t>((0x7fff >> mantissa) << mantissa);
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1 << (mantissa - 1)));
    const double magnitude = std::fabs(value);
    if (magnitude == 0) return sign;
    if (std::isinf(magnitude)) return sign | infinity;
    const int exponent = std::max(std::ilogb(magnitude), low);
    const double scaled = std::nearbyint(std::ldexp(magnitude, mantissa - exponent));
    const std::int64_t bits =
        (static_cast<std::int64_t>(exponent - low) << mantissa) + static_cast<std::int64_t>(scaled);
    return static_cast<std::uint16_t>(sign | std::min<std::int64_t>(bits, infinity));
}

double widen_half(std::uint16_t bits) noexcept {
    const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    double value = 0;
    if (exponent == 31)
        value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    else
        value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

struct Half {
    std::uint16_t bits;
    operator double() const noexcept { return widen_half(bits); }
    static Half from(double value) noexcept { return {narrow<10, -14>(value)}; }
};
struct Brain {
    std::uint16_t bits;
    operator double() const noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
    static Brain from(double value) noexcept { return {narrow<7, -126>(value)}; }
};
struct Flag {
    std::uint8_t bits;
    operator std::int64_t() const noexcept { return bits != 0 ? 1 : 0; }
    static Flag from(std::int64_t value) noexcept { return {static_cast<std::uint8_t>(value != 0)}; }
};

// Calls `work` with a value of the element type. Only this function maps dtypes to types.
template <typename Work>
void visit(DType dtype, const Work& work) noexcept {
    switch (dtype) {
        case DType::f64: return work(double());
        case DType::f32: return work(float());
        case DType::f16: return work(Half());
        case DType::bf16: return work(Brain());
        case DType::i64: return work(std::int64_t());
        case DType::i32: return work(std::int32_t());
        case DType::i8: return work(std::int8_t());
        case DType::u8: return work(std::uint8_t());
        case DType::boolean: return work(Flag());
    }
}

template <typename T>
constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, Brain>;

template <typename T, typename From>
T made_from(From value) noexcept {
    if constexpr (requires { T::from(value); })
        return T::from(value);
    else
        return static_cast<T>(value);
}

std::int64_t largest(DType dtype) noexcept {
    std::int64_t found = 1;
    visit(dtype, [&]<typename T>(T) {
        if constexpr (std::is_integral_v<T>) found = std::numeric_limits<T>::max();
    });
    return found;
}

std::int64_t truncated(double value, DType dtype) noexcept {
    if (dtype == DType::boolean) return value != 0 ? 1 : 0;
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(smallest(dtype))) return smallest(dtype);
    if (value >= static_cast<double>(largest(dtype))) return largest(dtype);
    return static_cast<std::int64_t>(value);
}

double rounded(double value, DType dtype) noexcept {
    switch (dtype) {
        case DType::f32: return static_cast<double>(static_cast<float>(value));
        case DType::f16: return Half::from(value);
        case DType::bf16: return Brain::from(value);
        default: return value;
    }
}

// A large integer converted through the nearest double would be rounded twice.
double rounded(std::int64_t value, DType dtype) noexcept {
    return dtype == DType::f64 ? static_cast<double>(value) : rounded(types::i64_to_f64_odd(value), dtype);
}

}  // namespace

void load(ElementBlock& block, const std::byte* from, std::int64_t offset, std::int64_t stride, int count,
          DType dtype) noexcept {
    visit(dtype, [&]<typename T>(T) {
        const T* source = reinterpret_cast<const T*>(from) + offset;
        for (int i = 0; i < count; ++i) {
            if constexpr (is_real<T>)
                block.real[i] = static_cast<double>(source[i * stride]);
            else
                block.whole[i] = static_cast<std::int64_t>(source[i * stride]);
        }
    });
}

void store(const ElementBlock& block, std::byte* to, std::int64_t offset, std::int64_t stride, int count,
           DType dtype) noexcept {
    visit(dtype, [&]<typename T>(T) {
        T* target = reinterpret_cast<T*>(to) + offset;
        for (int i = 0; i < count; ++i) {
            if constexpr (is_real<T>)
                target[i * stride] = made_from<T>(block.real[i]);
            else
                target[i * stride] = made_from<T>(block.whole[i]);
        }
    });
}

void convert(ElementBlock& block, int count, DType from, DType to) noexcept {
    const bool was_real = is_float(from), is_real_now = is_float(to);
    for (int i = 0; i < count; ++i) {
        if (was_real && is_real_now)
            block.real[i] = rounded(block.real[i], to);
        else if (was_real)
            block.whole[i] = truncated(block.real[i], to);
        else if (is_real_now)
            block.real[i] = rounded(block.whole[i], to);
        else if (to == DType::boolean)
            block.whole[i] = block.whole[i] != 0 ? 1 : 0;
        else
            block.whole[i] = std::clamp(block.whole[i], smallest(to), largest(to));
    }
}

std::int64_t wrap(std::int64_t value, DType dtype) noexcept {
    std::int64_t result = value;
    visit(dtype, [&]<typename T>(T) {
        if constexpr (!is_real<T>) result = static_cast<std::int64_t>(made_from<T>(value));
    });
    return result;
}

std::int64_t smallest(DType dtype) noexcept {
    std::int64_t found = 0;
    visit(dtype, [&]<typename T>(T) {
        if constexpr (std::is_integral_v<T>) found = std::numeric_limits<T>::min();
    });
    return found;
}

std::int64_t element_count(const StridedView& view) noexcept {
    std::int64_t count = 1;
    for (int axis = 0; axis < view.rank; ++axis) count *= view.shape[axis];
    return count;
}

std::int64_t offset_of(const StridedView& view, std::int64_t index) noexcept {
    std::int64_t offset = 0;
    for (int axis = view.rank - 1; axis >= 0 && index != 0; --axis) {
        offset += index % view.shape[axis] * view.strides[axis];
        index /= view.shape[axis];
    }
    return offset;
}

bool is_dense(const StridedView& view) noexcept {
    std::int64_t expected = 1;
    for (int axis = view.rank - 1; axis >= 0; --axis) {
        if (view.shape[axis] != 1 && view.strides[axis] != expected) return false;
        expected *= view.shape[axis];
    }
    return true;
}

namespace {

template <typename Word>
void move_run(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
              std::int64_t count) noexcept {
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * to_stride * static_cast<std::int64_t>(sizeof(Word)),
                    from + i * from_stride * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
}

void move_run(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
              std::int64_t count, std::size_t bytes) noexcept {
    if (count == 1 || (to_stride == 1 && from_stride == 1)) {
        // An in-place move has overlapping memory, which memcpy does not allow.
        std::memmove(to, from, static_cast<std::size_t>(count) * bytes);
        return;
    }
    switch (bytes) {
        case 1: return move_run<std::uint8_t>(to, to_stride, from, from_stride, count);
        case 2: return move_run<std::uint16_t>(to, to_stride, from, from_stride, count);
        case 4: return move_run<std::uint32_t>(to, to_stride, from, from_stride, count);
        default: return move_run<std::uint64_t>(to, to_stride, from, from_stride, count);
    }
}

}  // namespace

void move_elements(const StridedView& to, const StridedView& from, std::size_t bytes, Range range) noexcept {
    const bool to_dense = is_dense(to), from_dense = is_dense(from);
    const std::int64_t to_inner = to_dense ? range.end : inner_size(to);
    const std::int64_t from_inner = from_dense ? range.end : inner_size(from);
    const auto size = static_cast<std::int64_t>(bytes);
    for (std::int64_t i = range.begin; i < range.end;) {
        const std::int64_t run = std::min({range.end - i, to_inner - i % to_inner, from_inner - i % from_inner});
        const std::int64_t to_offset = to_dense ? i : offset_of(to, i);
        const std::int64_t from_offset = from_dense ? i : offset_of(from, i);
        move_run(to.data + to_offset * size, to_dense ? 1 : inner_stride(to), from.data + from_offset * size,
                 from_dense ? 1 : inner_stride(from), run, bytes);
        i += run;
    }
}

Refusal needs_plain_memory(const Problem& problem) {
    for (const auto* list : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *list)
            if (!tensor.layout.empty()) return "needs plain memory, not the layout " + tensor.layout;
    return {};
}

int position_of_list(const Problem& problem, std::string_view name) {
    int position = 0;
    for (const Attribute& attribute : problem.attributes) {
        if (attribute.name == name) return position;
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            position += static_cast<int>(list->size());
    }
    throw Error(ErrorKind::argument, "[" + problem.definition + "] expected an attribute " + std::string(name));
}

int axis_index(std::int64_t axis, std::size_t rank) noexcept {
    return static_cast<int>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

}  // namespace cairn::kernels::cpu::reference
