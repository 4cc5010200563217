#pragma once

#include <cstddef>

/// Declarations of the CUDA driver API, as far as Cairn uses it. Values and layouts are those of cuda.h; a test
/// compares them where that header is present. Only handles and structures that Cairn needs are declared.
namespace cairn::device::cuda {

/// Handles of objects of the driver: pointers to structures that only the driver knows.
using ContextHandle = struct ContextObject*;
using StreamHandle = struct StreamObject*;
using EventHandle = struct EventObject*;
using ModuleHandle = struct ModuleObject*;
using FunctionHandle = struct FunctionObject*;
using GraphHandle = struct GraphObject*;
using GraphExecHandle = struct GraphExecObject*;
using GraphNodeHandle = struct GraphNodeObject*;
using KernelHandle = struct KernelObject*;
using ArrayHandle = struct ArrayObject*;

/// Number of a device among those that the driver reports.
using DeviceHandle = int;
/// Address in device memory.
using DeviceAddress = unsigned long long;
inline DeviceAddress address_of(const void* pointer) noexcept { return reinterpret_cast<DeviceAddress>(pointer); }

/// Result of a call of the driver. Other values than these are possible.
enum class Result : unsigned {
    success = 0,
    invalid_value = 1,
    out_of_memory = 2,
    not_initialized = 3,
    deinitialized = 4,
    stub_library = 34,
    call_requires_newer_driver = 36,
    device_unavailable = 46,
    no_device = 100,
    invalid_device = 101,
    device_not_licensed = 102,
    invalid_image = 200,
    invalid_context = 201,
    no_binary_for_gpu = 209,
    ecc_uncorrectable = 214,
    nvlink_uncorrectable = 220,
    unsupported_ptx_version = 222,
    contained = 226,  ///< an exception on the device, contained by its error containment
    operating_system = 304,
    not_ready = 600,
    illegal_address = 700,
    launch_out_of_resources = 701,
    launch_timeout = 702,
    context_is_destroyed = 709,
    assert_failed = 710,
    hardware_stack_error = 714,
    illegal_instruction = 715,
    misaligned_address = 716,
    invalid_address_space = 717,
    invalid_pc = 718,
    launch_failed = 719,
    tensor_memory_leak = 721,
    not_permitted = 800,
    not_supported = 801,
    system_not_ready = 802,
    system_driver_mismatch = 803,
    compat_not_supported_on_device = 804,
    mps_connection_failed = 805,
    mps_rpc_failure = 806,
    mps_server_not_ready = 807,
    mps_max_clients_reached = 808,
    mps_max_connections_reached = 809,
    mps_client_terminated = 810,
    stream_capture_invalidated = 901,
    graph_update_refused = 910,  ///< of cuGraphExecUpdate, which has changed nothing
    invalid_cluster_size = 912,
    unknown = 999,
};

/// Property of a device that the driver reports as an int.
enum class DeviceAttribute : unsigned {
    max_threads_per_block = 1,
    max_grid_x = 5,
    max_grid_y = 6,
    max_grid_z = 7,
    max_shared_bytes_per_block = 8,  ///< without opting in
    warp_size = 10,
    max_registers_per_block = 12,
    clock_khz = 13,
    multiprocessors = 16,
    integrated = 18,
    can_map_host_memory = 19,
    compute_mode = 20,
    ecc_enabled = 32,
    pci_bus = 33,
    pci_device = 34,
    memory_clock_khz = 36,
    memory_bus_bits = 37,
    l2_bytes = 38,
    max_threads_per_multiprocessor = 39,
    copy_engines = 40,
    unified_addressing = 41,
    pci_domain = 50,
    compute_capability_major = 75,
    compute_capability_minor = 76,
    max_shared_bytes_per_multiprocessor = 81,
    max_registers_per_multiprocessor = 82,
    max_shared_bytes_per_block_opt_in = 97,  ///< the limit of FunctionAttribute::max_dynamic_shared_bytes
    virtual_memory_management = 102,
    max_blocks_per_multiprocessor = 106,
    max_persisting_l2_bytes = 108,
    reserved_shared_bytes_per_block = 111,
    cluster_launch = 120,
};

/// Property of a function on the device.
enum class FunctionAttribute : unsigned {
    max_threads_per_block = 0,
    static_shared_bytes = 1,
    constant_bytes = 2,
    local_bytes = 3,  ///< of each thread: stack and spilled registers
    registers = 4,
    binary_version = 6,
    max_dynamic_shared_bytes = 8,            ///< may be set
    preferred_shared_carveout = 9,           ///< may be set
    non_portable_cluster_size_allowed = 14,  ///< may be set; needed for clusters of more than 8 blocks
};

/// Where the memory of an address is.
enum class MemoryType : unsigned { host = 1, device = 2, array = 3, unified = 4 };

/// Property of an address, in device memory or in pinned host memory.
enum class PointerAttribute : unsigned {
    context = 1,
    memory_type = 2,
    device_pointer = 3,
    host_pointer = 4,
    is_managed = 8,
    device_ordinal = 9,
    range_start = 11,
    range_bytes = 12,
};

/// Which calls are forbidden while a stream is captured: unsafe ones of any thread, of this thread, or none.
enum class CaptureMode : unsigned { global = 0, thread_local_mode = 1, relaxed = 2 };
enum class CaptureStatus : unsigned { none = 0, active = 1, invalidated = 2 };

/// Flags of calls.
inline constexpr unsigned stream_non_blocking = 1;  ///< the stream does not wait for the null stream
inline constexpr unsigned event_blocking_sync = 1;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned event_record_external = 1;  ///< in a capture only: a node that records the event
inline constexpr unsigned host_alloc_portable = 1;
inline constexpr unsigned host_alloc_mapped = 2;  ///< the device can access the memory
inline constexpr unsigned host_alloc_write_combined = 4;

/// Identifier of a device that is the same in every process.
struct DeviceUuid {
    char bytes[16];
};

enum class LaunchAttributeId : unsigned {
    ignore = 0,
    cooperative = 2,
    cluster_dimension = 4,
    programmatic_stream_serialization = 6,
};

/// Value of a launch attribute; the id says which member counts.
union LaunchAttributeValue {
    alignas(8) char padding[64];  // the driver has members that are pointers
    int cooperative;
    struct {
        unsigned x, y, z;
    } cluster_dimension;
    /// Not zero: the kernel may start before the previous one in its stream is complete, and waits for it by
    /// `griddepcontrol.wait` (programmatic dependent launch).
    int programmatic_stream_serialization;
};

struct LaunchAttribute {
    LaunchAttributeId id;
    char padding[8 - sizeof(LaunchAttributeId)];
    LaunchAttributeValue value;
};

/// Grid, block and attributes of a kernel launch.
struct LaunchConfig {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned dynamic_shared_bytes;
    StreamHandle stream;
    LaunchAttribute* attributes;  ///< may be null if there are none
    unsigned attribute_count;
};

/// A kernel launch as the parameters of a node of a graph. Launch attributes are not among them: a node keeps those
/// that it was captured with.
struct KernelNodeParameters {
    FunctionHandle function;
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned dynamic_shared_bytes;
    void** parameters;  ///< addresses of the values, which the driver copies
    void** extra;
    KernelHandle kernel;    ///< used only without a function
    ContextHandle context;  ///< ignored with a function
};

/// Why an executable graph cannot be updated; `reason` is a CUgraphExecUpdateResult.
struct GraphUpdateResult {
    unsigned reason;
    GraphNodeHandle node, from_node;
};

/// What a node of a graph waits for in one before it; all zero: for its completion.
struct EdgeData {
    unsigned char from_port, to_port, type, reserved[5];
};

/// A copy of rows that lie `pitch` bytes apart.
struct Copy2D {
    std::size_t source_x_bytes, source_y;
    MemoryType source_type;
    const void* source_host;
    DeviceAddress source_device;
    ArrayHandle source_array;
    std::size_t source_pitch;

    std::size_t target_x_bytes, target_y;
    MemoryType target_type;
    void* target_host;
    DeviceAddress target_device;
    ArrayHandle target_array;
    std::size_t target_pitch;

    std::size_t row_bytes, rows;
};

/// A copy of planes of rows. Of bytes without a gap it is one row of one plane, with a pitch of 0.
struct Copy3D {
    std::size_t source_x_bytes, source_y, source_z, source_lod;
    MemoryType source_type;
    const void* source_host;
    DeviceAddress source_device;
    ArrayHandle source_array;
    void* source_reserved;
    std::size_t source_pitch, source_rows;

    std::size_t target_x_bytes, target_y, target_z, target_lod;
    MemoryType target_type;
    void* target_host;
    DeviceAddress target_device;
    ArrayHandle target_array;
    void* target_reserved;
    std::size_t target_pitch, target_rows;

    std::size_t row_bytes, rows, planes;
};

}  // namespace cairn::device::cuda
