#include "device/cuda/driver_calls.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

namespace cairn::device::cuda {

Outcome outcome_of(Result result) noexcept {
    switch (result) {
        case Result::success: return Outcome::success;
        case Result::not_ready: return Outcome::not_ready;
        case Result::out_of_memory: return Outcome::memory;

        case Result::call_requires_newer_driver:
        case Result::device_unavailable:
        case Result::no_device:
        case Result::invalid_device:
        case Result::device_not_licensed:
        case Result::invalid_image:
        case Result::no_binary_for_gpu:
        case Result::unsupported_ptx_version:
        case Result::operating_system:
        case Result::not_permitted:
        case Result::not_supported:
        case Result::system_not_ready:
        case Result::system_driver_mismatch:
        case Result::compat_not_supported_on_device:
        case Result::mps_connection_failed:
        case Result::mps_server_not_ready:
        case Result::mps_max_clients_reached:
        case Result::mps_max_connections_reached: return Outcome::unsupported;

        // The process was forked after cuInit, or ends and has unloaded the driver.
        case Result::not_initialized:
        case Result::deinitialized:
        // Of these the driver API says that the process must end before CUDA is used again, or that the context is
        // gone.
        case Result::contained:
        case Result::illegal_address:
        case Result::launch_timeout:
        case Result::context_is_destroyed:
        case Result::assert_failed:
        case Result::hardware_stack_error:
        case Result::illegal_instruction:
        case Result::misaligned_address:
        case Result::invalid_address_space:
        case Result::invalid_pc:
        case Result::launch_failed:
        case Result::tensor_memory_leak:
        case Result::mps_rpc_failure:
        case Result::mps_client_terminated:
        // Faults of the hardware or in the driver: results computed later cannot be trusted.
        case Result::ecc_uncorrectable:
        case Result::nvlink_uncorrectable:
        case Result::unknown: return Outcome::lost;

        default: return Outcome::internal;
    }
}

DriverCalls::DriverCalls(std::shared_ptr<const DriverTable> driver, std::string device)
    : driver_(std::move(driver)), device_(std::move(device)) {}

void DriverCalls::throw_if_lost() const {
    if (is_forked())
        throw Error(ErrorKind::unsupported, "cuda",
                    fmt::format("the device {} was opened before fork(): a child process cannot use the CUDA devices "
                                "of its parent",
                                device_));
    if (!is_lost()) return;
    const bool forked = lost_result_ == Result::not_initialized;
    throw Error(ErrorKind::unsupported, "cuda",
                fmt::format("the device {} is lost: {} failed with {}; {}", device_, lost_symbol_,
                            describe(*driver_, lost_result_),
                            forked ? "a child process cannot use the CUDA devices of its parent"
                                   : "only a new process can use it again"));
}

DeviceAddress DriverCalls::allocate(std::size_t bytes) {
    throw_if_lost();
    DeviceAddress address = 0;
    check(driver_->memory_alloc(&address, bytes), symbol_of(&DriverTable::memory_alloc), bytes);
    return address;
}

void* DriverCalls::allocate_pinned(std::size_t bytes, unsigned flags) {
    throw_if_lost();
    void* address = nullptr;
    const Result result = driver_->host_alloc(&address, bytes, flags);
    // Pinned memory is the host's, so free bytes of the device would explain nothing.
    if (outcome_of(result) == Outcome::memory)
        throw Error(ErrorKind::memory, "cuda", fmt::format("cannot pin {} bytes of host memory", bytes));
    check(result, symbol_of(&DriverTable::host_alloc));
    return address;
}

std::optional<int> DriverCalls::device_of_memory(const void* address) noexcept {
    const auto asked = [&](PointerAttribute attribute, auto& value) {
        if (is_lost()) return false;
        const Result result = driver_->pointer_attribute(&value, attribute, address_of(address));
        if (outcome_of(result) == Outcome::lost) lose(symbol_of(&DriverTable::pointer_attribute), result);
        return result == Result::success;
    };
    MemoryType type = MemoryType::host;
    // The driver calls an address invalid that it does not know: memory of the host that is not pinned.
    if (!asked(PointerAttribute::memory_type, type) || type != MemoryType::device) return std::nullopt;
    unsigned is_managed = 0;
    if (asked(PointerAttribute::is_managed, is_managed) && is_managed != 0) return std::nullopt;
    int index = 0;
    if (!asked(PointerAttribute::device_ordinal, index)) return std::nullopt;
    return index;
}

void DriverCalls::check(Result result, const char* symbol, std::optional<std::size_t> needed) {
    switch (outcome_of(result)) {
        case Outcome::success: return;
        case Outcome::memory: throw Error(ErrorKind::memory, "cuda", memory_text(symbol, needed));
        case Outcome::lost: lose(symbol, result); return throw_if_lost();
        case Outcome::unsupported:
            throw Error(ErrorKind::unsupported, "cuda",
                        fmt::format("{} failed on {}: {}", symbol, device_, describe(*driver_, result)));
        case Outcome::not_ready:  // only queries return it, and is_complete() makes them
        case Outcome::internal: break;
    }
    throw InternalError("cuda", fmt::format("{} failed on {}: {}", symbol, device_, describe(*driver_, result)));
}

void DriverCalls::lose(const char* symbol, Result result) noexcept {
    const std::lock_guard lock(losing_);
    if (is_lost()) return;
    lost_symbol_ = symbol;
    lost_result_ = result;
    lost_.store(true, std::memory_order_release);
}

std::string DriverCalls::memory_text(const char* symbol, std::optional<std::size_t> needed) const {
    std::size_t free_bytes = 0, total_bytes = 0;
    const bool known =
        driver_->memory_info != nullptr && driver_->memory_info(&free_bytes, &total_bytes) == Result::success;
    const std::string free_text = known ? fmt::format("{} of {} bytes are free", free_bytes, total_bytes)
                                        : std::string("the driver does not report the free bytes");
    if (needed) return fmt::format("{} bytes are needed on {}, but {}", *needed, device_, free_text);
    return fmt::format("{} is out of memory on {}: {}", symbol, device_, free_text);
}

}  // namespace cairn::device::cuda
