#pragma once

#include "cairn/compiled_graph.hpp"
#include "device/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Declares the file of packed weights, which keeps what programs read from one process to the next.
namespace cairn::runtime {

/// A weight or bound value that runs read.
struct PackedValue {
    std::string origin;  ///< digest of its sources and kernels: its name in the file
    std::int64_t bytes = 0;
};

/// Maps the file and returns the addresses of the `wanted` values in its pages, which stay mapped as long as any of
/// them is held. Checks what PackedFile documents. Throws Error(file) with the reason if the file is missing, damaged,
/// made from other weights, or lacks one of them.
std::vector<std::shared_ptr<const std::byte>> read_packed(const PackedFile& file, std::span<const PackedValue> wanted,
                                                          device::HostThreads& threads);

/// Verifies every byte of a file of packed weights. Returns the faults; empty if there are none.
std::vector<std::string> verify_packed(const std::filesystem::path& file);

/// Writes the values at `data` to a temporary file, which is then renamed. Throws Error(file).
void write_packed(const PackedFile& file, std::span<const PackedValue> values, std::span<const std::byte* const> data,
                  device::HostThreads& threads);

}  // namespace cairn::runtime
