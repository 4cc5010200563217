#include "device/cuda/program_arguments.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <cstring>

namespace cairn::device::cuda {
namespace {

const char* reason_of(unsigned code) {
    if (code == static_cast<unsigned>(FailureCode::index_out_of_range))
        return "an index is out of range of the indexed axis";
    throw InternalError("cuda", fmt::format("a kernel failed with the unknown code {}", code));
}

}  // namespace

ProgramArguments::ProgramArguments(std::shared_ptr<CudaDevice> device, std::span<const std::int64_t> symbols)
    : device_(std::move(device)), values_(symbols) {
    DriverCalls& calls = device_->calls();
    const CurrentContext current(*device_);
    const std::size_t bytes = values_.size_bytes();
    pinned_ = static_cast<std::byte*>(calls.allocate_pinned(sizeof(FailureReport) + bytes, host_alloc_mapped));
    try {
        clear_failure();
        calls.call(&DriverTable::host_device_pointer, &status_, static_cast<void*>(pinned_), 0U);
        if (bytes > 0) symbols_ = calls.allocate(bytes);
    } catch (...) {
        calls.release(&DriverTable::host_free, static_cast<void*>(pinned_));
        throw;
    }
}

ProgramArguments::~ProgramArguments() {
    DriverCalls& calls = device_->calls();
    release_on(*device_, [&] {
        calls.release(&DriverTable::host_free, static_cast<void*>(pinned_));
        if (symbols_ != 0) calls.release(&DriverTable::memory_free, symbols_);
    });
}

void ProgramArguments::upload_symbols() {
    if (values_.empty()) return;
    // Through pinned memory, from which the copy does not wait for the device.
    std::byte* const copy = pinned_ + sizeof(FailureReport);
    std::memcpy(copy, values_.data(), values_.size_bytes());
    device_->calls().call(&DriverTable::copy_to_device, symbols_, static_cast<const void*>(copy), values_.size_bytes(),
                          device_->stream());
}

void ProgramArguments::clear_failure() noexcept {
    const FailureReport empty;
    std::memcpy(pinned_, &empty, sizeof(empty));
}

std::optional<Failure> ProgramArguments::failure(std::int64_t& instruction) const {
    FailureReport record;
    std::memcpy(&record, pinned_, sizeof(record));
    if (record.code == 0) return {};
    instruction = record.instruction;
    return Failure{reason_of(record.code), static_cast<int>(record.input), record.position, record.value};
}

}  // namespace cairn::device::cuda
