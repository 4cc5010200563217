#pragma once

#include "cairn/kernel.hpp"

#include <cstdint>
#include <span>
#include <string_view>

/// Elements of any dtype and stride, a block at a time: floats as double, integers and booleans as 64-bit integers.
/// With it a reference kernel is written once for all dtypes.
///
///     Block x;
///     load(x, argument, offset, stride, count, DType::bf16);   // x.real[0 .. count)
///     store(x, argument, offset, stride, count, DType::f16);   // rounded to nearest even
namespace cairn::kernels::cpu::reference {

constexpr int block_size = 64;

/// Up to block_size elements, in `real` where the dtype is a float, else in `whole`.
union ElementBlock {
    double real[block_size];
    std::int64_t whole[block_size];
};

/// Reads `count` elements, `stride` elements apart, beginning `offset` elements behind `from`.
void load(ElementBlock& block, const std::byte* from, std::int64_t offset, std::int64_t stride, int count,
          DType dtype) noexcept;
/// Writes them: floats rounded to nearest even, integers wrapped, booleans 0 or 1.
void store(const ElementBlock& block, std::byte* to, std::int64_t offset, std::int64_t stride, int count,
           DType dtype) noexcept;
/// The conversion of `cast`: rounding between floats, truncation and saturation to integers, `x != 0` to boolean.
void convert(ElementBlock& block, int count, DType from, DType to) noexcept;
/// An integer reduced to the range of `dtype`, as arithmetic in that dtype wraps.
std::int64_t wrap(std::int64_t value, DType dtype) noexcept;
/// The smallest value of an integer dtype.
std::int64_t smallest(DType dtype) noexcept;

/// Sizes and strides of memory that is walked; what TensorArg says, or a part of it.
struct StridedView {
    std::byte* data;
    const std::int64_t* shape;
    const std::int64_t* strides;
    int rank;
};
inline StridedView strided_view_of(const TensorArg& arg) noexcept {
    return {arg.data, arg.shape, arg.strides, arg.rank};
}

/// The product of the sizes; the elements between the view's start and its `index`-th element in row-major order;
/// whether elements follow each other without gaps.
std::int64_t element_count(const StridedView& view) noexcept;
std::int64_t offset_of(const StridedView& view, std::int64_t index) noexcept;
bool is_dense(const StridedView& view) noexcept;
/// The size of the last axis, 1 for a scalar; its stride.
inline std::int64_t inner_size(const StridedView& view) noexcept {
    return view.rank > 0 ? view.shape[view.rank - 1] : 1;
}
inline std::int64_t inner_stride(const StridedView& view) noexcept {
    return view.rank > 0 ? view.strides[view.rank - 1] : 1;
}

/// The half-open range of `count` things that member `rank` of a team of `size` does.
struct Range {
    std::int64_t begin, end;
};
inline Range share(std::int64_t count, int rank, int size) noexcept {
    return {count * rank / size, count * (rank + 1) / size};
}

/// Copies the elements [begin, end) of `from` in row-major order to the same places of `to`, which has as many elements
/// but may have another shape. `bytes` is the size of an element.
void move_elements(const StridedView& to, const StridedView& from, std::size_t bytes, Range range) noexcept;

/// Why a problem is not for a reference kernel: operands that are not plain memory. Empty otherwise.
Refusal needs_plain_memory(const Problem& problem);
/// Where the list attribute `name` begins among Args::dims.
int position_of_list(const Problem& problem, std::string_view name);
/// An axis attribute as an index 0 .. rank - 1.
int axis_index(std::int64_t axis, std::size_t rank) noexcept;
/// Bytes of scratch: `each` for every member, each share beginning at a multiple of 64.
inline std::int64_t rounded_to_line(std::int64_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

}  // namespace cairn::kernels::cpu::reference
