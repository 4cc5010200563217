#include "tests/emulated_cuda/emulated_module.hpp"

#include "tests/emulated_cuda/cluster.hpp"
#include "tests/emulated_cuda/kernel_text.hpp"
#include "tests/emulated_cuda/shared_object.hpp"

#include <fmt/format.h>

#include <numeric>

namespace cairn::emulated_cuda {

namespace {

std::string command(const CompileSettings& settings) {
    // Hidden symbols are those of this shared object alone, in whatever program it is loaded.
    // Contraction of products and sums would depend on the CPU. Kernels access memory through pointers to other types.
    std::string text = settings.compiler +
                       " -std=c++20 -O1 -g1 -w -fPIC -fno-exceptions -fno-strict-aliasing"
                       " -ffp-contract=off -fvisibility=hidden -I" +
                       settings.source_folder;
    if (settings.checks_accesses) text += " -fsanitize=thread,alignment,bounds -DCAIRN_CHECKED_ACCESSES=1";
    return text;
}

std::string source(std::span<const std::string> texts) {
    std::string result =
        "#include \"tests/emulated_cuda/device/instructions.hpp\"\n"
        "#include \"tests/emulated_cuda/device/entries.hpp\"\n"
        "#if defined(CAIRN_CHECKED_ACCESSES)\n"
        "#include \"tests/emulated_cuda/device/access_hooks.hpp\"\n"
        "#include \"tests/emulated_cuda/device/ubsan_hooks.hpp\"\n"
        "#endif\n";
    for (std::size_t i = 0; i < texts.size(); ++i) {
        HostText text;
        try {
            text = host_text(texts[i]);
        } catch (const std::invalid_argument& error) {
            throw std::runtime_error(fmt::format("kernel text {}, {}", i, error.what()));
        }
        result += fmt::format("namespace text_{0} {{\n#line 1 \"text {0}\"\n{1}\n", i, text.text);
        for (const std::string& entry : text.entries)
            result += fmt::format(
                "extern \"C\" CAIRN_ENTRY void cairn_entry_{0}(void** arguments) {{ "
                "::cairn::emulated_cuda::call(&{0}, arguments); }}\n"
                "extern \"C\" CAIRN_ENTRY unsigned cairn_parameters_{0}() {{ "
                "return ::cairn::emulated_cuda::parameters(&{0}); }}\n",
                entry);
        result += "}\n";
    }
    return result;
}

}  // namespace

struct EmulatedModule::Object {
    SharedObject code;
};

EmulatedModule::EmulatedModule(std::unique_ptr<Object> object) : object_(std::move(object)) {}
EmulatedModule::EmulatedModule(EmulatedModule&&) noexcept = default;
EmulatedModule& EmulatedModule::operator=(EmulatedModule&&) noexcept = default;
EmulatedModule::~EmulatedModule() = default;

EmulatedModule EmulatedModule::compile(std::span<const std::string> texts, const CompileSettings& settings) {
    auto object = std::unique_ptr<Object>(new Object{SharedObject(command(settings), source(texts))});
    auto* calls = static_cast<RuntimeCalls*>(object->code.symbol("cairn_emulator"));
    if (calls == nullptr) throw std::runtime_error("the shared object of kernel texts has no table of calls");
    *calls = Cluster::calls();
    return EmulatedModule(std::move(object));
}

void EmulatedModule::launch(const EmulatedLaunch& launch, GlobalMemory& memory, std::uint64_t seed) const {
    run(launch, &memory, seed);
}

void EmulatedModule::launch(const EmulatedLaunch& launch, std::uint64_t seed) const { run(launch, nullptr, seed); }

void EmulatedModule::run(const EmulatedLaunch& launch, GlobalMemory* memory, std::uint64_t seed) const {
    const auto refuse = [&](const std::string& what) {
        throw std::invalid_argument(fmt::format("launch of '{}': {}", launch.entry, what));
    };
    const auto entry = reinterpret_cast<void (*)(void**)>(object_->code.symbol("cairn_entry_" + launch.entry));
    const auto parameters = reinterpret_cast<unsigned (*)()>(object_->code.symbol("cairn_parameters_" + launch.entry));
    if (entry == nullptr || parameters == nullptr) refuse("there is no such kernel");
    if (parameters() != launch.arguments.size())
        refuse(fmt::format("{} arguments for {} parameters", launch.arguments.size(), parameters()));
    const auto [grid_x, grid_y, grid_z] = launch.grid;
    const auto [block_x, block_y, block_z] = launch.block;
    const std::uint64_t threads = std::uint64_t{block_x} * block_y * block_z;
    if (threads == 0 || threads > 1024 || block_z > 64) refuse(fmt::format("a block of {} threads", threads));
    if (std::uint64_t{grid_x} * grid_y * grid_z == 0) refuse("an empty grid");
    if (launch.cluster == 0 || launch.cluster > 16 || grid_x % launch.cluster != 0)
        refuse(fmt::format("clusters of {} in a grid of {}", launch.cluster, grid_x));
    if (launch.shared_bytes > SharedMemory::largest_total)
        refuse(fmt::format("{} bytes of dynamic shared memory", launch.shared_bytes));

    if (memory != nullptr) memory->begin_launch(launch.is_dependent);
    Random random(seed);
    std::vector<void*> arguments = launch.arguments;
    const LoadedKernel kernel{entry, arguments.data(), object_->code.begin(), object_->code.size()};
    Cluster cluster(kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, launch.cluster, launch.shared_bytes,
                    memory, random);

    std::vector<std::uint32_t> order(std::size_t{grid_x} / launch.cluster * grid_y * grid_z);
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    const std::uint32_t in_x = grid_x / launch.cluster;
    for (const std::uint32_t number : order) {
        const Triple first{number % in_x * launch.cluster, number / in_x % grid_y, number / in_x / grid_y};
        const std::string fault = cluster.run(first, number);
        if (!fault.empty())
            throw KernelFault(fmt::format("kernel '{}', seed {}, {}{}", launch.entry, seed, fault,
                                          object_->code.line(cluster.fault_code())));
    }
}

}  // namespace cairn::emulated_cuda
