#include "device/cuda/cublaslt_products.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cairn::device::cuda {
namespace {

constexpr int proposals_asked = 4;
// The library wants a workspace that is aligned like this; that of a kernel is not.
constexpr std::size_t workspace_alignment = 256;

CublasltType type_of(DType dtype) {
    return dtype == DType::f16 ? CublasltType::f16 : dtype == DType::bf16 ? CublasltType::bf16 : CublasltType::f32;
}

std::string matrix_text(const ProductMatrix& matrix) {
    return fmt::format("[{},{}]{}", matrix.rows, matrix.columns, matrix.is_transposed ? " transposed" : "");
}

/// `f32 product of 2 times [70,65] and [65,40] transposed with a bias`.
std::string text_of(const LibraryProduct& product) {
    return fmt::format("{} product of {}{} and {}{}", to_string(product.dtype),
                       product.batches == 1 ? "" : fmt::format("{} times ", product.batches), matrix_text(product.a),
                       matrix_text(product.b), product.has_bias ? " with a bias" : "");
}

/// Throws unless a call was successful.
void check_status(const CublasltTable& cublaslt, CublasltStatus status, const char* symbol,
                  const LibraryProduct& product) {
    if (status == CublasltStatus::success) return;
    const ErrorKind kind = status == CublasltStatus::alloc_failed ? ErrorKind::memory
                           : status == CublasltStatus::not_supported || status == CublasltStatus::arch_mismatch
                               ? ErrorKind::unsupported
                               : ErrorKind::internal;
    throw Error(kind, "cuda",
                fmt::format("{} failed with {} for the {}", symbol, cublaslt.status_name(status), text_of(product)));
}

/// A product as the library describes it. Its matrices are in order of columns: it computes the transposed product of
/// the transposed matrices, and its `a` is the `b` here.
class DescribedProduct {
public:
    DescribedProduct(const CublasltTable& cublaslt, const LibraryProduct& product)
        : cublaslt_(cublaslt), product_(product) {}
    ~DescribedProduct() {
        for (const MatrixLayout layout : layouts_)
            if (layout != nullptr) cublaslt_.layout_destroy(layout);
        if (preference_ != nullptr) cublaslt_.preference_destroy(preference_);
        if (description_ != nullptr) cublaslt_.description_destroy(description_);
    }
    DescribedProduct(const DescribedProduct&) = delete;
    DescribedProduct& operator=(const DescribedProduct&) = delete;

    void describe(const void* bias) {
        const CublasltCompute compute = product_.dtype != DType::f32 ? CublasltCompute::f32
                                        : product_.rounds_to_tf32    ? CublasltCompute::f32_fast_tf32
                                                                     : CublasltCompute::f32_pedantic;
        check(cublaslt_.description_create(&description_, compute, CublasltType::f32), "cublasLtMatmulDescCreate");
        set(ProductAttribute::transpose_a, transpose_of(product_.b));
        set(ProductAttribute::transpose_b, transpose_of(product_.a));
        set(ProductAttribute::epilogue, epilogue());
        if (product_.has_bias) set(ProductAttribute::bias_pointer, bias);
        for (const ProductMatrix* matrix : {&product_.b, &product_.a, &product_.out}) add_layout(*matrix);
    }
    /// The algorithm that the product names.
    ProductAlgorithm algorithm(CublasltHandle handle, int alignment) {
        prefer(static_cast<std::uint32_t>(alignment));
        std::array<ProductProposal, proposals_asked> proposals = {};
        int count = 0;
        check(cublaslt_.propose(handle, description_, layouts_[0], layouts_[1], layouts_[2], layouts_[2], preference_,
                                proposals_asked, proposals.data(), &count),
              "cublasLtMatmulAlgoGetHeuristic");
        const std::size_t usable = workspace_bytes();
        const auto end = std::remove_if(proposals.begin(), proposals.begin() + count, [&](const ProductProposal& each) {
            return each.status != CublasltStatus::success || each.workspace_bytes > usable;
        });
        const auto found = static_cast<int>(end - proposals.begin());
        if (found == 0)
            throw Error(ErrorKind::unsupported, "cuda",
                        "cuBLASLt has no algorithm for the " + text_of(product_) +
                            fmt::format(" with operands aligned to {} bytes", alignment));
        return proposals[static_cast<std::size_t>(std::clamp(product_.algorithm, 0, found - 1))].algorithm;
    }
    std::size_t workspace_bytes() const {
        const std::int64_t elements = product_.batches * product_.out.rows * product_.out.columns;
        return static_cast<std::size_t>(product_workspace_bytes(elements)) - workspace_alignment;
    }
    void submit(CublasltHandle handle, const ProductAlgorithm& algorithm, const ProductOperands& operands,
                StreamHandle stream) {
        const float one = 1, zero = 0;
        const DeviceAddress address = address_of(operands.workspace),
                            aligned = (address + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
        check(cublaslt_.matmul(handle, description_, &one, operands.b, layouts_[0], operands.a, layouts_[1], &zero,
                               operands.out, layouts_[2], operands.out, layouts_[2], &algorithm,
                               reinterpret_cast<void*>(aligned), workspace_bytes(), stream),
              "cublasLtMatmul");
    }

private:
    static CublasltTranspose transpose_of(const ProductMatrix& matrix) {
        return matrix.is_transposed ? CublasltTranspose::transposed : CublasltTranspose::none;
    }
    CublasltEpilogue epilogue() const {
        if (!product_.has_bias) return CublasltEpilogue::none;
        switch (product_.epilogue) {
            case ProductEpilogue::relu: return CublasltEpilogue::relu_bias;
            case ProductEpilogue::gelu_tanh: return CublasltEpilogue::gelu_bias;
            case ProductEpilogue::none: break;
        }
        return CublasltEpilogue::bias;
    }
    void check(CublasltStatus status, const char* symbol) const { check_status(cublaslt_, status, symbol, product_); }
    template <class Value>
    void set(ProductAttribute attribute, const Value& value) {
        check(cublaslt_.description_set(description_, attribute, &value, sizeof(value)),
              "cublasLtMatmulDescSetAttribute");
    }
    void add_layout(const ProductMatrix& matrix) {
        std::int64_t rows = matrix.columns, columns = matrix.rows;
        if (matrix.is_transposed) std::swap(rows, columns);
        MatrixLayout& layout = layouts_[layout_count_++];
        check(cublaslt_.layout_create(&layout, type_of(product_.dtype), static_cast<std::uint64_t>(rows),
                                      static_cast<std::uint64_t>(columns), matrix.stride),
              "cublasLtMatrixLayoutCreate");
        if (product_.batches == 1) return;
        const auto batches = static_cast<std::int32_t>(product_.batches);
        check(cublaslt_.layout_set(layout, MatrixAttribute::batch_count, &batches, sizeof(batches)),
              "cublasLtMatrixLayoutSetAttribute");
        check(cublaslt_.layout_set(layout, MatrixAttribute::batch_stride, &matrix.batch_stride,
                                   sizeof(matrix.batch_stride)),
              "cublasLtMatrixLayoutSetAttribute");
    }
    template <class Value>
    void set(PreferenceAttribute attribute, const Value& value) {
        check(cublaslt_.preference_set(preference_, attribute, &value, sizeof(value)),
              "cublasLtMatmulPreferenceSetAttribute");
    }
    void prefer(std::uint32_t alignment) {
        check(cublaslt_.preference_create(&preference_), "cublasLtMatmulPreferenceCreate");
        set(PreferenceAttribute::max_workspace_bytes, static_cast<std::uint64_t>(workspace_bytes()));
        set(PreferenceAttribute::reduction_schemes, reduction_in_compute_type);
        for (const PreferenceAttribute attribute : {PreferenceAttribute::alignment_a, PreferenceAttribute::alignment_b,
                                                    PreferenceAttribute::alignment_c, PreferenceAttribute::alignment_d})
            set(attribute, alignment);
    }

    const CublasltTable& cublaslt_;
    const LibraryProduct& product_;
    ProductDescription description_ = nullptr;
    ProductPreference preference_ = nullptr;
    std::array<MatrixLayout, 3> layouts_ = {};  // of b, a and out
    std::size_t layout_count_ = 0;
};

/// Alignment that all operands have: wide, or that of an element.
int alignment_of(const LibraryProduct& product, const ProductOperands& operands) {
    for (const void* operand : {operands.a, operands.b, operands.bias, static_cast<const void*>(operands.out)})
        if (address_of(operand) % wide_product_alignment != 0) return static_cast<int>(size_of(product.dtype));
    return wide_product_alignment;
}

}  // namespace

CublasltProducts::CublasltProducts(std::shared_ptr<CudaDevice> device, std::shared_ptr<Cublaslt> cublaslt)
    : device_(std::move(device)), cublaslt_(std::move(cublaslt)) {}

CublasltProducts::~CublasltProducts() {
    if (handle_ != nullptr) release_on(*device_, [&] { cublaslt_->table().destroy(handle_); });
}

std::string CublasltProducts::refusal() {
    const std::lock_guard lock(creating_);
    if (refusal_) return *refusal_;
    try {
        const CublasltTable& cublaslt = cublaslt_->table();
        const CurrentContext current(*device_);
        const CublasltStatus status = cublaslt.create(&handle_);
        refusal_.emplace();
        if (status != CublasltStatus::success) {
            handle_ = nullptr;
            refusal_ = fmt::format("cuBLASLt cannot be used on this device: cublasLtCreate failed with {}",
                                   cublaslt.status_name(status));
        }
    } catch (const Error& error) {
        // A device that is lost or full says so itself.
        if (error.kind() != ErrorKind::unsupported || device_->calls().is_lost()) throw;
        std::string_view reason = error.what();
        if (constexpr std::string_view part = "[cuda] "; reason.starts_with(part)) reason.remove_prefix(part.size());
        refusal_ = reason;
    }
    return *refusal_;
}

void CublasltProducts::check(const LibraryProduct& product, int alignment) {
    if (const std::string reason = refusal(); !reason.empty()) throw Error(ErrorKind::unsupported, "cuda", reason);
    const CurrentContext current(*device_);
    DescribedProduct described(cublaslt_->table(), product);
    // An algorithm may depend on the alignment of the bias.
    described.describe(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(alignment)));
    (void)described.algorithm(handle_, alignment);
}

void CublasltProducts::enqueue(const LibraryProduct& product, const ProductOperands& operands, void* stream) {
    if (const std::string reason = refusal(); !reason.empty()) throw Error(ErrorKind::unsupported, "cuda", reason);
    DescribedProduct described(cublaslt_->table(), product);
    described.describe(operands.bias);
    described.submit(handle_, described.algorithm(handle_, alignment_of(product, operands)), operands,
                     static_cast<StreamHandle>(stream));
}

}  // namespace cairn::device::cuda
