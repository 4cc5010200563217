#pragma once

#include "cairn/compiled_graph.hpp"
#include "device/cpu/thread_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// What programs read of weights in a file, from one process to the next.
namespace cairn::runtime {

/// A weight or bound value that runs read.
struct PackedValue {
    std::string origin;  ///< what it is made of and by which kernels, as a digest: its name in the file
    std::int64_t bytes = 0;
};

/// Where each of `wanted` lies in the file's own pages, which stay mapped as long as any of them is held. Checks what
/// PackedFile says is checked. Throws Error(file) with the reason where the file is missing, damaged, made from other
/// weights, or lacks one of them.
std::vector<std::shared_ptr<const std::byte>> read_packed(const PackedFile& file, std::span<const PackedValue> wanted,
                                                          device::ThreadPool& pool);

/// What is wrong with a file of packed weights, every byte of which is read; empty: nothing.
std::vector<std::string> verify_packed(const std::filesystem::path& file);

/// Writes the values, which lie at `data`, beside the file's name and renames. Throws Error(file).
void write_packed(const PackedFile& file, std::span<const PackedValue> values, std::span<const std::byte* const> data,
                  device::ThreadPool& pool);

}  // namespace cairn::runtime
