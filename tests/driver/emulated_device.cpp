#include "tests/driver/emulated_device.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

namespace cairn::test {
namespace {

using device::cuda::NvrtcResult;

// Functions of a table have no context.
EmulatedDevice* self = nullptr;
void (*compile_text)(const std::string& text) = nullptr;

/// What an NvrtcProgram points to.
struct EmulatedProgram {
    std::string text, log;
};
EmulatedProgram& program_of(device::cuda::NvrtcProgram handle) { return *reinterpret_cast<EmulatedProgram*>(handle); }

constexpr std::string_view begin_of_entry = "extern \"C\" __global__ void ", begin_of_image = "emulated machine code\n";

/// The kernels of a text, each with the number of its parameters that are pointers.
std::vector<std::pair<std::string, std::size_t>> entries_of(std::string_view text) {
    std::vector<std::pair<std::string, std::size_t>> entries;
    for (std::size_t at = text.find(begin_of_entry); at != text.npos; at = text.find(begin_of_entry, at + 1)) {
        // The parameters are the last parentheses before the body; launch bounds may precede the name.
        const std::size_t body = text.find('{', at), open = text.rfind('(', body);
        const std::size_t name = text.find_last_of(" )", open - 1) + 1;
        const std::string_view parameters = text.substr(open, body - open);
        entries.emplace_back(text.substr(name, open - name), std::count(parameters.begin(), parameters.end(), '*'));
    }
    return entries;
}

}  // namespace

std::shared_ptr<const device::cuda::NvrtcTable> EmulatedDevice::nvrtc_table() {
    auto table = std::make_shared<device::cuda::NvrtcTable>();
    table->version = [](int* major, int* minor) {
        *major = 13;
        *minor = 0;
        return NvrtcResult::success;
    };
    table->create = [](device::cuda::NvrtcProgram* handle, const char* text, const char*, int, const char* const*,
                       const char* const*) {
        *handle = reinterpret_cast<device::cuda::NvrtcProgram>(new EmulatedProgram{text, {}});
        return NvrtcResult::success;
    };
    table->compile = [](device::cuda::NvrtcProgram handle, int, const char* const*) {
        try {
            compile_text(program_of(handle).text);
        } catch (const std::exception& error) {
            program_of(handle).log = error.what();
            return NvrtcResult::compilation;
        }
        return NvrtcResult::success;
    };
    table->destroy = [](device::cuda::NvrtcProgram* handle) {
        delete &program_of(*handle);
        return NvrtcResult::success;
    };
    table->log_size = [](device::cuda::NvrtcProgram handle, std::size_t* bytes) {
        *bytes = program_of(handle).log.size() + 1;
        return NvrtcResult::success;
    };
    table->log = [](device::cuda::NvrtcProgram handle, char* log) {
        std::memcpy(log, program_of(handle).log.c_str(), program_of(handle).log.size() + 1);
        return NvrtcResult::success;
    };
    table->cubin_size = [](device::cuda::NvrtcProgram handle, std::size_t* bytes) {
        *bytes = begin_of_image.size() + program_of(handle).text.size() + 1;
        return NvrtcResult::success;
    };
    table->cubin = [](device::cuda::NvrtcProgram handle, char* cubin) {
        const std::string image = std::string(begin_of_image) + program_of(handle).text;
        std::memcpy(cubin, image.c_str(), image.size() + 1);
        return NvrtcResult::success;
    };
    table->error_name = [](NvrtcResult) { return "NVRTC_ERROR"; };
    return table;
}

EmulatedDevice::EmulatedDevice(const EmulatedDeviceOptions& options)
    : options_(options),
      driver_(options.memory_bytes),
      nvrtc_(std::make_shared<device::cuda::Nvrtc>(nvrtc_table())),
      seed_(options.seed) {
    self = this;
    if (options_.has_cublaslt) cublaslt_.emplace(driver_);
    driver_.set_copy_seconds(1e-5, 1 / 2.5e10);
    compile_text = [](const std::string& text) { self->compile(text); };
    driver_.on_module_load([this](const void* image, auto& kernels) { return load(image, kernels); });
}

EmulatedDevice::~EmulatedDevice() { self = nullptr; }

device::cuda::Result EmulatedDevice::load(const void* image, device::cuda::StandInKernels& kernels) {
    std::string_view text = static_cast<const char*>(image);
    if (!text.starts_with(begin_of_image)) return device::cuda::Result::invalid_image;
    text.remove_prefix(begin_of_image.size());
    kernels = compile(std::string(text));
    return device::cuda::Result::success;
}

device::cuda::StandInKernels EmulatedDevice::compile(const std::string& text) {
    const std::scoped_lock lock(compiling_);
    if (const auto known = kernels_.find(text); known != kernels_.end()) return known->second;
    const emulated_cuda::CompileSettings settings{CAIRN_CXX, CAIRN_SOURCE_DIR, options_.checks_accesses};
    auto module = std::make_shared<emulated_cuda::EmulatedModule>(
        emulated_cuda::EmulatedModule::compile(std::span(&text, 1), settings));
    ++compilations_;
    device::cuda::StandInKernels& kernels = kernels_[text];
    for (const auto& [entry, pointers] : entries_of(text)) {
        const auto run = [this, module, entry, pointers](const device::cuda::StandInLaunch& launch) {
            std::vector<void*> values;
            for (std::size_t i = 0; i < pointers; ++i)
                values.push_back(*static_cast<void**>(launch.parameters[i]) == nullptr ? nullptr
                                                                                       : launch.pointer<void>(i));
            unsigned instruction = static_cast<unsigned>(launch.integer(pointers));
            emulated_cuda::EmulatedLaunch emulated;
            emulated.entry = entry;
            emulated.grid = {launch.config.grid_x, launch.config.grid_y, launch.config.grid_z};
            emulated.block = {launch.config.block_x, launch.config.block_y, launch.config.block_z};
            emulated.cluster = launch.cluster;
            emulated.is_dependent = launch.is_dependent;
            emulated.shared_bytes = launch.config.dynamic_shared_bytes;
            for (void*& value : values) emulated.arguments.push_back(&value);
            emulated.arguments.push_back(&instruction);
            ++launches_;
            if (launch.is_dependent) ++dependent_launches_;
            if (options_.checks_accesses)
                module->launch(emulated, global_memory(), seed_++);
            else
                module->launch(emulated, seed_++);
        };
        kernels[entry] = {pointers, run};
    }
    return kernels;
}

emulated_cuda::GlobalMemory& EmulatedDevice::global_memory() {
    const device::cuda::StandInMemory& memory = driver_.memory();
    if (memory_version_ == memory.version()) return global_memory_;
    // Allocations come before the runs that use them, and frees wait for all work: nothing is in flight.
    global_memory_ = {};
    for (const auto& [data, bytes] : memory.ranges())
        global_memory_.add(std::string("allocation of ") + std::to_string(bytes) + " bytes", data, bytes);
    memory_version_ = memory.version();
    return global_memory_;
}

std::vector<std::string> EmulatedDevice::faults() const {
    std::vector<std::string> all = driver_.violations();
    for (std::string& leak : driver_.leaks()) all.push_back(std::move(leak));
    if (cublaslt_)
        for (std::string& fault : cublaslt_->faults()) all.push_back(std::move(fault));
    return all;
}

}  // namespace cairn::test
