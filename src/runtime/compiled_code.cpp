#include "runtime/compiled_code.hpp"

#include "device/compiled_kernel.hpp"
#include "graph/types/per_device.hpp"

#include <fmt/format.h>

namespace cairn::runtime {

void CompiledCodes::add(const Kernel& kernel, const std::shared_ptr<const Problem>& problem, const Symbols* symbols) {
    if (kernel.code == nullptr) return;
    if (const auto own = symbols_of(*problem); own != nullptr && own.get() != symbols)
        throw InternalError("program", fmt::format("{} is called with symbols of another program", kernel.id));
    entries_.try_emplace({&kernel, problem.get()}, Entry{problem, {}});
}

void CompiledCodes::compile(const Context::Impl& context, ProgramBinaries* binaries, const std::stop_token& stop) {
    struct OfDevice {
        std::vector<device::DeviceCode> codes;
        std::vector<CompiledCode*> results;
    };
    types::PerDevice<OfDevice> devices;
    for (auto& [call, entry] : entries_) {
        const auto& [kernel, problem] = call;
        KernelCode code = kernel->code(*problem);
        OfDevice& of_device = devices[kernel->device];
        entry.compiled.grid = code.grid;
        of_device.codes.push_back(device::text_of(*kernel, *problem, std::move(code)));
        of_device.results.push_back(&entry.compiled);
    }
    for (auto& [device, of_device] : devices) {
        std::vector<const device::DeviceCode*> texts;
        for (const device::DeviceCode& code : of_device.codes) texts.push_back(&code);
        device::Backend& backend = context.backend(device);
        device::CompileRequest request{.threads = &context.cpu->host_threads(), .stop = stop};
        if (binaries != nullptr) request.saved = binaries->saved();
        const std::vector<std::shared_ptr<const void>> compiled = backend.compile(texts, request);
        for (std::size_t i = 0; i < compiled.size(); ++i) {
            of_device.results[i]->code = compiled[i];
            if (binaries != nullptr) binaries->add(backend.binary(compiled[i].get()));
        }
    }
}

const CompiledCode* CompiledCodes::find(const Kernel& kernel, const Problem& problem) const {
    const auto it = entries_.find({&kernel, &problem});
    return it == entries_.end() ? nullptr : &it->second.compiled;
}

}  // namespace cairn::runtime
