#pragma once

#include "device/cuda/driver_types.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace cairn::device::cuda {

/// The functions of the driver that open_driver calls. A row is X(exported symbol, member of DriverTable, parameters).
/// A symbol with a suffix such as `_v2` is the version of the function whose parameters are written beside it.
// clang-format off
#define CAIRN_CUDA_DRIVER_OPENING_FUNCTIONS(X) \
    X(cuInit, init, (unsigned flags)) \
    X(cuDriverGetVersion, driver_version, (int* version)) \
    X(cuDeviceGetCount, device_count, (int* count)) \
    X(cuGetErrorName, error_name, (Result result, const char** name)) \
    X(cuGetErrorString, error_text, (Result result, const char** text))

/// The other functions of the driver.
#define CAIRN_CUDA_DRIVER_FUNCTIONS(X) \
    X(cuDeviceGet, device, (DeviceHandle* device, int index)) \
    X(cuDeviceGetName, device_name, (char* name, int bytes, DeviceHandle device)) \
    X(cuDeviceGetAttribute, device_attribute, (int* value, DeviceAttribute attribute, DeviceHandle device)) \
    X(cuDeviceTotalMem_v2, device_memory, (std::size_t* bytes, DeviceHandle device)) \
    X(cuDeviceGetUuid_v2, device_uuid, (DeviceUuid* uuid, DeviceHandle device)) \
    X(cuDevicePrimaryCtxRetain, primary_context_retain, (ContextHandle* context, DeviceHandle device)) \
    X(cuDevicePrimaryCtxRelease_v2, primary_context_release, (DeviceHandle device)) \
    X(cuCtxPushCurrent_v2, context_push, (ContextHandle context)) \
    X(cuCtxPopCurrent_v2, context_pop, (ContextHandle* context)) \
    X(cuCtxGetCurrent, context_current, (ContextHandle* context)) \
    X(cuMemGetInfo_v2, memory_info, (std::size_t* free_bytes, std::size_t* total_bytes)) \
    X(cuMemAlloc_v2, memory_alloc, (DeviceAddress* address, std::size_t bytes)) \
    X(cuMemFree_v2, memory_free, (DeviceAddress address)) \
    X(cuMemHostAlloc, host_alloc, (void** address, std::size_t bytes, unsigned flags)) \
    X(cuMemFreeHost, host_free, (void* address)) \
    X(cuMemHostGetDevicePointer_v2, host_device_pointer, (DeviceAddress* device, void* host, unsigned flags)) \
    X(cuMemcpyHtoDAsync_v2, copy_to_device, \
      (DeviceAddress target, const void* source, std::size_t bytes, StreamHandle stream)) \
    X(cuMemcpyDtoHAsync_v2, copy_to_host, \
      (void* target, DeviceAddress source, std::size_t bytes, StreamHandle stream)) \
    X(cuMemcpyDtoDAsync_v2, copy_on_device, \
      (DeviceAddress target, DeviceAddress source, std::size_t bytes, StreamHandle stream)) \
    X(cuMemcpy2DAsync_v2, copy_2d, (const Copy2D* copy, StreamHandle stream)) \
    X(cuMemsetD8Async, set_bytes, (DeviceAddress target, unsigned char value, std::size_t count, StreamHandle stream)) \
    X(cuMemsetD32Async, set_words, (DeviceAddress target, unsigned value, std::size_t count, StreamHandle stream)) \
    X(cuMemsetD2D8Async, set_bytes_2d, \
      (DeviceAddress target, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height, \
       StreamHandle stream)) \
    X(cuMemsetD2D32Async, set_words_2d, \
      (DeviceAddress target, std::size_t pitch, unsigned value, std::size_t width, std::size_t height, \
       StreamHandle stream)) \
    X(cuPointerGetAttribute, pointer_attribute, (void* value, PointerAttribute attribute, DeviceAddress address)) \
    X(cuStreamCreate, stream_create, (StreamHandle* stream, unsigned flags)) \
    X(cuStreamDestroy_v2, stream_destroy, (StreamHandle stream)) \
    X(cuStreamSynchronize, stream_synchronize, (StreamHandle stream)) \
    X(cuStreamQuery, stream_query, (StreamHandle stream)) \
    X(cuStreamWaitEvent, stream_wait_event, (StreamHandle stream, EventHandle event, unsigned flags)) \
    X(cuEventCreate, event_create, (EventHandle* event, unsigned flags)) \
    X(cuEventDestroy_v2, event_destroy, (EventHandle event)) \
    X(cuEventRecord, event_record, (EventHandle event, StreamHandle stream)) \
    X(cuEventRecordWithFlags, event_record_with_flags, (EventHandle event, StreamHandle stream, unsigned flags)) \
    X(cuEventSynchronize, event_synchronize, (EventHandle event)) \
    X(cuEventQuery, event_query, (EventHandle event)) \
    X(cuEventElapsedTime_v2, event_elapsed_time, (float* milliseconds, EventHandle begin, EventHandle end)) \
    X(cuModuleLoadData, module_load, (ModuleHandle* module, const void* image)) \
    X(cuModuleUnload, module_unload, (ModuleHandle module)) \
    X(cuModuleGetFunction, module_function, (FunctionHandle* function, ModuleHandle module, const char* name)) \
    X(cuFuncLoad, function_load, (FunctionHandle function)) \
    X(cuFuncSetAttribute, function_set_attribute, (FunctionHandle function, FunctionAttribute attribute, int value)) \
    X(cuFuncGetAttribute, function_attribute, (int* value, FunctionAttribute attribute, FunctionHandle function)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, max_active_blocks, \
      (int* blocks, FunctionHandle function, int block_size, std::size_t dynamic_shared_bytes)) \
    X(cuOccupancyMaxActiveClusters, max_active_clusters, \
      (int* clusters, FunctionHandle function, const LaunchConfig* config)) \
    X(cuLaunchKernelEx, launch, \
      (const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra)) \
    X(cuStreamBeginCapture_v2, capture_begin, (StreamHandle stream, CaptureMode mode)) \
    X(cuStreamEndCapture, capture_end, (StreamHandle stream, GraphHandle* graph)) \
    X(cuStreamIsCapturing, capture_status, (StreamHandle stream, CaptureStatus* status)) \
    X(cuStreamGetCaptureInfo_v3, capture_info, \
      (StreamHandle stream, CaptureStatus* status, std::uint64_t* id, GraphHandle* graph, \
       const GraphNodeHandle** dependencies, const EdgeData** edges, std::size_t* dependency_count)) \
    X(cuGraphInstantiateWithFlags, graph_instantiate, \
      (GraphExecHandle* exec, GraphHandle graph, unsigned long long flags)) \
    X(cuGraphUpload, graph_upload, (GraphExecHandle exec, StreamHandle stream)) \
    X(cuGraphLaunch, graph_launch, (GraphExecHandle exec, StreamHandle stream)) \
    X(cuGraphExecKernelNodeSetParams_v2, graph_exec_set_kernel, \
      (GraphExecHandle exec, GraphNodeHandle node, const KernelNodeParameters* parameters)) \
    X(cuGraphExecMemcpyNodeSetParams, graph_exec_set_copy, \
      (GraphExecHandle exec, GraphNodeHandle node, const Copy3D* copy, ContextHandle context)) \
    X(cuGraphNodeSetEnabled, graph_node_set_enabled, \
      (GraphExecHandle exec, GraphNodeHandle node, unsigned is_enabled)) \
    X(cuGraphExecUpdate_v2, graph_exec_update, \
      (GraphExecHandle exec, GraphHandle graph, GraphUpdateResult* result)) \
    X(cuGraphExecDestroy, graph_exec_destroy, (GraphExecHandle exec)) \
    X(cuGraphDestroy, graph_destroy, (GraphHandle graph))
// clang-format on

/// Functions of the driver, by address. Tests make tables of their own functions.
struct DriverTable {
#define CAIRN_CUDA_MEMBER(symbol, member, parameters) Result(*member) parameters = nullptr;
    CAIRN_CUDA_DRIVER_OPENING_FUNCTIONS(CAIRN_CUDA_MEMBER)
    CAIRN_CUDA_DRIVER_FUNCTIONS(CAIRN_CUDA_MEMBER)
#undef CAIRN_CUDA_MEMBER
};

/// The oldest driver that is used, as cuDriverGetVersion counts (13.0). Code that NVRTC 13 compiles, and cuBLASLt 13,
/// run on drivers of the same major version or a later one only; programmatic edges of captured graphs need 12.3, and
/// the newest function of the table 12.8.
inline constexpr int required_driver_version = 13000;

/// The driver, or the reason why there is none.
struct OpenedDriver {
    std::shared_ptr<const DriverTable> driver;  ///< null: not usable
    int version = 0;                            ///< such as 13000 for CUDA 13.0; 0 if the driver did not get so far
    int devices = 0;
    std::string reason;       ///< one sentence without its end
    bool is_library = false;  ///< there is a library at the path, of whatever kind
};

/// Opens the driver and initialises it. The default is the name under which a driver is installed; a toolkit's stub of
/// it is called libcuda.so and is not found so. A driver that is usable stays loaded until the process ends; other
/// libraries are closed again. Never throws, except for lack of memory.
OpenedDriver open_driver(const std::string& path = "libcuda.so.1");

/// Text of a version as cuDriverGetVersion counts: `13.0` for 13000.
std::string version_text(int version);

/// Text of a result, such as `CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)`.
std::string describe(const DriverTable& driver, Result result);

}  // namespace cairn::device::cuda
