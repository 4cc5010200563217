#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace cairn::types {

/// Vector with inline storage for `inline_capacity` elements. It spares the heap memory of many short lists, such
/// as operands.
///
///     SmallVector<int, 4> list{1, 2};   list.push_back(3);
template <typename T, std::size_t inline_capacity>
requires std::is_trivially_copyable_v<T>
class SmallVector {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    SmallVector() = default;
    SmallVector(std::initializer_list<T> list) { assign(list.begin(), list.end()); }
    template <typename Iterator>
    SmallVector(Iterator first, Iterator last) {
        assign(first, last);
    }
    /// From any other contiguous list with such elements.
    template <std::ranges::contiguous_range List>
    requires(!std::same_as<std::remove_cvref_t<List>, SmallVector> && std::same_as<std::ranges::range_value_t<List>, T>)
        SmallVector(const List& list) {
        assign(list.begin(), list.end());
    }
    SmallVector(const SmallVector& other) { assign(other.begin(), other.end()); }
    SmallVector(SmallVector&& other) noexcept
        : inline_(other.inline_),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, inline_capacity)),
          heap_(std::move(other.heap_)) {}
    SmallVector& operator=(const SmallVector& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    SmallVector& operator=(SmallVector&& other) noexcept {
        inline_ = other.inline_;
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, inline_capacity);
        heap_ = std::move(other.heap_);
        return *this;
    }
    ~SmallVector() = default;
    operator std::vector<T>() const { return {begin(), end()}; }

    T* data() noexcept { return heap_ ? heap_.get() : inline_.data(); }
    const T* data() const noexcept { return heap_ ? heap_.get() : inline_.data(); }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    T* begin() noexcept { return data(); }
    T* end() noexcept { return data() + size_; }
    const T* begin() const noexcept { return data(); }
    const T* end() const noexcept { return data() + size_; }
    T& operator[](std::size_t i) { return data()[i]; }
    const T& operator[](std::size_t i) const { return data()[i]; }
    T& front() { return *begin(); }
    const T& front() const { return *begin(); }
    T& back() { return end()[-1]; }
    const T& back() const { return end()[-1]; }
    friend bool operator==(const SmallVector& a, const SmallVector& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

    void clear() noexcept { size_ = 0; }
    void pop_back() noexcept { --size_; }
    void push_back(T value) {
        if (size_ == capacity_) grow(2 * std::size_t{capacity_});
        data()[size_++] = value;
    }
    T* insert(const T* before, T value) {
        const std::ptrdiff_t at = before - begin();
        push_back(value);
        std::rotate(begin() + at, end() - 1, end());
        return begin() + at;
    }
    T* erase(const T* first, const T* last) {
        T* const at = begin() + (first - begin());
        std::copy(last, std::as_const(*this).end(), at);
        size_ -= static_cast<std::uint32_t>(last - first);
        return at;
    }
    T* erase(const T* at) { return erase(at, at + 1); }
    /// The elements must not belong to this vector.
    template <typename Iterator>
    void assign(Iterator first, Iterator last) {
        clear();
        if (const auto count = static_cast<std::size_t>(std::distance(first, last)); count > capacity_) grow(count);
        for (; first != last; ++first) data()[size_++] = *first;
    }

private:
    void grow(std::size_t capacity) {
        auto larger = std::make_unique_for_overwrite<T[]>(capacity);
        std::copy(begin(), end(), larger.get());
        heap_ = std::move(larger);
        capacity_ = static_cast<std::uint32_t>(capacity);
    }

    std::array<T, inline_capacity> inline_{};
    std::uint32_t size_ = 0, capacity_ = inline_capacity;
    std::unique_ptr<T[]> heap_;  // all elements, once they exceed inline_capacity
};

}  // namespace cairn::types
