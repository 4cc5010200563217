// What the stand-in driver submits to streams: copies and launches.
#include "tests/device/cuda/stand_in_state.hpp"

#include <cstring>

namespace cairn::device::cuda {

Result StandInDriver::State::submit(StreamHandle stream, Operation operation) {
    if (!streams_.contains(stream)) return broken("work is submitted to an unknown stream");
    const auto captured = captures_.find(stream);
    if (captured == captures_.end()) {
        streams_[stream].push_back(std::move(operation.run));
        return Result::success;
    }
    Capture& capture = captured->second;
    if (capture.is_invalidated) return Result::stream_capture_invalidated;
    if (operation.is_dependent &&
        (capture.nodes.empty() || capture.nodes.back().operation.kind != OperationKind::kernel))
        return broken_in_capture(stream, "a dependent launch follows something else than a kernel");
    capture.last = new_handle<GraphNodeHandle>();
    capture.nodes.push_back({capture.last, std::move(operation)});
    return Result::success;
}

void StandInDriver::State::run_until(StreamHandle stream, const std::function<bool()>& done) {
    const auto found = streams_.find(stream);
    while (found != streams_.end() && !found->second.empty() && !done()) {
        const Work work = std::move(found->second.front());
        found->second.pop_front();
        work();
    }
}

void StandInDriver::State::run_all() {
    for (auto each = streams_.rbegin(); each != streams_.rend(); ++each) run(each->first);
}

Result StandInDriver::State::memory_info(std::size_t* free_bytes, std::size_t* total_bytes) {
    *free_bytes = memory.free_bytes();
    *total_bytes = memory.capacity();
    return Result::success;
}
Result StandInDriver::State::memory_alloc(DeviceAddress* address, std::size_t bytes) {
    if (bytes == 0) return Result::invalid_value;
    *address = memory.allocate(bytes);
    return *address == 0 ? Result::out_of_memory : Result::success;
}
Result StandInDriver::State::memory_free(DeviceAddress address) {
    run_all();
    return memory.free(address) ? Result::success : broken("memory is freed that is not allocated");
}
Result StandInDriver::State::host_alloc(void** address, std::size_t bytes, unsigned) {
    *address = memory.pin(bytes);
    return Result::success;
}
Result StandInDriver::State::host_free(void* address) {
    run_all();
    return memory.unpin(address) ? Result::success : broken("host memory is freed that is not pinned");
}
Result StandInDriver::State::host_device_pointer(DeviceAddress* device, void* host, unsigned) {
    if (!memory.is_pinned(host)) return broken("host memory that is not pinned is mapped");
    *device = reinterpret_cast<DeviceAddress>(host);
    return Result::success;
}

Result StandInDriver::State::pointer_attribute(void* value, PointerAttribute attribute, DeviceAddress address) {
    const bool is_device = memory.device(address, 1) != nullptr;
    if (!is_device && !memory.is_pinned(reinterpret_cast<const void*>(address))) return Result::invalid_value;
    switch (attribute) {
        case PointerAttribute::memory_type:
            *static_cast<MemoryType*>(value) = is_device ? MemoryType::device : MemoryType::host;
            return Result::success;
        case PointerAttribute::is_managed: *static_cast<unsigned*>(value) = 0; return Result::success;
        case PointerAttribute::device_ordinal:
            if (!is_device) return Result::invalid_value;
            *static_cast<int*>(value) = 0;
            return Result::success;
        default: return Result::not_supported;
    }
}

std::optional<StandInDriver::State::Side> StandInDriver::State::device_side(DeviceAddress address, std::size_t pitch,
                                                                            std::size_t row_bytes, std::size_t rows) {
    std::byte* const data = memory.device(address, (rows - 1) * pitch + row_bytes);
    if (data == nullptr) {
        broken("bytes outside an allocation are copied or set");
        return {};
    }
    return Side{data, pitch, false};
}

StandInDriver::State::Side StandInDriver::State::host_side(const void* address, std::size_t pitch) const {
    return {static_cast<std::byte*>(const_cast<void*>(address)), pitch, !memory.is_pinned(address)};
}

Result StandInDriver::State::copy_rows(Side target, Side source, std::size_t row_bytes, std::size_t rows,
                                       StreamHandle stream, bool is_on_device) {
    const auto copy = [=, this](const std::byte* from) {
        for (std::size_t row = 0; row < rows; ++row)
            std::memcpy(target.data + row * target.pitch, from + row * source.pitch, row_bytes);
        clock += copy_seconds + byte_seconds * static_cast<double>(rows * row_bytes);
    };
    if (captures_.contains(stream)) {
        // A driver would copy such memory when the graph runs, from wherever it is then.
        if (source.is_pageable || target.is_pageable)
            return broken_in_capture(stream, "host memory that is not pinned is copied in a capture");
        const auto kind = is_on_device ? OperationKind::copy_on_device : OperationKind::other;
        return submit(stream, Operation{kind, [copy, from = source.data] { copy(from); }});
    }
    if (source.is_pageable) {
        // The driver has read such memory when it returns.
        std::vector<std::byte> staged(source.data, source.data + (rows - 1) * source.pitch + row_bytes);
        return submit(stream, [copy, staged = std::move(staged)] { copy(staged.data()); });
    }
    const Result result = submit(stream, [copy, from = source.data] { copy(from); });
    // And it has written it.
    if (target.is_pageable) run(stream);
    return result;
}

Result StandInDriver::State::copy_to_device(DeviceAddress target, const void* source, std::size_t bytes,
                                            StreamHandle stream) {
    const auto to = device_side(target, bytes, bytes, 1);
    return to ? copy_rows(*to, host_side(source, bytes), bytes, 1, stream) : Result::invalid_value;
}
Result StandInDriver::State::copy_to_host(void* target, DeviceAddress source, std::size_t bytes, StreamHandle stream) {
    const auto from = device_side(source, bytes, bytes, 1);
    return from ? copy_rows(host_side(target, bytes), *from, bytes, 1, stream) : Result::invalid_value;
}
Result StandInDriver::State::copy_on_device(DeviceAddress target, DeviceAddress source, std::size_t bytes,
                                            StreamHandle stream) {
    const auto to = device_side(target, bytes, bytes, 1), from = device_side(source, bytes, bytes, 1);
    return to && from ? copy_rows(*to, *from, bytes, 1, stream, true) : Result::invalid_value;
}
Result StandInDriver::State::copy_2d(const Copy2D* copy, StreamHandle stream) {
    constexpr std::size_t max_pitch = 0x7fffffff;
    if (copy->row_bytes == 0 || copy->rows == 0 || copy->source_pitch < copy->row_bytes ||
        copy->target_pitch < copy->row_bytes || copy->source_pitch > max_pitch || copy->target_pitch > max_pitch)
        return broken("a copy of rows has sizes that the driver does not support");
    const auto side = [&](MemoryType type, const void* host, DeviceAddress address,
                          std::size_t pitch) -> std::optional<Side> {
        if (type == MemoryType::host) return host_side(host, pitch);
        return device_side(address, pitch, copy->row_bytes, copy->rows);
    };
    const auto to = side(copy->target_type, copy->target_host, copy->target_device, copy->target_pitch);
    const auto from = side(copy->source_type, copy->source_host, copy->source_device, copy->source_pitch);
    return to && from ? copy_rows(*to, *from, copy->row_bytes, copy->rows, stream) : Result::invalid_value;
}
Result StandInDriver::State::set_bytes(DeviceAddress target, unsigned char value, std::size_t count,
                                       StreamHandle stream) {
    return set_bytes_2d(target, count, value, count, 1, stream);
}
Result StandInDriver::State::set_bytes_2d(DeviceAddress target, std::size_t pitch, unsigned char value,
                                          std::size_t width, std::size_t height, StreamHandle stream) {
    if (width == 0 || height == 0 || pitch < width) return broken("no bytes are set, or rows overlap");
    const auto to = device_side(target, pitch, width, height);
    if (!to) return Result::invalid_value;
    return submit(stream, [=, data = to->data] {
        for (std::size_t row = 0; row < height; ++row) std::memset(data + row * pitch, value, width);
    });
}

Result StandInDriver::State::set_words(DeviceAddress target, unsigned value, std::size_t count, StreamHandle stream) {
    if (count == 0 || target % sizeof(value) != 0) return broken("no words are set, or not at the address of one");
    const auto to = device_side(target, count * sizeof(value), count * sizeof(value), 1);
    if (!to) return Result::invalid_value;
    return submit(stream, [=, data = to->data] {
        for (std::size_t i = 0; i < count; ++i) std::memcpy(data + i * sizeof(value), &value, sizeof(value));
    });
}

std::optional<Result> StandInDriver::State::check_launch(const StandInLaunch& launch, const Function& function) {
    const LaunchConfig& config = launch.config;
    if (config.grid_x == 0 || config.grid_y == 0 || config.grid_z == 0)
        return broken("a grid without blocks is launched");
    if (config.block_x * config.block_y * config.block_z - 1 >= 1024)
        return broken("a block has 0 or too many threads");
    if (static_cast<int>(config.dynamic_shared_bytes) >
        function.attributes.at(FunctionAttribute::max_dynamic_shared_bytes))
        return broken("a launch has more shared memory than its function allows");
    if (launch.cluster == 0 || config.grid_x % launch.cluster != 0)
        return broken("a grid is not a multiple of its clusters");
    if (launch.cluster > 8 && !function.attributes.contains(FunctionAttribute::non_portable_cluster_size_allowed))
        return Result::invalid_cluster_size;
    return {};
}

Result StandInDriver::State::make_launch(const LaunchConfig& config, FunctionHandle function, void** parameters,
                                         Operation& operation) {
    if (!functions_.contains(function)) return broken("an unknown function is launched");
    const Function& known = functions_[function];
    const StandInKernel& kernel = known.kernel;
    StandInLaunch launch{known.name, config, 1, false, nullptr, &memory};
    for (unsigned i = 0; i < config.attribute_count; ++i) {
        const LaunchAttribute& attribute = config.attributes[i];
        switch (attribute.id) {
            case LaunchAttributeId::cluster_dimension: launch.cluster = attribute.value.cluster_dimension.x; break;
            case LaunchAttributeId::programmatic_stream_serialization:
                launch.is_dependent = attribute.value.programmatic_stream_serialization != 0;
                break;
            default: return broken("a launch has an attribute that is not expected");
        }
    }
    if (const auto result = check_launch(launch, known)) return *result;
    launch.config.attributes = nullptr;
    // The driver copies parameters before it returns.
    std::vector<void*> values(kernel.pointers);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = *static_cast<void**>(parameters[i]);
    const int last = *static_cast<int*>(parameters[kernel.pointers]);
    operation.kind = OperationKind::kernel;
    operation.function = function;
    operation.cluster = launch.cluster;
    operation.is_dependent = launch.is_dependent;
    operation.run = [this, launch, values, last, run = kernel.run, seconds = kernel.seconds]() mutable {
        std::vector<void*> addresses;
        for (void*& value : values) addresses.push_back(&value);
        addresses.push_back(const_cast<int*>(&last));
        launch.parameters = addresses.data();
        run(launch);
        clock += seconds ? seconds(launch) : 1e-3;
    };
    return Result::success;
}

Result StandInDriver::State::submit_library_work(StreamHandle stream, std::function<void()> work) {
    const auto run = [this, work = std::move(work)] {
        work();
        clock += 1e-3;
    };
    return submit(stream, Operation{OperationKind::library, run});
}

Result StandInDriver::State::launch(const LaunchConfig* config, FunctionHandle function, void** parameters, void**) {
    Operation operation;
    const Result result = make_launch(*config, function, parameters, operation);
    return result == Result::success ? submit(config->stream, std::move(operation)) : result;
}

}  // namespace cairn::device::cuda
