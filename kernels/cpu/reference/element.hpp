#pragma once

#include "cairn/kernel.hpp"

#include <cstdint>
#include <span>
#include <string_view>

/// Loads and stores elements of any dtype and stride, a block at a time: floats as double, integers and booleans as
/// 64-bit integers. With it a reference kernel is written once for all dtypes.
///
///     Block x;
///     load(x, argument, offset, stride, count, DType::bf16);   // x.real[0 .. count)
///     store(x, argument, offset, stride, count, DType::f16);   // rounded to nearest even
namespace cairn::kernels::cpu::reference {

constexpr int block_size = 64;

/// Up to block_size elements: in `real` for float dtypes, otherwise in `whole`.
union ElementBlock {
    double real[block_size];
    std::int64_t whole[block_size];
};

/// Loads `count` elements of the given stride, beginning `offset` elements after `from`.
void load(ElementBlock& block, const std::byte* from, std::int64_t offset, std::int64_t stride, int count,
          DType dtype) noexcept;
/// Stores a block: floats rounded to nearest even, integers wrapped, booleans 0 or 1.
void store(const ElementBlock& block, std::byte* to, std::int64_t offset, std::int64_t stride, int count,
           DType dtype) noexcept;
/// The conversion of `cast`: rounding between floats, truncation and saturation to integers, `x != 0` to boolean.
void convert(ElementBlock& block, int count, DType from, DType to) noexcept;
/// Wraps an integer to the range of `dtype`, as arithmetic in that dtype does.
std::int64_t wrap(std::int64_t value, DType dtype) noexcept;
/// The smallest value of an integer dtype.
std::int64_t smallest(DType dtype) noexcept;

/// Data pointer, sizes and strides of a TensorArg or of a part of it.
struct StridedView {
    std::byte* data;
    const std::int64_t* shape;
    const std::int64_t* strides;
    int rank;
};
inline StridedView strided_view_of(const TensorArg& arg) noexcept {
    return {arg.data, arg.shape, arg.strides, arg.rank};
}

/// Number of elements; offset in elements of the `index`-th element in row-major order; true if elements are
/// contiguous.
std::int64_t element_count(const StridedView& view) noexcept;
std::int64_t offset_of(const StridedView& view, std::int64_t index) noexcept;
bool is_dense(const StridedView& view) noexcept;
/// Size of the last axis, 1 for a scalar; its stride.
inline std::int64_t inner_size(const StridedView& view) noexcept {
    return view.rank > 0 ? view.shape[view.rank - 1] : 1;
}
inline std::int64_t inner_stride(const StridedView& view) noexcept {
    return view.rank > 0 ? view.strides[view.rank - 1] : 1;
}

/// The half-open range of `count` items that member `rank` of a team of `size` processes.
struct Range {
    std::int64_t begin, end;
};
inline Range share(std::int64_t count, int rank, int size) noexcept {
    return {count * rank / size, count * (rank + 1) / size};
}

/// Copies the elements [begin, end) of `from` in row-major order to the same indices of `to`, which has as many
/// elements but may have another shape. `bytes` is the size of an element.
void move_elements(const StridedView& to, const StridedView& from, std::size_t bytes, Range range) noexcept;

/// Refuses operands that are not plain memory; empty otherwise.
Refusal needs_plain_memory(const Problem& problem);
/// Index of the first value of the list attribute `name` in Args::dims.
int position_of_list(const Problem& problem, std::string_view name);
/// An axis attribute, possibly negative, as an index 0 .. rank - 1.
int axis_index(std::int64_t axis, std::size_t rank) noexcept;
/// Scratch size rounded up to a multiple of 64 bytes, so that each member's share is aligned.
inline std::int64_t rounded_to_line(std::int64_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

}  // namespace cairn::kernels::cpu::reference
