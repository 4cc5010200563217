#pragma once

#include "device/cuda/cublaslt_types.hpp"
#include "device/cuda/driver_types.hpp"
#include "device/cuda/shared_library.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace cairn::device::cuda {

/// The functions of cuBLASLt. A row is X(exported symbol, member of CublasltTable, parameters).
// clang-format off
#define CAIRN_CUDA_CUBLASLT_FUNCTIONS(X) \
    X(cublasLtCreate, create, (CublasltHandle* handle)) \
    X(cublasLtDestroy, destroy, (CublasltHandle handle)) \
    X(cublasLtMatmulDescCreate, description_create, \
      (ProductDescription* description, CublasltCompute compute, CublasltType scale_type)) \
    X(cublasLtMatmulDescDestroy, description_destroy, (ProductDescription description)) \
    X(cublasLtMatmulDescSetAttribute, description_set, \
      (ProductDescription description, ProductAttribute attribute, const void* value, std::size_t bytes)) \
    X(cublasLtMatrixLayoutCreate, layout_create, \
      (MatrixLayout* layout, CublasltType type, std::uint64_t rows, std::uint64_t columns, std::int64_t stride)) \
    X(cublasLtMatrixLayoutDestroy, layout_destroy, (MatrixLayout layout)) \
    X(cublasLtMatrixLayoutSetAttribute, layout_set, \
      (MatrixLayout layout, MatrixAttribute attribute, const void* value, std::size_t bytes)) \
    X(cublasLtMatmulPreferenceCreate, preference_create, (ProductPreference* preference)) \
    X(cublasLtMatmulPreferenceDestroy, preference_destroy, (ProductPreference preference)) \
    X(cublasLtMatmulPreferenceSetAttribute, preference_set, \
      (ProductPreference preference, PreferenceAttribute attribute, const void* value, std::size_t bytes)) \
    X(cublasLtMatmulAlgoGetHeuristic, propose, \
      (CublasltHandle handle, ProductDescription description, MatrixLayout a, MatrixLayout b, MatrixLayout c, \
       MatrixLayout d, ProductPreference preference, int most, ProductProposal* proposals, int* count)) \
    X(cublasLtMatmul, matmul, \
      (CublasltHandle handle, ProductDescription description, const void* alpha, const void* a, MatrixLayout a_layout, \
       const void* b, MatrixLayout b_layout, const void* beta, const void* c, MatrixLayout c_layout, void* d, \
       MatrixLayout d_layout, const ProductAlgorithm* algorithm, void* workspace, std::size_t workspace_bytes, \
       StreamHandle stream))
// clang-format on

/// Functions of cuBLASLt, by address. Tests make tables of their own functions.
struct CublasltTable {
#define CAIRN_CUDA_MEMBER(symbol, member, parameters) CublasltStatus(*member) parameters = nullptr;
    CAIRN_CUDA_CUBLASLT_FUNCTIONS(CAIRN_CUDA_MEMBER)
#undef CAIRN_CUDA_MEMBER
    std::size_t (*version)() = nullptr;                           ///< cublasLtGetVersion: 130100 for 13.1.0
    const char* (*status_name)(CublasltStatus status) = nullptr;  ///< cublasLtGetStatusName
};

/// cuBLASLt, or the reason why there is none.
struct OpenedCublaslt {
    std::shared_ptr<const CublasltTable> cublaslt;  ///< null: not usable
    std::string reason;                             ///< one sentence without its end
};

/// Opens `libcublasLt.so.13`, which stays loaded until the process ends. Never throws, except for lack of memory.
OpenedCublaslt open_cublaslt(const LibraryFolders& folders);

}  // namespace cairn::device::cuda
