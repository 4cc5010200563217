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
    words_.resize(bytes / sizeof(std::uint32_t));
    pinned_ = static_cast<std::byte*>(calls.allocate_pinned(sizeof(FailureReport), host_alloc_mapped));
    try {
        clear_failure();
        calls.call(&DriverTable::host_device_pointer, &status_, static_cast<void*>(pinned_), 0U);
        if (bytes > 0) symbols_ = device_->allocate(bytes);
    } catch (...) {
        calls.release(&DriverTable::host_free, static_cast<void*>(pinned_));
        throw;
    }
}

ProgramArguments::~ProgramArguments() {
    DriverCalls& calls = device_->calls();
    if (symbols_ != 0) device_->free(symbols_, values_.size_bytes());
    release_on(*device_, [&] { calls.release(&DriverTable::host_free, static_cast<void*>(pinned_)); });
}

void ProgramArguments::submit_symbols(StreamHandle stream) {
    // Each word travels as an argument of a call: a copy would need memory that stays as it is until the copy is made.
    for (std::size_t w = 0; w < words_.size(); ++w) {
        std::uint32_t word = 0;
        std::memcpy(&word, reinterpret_cast<const std::byte*>(values_.data()) + w * sizeof(word), sizeof(word));
        if (words_[w] == word) continue;
        words_[w].reset();
        device_->calls().call(&DriverTable::set_words, symbols_ + w * sizeof(word), word, std::size_t{1}, stream);
        words_[w] = word;
    }
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
