#include "driver/verify_kernels.hpp"

#include "accuracy/kernel_check/check_kernels.hpp"
#include "accuracy/kernel_check/kernel_error.hpp"
#include "device/context_impl.hpp"
#include "program/plan_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cairn::driver {
namespace {

constexpr int max_points = 4;

/// Effort of a comparison on a Problem: operations of the reference, and elements in memory.
struct Effort {
    double steps = 0, elements = 0;
    bool is_within(const Effort& limit) const { return steps <= limit.steps && elements <= limit.elements; }
};
constexpr Effort usual{1e8, 1 << 20};  // about one second, 100 MB
constexpr Effort most{2e10, 1 << 26};  // minutes, 3 GB

Effort effort_on(const Problem& sized, std::span<const Definition> definitions) {
    Effort effort{kernel_check::reference_operation_count(sized, definitions), 0};
    for (const auto* operands : {&sized.inputs, &sized.outputs})
        for (const TensorDesc& tensor : *operands)
            effort.elements += static_cast<double>(element_count(tensor.shape).constant());
    return effort;
}

using Point = std::vector<std::int64_t>;

/// Values of symbols at which a Problem is checked: the program's sample points, with sizes halved while the comparison
/// would take long. Points that give the same Problem are dropped. None if even the smallest sizes take too long.
std::vector<Point> points_for(const Problem& problem, const program::Program& program,
                              std::span<const Definition> definitions) {
    const std::vector<Symbols::Symbol> symbols = program.symbols->list();
    std::vector<Point> points;
    std::vector<Problem> seen;
    for (Point point : program::sample_points(program, max_points)) {
        Problem sized = at_sizes(problem, point);
        Effort effort = effort_on(sized, definitions);
        while (!effort.is_within(usual) && kernel_check::halve(point, symbols)) {
            sized = at_sizes(problem, point);
            effort = effort_on(sized, definitions);
        }
        if (!effort.is_within(most) || std::find(seen.begin(), seen.end(), sized) != seen.end()) continue;
        points.push_back(std::move(point));
        seen.push_back(std::move(sized));
    }
    return points;
}

class Verification {
public:
    Verification(const Context& context, const std::stop_token& stop)
        : impl_(*context.impl()), definitions_(context.kernels().definitions), stop_(stop) {}

    void add(const program::Program& program) {
        for (const auto* section : {&program.bind, &program.run})
            for (const program::Instruction& instruction : *section)
                if (impl_.is_extra(instruction.kernel)) add(instruction, program);
    }

    void run() const {
        for (const auto& [id, calls] : calls_) {
            // The program has a fixed number of threads: results may depend on the number that a kernel is prepared
            // for.
            const Kernel& own = *impl_.find(id);
            CheckOptions options;
            options.same_for_any_team = false;
            options.stop = stop_;
            const kernel_check::KernelToCheck kernel{own, options, kernel_check::backend_of(own, impl_),
                                                     &impl_.cpu->host_threads()};
            const KernelReport report = kernel_check::check_calls(kernel, calls, definitions_);
            if (!report.faults.empty())
                throw Error(ErrorKind::argument, "verify",
                            "a kernel differs from its definition: " + report.faults.front());
            if (!report.not_checked.empty()) log_unchecked(id, report.not_checked);
        }
    }

private:
    void add(const program::Instruction& instruction, const program::Program& program) {
        const Kernel& kernel = *impl_.find(instruction.kernel);
        const Problem& problem = *instruction.problem;
        std::vector<kernel_check::ProblemCall>& calls = calls_[instruction.kernel];
        if (std::any_of(calls.begin(), calls.end(), [&](const auto& call) { return call.problem == problem; })) return;
        if (!kernel_check::is_comparable(problem))
            return log_unchecked(kernel.id, "a packed form is not known, on " + to_string(problem));
        try {
            std::vector<Point> points = points_for(problem, program, definitions_);
            if (points.empty()) return log_unchecked(kernel.id, "that would take minutes, on " + to_string(problem));
            calls.push_back({problem, std::move(points)});
        } catch (const InternalError&) { throw; } catch (const Error& error) {
            log_unchecked(kernel.id, std::string(error.what()) + " on " + to_string(problem));
        }
    }

    void log_unchecked(std::string_view kernel, std::string_view why) const {
        impl_.log(LogLevel::info, fmt::format("verify: {} is not checked: {}", kernel, why));
    }

    const Context::Impl& impl_;
    std::span<const Definition> definitions_;
    std::stop_token stop_;
    std::map<std::string, std::vector<kernel_check::ProblemCall>> calls_;  // by kernel id
};

}  // namespace

void verify_own_kernels(std::span<const runtime::BucketProgram> programs, const Context& context,
                        const std::stop_token& stop) {
    if (context.impl()->options.extra.kernels.empty()) return;
    Verification verification(context, stop);
    for (const runtime::BucketProgram& bucket : programs) {
        verification.add(bucket.program);
        if (bucket.exact) verification.add(*bucket.exact);
    }
    verification.run();
}

}  // namespace cairn::driver
