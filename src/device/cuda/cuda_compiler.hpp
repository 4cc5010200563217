#pragma once

#include "device/backend.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/device_code.hpp"
#include "device/kernel_binary.hpp"

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace cairn::device::cuda {

/// Machine code that a device has loaded; the destructor unloads it.
class CudaModule {
public:
    /// The context must be current.
    CudaModule(std::shared_ptr<CudaDevice> device, std::shared_ptr<const KernelBinary> binary);
    ~CudaModule();
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;

    ModuleHandle handle() const noexcept { return handle_; }
    const std::shared_ptr<const KernelBinary>& binary() const noexcept { return binary_; }

private:
    std::shared_ptr<CudaDevice> device_;
    std::shared_ptr<const KernelBinary> binary_;
    ModuleHandle handle_ = nullptr;
};

/// A kernel that can be launched: what KernelLaunch::code points to.
struct CudaKernel {
    std::shared_ptr<const CudaModule> module;
    const CudaDevice* device = nullptr;
    FunctionHandle function = nullptr;
    unsigned block = 0, cluster = 1, shared_bytes = 0;
    bool is_dependent = false;  ///< launched programmatically where it follows another such kernel in a graph
};

/// Compiles texts of kernels for one device and loads them. Machine code that is loaded, saved or in the cache is not
/// compiled again: NVRTC is opened when code is missing. Thread-safe.
class CudaCompiler {
public:
    /// `prelude` begins each program. Without a cache (null) there is a program of NVRTC for each thread that may
    /// compile, which takes less CPU time than one for each text. With a cache each text is a program: other programs
    /// find the code of its kernel there.
    /// `dependent_launches`: kernels that wait for their dependencies are dependent (CudaKernel::is_dependent).
    CudaCompiler(std::shared_ptr<CudaDevice> device, std::shared_ptr<Nvrtc> nvrtc, std::string prelude,
                 std::shared_ptr<KernelCache> cache = nullptr, bool dependent_launches = false);

    /// As Backend::compile.
    std::vector<std::shared_ptr<const void>> compile(std::span<const DeviceCode* const> texts,
                                                     const CompileRequest& request);

private:
    struct KeyedText {
        const DeviceCode* code;
        std::string key;  ///< of KernelBinary
    };
    using Texts = std::span<const KeyedText>;
    using Modules = std::map<std::string, std::shared_ptr<const CudaModule>>;  // by key

    std::string key_of(const DeviceCode& code) const;
    /// The texts, each once, that no loaded module has; the modules of the others are added to `modules`.
    std::vector<KeyedText> missing(Texts texts, Modules& modules);
    /// Loads a binary that was compiled before, and removes its texts from `missing`. None are removed if the driver
    /// refuses the binary, or if it lacks the function of a text.
    void load_kept(const std::shared_ptr<const KernelBinary>& binary, std::vector<KeyedText>& missing,
                   Modules& modules);
    /// The same for all that the cache has.
    void load_cached(std::vector<KeyedText>& missing, Modules& modules);
    /// Opens NVRTC. If that is not possible, the error says what the saved binaries were compiled for.
    void open_nvrtc_for(Texts texts, KernelBinaries saved);
    /// Cuts distinct texts into programs for this number of threads: no program has two texts of one entry. The texts
    /// must be in the order of their entries.
    std::vector<std::vector<KeyedText>> programs_of(Texts texts, int threads) const;
    /// What the texts of one program were compiled to, or why not.
    struct CompiledProgram {
        std::vector<std::shared_ptr<const KernelBinary>> binaries;
        const KeyedText* last = nullptr;  ///< the first text of the part that was compiled last
        std::exception_ptr fault;
        std::size_t failed = 0;  ///< with a fault: number of that text among those of all programs
    };
    /// Compiles distinct texts, loads what they are compiled to and adds it to `modules`.
    void compile_missing(Texts texts, const CompileRequest& request, Modules& modules);
    /// Compiles distinct texts in one program, or in parts if that fails. Called by several threads at once.
    void compile_program(Texts texts, const std::stop_token& stop, CompiledProgram& compiled) const;
    /// Loads a binary that has just been compiled.
    void load_compiled(const std::shared_ptr<const KernelBinary>& binary, Modules& modules);
    std::shared_ptr<const CudaKernel> kernel(const DeviceCode& code, std::shared_ptr<const CudaModule> module);

    std::shared_ptr<CudaDevice> device_;
    std::shared_ptr<Nvrtc> nvrtc_;
    std::string prelude_;
    std::shared_ptr<KernelCache> cache_;
    bool dependent_launches_;
    const std::vector<std::string> options_{"--std=c++17"};
    std::string architecture_;
    std::string common_;  // to all keys: options and prelude
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<const CudaModule>> loaded_;  // by key
};

}  // namespace cairn::device::cuda
