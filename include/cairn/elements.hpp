#pragma once

#include "cairn/types.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

/// Correspondence of C++ element types and dtypes.
namespace cairn::inline v0 {

/// A C++ type with a corresponding dtype: float, double, bool, std::int8_t, std::uint8_t, and signed integers of 32 and
/// 64 bits.
template <typename T>
concept Element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, bool> ||
    std::same_as<T, std::uint8_t> || std::same_as<T, std::int8_t> ||
    (std::signed_integral<T> && !std::same_as<T, char> && sizeof(T) >= 4);

/// The dtype of an element type: f32 for float, i64 for std::int64_t.
template <Element T>
constexpr DType dtype_of() noexcept {
    if (std::same_as<T, bool>) return DType::boolean;
    if (std::floating_point<T>) return sizeof(T) == 4 ? DType::f32 : DType::f64;
    if (std::unsigned_integral<T>) return DType::u8;
    return sizeof(T) == 1 ? DType::i8 : sizeof(T) == 4 ? DType::i32 : DType::i64;
}

namespace detail {

/// An element type of borrowed or returned memory: an Element, or std::uint16_t for the bits of f16 and bf16.
template <typename T>
concept Stored = Element<T> || std::same_as<T, std::uint16_t>;

/// The dtype of a stored type; f16 for std::uint16_t.
template <Stored T>
constexpr DType stored_as() noexcept {
    if constexpr (std::same_as<T, std::uint16_t>)
        return DType::f16;
    else
        return dtype_of<T>();
}

/// Contiguous elements: a span, vector, array or C array of a Stored type.
template <typename R>
concept Elements =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && Stored<std::ranges::range_value_t<R>>;
/// Contiguous elements that may be written.
template <typename R>
concept WritableElements = Elements<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// Type-erased contiguous elements.
struct ElementSpan {
    const void* data = nullptr;
    std::size_t count = 0;
    DType dtype = DType::f32;   ///< f16 for both f16 and bf16
    bool is_temporary = false;  ///< must be copied: the memory does not outlive the call
};

/// Number of elements of a shape.
inline std::size_t count_of(std::span<const std::int64_t> shape) noexcept {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    return count;
}

/// The elements of `shape` behind a pointer.
template <Stored T>
ElementSpan elements_at(const T* data, std::span<const std::int64_t> shape) noexcept {
    return {data, count_of(shape), stored_as<T>()};
}

/// The elements of a range; is_temporary unless the range is borrowed.
template <Elements R>
ElementSpan elements_of(R&& range) {
    return {std::ranges::data(range), static_cast<std::size_t>(std::ranges::size(range)),
            stored_as<std::ranges::range_value_t<R>>(), !std::ranges::borrowed_range<R>};
}

}  // namespace detail

}  // namespace cairn::inline v0
