#include "cairn/kernels.hpp"
#include "graph/types/isa_levels.hpp"
#include "selection/cost/cost.hpp"
#include "selection/cost/roofline.hpp"
#include "tests/autotune/database/environments.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

/// Checks that estimates of the reference kernels without measurements are above those of all kernels that accept the
/// same Problem.
namespace cairn::selection {
namespace {

bool is_reference(const Kernel& kernel) { return kernel.id.starts_with("cpu.reference."); }

/// The samples of all kernels at several sizes, and large Problems, each once, by definition.
std::map<std::string, std::vector<SizedProblem>> problems_of(const KernelSet& kernels) {
    std::vector<std::string> texts{
        "copy | f32[1,12,495,64]:(1,64,2304,1) -> f32[1,12,495,64]",
        "copy | f32[768,3072]:(1,768) -> f32[768,3072]",
        "copy | f32[1024,1024]:(0,1) -> f32[1024,1024]",
        "copy | u8[1024,1024]:(1,1024) -> u8[1024,1024]",
        "reshape shape=(1,495,768) | f32[1,495,12,64]:(380160,64,31680,1) -> f32[1,495,768]",
        "reshape shape=(589824) | f32[768,768]:(1,768) -> f32[589824]",
        "transpose permutation=(-1,-2) | f32[1000,1000] -> f32[1000,1000]",
        "broadcast shape=(64,3,224,224) | f32[3,1,1] -> f32[64,3,224,224]",
        "slice axis=(-1) start=(1) stop=(1000) step=(3) | f32[1000,1000] -> f32[1000,333]",
        "concat axis=(-2) | f32[64,100,64] f32[64,28,64] -> f32[64,128,64]",
        "pad axis=(-1) before=(1) after=(1) value=0 | f32[64,56,56] -> f32[64,56,58]",
        "sum axes=(-1) | f32[4096,1024] -> f32[4096,1]",
        "argmax axis=(-1) | f32[4096,1024] -> i32[4096,1]",
        "cumsum axis=(-1) | f32[4096,1024] -> f32[4096,1024]",
        "argsort axis=(-1) descending=(0) | f32[64,4096] -> i32[64,4096]",
        "add | f32[1024,1024] f32[1024,1024]:(0,1) -> f32[1024,1024]",
        "matmul | f32[512,512] f32[512,512] -> f32[512,512]",
    };
    for (const Kernel& kernel : kernels.kernels)
        texts.insert(texts.end(), kernel.samples.begin(), kernel.samples.end());
    std::map<std::string, std::vector<SizedProblem>> problems;
    std::set<std::string> known;
    for (const std::string& text : texts) {
        auto symbols = Symbols::create();
        const Problem problem = parse_problem(text, *symbols);
        for (const SizedProblem& sized : sized_problems_at(problem, representative_sizes(*symbols)))
            if (known.insert(sized.text()).second) problems[(*sized).definition].push_back(sized);
    }
    return problems;
}

bool is_empty(const Problem& problem) {
    return std::any_of(problem.outputs.begin(), problem.outputs.end(),
                       [](const TensorDesc& tensor) { return element_count(tensor.shape) == Dim(0); });
}

/// Finds Problems for which a reference kernel without a known time has the lowest estimate.
class Comparison {
public:
    void add(const CostModel& source) {
        for (const Kernel& kernel : kernels_.kernels) {
            const auto known = problems_.find(kernel.definition);
            if (!is_reference(kernel) || known == problems_.end()) continue;
            for (const SizedProblem& problem : known->second)
                if (!is_empty(*problem) && kernel.accepts(*problem).empty()) compare(kernel, problem, source);
        }
    }
    std::string faults;
    int compared = 0;
    double least_seconds = 0;  ///< faster times are not compared

private:
    void compare(const Kernel& reference, const SizedProblem& problem, const CostModel& source) {
        const Kernel* best = nullptr;
        double least = 0;
        for (const Kernel& other : kernels_.kernels) {
            if (other.definition != reference.definition || is_reference(other) ||
                !source.features.includes(other.needs) || !other.accepts(*problem).empty())
                continue;
            const double seconds = estimate(other, problem, source).seconds;
            if (best == nullptr || seconds < least) best = &other, least = seconds;
        }
        if (best == nullptr || least < least_seconds || scaled_prior_seconds(reference, problem, source)) return;
        ++compared;
        const double seconds = estimate(reference, problem, source).seconds;
        if (least < seconds || faults.size() > 4000) return;
        faults += fmt::format("{}: {:.4g} s, {} {:.4g} s\n", problem.text(), seconds, best->id, least);
    }

    const KernelSet kernels_ = cpu_kernels();
    const std::map<std::string, std::vector<SizedProblem>> problems_ = problems_of(kernels_);
};

TEST(ReferenceCosts, ExceedThoseOfAllOtherKernels) {
    Comparison comparison;
    for (const FeatureSet features : {levels::baseline, levels::avx2, levels::avx512})
        for (const int threads : {1, 2, 16}) {
            CostModel source;
            source.features = features;
            source.machine = nominal_machine(features, threads);
            comparison.add(source);
        }
    EXPECT_EQ(comparison.faults, "");
    EXPECT_GT(comparison.compared, 1000);
}

// The overhead of a call dominates the smallest problems; it was measured, and a plain loop may be the fastest for
// them.
TEST(ReferenceCosts, ExceedThoseOfOthersByShippedTimings) {
    const TimingDb timings("", nullptr, {.shipped_timings = {CAIRN_BINARY_DIR "/share/cairn/shipped_timings.db"}});
    Comparison comparison;
    comparison.least_seconds = 2e-7;
    for (const int threads : {1, 2}) {
        CostModel source;
        source.timings = &timings;
        source.environment = {test::environment({.features = "avx2+avx512", .threads = threads}), ""};
        source.policy.threads = threads;
        source.features = levels::avx512;
        source.machine = nominal_machine(source.features, threads);
        source.priors =
            std::make_shared<const Priors>(timings, source.environment, source.policy, cpu_kernels(), source.features);
        ASSERT_FALSE(source.priors->empty());
        comparison.add(source);
    }
    EXPECT_EQ(comparison.faults, "");
    EXPECT_GT(comparison.compared, 200);
}

}  // namespace
}  // namespace cairn::selection
