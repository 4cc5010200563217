// Boots the object of each level without an operating system, on an emulated processor that has exactly this level, and
// compares the results of its kernels with their twins, which run here.
#include "accuracy/kernel_check/guarded_tensor.hpp"
#include "accuracy/kernel_check/problem_variations.hpp"
#include "accuracy/kernel_check/random_operands.hpp"
#include "cairn/kernels.hpp"
#include "device/cpu/team.hpp"
#include "graph/ir/index_limits.hpp"
#include "tests/kernels/bare/arena.hpp"
#include "tests/kernels/bare/case.hpp"
#include "tests/kernels/emulated_levels.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

/// An object of the library and the processor that runs it. The twin of its level gives the expected results, or the
/// same code on this CPU.
struct Machine {
    const char* level;
    FeatureSet needs;
    const void* table;
    std::size_t functions;  ///< in the table
    std::vector<Kernel> kernels;
    const char* processor;  ///< of Bochs
    friend std::ostream& operator<<(std::ostream& out, const Machine& machine) { return out << machine.processor; }
};

/// The index in the table of the function that a kernel runs.
int function_of(const Machine& machine, const Kernel& kernel) {
    std::vector<kernels::cpu::Run> list(machine.functions);
    std::memcpy(list.data(), machine.table, list.size() * sizeof list[0]);
    for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i] == kernel.run) return static_cast<int>(i);
    throw std::runtime_error(kernel.id + " runs no function of its table");
}

/// Copies `count` elements to the arena; they are never freed.
template <typename T>
T* keep(const T* from, std::size_t count) {
    const bare::InArena inside;
    T* to = static_cast<T*>(operator new(count * sizeof(T)));
    if (count > 0) std::memcpy(static_cast<void*>(to), from, count * sizeof(T));
    return to;
}
template <typename T>
T* keep(const std::vector<T>& list) {
    return keep(list.data(), list.size());
}
TensorArg keep(kernel_check::GuardedTensor& tensor) {
    TensorArg argument = tensor.argument();
    const auto rank = static_cast<std::size_t>(argument.rank);
    argument.data = keep(tensor.data(), tensor.size());
    argument.shape = keep(argument.shape, rank);
    argument.strides = keep(argument.strides, rank);
    return argument;
}

const std::vector<Definition>& definitions() {
    static const KernelSet set = cpu_kernels();
    return set.definitions;
}

std::size_t workspace_of(const Kernel& kernel, const Problem& problem) {
    return kernel.workspace ? static_cast<std::size_t>(kernel.workspace(problem, 1).constant()) : 0;
}

/// An operand such that sums of two elements are exact in f16: Bochs 2.7 rounds ties to f16 away from even, unlike CPUs
/// and twins.
interpreter::Value operand_of(const Problem& problem, std::size_t input, std::mt19937_64& random) {
    const auto limits = ir::index_limits(problem, definitions());
    interpreter::Value value = kernel_check::random_operand(problem.inputs[input], limits[input], input == 0,
                                                            kernel_check::SpecialValues::none, random);
    if (value.dtype == DType::f16)
        for (double& x : value.data) x = std::nearbyint(x * 0x1p8) * 0x1p-8;
    return value;
}

/// A call of the kernel at constant sizes, with all its data in the arena, and the twin's results.
bare::Case case_of(int function, const Kernel& kernel, const Kernel& twin, const Problem& problem,
                   std::mt19937_64& random) {
    std::vector<TensorArg> inputs, got, wanted;
    std::vector<bare::Result> results;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
        kernel_check::GuardedTensor input(problem.inputs[i], 0, 0);
        input.write(operand_of(problem, i, random));
        inputs.push_back(keep(input));
    }
    for (const TensorDesc& desc : problem.outputs) {
        kernel_check::GuardedTensor output(desc, 0xa5, 0);
        got.push_back(keep(output));
        wanted.push_back(keep(output));
        results.push_back({desc.dtype, got.back().data, wanted.back().data,
                           static_cast<std::int64_t>(output.size() / size_of(desc.dtype))});
    }
    std::vector<std::int64_t> dims;
    for (const Attribute& attribute : problem.attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            for (const Dim& dim : *list) dims.push_back(dim.constant());

    std::vector<std::byte> workspace(workspace_of(twin, problem));
    const auto prepared = twin.prepare ? twin.prepare(problem, 1) : nullptr;
    device::SpinBudget no_spin(std::chrono::nanoseconds(0), 1);
    device::TeamState state(1, no_spin);
    state.begin();
    Team team(0, 1, &state);
    twin.run({inputs.data(), wanted.data(), dims.data(), workspace.data(), prepared.get()}, team);

    if (workspace_of(kernel, problem) > bare::workspace_size)
        throw std::runtime_error(kernel.id + " needs much memory");
    const void* prepared_data = nullptr;
    if (kernel.prepare) {
        const bare::InArena inside;
        prepared_data = (new std::shared_ptr<const void>(kernel.prepare(problem, 1)))->get();
    }
    return {function,
            {keep(inputs), keep(got), keep(dims), reinterpret_cast<std::byte*>(bare::workspace_at), prepared_data},
            keep(results),
            static_cast<std::int64_t>(results.size())};
}

double work_of(const Kernel& kernel, const Problem& problem) {
    double elements = 0;
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side) {
            double size = 1;
            for (const Dim& dim : tensor.shape) size *= static_cast<double>(dim.constant());
            elements += size;
        }
    return kernel.cost ? kernel.cost(problem).flops + elements : 10 * elements;
}

/// The kernel's samples at two sizes each, limited to what an emulated processor can run in time.
std::vector<Problem> problems_of(const Kernel& kernel) {
    constexpr double max_work = 1e5;
    std::vector<Problem> problems;
    for (const std::string& sample : kernel.samples) {
        const auto symbols = Symbols::create();
        const std::vector<kernel_check::Variation> variations = kernel_check::variations_of(kernel, sample, symbols);
        std::vector<Problem> fit;
        for (const auto& sizes : variations.at(0).sizes) {
            Problem problem = at_sizes(variations[0].problem, sizes);
            if (work_of(kernel, problem) <= max_work) fit.push_back(std::move(problem));
        }
        for (const std::size_t i : {fit.size() / 2, fit.size() - 1})
            if (i < fit.size() && (i == fit.size() / 2 || i > fit.size() / 2)) problems.push_back(fit[i]);
    }
    return problems;
}

const char* const configuration = R"(config_interface: textconfig
display_library: term
romimage: file=%ROM%, address=0xfffff000
vgaromimage: file=%VGA%
ata0: enabled=true, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path=cases.bin, mode=flat, cylinders=%CYLINDERS%, heads=16, spt=63
ata0-slave: type=disk, path=%IMAGE%, mode=flat, cylinders=8, heads=16, spt=63
cpu: model=%CPU%, count=1, ips=100000000, reset_on_triple_fault=0
memory: guest=256, host=256
com1: enabled=1, mode=file, dev=told.txt
plugin_ctrl: sb16=false, speaker=false, parallel=false, usb_uhci=false, gameport=false
clock: sync=none, time0=local
log: bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
)";

std::string with(std::string text, const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values)
        for (auto at = text.find(name); at != text.npos; at = text.find(name)) text.replace(at, name.size(), value);
    return text;
}

/// Runs Bochs in `folder` for at most a minute; ended by a signal, so that it cannot hang.
void run_bochs(const fs::path& folder) {
    const pid_t child = fork();
    if (child == 0) {
        // Debian's Bochs has its debugger built in, which waits for a command to continue.
        const std::string command = "cd '" + folder.string() +
                                    "' && exec env TERM=vt100 '" CAIRN_BOCHS "' -q -f bochsrc < go > screen.txt 2>&1";
        execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    for (int tenths = 0; tenths < 600; ++tenths) {
        if (waitpid(child, nullptr, WNOHANG) == child) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ADD_FAILURE() << "Bochs ran for a minute and was ended";
}

class Bare : public testing::TestWithParam<Machine> {};

TEST_P(Bare, KernelsEqualTheirEmulations) {
    const Machine& machine = GetParam();
    bare::clear_arena();
    // Eigen's code depends on the CPU's caches: its kernel of the baseline gives the expected results.
    std::vector<Kernel> expected;
    for (const ProductLevel& level : runnable_product_levels())
        if (level.needs == machine.needs && expected.empty()) expected = level.kernels;
    if (expected.empty()) expected = kernels_of(runnable_level(machine.needs));
    std::erase_if(expected, is_of_eigen);
    for (Kernel& kernel : kernels_of(runnable_levels()[0])) expected.push_back(std::move(kernel));

    std::mt19937_64 random(1);
    std::vector<std::string> texts;
    std::vector<bare::Case> cases;
    std::vector<bool> is_run(machine.functions, false);
    for (const Kernel& kernel : machine.kernels) {
        const int function = function_of(machine, kernel);
        const auto without_level = [](std::string id) {
            for (const std::string_view level : {"avx512_vnni", "avx512", "avx2", "baseline"})
                if (const std::size_t at = id.find(level); at != id.npos) id.erase(at, level.size());
            return id;
        };
        const auto twin = std::find_if(expected.begin(), expected.end(), [&](const Kernel& other) {
            return without_level(other.id) == without_level(kernel.id);
        });
        ASSERT_NE(twin, expected.end()) << kernel.id;
        for (const Problem& problem : problems_of(kernel)) {
            cases.push_back(case_of(function, kernel, *twin, problem, random));
            texts.push_back(kernel.id + " on " + to_string(problem));
            is_run[static_cast<std::size_t>(function)] = true;
        }
    }
    for (std::size_t i = 0; i < machine.functions; ++i) EXPECT_TRUE(is_run[i]) << "function " << i << " is not run";

    const bare::Case* const kept = keep(cases);
    constexpr std::size_t cylinder = 16 * 63 * 512;
    const std::size_t cylinders = bare::arena_size() / cylinder + 1;
    const bare::Cases header{static_cast<std::int64_t>(cases.size()), kept,
                             static_cast<std::int64_t>(bare::arena_size())};
    std::memcpy(reinterpret_cast<void*>(bare::cases_at), &header, sizeof header);

    const fs::path folder = fs::path(CAIRN_BINARY_DIR) / "bare" / machine.level;
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(folder / "cases.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(bare::cases_at), static_cast<std::streamsize>(bare::arena_size()));
    // The image reads 64 KB at a time.
    fs::resize_file(folder / "cases.bin", (cylinders + 1) * cylinder);
    std::ofstream(folder / "bochsrc") << with(configuration,
                                              {{"%VGA%", CAIRN_VGABIOS},
                                               {"%ROM%", CAIRN_BARE_FOLDER "/rom.bin"},
                                               {"%IMAGE%", CAIRN_BARE_FOLDER "/" + std::string(machine.level) + ".bin"},
                                               {"%CYLINDERS%", std::to_string(cylinders + 1)},
                                               {"%CPU%", machine.processor}});
    std::ofstream(folder / "go") << "c\n";
    run_bochs(folder);

    std::ifstream report(folder / "told.txt");
    std::string last;
    for (std::string line; std::getline(report, line); last = line) {
        std::istringstream words(line);
        std::string word;
        std::size_t number = 0;
        if (words >> word >> number && word == "case" && number < texts.size())
            ADD_FAILURE() << line << "\n  " << texts[number];
    }
    std::int64_t elements = 0;
    for (const bare::Case& each : cases)
        for (std::int64_t i = 0; i < each.result_count; ++i) elements += each.results[i].count;
    EXPECT_GT(elements, 10000);
    EXPECT_EQ(last, "wrong 0 of " + std::to_string(elements) + " in " + std::to_string(cases.size()) + " cases")
        << "see " << folder;
}

std::vector<Kernel> kernels_of_machine(const char* level, FeatureSet needs, const kernels::cpu::CpuTable& table) {
    return kernels_of(Level{level, needs, &table, false});
}
std::vector<Kernel> kernels_of_machine(const char*, FeatureSet needs, const kernels::cpu::IntegerTable& table) {
    std::vector<Kernel> kernels;
    kernels::cpu::add_panel_byte_linear(kernels, needs, table);
    return kernels;
}

template <typename Table>
Machine machine(const char* level, FeatureSet needs, const Table& table, const char* processor) {
    return {level,    needs, &table, sizeof table / sizeof(kernels::cpu::Run), kernels_of_machine(level, needs, table),
            processor};
}

INSTANTIATE_TEST_SUITE_P(
    Each, Bare,
    testing::Values(machine("baseline", levels::baseline, cairn_table_baseline, "athlon64_clawhammer"),
                    machine("avx2", levels::avx2, cairn_table_avx2, "corei7_haswell_4770"),
                    machine("avx512", levels::avx512, cairn_table_avx512, "corei7_skylake_x"),
                    machine("avx512_vnni", levels::avx512_vnni, cairn_table_avx512_vnni, "corei7_icelake_u")),
    [](const auto& info) { return std::string(info.param.level); });

}  // namespace
}  // namespace cairn::test
