#pragma once

#include "accuracy/kernel_check/code_panels.hpp"
#include "cairn/kernel.hpp"
#include "graph/interpreter/interpreter.hpp"

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The memory of one operand of a kernel under test: the bytes that its shape and strides address, with guards before
/// and after. Bytes that belong to no element (guards, gaps between rows) hold a poison, which the kernel must neither
/// change nor let influence a result.
namespace cairn::kernel_check {

/// Allocator of memory aligned to 64 bytes, in copies of a vector as well.
template <typename T>
struct AlignedAllocator {
    using value_type = T;
    static constexpr std::align_val_t at{64};
    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), at)); }
    void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory, at); }
    bool operator==(const AlignedAllocator&) const = default;
};
using Bytes = std::vector<std::byte, AlignedAllocator<std::byte>>;

/// A copy is an independent operand with the same contents.
class GuardedTensor {
public:
    /// True for layouts that can be written and read: strided memory, and the layouts known here.
    static bool supports_layout(std::string_view layout);
    /// `tensor` has constant sizes and a supported layout. All memory is poison; `misalignment` elements lie between
    /// the guard and the first element.
    GuardedTensor(const TensorDesc& tensor, std::uint8_t poison, int misalignment);
    /// With the shape and strides of `like`, but not its contents.
    GuardedTensor(const GuardedTensor& like, std::uint8_t poison, int misalignment);

    /// Writes a value into the elements, or into the packed form: in partial sums as parts that add up to it exactly,
    /// in a layout of codes the nearest value that codes can express, which read() returns.
    void write(const interpreter::Value& value);
    /// The elements as a value; of a packed form, the matrix it was made from; of partial sums, the sums in f64.
    interpreter::Value read() const;
    /// The elements to compare with expected ones: those that the layout cannot represent are the expected ones
    /// (CodePanels::replace_unrepresentable).
    interpreter::Value read_comparable(const interpreter::Value& expected) const;
    /// False if a byte that belongs to no element has changed.
    bool guards_intact() const;
    /// The raw bytes of all elements, in the order of memory: for comparing results bit by bit.
    std::vector<std::uint8_t> bits() const;

    /// All of its memory, with the guards.
    std::span<std::byte> block() { return memory_; }
    TensorArg argument() { return argument(memory_.data()); }
    /// As an argument for a device that finds the block, or a copy of it, at this address.
    TensorArg argument(std::byte* block) const;
    std::byte* data() { return memory_.data() + begin_; }
    /// Bytes from the first element to the end of the last.
    std::size_t size() const { return size_; }
    /// With AddressSanitizer, the guard after the elements cannot be accessed while `closed`.
    void close_guards(bool closed);

private:
    using ByteRanges = std::vector<std::pair<std::size_t, std::size_t>>;

    // Shared by all copies.
    struct ElementMap {
        std::vector<std::size_t> element_offsets;  // byte offset of each element from data(), in row-major order
        ByteRanges owned;                          // ranges from data() that hold elements, ascending
    };
    void allocate(int misalignment);
    void write_parts(const interpreter::Value& value);
    CodePanels code_panels() const;
    std::size_t part_bytes() const { return size_ / parts_; }
    std::vector<std::size_t> element_offsets() const;
    ByteRanges owned(const std::vector<std::size_t>& element_offsets) const;

    DType dtype_;
    std::string layout_;
    std::vector<std::int64_t> shape_, strides_;
    Bytes memory_;
    std::size_t begin_ = 0, size_ = 0, parts_ = 1;
    std::uint8_t poison_;
    std::shared_ptr<const ElementMap> element_map_;
};

/// `count` bytes of poison with guards, for workspaces.
class GuardedWorkspace {
public:
    GuardedWorkspace(std::size_t count, std::uint8_t poison);
    /// All of its memory, with the guards; the bytes begin at `begin()`.
    std::span<std::byte> block() { return memory_; }
    std::size_t begin() const { return begin_; }
    bool guards_intact() const;

private:
    Bytes memory_;
    std::size_t begin_, count_;
    std::uint8_t poison_;
};

}  // namespace cairn::kernel_check
