// Compares kernels other than products and attention with their limit. For every Problem of sweep_problems.cpp and for
// one and two threads: the best time, the rate, and the ratio of the time to the limit, which is the larger of a copy
// of as many bytes and the flops at the machine's peak. The copy is timed in the same run, with the number of bytes
// rounded down to a power of two.
//
//     sweep_axes [--json] [--group WORD | --problem TEXT...] [--threads N...] [--above RATIO] [--seconds PER_PROBLEM]
//
// For Problems of --problem, the flops are those of the kernel's cost function.
#include "bench/sweep_problems.hpp"
#include "cairn/tuning.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <bit>
#include <cstdio>
#include <map>

namespace {

/// Bytes of memory that an operand covers; an element that its strides visit repeatedly counts once.
double bytes_of(const cairn::TensorDesc& tensor) {
    double reached = 1, elements = 1;
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        reached += static_cast<double>((tensor.shape[axis].constant() - 1) * tensor.strides[axis].constant());
        elements *= static_cast<double>(tensor.shape[axis].constant());
    }
    return std::min(reached, elements) * static_cast<double>(size_of(tensor.dtype));
}

/// Rates of one Context: the peak of its threads, and copy rates by size, in powers of two bytes.
class MachineRates {
public:
    MachineRates(int threads, double seconds)
        : context_({.threads = threads}), seconds_(seconds), peak_(cairn::calibrate(context_).flops) {}

    /// The first kernel in the list that accepts the problem, as selected without timings; packed inputs excepted.
    const cairn::Kernel* kernel_for(const cairn::Problem& problem) const {
        for (const cairn::Kernel& kernel : context_.kernels().kernels)
            if (kernel.definition == problem.definition && context_.features().includes(kernel.needs) &&
                kernel.packed_inputs.empty() && kernel.accepts(problem).empty())
                return &kernel;
        return nullptr;
    }
    double best_of(const cairn::Problem& problem, const cairn::Kernel& kernel) const {
        const cairn::Timing timing =
            measure(problem, kernel.id, context_, {.blocks = 9, .max_seconds = seconds_, .cold = false});
        return timing.samples > 0 ? timing.min : timing.bound;
    }
    /// Bytes per second, reads and writes together, of a copy that reads and writes `bytes` in total.
    double copy_rate(double bytes) {
        const auto power = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
        const auto [known, is_new] = copies_.try_emplace(power, 0);
        if (is_new) {
            const auto half = std::uint64_t{1} << (power - 2);
            const std::string size = "f32[" + std::to_string(half / 4) + "]";
            const auto symbols = cairn::Symbols::create();
            const cairn::Problem copy = cairn::parse_problem("copy | " + size + " -> " + size, *symbols);
            known->second = static_cast<double>(2 * half) / best_of(copy, *kernel_for(copy));
        }
        return known->second;
    }
    int threads() const { return context_.threads(); }
    double peak() const { return peak_; }

private:
    cairn::Context context_;
    double seconds_, peak_;
    std::map<int, double> copies_;
};

struct Line {
    std::string kernel;
    int threads = 1;
    double seconds = 0, bytes = 0, flops = 0, limit = 0;
    double ratio() const { return seconds / limit; }
};

double flops_of(const cairn::bench::SweepProblem& swept, const cairn::Problem& problem, const cairn::Kernel* kernel) {
    if (!swept.flops) return kernel != nullptr && kernel->cost ? kernel->cost(problem).flops : 0;
    const auto& largest = problem.inputs.empty() ? problem.outputs[0] : problem.inputs[0];
    return *swept.flops * static_cast<double>(element_count(largest.shape).constant());
}

Line time_of(const cairn::bench::SweepProblem& swept, const cairn::Problem& problem, MachineRates& machine) {
    Line line{"", machine.threads()};
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const cairn::TensorDesc& tensor : *side) line.bytes += bytes_of(tensor);
    const cairn::Kernel* kernel = machine.kernel_for(problem);
    line.flops = flops_of(swept, problem, kernel);
    line.limit = std::max(line.bytes / machine.copy_rate(line.bytes), line.flops / machine.peak());
    if (kernel == nullptr) return line;
    line.kernel = kernel->id;
    line.seconds = machine.best_of(problem, *kernel);
    return line;
}

void print(const cairn::bench::SweepProblem& swept, const Line& line, bool json) {
    if (json) {
        const nlohmann::json row = {{"group", swept.group},  {"problem", swept.problem},   {"threads", line.threads},
                                    {"kernel", line.kernel}, {"seconds", line.seconds},    {"bytes", line.bytes},
                                    {"flops", line.flops},   {"limit_seconds", line.limit}};
        std::printf("%s\n", row.dump().c_str());
    } else if (line.kernel.empty()) {
        std::printf("%dT       none  %s\n", line.threads, swept.problem.c_str());
    } else {
        const bool by_flops = line.flops > 0;
        std::printf("%dT %9.1f us %7.1f %s %6.2fx  %-36s %s\n", line.threads, 1e6 * line.seconds,
                    (by_flops ? line.flops : line.bytes) / line.seconds / 1e9, by_flops ? "GF/s" : "GB/s", line.ratio(),
                    line.kernel.c_str(), swept.problem.c_str());
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app;
    bool json = false;
    std::string group;
    std::vector<std::string> problems;
    std::vector<int> threads{1, 2};
    double above = 0, seconds = 0.01;
    app.add_flag("--json", json);
    CLI::Option* const grouped = app.add_option("--group", group, "only groups or problems that hold this word");
    app.add_option("--problem", problems, "these instead, as Problems are written")->excludes(grouped);
    app.add_option("--threads", threads);
    app.add_option("--above", above, "only problems whose ratio to the limit is larger");
    app.add_option("--seconds", seconds, "of measuring, a problem");
    CLI11_PARSE(app, argc, argv);
    std::vector<cairn::bench::SweepProblem> all;
    for (const std::string& problem : problems) all.push_back({"given", problem, std::nullopt});
    if (problems.empty()) all = cairn::bench::sweep_problems();
    for (const int count : threads) {
        MachineRates machine(count, seconds);
        for (const cairn::bench::SweepProblem& swept : all) {
            if (swept.group.find(group) == std::string::npos && swept.problem.find(group) == std::string::npos)
                continue;
            const auto symbols = cairn::Symbols::create();
            const Line line = time_of(swept, cairn::parse_problem(swept.problem, *symbols), machine);
            if (line.kernel.empty() || line.ratio() >= above) print(swept, line, json);
        }
    }
}
