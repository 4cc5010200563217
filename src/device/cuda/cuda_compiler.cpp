#include "device/cuda/cuda_compiler.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

namespace cairn::device::cuda {
namespace {

// A cluster of more blocks needs to be allowed for each function.
constexpr int max_portable_cluster = 8;

void check(const DeviceCode& code, const DeviceProperties& properties) {
    if (code.block < 1 || code.cluster < 1)
        throw InternalError("cuda", fmt::format("the kernel {} has blocks of {} threads and clusters of {} blocks",
                                                code.entry, code.block, code.cluster));
    if (code.shared_bytes > properties.opt_in_shared_bytes)
        throw Error(ErrorKind::unsupported, "cuda",
                    fmt::format("the kernel {} needs {} bytes of shared memory a block, but {} has {}", code.entry,
                                code.shared_bytes, properties.name, properties.opt_in_shared_bytes));
    if (code.cluster > 1 && properties.major < 9)
        throw Error(ErrorKind::unsupported, "cuda",
                    fmt::format("the kernel {} needs clusters, which {} does not have", code.entry, properties.name));
}

}  // namespace

CudaModule::CudaModule(std::shared_ptr<CudaDevice> device, const void* image) : device_(std::move(device)) {
    device_->calls().call(&DriverTable::module_load, &handle_, image);
}

CudaModule::~CudaModule() {
    release_on(*device_, [&] { device_->calls().release(&DriverTable::module_unload, handle_); });
}

std::vector<std::shared_ptr<const void>> CudaCompiler::compile(Texts texts) {
    device_->calls().throw_if_lost();
    for (const DeviceCode* code : texts) check(*code, device_->properties());
    Modules modules;
    if (const std::vector<const DeviceCode*> rest = missing(texts, modules); !rest.empty()) load(rest, modules);
    std::vector<std::shared_ptr<const void>> kernels;
    const std::scoped_lock lock(mutex_);
    const CurrentContext current(*device_);
    for (const DeviceCode* code : texts) kernels.push_back(kernel(*code, modules.at(code->text)));
    for (const auto& [text, module] : modules) loaded_[text] = module;
    return kernels;
}

std::vector<const DeviceCode*> CudaCompiler::missing(Texts texts, Modules& modules) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(loaded_, [](const auto& entry) { return entry.second.expired(); });
    std::set<std::string_view> seen, entries;
    std::vector<const DeviceCode*> rest;
    for (const DeviceCode* code : texts) {
        if (!seen.insert(code->text).second) continue;
        if (!entries.insert(code->entry).second)
            throw InternalError("cuda", fmt::format("two texts have the entry {}", code->entry));
        const auto found = loaded_.find(code->text);
        std::shared_ptr<const CudaModule> module = found == loaded_.end() ? nullptr : found->second.lock();
        if (module == nullptr)
            rest.push_back(code);
        else
            modules[code->text] = std::move(module);
    }
    return rest;
}

void CudaCompiler::load(Texts texts, Modules& modules) {
    std::string program = prelude_;
    for (const DeviceCode* code : texts) program += fmt::format("#line 1 \"{}\"\n{}\n", code->entry, code->text);
    const std::string name = texts.size() == 1 ? texts[0]->entry : fmt::format("{} kernels", texts.size());
    const std::array<std::string, 1> options = {"--std=c++17"};
    CompiledText compiled;
    try {
        compiled = nvrtc_->compile(program, name, device_->properties().architecture(), options);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported || texts.size() == 1) throw;
        // One of them does not compile: its own error names it. Texts that only fail together, by names that they
        // share, become programs of their own.
        load(texts.first(texts.size() / 2), modules);
        return load(texts.subspan(texts.size() / 2), modules);
    }
    const CurrentContext current(*device_);
    const auto module = std::make_shared<CudaModule>(device_, compiled.cubin.data());
    for (const DeviceCode* code : texts) modules[code->text] = module;
}

std::shared_ptr<const CudaKernel> CudaCompiler::kernel(const DeviceCode& code,
                                                       std::shared_ptr<const CudaModule> module) {
    DriverCalls& calls = device_->calls();
    auto kernel = std::make_shared<CudaKernel>();
    calls.call(&DriverTable::module_function, &kernel->function, module->handle(), code.entry.c_str());
    kernel->module = std::move(module);
    kernel->device = device_.get();
    kernel->block = static_cast<unsigned>(code.block);
    kernel->cluster = static_cast<unsigned>(code.cluster);
    kernel->shared_bytes = static_cast<unsigned>(code.shared_bytes);
    // The limit is of the function, which other codes of this text may use with more bytes: it is never lowered.
    if (code.shared_bytes > device_->properties().shared_bytes) {
        int limit = 0;
        calls.call(&DriverTable::function_attribute, &limit, FunctionAttribute::max_dynamic_shared_bytes,
                   kernel->function);
        if (code.shared_bytes > static_cast<std::size_t>(limit))
            calls.call(&DriverTable::function_set_attribute, kernel->function,
                       FunctionAttribute::max_dynamic_shared_bytes, static_cast<int>(code.shared_bytes));
    }
    if (code.cluster > max_portable_cluster)
        calls.call(&DriverTable::function_set_attribute, kernel->function,
                   FunctionAttribute::non_portable_cluster_size_allowed, 1);
    // Otherwise the first launch would load it, in a run.
    calls.call(&DriverTable::function_load, kernel->function);
    return kernel;
}

}  // namespace cairn::device::cuda
