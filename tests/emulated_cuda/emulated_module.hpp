#pragma once

#include "tests/emulated_cuda/global_memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace cairn::emulated_cuda {

/// A fault of a kernel: what() names the kernel, the seed, block and thread, and what the thread did.
class KernelFault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// How kernel texts are compiled.
struct CompileSettings {
    std::string compiler;         // of the host, g++ or clang++
    std::string source_folder;    // that contains tests/emulated_cuda
    bool checks_accesses = true;  // else only barriers and values are checked, which is several times faster
};

/// One launch of a kernel, as cuLaunchKernelEx takes it.
struct EmulatedLaunch {
    std::string entry;
    std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
    unsigned cluster = 1;  // blocks in a cluster, along x
    std::size_t shared_bytes = 0;
    std::vector<void*> arguments{};  // the address of each parameter's value
    bool is_dependent = false;       // programmatic: starts once the launch before has triggered it
};

/// Kernel texts compiled for the CPU, where each thread of a block is a fiber. A kernel must synchronise as on a GPU:
/// threads run in random order, and every access to memory is checked for its bounds, its alignment and its order with
/// other accesses.
///
///     const auto module = EmulatedModule::compile(texts, {CAIRN_CXX, CAIRN_SOURCE_DIR});
///     module.launch({.entry = "add", .grid = {4, 1, 1}, .block = {128, 1, 1}, .arguments = {&n, &x}}, memory, seed);
class EmulatedModule {
public:
    /// Compiles texts together, which takes a second where each alone takes a half. Names of kernels are unique in all.
    /// Throws std::runtime_error with the compiler's messages.
    static EmulatedModule compile(std::span<const std::string> texts, const CompileSettings& settings);

    EmulatedModule(EmulatedModule&&) noexcept;
    EmulatedModule& operator=(EmulatedModule&&) noexcept;
    ~EmulatedModule();

    /// Runs a kernel. Its order of blocks, warps and copies is determined by the seed. Throws KernelFault, and
    /// std::invalid_argument if a kernel cannot be launched so.
    void launch(const EmulatedLaunch& launch, GlobalMemory& memory, std::uint64_t seed) const;
    /// As above without checks of global memory.
    void launch(const EmulatedLaunch& launch, std::uint64_t seed) const;

private:
    struct Object;
    explicit EmulatedModule(std::unique_ptr<Object> object);
    void run(const EmulatedLaunch& launch, GlobalMemory* memory, std::uint64_t seed) const;

    std::unique_ptr<Object> object_;
};

}  // namespace cairn::emulated_cuda
