#pragma once

#include "cairn/kernel.hpp"
#include "meaning/interpret.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The memory of one operand of a kernel under test: the bytes its shape and strides address, with guards before and
/// behind. Bytes that no element owns (guards, gaps between rows) hold a poison which the kernel may neither change nor
/// let show in a result.
namespace cairn::inline v0::check {

class GuardedTensor {
public:
    /// True for what can be written and read: row after row, and packed forms that are known here.
    static bool knows(std::string_view layout);
    /// `tensor` has constant sizes and a layout that is known. All memory is poison; `misalignment` elements lie
    /// between the guard and the first element.
    GuardedTensor(const TensorDesc& tensor, std::uint8_t poison, int misalignment);

    /// Writes a value into the elements, or into the packed form.
    void write(const meaning::Value& value);
    /// The elements as a value; of a packed form, the matrix it was made from.
    meaning::Value read() const;
    /// False when a byte that no element owns has changed.
    bool gaps_untouched() const;
    /// The raw bytes of all elements, in the order of memory: for comparing results bit by bit.
    std::vector<std::uint8_t> bits() const;

    TensorArg argument();
    std::byte* data() { return memory_.data() + begin_; }
    std::size_t size() const { return size_; }
    /// Where the elements lie is a line for sanitizers: guards cannot be touched while `closed`.
    void close_guards(bool closed);

private:
    std::vector<std::size_t> places() const;

    DType dtype_;
    std::string layout_;
    std::vector<std::int64_t> shape_, strides_;
    std::vector<std::byte> memory_;
    std::size_t begin_ = 0, size_ = 0;
    std::uint8_t poison_;
    std::vector<std::size_t> places_;  // the byte of memory_ where each element lies, in row-major order
    std::vector<std::pair<std::size_t, std::size_t>> owned_;  // stretches of memory_ that elements lie in, ascending
};

/// `count` bytes of poison with guards, for workspaces.
class Scratch {
public:
    Scratch(std::size_t count, std::uint8_t poison);
    std::byte* data() { return memory_.data() + begin_; }
    bool guards_untouched() const;

private:
    std::vector<std::byte> memory_;
    std::size_t begin_, count_;
    std::uint8_t poison_;
};

}  // namespace cairn::inline v0::check
