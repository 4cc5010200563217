// Cairn's own declarations of the driver API, of NVRTC and of cuBLASLt, compared with cuda.h, nvrtc.h and cublasLt.h
// where these are present.
#include "device/cuda/cublaslt_table.hpp"
#include "device/cuda/driver_table.hpp"
#include "device/cuda/nvrtc_table.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <type_traits>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define CAIRN_HAS_CUDA_HEADER 1
#endif
#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#define CAIRN_HAS_NVRTC_HEADER 1
#endif
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define CAIRN_HAS_CUBLASLT_HEADER 1
#endif

namespace cairn::device::cuda {
namespace {

TEST(Declarations, EachFunctionIsListedOnce) {
    std::multiset<std::string> symbols;
#define CAIRN_CUDA_INSERT(symbol, member, parameters) symbols.insert(#symbol);
    CAIRN_CUDA_DRIVER_OPENING_FUNCTIONS(CAIRN_CUDA_INSERT)
    CAIRN_CUDA_DRIVER_FUNCTIONS(CAIRN_CUDA_INSERT)
    EXPECT_EQ(symbols.size(), sizeof(DriverTable) / sizeof(void (*)()));
    CAIRN_CUDA_NVRTC_FUNCTIONS(CAIRN_CUDA_INSERT)
    CAIRN_CUDA_CUBLASLT_FUNCTIONS(CAIRN_CUDA_INSERT)
#undef CAIRN_CUDA_INSERT
    for (const std::string& symbol : symbols) EXPECT_EQ(symbols.count(symbol), 1U) << symbol;
}

/// Cairn's type for a type of the headers; other types are the same in both.
template <class Theirs>
struct Own {
    using Type = Theirs;
};
template <class Theirs>
using OwnType = typename Own<Theirs>::Type;

template <class Theirs>
struct Own<Theirs*> {
    using Type = OwnType<Theirs>*;
};
template <class Theirs>
struct Own<const Theirs> {
    using Type = const OwnType<Theirs>;
};
template <class Return, class... Parameters>
struct Own<Return(Parameters...)> {
    using Type = OwnType<Return>(OwnType<Parameters>...);
};

#define CAIRN_OWN(theirs, own) \
    template <>                \
    struct Own<theirs> {       \
        using Type = own;      \
    };                         \
    static_assert(sizeof(theirs) == sizeof(own) && alignof(theirs) == alignof(own));

#if defined(CAIRN_HAS_CUDA_HEADER)

// The handles, which are pointers, would otherwise be translated as such.
CAIRN_OWN(CUcontext, ContextHandle)
CAIRN_OWN(CUstream, StreamHandle)
CAIRN_OWN(CUevent, EventHandle)
CAIRN_OWN(CUmodule, ModuleHandle)
CAIRN_OWN(CUfunction, FunctionHandle)
CAIRN_OWN(CUgraph, GraphHandle)
CAIRN_OWN(CUgraphExec, GraphExecHandle)
CAIRN_OWN(CUgraphNode, GraphNodeHandle)
CAIRN_OWN(CUkernel, KernelHandle)
CAIRN_OWN(CUarray, ArrayHandle)
CAIRN_OWN(CUresult, Result)
CAIRN_OWN(CUdevice_attribute, DeviceAttribute)
CAIRN_OWN(CUfunction_attribute, FunctionAttribute)
CAIRN_OWN(CUpointer_attribute, PointerAttribute)
CAIRN_OWN(CUmemorytype, MemoryType)
CAIRN_OWN(CUstreamCaptureMode, CaptureMode)
CAIRN_OWN(CUstreamCaptureStatus, CaptureStatus)
CAIRN_OWN(CUlaunchAttributeID, LaunchAttributeId)
CAIRN_OWN(CUlaunchAttributeValue, LaunchAttributeValue)
CAIRN_OWN(CUlaunchAttribute, LaunchAttribute)
CAIRN_OWN(CUlaunchConfig, LaunchConfig)
CAIRN_OWN(CUDA_KERNEL_NODE_PARAMS, KernelNodeParameters)
CAIRN_OWN(CUgraphEdgeData, EdgeData)
CAIRN_OWN(CUgraphExecUpdateResult, unsigned)
CAIRN_OWN(CUgraphExecUpdateResultInfo, GraphUpdateResult)
CAIRN_OWN(CUDA_MEMCPY2D, Copy2D)
CAIRN_OWN(CUDA_MEMCPY3D, Copy3D)
CAIRN_OWN(CUuuid, DeviceUuid)
static_assert(std::is_same_v<CUdeviceptr, DeviceAddress> && std::is_same_v<CUdevice, DeviceHandle>);

#define CAIRN_SAME_FUNCTION(symbol, member, parameters) \
    static_assert(std::is_same_v<OwnType<decltype(&::symbol)>, decltype(DriverTable::member)>, #symbol);
CAIRN_CUDA_DRIVER_OPENING_FUNCTIONS(CAIRN_SAME_FUNCTION)
CAIRN_CUDA_DRIVER_FUNCTIONS(CAIRN_SAME_FUNCTION)
#undef CAIRN_SAME_FUNCTION

#define CAIRN_SAME_MEMBER(theirs, their_member, own, own_member)                             \
    static_assert(offsetof(theirs, their_member) == offsetof(own, own_member), #own_member); \
    static_assert(std::is_same_v<OwnType<decltype(theirs::their_member)>, decltype(own::own_member)>, #own_member);
CAIRN_SAME_MEMBER(CUlaunchConfig, gridDimX, LaunchConfig, grid_x)
CAIRN_SAME_MEMBER(CUlaunchConfig, gridDimY, LaunchConfig, grid_y)
CAIRN_SAME_MEMBER(CUlaunchConfig, gridDimZ, LaunchConfig, grid_z)
CAIRN_SAME_MEMBER(CUlaunchConfig, blockDimX, LaunchConfig, block_x)
CAIRN_SAME_MEMBER(CUlaunchConfig, blockDimY, LaunchConfig, block_y)
CAIRN_SAME_MEMBER(CUlaunchConfig, blockDimZ, LaunchConfig, block_z)
CAIRN_SAME_MEMBER(CUlaunchConfig, sharedMemBytes, LaunchConfig, dynamic_shared_bytes)
CAIRN_SAME_MEMBER(CUlaunchConfig, hStream, LaunchConfig, stream)
CAIRN_SAME_MEMBER(CUlaunchConfig, attrs, LaunchConfig, attributes)
CAIRN_SAME_MEMBER(CUlaunchConfig, numAttrs, LaunchConfig, attribute_count)
CAIRN_SAME_MEMBER(CUlaunchAttribute, id, LaunchAttribute, id)
CAIRN_SAME_MEMBER(CUlaunchAttribute, value, LaunchAttribute, value)
CAIRN_SAME_MEMBER(CUlaunchAttributeValue, cooperative, LaunchAttributeValue, cooperative)
CAIRN_SAME_MEMBER(CUlaunchAttributeValue, programmaticStreamSerializationAllowed, LaunchAttributeValue,
                  programmatic_stream_serialization)
static_assert(offsetof(CUlaunchAttributeValue, clusterDim.x) == offsetof(LaunchAttributeValue, cluster_dimension.x));
static_assert(offsetof(CUlaunchAttributeValue, clusterDim.y) == offsetof(LaunchAttributeValue, cluster_dimension.y));
static_assert(offsetof(CUlaunchAttributeValue, clusterDim.z) == offsetof(LaunchAttributeValue, cluster_dimension.z));
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, func, KernelNodeParameters, function)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, gridDimX, KernelNodeParameters, grid_x)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, gridDimY, KernelNodeParameters, grid_y)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, gridDimZ, KernelNodeParameters, grid_z)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, blockDimX, KernelNodeParameters, block_x)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, blockDimY, KernelNodeParameters, block_y)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, blockDimZ, KernelNodeParameters, block_z)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes, KernelNodeParameters, dynamic_shared_bytes)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, kernelParams, KernelNodeParameters, parameters)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, extra, KernelNodeParameters, extra)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, kern, KernelNodeParameters, kernel)
CAIRN_SAME_MEMBER(CUDA_KERNEL_NODE_PARAMS, ctx, KernelNodeParameters, context)
CAIRN_SAME_MEMBER(CUgraphExecUpdateResultInfo, result, GraphUpdateResult, reason)
CAIRN_SAME_MEMBER(CUgraphExecUpdateResultInfo, errorNode, GraphUpdateResult, node)
CAIRN_SAME_MEMBER(CUgraphExecUpdateResultInfo, errorFromNode, GraphUpdateResult, from_node)
CAIRN_SAME_MEMBER(CUgraphEdgeData, from_port, EdgeData, from_port)
CAIRN_SAME_MEMBER(CUgraphEdgeData, to_port, EdgeData, to_port)
CAIRN_SAME_MEMBER(CUgraphEdgeData, type, EdgeData, type)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, srcXInBytes, Copy2D, source_x_bytes)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, srcY, Copy2D, source_y)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, srcMemoryType, Copy2D, source_type)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, srcHost, Copy2D, source_host)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, srcDevice, Copy2D, source_device)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, srcArray, Copy2D, source_array)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, srcPitch, Copy2D, source_pitch)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, dstXInBytes, Copy2D, target_x_bytes)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, dstY, Copy2D, target_y)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, dstMemoryType, Copy2D, target_type)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, dstHost, Copy2D, target_host)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, dstDevice, Copy2D, target_device)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, dstArray, Copy2D, target_array)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, dstPitch, Copy2D, target_pitch)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, WidthInBytes, Copy2D, row_bytes)
CAIRN_SAME_MEMBER(CUDA_MEMCPY2D, Height, Copy2D, rows)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcXInBytes, Copy3D, source_x_bytes)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcY, Copy3D, source_y)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcZ, Copy3D, source_z)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcLOD, Copy3D, source_lod)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcMemoryType, Copy3D, source_type)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcHost, Copy3D, source_host)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcDevice, Copy3D, source_device)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcArray, Copy3D, source_array)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, reserved0, Copy3D, source_reserved)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcPitch, Copy3D, source_pitch)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, srcHeight, Copy3D, source_rows)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstXInBytes, Copy3D, target_x_bytes)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstY, Copy3D, target_y)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstZ, Copy3D, target_z)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstLOD, Copy3D, target_lod)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstMemoryType, Copy3D, target_type)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstHost, Copy3D, target_host)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstDevice, Copy3D, target_device)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstArray, Copy3D, target_array)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, reserved1, Copy3D, target_reserved)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstPitch, Copy3D, target_pitch)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, dstHeight, Copy3D, target_rows)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, WidthInBytes, Copy3D, row_bytes)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, Height, Copy3D, rows)
CAIRN_SAME_MEMBER(CUDA_MEMCPY3D, Depth, Copy3D, planes)

#define CAIRN_SAME(theirs, own) static_assert(static_cast<unsigned>(theirs) == static_cast<unsigned>(own), #own);
#define CAIRN_SAME_RESULT(theirs, own) CAIRN_SAME(CUDA_##theirs, Result::own)
CAIRN_SAME_RESULT(SUCCESS, success)
CAIRN_SAME_RESULT(ERROR_INVALID_VALUE, invalid_value)
CAIRN_SAME_RESULT(ERROR_OUT_OF_MEMORY, out_of_memory)
CAIRN_SAME_RESULT(ERROR_NOT_INITIALIZED, not_initialized)
CAIRN_SAME_RESULT(ERROR_DEINITIALIZED, deinitialized)
CAIRN_SAME_RESULT(ERROR_STUB_LIBRARY, stub_library)
CAIRN_SAME_RESULT(ERROR_CALL_REQUIRES_NEWER_DRIVER, call_requires_newer_driver)
CAIRN_SAME_RESULT(ERROR_DEVICE_UNAVAILABLE, device_unavailable)
CAIRN_SAME_RESULT(ERROR_NO_DEVICE, no_device)
CAIRN_SAME_RESULT(ERROR_INVALID_DEVICE, invalid_device)
CAIRN_SAME_RESULT(ERROR_DEVICE_NOT_LICENSED, device_not_licensed)
CAIRN_SAME_RESULT(ERROR_INVALID_IMAGE, invalid_image)
CAIRN_SAME_RESULT(ERROR_INVALID_CONTEXT, invalid_context)
CAIRN_SAME_RESULT(ERROR_NO_BINARY_FOR_GPU, no_binary_for_gpu)
CAIRN_SAME_RESULT(ERROR_ECC_UNCORRECTABLE, ecc_uncorrectable)
CAIRN_SAME_RESULT(ERROR_NVLINK_UNCORRECTABLE, nvlink_uncorrectable)
CAIRN_SAME_RESULT(ERROR_UNSUPPORTED_PTX_VERSION, unsupported_ptx_version)
#if CUDA_VERSION >= 13000
CAIRN_SAME_RESULT(ERROR_CONTAINED, contained)
CAIRN_SAME_RESULT(ERROR_TENSOR_MEMORY_LEAK, tensor_memory_leak)
#endif
CAIRN_SAME_RESULT(ERROR_OPERATING_SYSTEM, operating_system)
CAIRN_SAME_RESULT(ERROR_NOT_READY, not_ready)
CAIRN_SAME_RESULT(ERROR_ILLEGAL_ADDRESS, illegal_address)
CAIRN_SAME_RESULT(ERROR_LAUNCH_OUT_OF_RESOURCES, launch_out_of_resources)
CAIRN_SAME_RESULT(ERROR_LAUNCH_TIMEOUT, launch_timeout)
CAIRN_SAME_RESULT(ERROR_CONTEXT_IS_DESTROYED, context_is_destroyed)
CAIRN_SAME_RESULT(ERROR_ASSERT, assert_failed)
CAIRN_SAME_RESULT(ERROR_HARDWARE_STACK_ERROR, hardware_stack_error)
CAIRN_SAME_RESULT(ERROR_ILLEGAL_INSTRUCTION, illegal_instruction)
CAIRN_SAME_RESULT(ERROR_MISALIGNED_ADDRESS, misaligned_address)
CAIRN_SAME_RESULT(ERROR_INVALID_ADDRESS_SPACE, invalid_address_space)
CAIRN_SAME_RESULT(ERROR_INVALID_PC, invalid_pc)
CAIRN_SAME_RESULT(ERROR_LAUNCH_FAILED, launch_failed)
CAIRN_SAME_RESULT(ERROR_NOT_PERMITTED, not_permitted)
CAIRN_SAME_RESULT(ERROR_NOT_SUPPORTED, not_supported)
CAIRN_SAME_RESULT(ERROR_SYSTEM_NOT_READY, system_not_ready)
CAIRN_SAME_RESULT(ERROR_SYSTEM_DRIVER_MISMATCH, system_driver_mismatch)
CAIRN_SAME_RESULT(ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, compat_not_supported_on_device)
CAIRN_SAME_RESULT(ERROR_MPS_CONNECTION_FAILED, mps_connection_failed)
CAIRN_SAME_RESULT(ERROR_MPS_RPC_FAILURE, mps_rpc_failure)
CAIRN_SAME_RESULT(ERROR_MPS_SERVER_NOT_READY, mps_server_not_ready)
CAIRN_SAME_RESULT(ERROR_MPS_MAX_CLIENTS_REACHED, mps_max_clients_reached)
CAIRN_SAME_RESULT(ERROR_MPS_MAX_CONNECTIONS_REACHED, mps_max_connections_reached)
CAIRN_SAME_RESULT(ERROR_MPS_CLIENT_TERMINATED, mps_client_terminated)
CAIRN_SAME_RESULT(ERROR_STREAM_CAPTURE_INVALIDATED, stream_capture_invalidated)
CAIRN_SAME_RESULT(ERROR_GRAPH_EXEC_UPDATE_FAILURE, graph_update_refused)
CAIRN_SAME_RESULT(ERROR_INVALID_CLUSTER_SIZE, invalid_cluster_size)
CAIRN_SAME_RESULT(ERROR_UNKNOWN, unknown)

#define CAIRN_SAME_DEVICE(theirs, own) CAIRN_SAME(CU_DEVICE_ATTRIBUTE_##theirs, DeviceAttribute::own)
CAIRN_SAME_DEVICE(MAX_THREADS_PER_BLOCK, max_threads_per_block)
CAIRN_SAME_DEVICE(MAX_GRID_DIM_X, max_grid_x)
CAIRN_SAME_DEVICE(MAX_GRID_DIM_Y, max_grid_y)
CAIRN_SAME_DEVICE(MAX_GRID_DIM_Z, max_grid_z)
CAIRN_SAME_DEVICE(MAX_SHARED_MEMORY_PER_BLOCK, max_shared_bytes_per_block)
CAIRN_SAME_DEVICE(WARP_SIZE, warp_size)
CAIRN_SAME_DEVICE(MAX_REGISTERS_PER_BLOCK, max_registers_per_block)
CAIRN_SAME_DEVICE(CLOCK_RATE, clock_khz)
CAIRN_SAME_DEVICE(MULTIPROCESSOR_COUNT, multiprocessors)
CAIRN_SAME_DEVICE(INTEGRATED, integrated)
CAIRN_SAME_DEVICE(CAN_MAP_HOST_MEMORY, can_map_host_memory)
CAIRN_SAME_DEVICE(COMPUTE_MODE, compute_mode)
CAIRN_SAME_DEVICE(ECC_ENABLED, ecc_enabled)
CAIRN_SAME_DEVICE(PCI_BUS_ID, pci_bus)
CAIRN_SAME_DEVICE(PCI_DEVICE_ID, pci_device)
CAIRN_SAME_DEVICE(MEMORY_CLOCK_RATE, memory_clock_khz)
CAIRN_SAME_DEVICE(GLOBAL_MEMORY_BUS_WIDTH, memory_bus_bits)
CAIRN_SAME_DEVICE(L2_CACHE_SIZE, l2_bytes)
CAIRN_SAME_DEVICE(MAX_THREADS_PER_MULTIPROCESSOR, max_threads_per_multiprocessor)
CAIRN_SAME_DEVICE(ASYNC_ENGINE_COUNT, copy_engines)
CAIRN_SAME_DEVICE(UNIFIED_ADDRESSING, unified_addressing)
CAIRN_SAME_DEVICE(PCI_DOMAIN_ID, pci_domain)
CAIRN_SAME_DEVICE(COMPUTE_CAPABILITY_MAJOR, compute_capability_major)
CAIRN_SAME_DEVICE(COMPUTE_CAPABILITY_MINOR, compute_capability_minor)
CAIRN_SAME_DEVICE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, max_shared_bytes_per_multiprocessor)
CAIRN_SAME_DEVICE(MAX_REGISTERS_PER_MULTIPROCESSOR, max_registers_per_multiprocessor)
CAIRN_SAME_DEVICE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, max_shared_bytes_per_block_opt_in)
CAIRN_SAME_DEVICE(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, virtual_memory_management)
CAIRN_SAME_DEVICE(MAX_BLOCKS_PER_MULTIPROCESSOR, max_blocks_per_multiprocessor)
CAIRN_SAME_DEVICE(MAX_PERSISTING_L2_CACHE_SIZE, max_persisting_l2_bytes)
CAIRN_SAME_DEVICE(RESERVED_SHARED_MEMORY_PER_BLOCK, reserved_shared_bytes_per_block)
CAIRN_SAME_DEVICE(CLUSTER_LAUNCH, cluster_launch)

CAIRN_SAME(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, FunctionAttribute::max_threads_per_block)
CAIRN_SAME(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, FunctionAttribute::static_shared_bytes)
CAIRN_SAME(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, FunctionAttribute::constant_bytes)
CAIRN_SAME(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, FunctionAttribute::local_bytes)
CAIRN_SAME(CU_FUNC_ATTRIBUTE_NUM_REGS, FunctionAttribute::registers)
CAIRN_SAME(CU_FUNC_ATTRIBUTE_BINARY_VERSION, FunctionAttribute::binary_version)
CAIRN_SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, FunctionAttribute::max_dynamic_shared_bytes)
CAIRN_SAME(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, FunctionAttribute::preferred_shared_carveout)
CAIRN_SAME(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, FunctionAttribute::non_portable_cluster_size_allowed)

CAIRN_SAME(CU_MEMORYTYPE_HOST, MemoryType::host)
CAIRN_SAME(CU_MEMORYTYPE_DEVICE, MemoryType::device)
CAIRN_SAME(CU_MEMORYTYPE_ARRAY, MemoryType::array)
CAIRN_SAME(CU_MEMORYTYPE_UNIFIED, MemoryType::unified)
CAIRN_SAME(CU_POINTER_ATTRIBUTE_CONTEXT, PointerAttribute::context)
CAIRN_SAME(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, PointerAttribute::memory_type)
CAIRN_SAME(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, PointerAttribute::device_pointer)
CAIRN_SAME(CU_POINTER_ATTRIBUTE_HOST_POINTER, PointerAttribute::host_pointer)
CAIRN_SAME(CU_POINTER_ATTRIBUTE_IS_MANAGED, PointerAttribute::is_managed)
CAIRN_SAME(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, PointerAttribute::device_ordinal)
CAIRN_SAME(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, PointerAttribute::range_start)
CAIRN_SAME(CU_POINTER_ATTRIBUTE_RANGE_SIZE, PointerAttribute::range_bytes)
CAIRN_SAME(CU_STREAM_CAPTURE_MODE_GLOBAL, CaptureMode::global)
CAIRN_SAME(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CaptureMode::thread_local_mode)
CAIRN_SAME(CU_STREAM_CAPTURE_MODE_RELAXED, CaptureMode::relaxed)
CAIRN_SAME(CU_STREAM_CAPTURE_STATUS_NONE, CaptureStatus::none)
CAIRN_SAME(CU_STREAM_CAPTURE_STATUS_ACTIVE, CaptureStatus::active)
CAIRN_SAME(CU_STREAM_CAPTURE_STATUS_INVALIDATED, CaptureStatus::invalidated)
CAIRN_SAME(CU_LAUNCH_ATTRIBUTE_IGNORE, LaunchAttributeId::ignore)
CAIRN_SAME(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, LaunchAttributeId::cooperative)
CAIRN_SAME(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, LaunchAttributeId::cluster_dimension)
CAIRN_SAME(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, LaunchAttributeId::programmatic_stream_serialization)
CAIRN_SAME(CU_STREAM_NON_BLOCKING, stream_non_blocking)
CAIRN_SAME(CU_EVENT_BLOCKING_SYNC, event_blocking_sync)
CAIRN_SAME(CU_EVENT_DISABLE_TIMING, event_disable_timing)
CAIRN_SAME(CU_EVENT_RECORD_EXTERNAL, event_record_external)
CAIRN_SAME(CU_MEMHOSTALLOC_PORTABLE, host_alloc_portable)
CAIRN_SAME(CU_MEMHOSTALLOC_DEVICEMAP, host_alloc_mapped)
CAIRN_SAME(CU_MEMHOSTALLOC_WRITECOMBINED, host_alloc_write_combined)
#undef CAIRN_SAME
#endif

#if defined(CAIRN_HAS_NVRTC_HEADER)
CAIRN_OWN(nvrtcProgram, NvrtcProgram)
CAIRN_OWN(nvrtcResult, NvrtcResult)

#define CAIRN_SAME_FUNCTION(symbol, member, parameters) \
    static_assert(std::is_same_v<OwnType<decltype(&::symbol)>, decltype(NvrtcTable::member)>, #symbol);
CAIRN_CUDA_NVRTC_FUNCTIONS(CAIRN_SAME_FUNCTION)
CAIRN_SAME_FUNCTION(nvrtcGetErrorString, error_name, )
#undef CAIRN_SAME_FUNCTION

#define CAIRN_SAME(theirs, own) static_assert(static_cast<unsigned>(theirs) == static_cast<unsigned>(own), #own);
CAIRN_SAME(NVRTC_SUCCESS, NvrtcResult::success)
CAIRN_SAME(NVRTC_ERROR_OUT_OF_MEMORY, NvrtcResult::out_of_memory)
CAIRN_SAME(NVRTC_ERROR_INVALID_INPUT, NvrtcResult::invalid_input)
CAIRN_SAME(NVRTC_ERROR_INVALID_OPTION, NvrtcResult::invalid_option)
CAIRN_SAME(NVRTC_ERROR_COMPILATION, NvrtcResult::compilation)
CAIRN_SAME(NVRTC_ERROR_BUILTIN_OPERATION_FAILURE, NvrtcResult::builtin_operation_failure)
CAIRN_SAME(NVRTC_ERROR_INTERNAL_ERROR, NvrtcResult::internal_error)
#undef CAIRN_SAME
#endif

#if defined(CAIRN_HAS_CUBLASLT_HEADER) && defined(CAIRN_HAS_CUDA_HEADER)
CAIRN_OWN(cublasLtHandle_t, CublasltHandle)
CAIRN_OWN(cublasLtMatmulDesc_t, ProductDescription)
CAIRN_OWN(cublasLtMatrixLayout_t, MatrixLayout)
CAIRN_OWN(cublasLtMatmulPreference_t, ProductPreference)
CAIRN_OWN(cublasStatus_t, CublasltStatus)
CAIRN_OWN(cudaDataType_t, CublasltType)
CAIRN_OWN(cublasComputeType_t, CublasltCompute)
CAIRN_OWN(cublasLtMatmulDescAttributes_t, ProductAttribute)
CAIRN_OWN(cublasLtMatrixLayoutAttribute_t, MatrixAttribute)
CAIRN_OWN(cublasLtMatmulPreferenceAttributes_t, PreferenceAttribute)
CAIRN_OWN(cublasLtMatmulAlgo_t, ProductAlgorithm)
CAIRN_OWN(cublasLtMatmulHeuristicResult_t, ProductProposal)

#define CAIRN_SAME_FUNCTION(symbol, member, parameters) \
    static_assert(std::is_same_v<OwnType<decltype(&::symbol)>, decltype(CublasltTable::member)>, #symbol);
CAIRN_CUDA_CUBLASLT_FUNCTIONS(CAIRN_SAME_FUNCTION)
CAIRN_SAME_FUNCTION(cublasLtGetVersion, version, )
CAIRN_SAME_FUNCTION(cublasLtGetStatusName, status_name, )
#undef CAIRN_SAME_FUNCTION

CAIRN_SAME_MEMBER(cublasLtMatmulHeuristicResult_t, algo, ProductProposal, algorithm)
CAIRN_SAME_MEMBER(cublasLtMatmulHeuristicResult_t, workspaceSize, ProductProposal, workspace_bytes)
CAIRN_SAME_MEMBER(cublasLtMatmulHeuristicResult_t, state, ProductProposal, status)
CAIRN_SAME_MEMBER(cublasLtMatmulHeuristicResult_t, wavesCount, ProductProposal, waves)
#undef CAIRN_SAME_MEMBER

#define CAIRN_SAME(theirs, own) static_assert(static_cast<unsigned>(theirs) == static_cast<unsigned>(own), #own);
CAIRN_SAME(CUBLAS_STATUS_SUCCESS, CublasltStatus::success)
CAIRN_SAME(CUBLAS_STATUS_NOT_INITIALIZED, CublasltStatus::not_initialized)
CAIRN_SAME(CUBLAS_STATUS_ALLOC_FAILED, CublasltStatus::alloc_failed)
CAIRN_SAME(CUBLAS_STATUS_INVALID_VALUE, CublasltStatus::invalid_value)
CAIRN_SAME(CUBLAS_STATUS_ARCH_MISMATCH, CublasltStatus::arch_mismatch)
CAIRN_SAME(CUBLAS_STATUS_EXECUTION_FAILED, CublasltStatus::execution_failed)
CAIRN_SAME(CUBLAS_STATUS_INTERNAL_ERROR, CublasltStatus::internal_error)
CAIRN_SAME(CUBLAS_STATUS_NOT_SUPPORTED, CublasltStatus::not_supported)
CAIRN_SAME(CUDA_R_32F, CublasltType::f32)
CAIRN_SAME(CUDA_R_16F, CublasltType::f16)
CAIRN_SAME(CUDA_R_16BF, CublasltType::bf16)
CAIRN_SAME(CUBLAS_COMPUTE_32F, CublasltCompute::f32)
CAIRN_SAME(CUBLAS_COMPUTE_32F_PEDANTIC, CublasltCompute::f32_pedantic)
CAIRN_SAME(CUBLAS_COMPUTE_32F_FAST_TF32, CublasltCompute::f32_fast_tf32)
CAIRN_SAME(CUBLASLT_MATMUL_DESC_TRANSA, ProductAttribute::transpose_a)
CAIRN_SAME(CUBLASLT_MATMUL_DESC_TRANSB, ProductAttribute::transpose_b)
CAIRN_SAME(CUBLASLT_MATMUL_DESC_EPILOGUE, ProductAttribute::epilogue)
CAIRN_SAME(CUBLASLT_MATMUL_DESC_BIAS_POINTER, ProductAttribute::bias_pointer)
CAIRN_SAME(CUBLAS_OP_N, CublasltTranspose::none)
CAIRN_SAME(CUBLAS_OP_T, CublasltTranspose::transposed)
CAIRN_SAME(CUBLASLT_EPILOGUE_DEFAULT, CublasltEpilogue::none)
CAIRN_SAME(CUBLASLT_EPILOGUE_BIAS, CublasltEpilogue::bias)
CAIRN_SAME(CUBLASLT_EPILOGUE_RELU_BIAS, CublasltEpilogue::relu_bias)
CAIRN_SAME(CUBLASLT_EPILOGUE_GELU_BIAS, CublasltEpilogue::gelu_bias)
CAIRN_SAME(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, MatrixAttribute::batch_count)
CAIRN_SAME(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, MatrixAttribute::batch_stride)
CAIRN_SAME(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, PreferenceAttribute::max_workspace_bytes)
CAIRN_SAME(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, PreferenceAttribute::reduction_schemes)
CAIRN_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, PreferenceAttribute::alignment_a)
CAIRN_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, PreferenceAttribute::alignment_b)
CAIRN_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, PreferenceAttribute::alignment_c)
CAIRN_SAME(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, PreferenceAttribute::alignment_d)
CAIRN_SAME(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, reduction_in_compute_type)
#undef CAIRN_SAME
#endif

}  // namespace
}  // namespace cairn::device::cuda
