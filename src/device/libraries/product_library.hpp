#pragma once

#include "cairn/args.hpp"
#include "cairn/types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

/// What kernels ask of libraries that compute on a device. Kernels know no library, libraries no kernels.
namespace cairn::device {

/// A matrix, or one for each batch. Neighbours are in a row, those of a transposed one in a column.
struct ProductMatrix {
    std::int64_t rows = 0, columns = 0;  ///< as the product reads or writes it
    std::int64_t stride = 0;             ///< in elements, between rows; of a transposed one between columns
    bool is_transposed = false;
    std::int64_t batch_stride = 0;  ///< in elements
};

/// What becomes of an element of the product and its bias.
enum class ProductEpilogue { none, relu, gelu_tanh };

/// `out = epilogue(a b + bias)`, summed in f32. The dtype is that of all operands; a bias is a row of as many elements
/// as `out` has columns, without gaps.
struct LibraryProduct {
    DType dtype = DType::f32;     ///< f32, f16 or bf16
    bool rounds_to_tf32 = false;  ///< elements of f32 may be rounded to 10 bits of mantissa
    ProductMatrix a, b, out;      ///< `out` is not transposed
    std::int64_t batches = 1;
    bool has_bias = false;
    ProductEpilogue epilogue = ProductEpilogue::none;  ///< `none` without a bias
    /// The algorithm: the n-th that the library proposes, or the last if it proposes fewer.
    int algorithm = 0;
};

/// Alignment in bytes of operands that can be loaded 16 bytes at once; more helps no algorithm.
inline constexpr int wide_product_alignment = 16;

/// Bytes of the workspace of a product with this many elements, at most 32 MiB: room for 32 partial sums of each, and
/// to align its begin. `Size` is Dim or an integer.
template <typename Size>
Size product_workspace_bytes(const Size& elements) {
    using std::min;
    return min(Size(std::int64_t{32} << 20), Size(256 << 10) + Size(128) * elements) + Size(256);
}

/// Where the operands of a product are.
struct ProductOperands {
    const void *a = nullptr, *b = nullptr, *bias = nullptr;
    void *out = nullptr, *workspace = nullptr;
};

/// A library that multiplies matrices on one device, opened when it is first asked for something. Thread-safe.
class ProductLibrary {
public:
    ProductLibrary() = default;
    virtual ~ProductLibrary();
    ProductLibrary(const ProductLibrary&) = delete;
    ProductLibrary& operator=(const ProductLibrary&) = delete;

    /// Why it cannot be used, as one sentence without its end; empty if it can. It allocates what it needs for the
    /// device now, and not when a stream is captured.
    virtual std::string refusal() = 0;
    /// Throws Error(unsupported) if it cannot be used, or has no algorithm for the product with operands that are
    /// aligned to `alignment` bytes.
    virtual void check(const LibraryProduct& product, int alignment) = 0;
    /// Submits the product to a stream, which may be captured. The context of the device must be current. Throws Error
    /// with the sizes of the product.
    virtual void enqueue(const LibraryProduct& product, const ProductOperands& operands, void* stream) = 0;
};

}  // namespace cairn::device
