#include "cairn/kernels.hpp"
#include "fusion/pattern.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/problem_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace cairn::test {
namespace {

const KernelSet& kernels() {
    static const KernelSet set = cpu_kernels();
    return set;
}

bool is_reference(const Kernel& kernel) { return kernel.id.starts_with("cpu.reference."); }

TEST(KernelRegistry, IdsAreDistinctAndWellFormed) {
    std::set<std::string> ids;
    for (const Kernel& kernel : kernels().kernels) {
        EXPECT_TRUE(ids.insert(kernel.id).second) << kernel.id;
        EXPECT_TRUE(kernel.id.starts_with("cpu.")) << kernel.id;
        const auto at = kernel.id.find('@');
        ASSERT_NE(at, std::string::npos) << kernel.id;
        EXPECT_TRUE(std::all_of(kernel.id.begin() + static_cast<std::ptrdiff_t>(at) + 1, kernel.id.end(), [](char c) {
            return c >= '0' && c <= '9';
        })) << kernel.id;
        EXPECT_NE(kernel.id.find("." + kernel.definition), std::string::npos)
            << kernel.id << " computes " << kernel.definition;
    }
}

TEST(KernelRegistry, HigherLevelsComeFirstAndReferenceLast) {
    bool reference_seen = false;
    std::vector<FeatureSet> seen;
    for (const Kernel& kernel : kernels().kernels) {
        if (seen.empty() || seen.back() != kernel.needs) seen.push_back(kernel.needs);
        for (const FeatureSet& earlier : seen)
            EXPECT_TRUE(earlier == kernel.needs || !kernel.needs.includes(earlier)) << kernel.id;
        EXPECT_TRUE(!reference_seen || is_reference(kernel)) << kernel.id << " comes after a reference kernel";
        reference_seen = reference_seen || is_reference(kernel);
    }
    EXPECT_TRUE(reference_seen);
}

TEST(KernelRegistry, EveryAtomicOpHasAReferenceKernel) {
    for (const ir::OpInfo& op : ir::op_table()) {
        if (op.kind == ir::OpClass::leaf && op.op != ir::Op::iota) continue;
        const bool found = std::any_of(kernels().kernels.begin(), kernels().kernels.end(), [&](const Kernel& kernel) {
            return is_reference(kernel) && kernel.definition == op.name;
        });
        EXPECT_TRUE(found) << op.name;
    }
}

TEST(KernelRegistry, KernelsComputeKnownDefinitionsAndTheirSamplesPrintBack) {
    for (const Kernel& kernel : kernels().kernels) {
        const auto& definitions = kernels().definitions;
        const bool is_known = kernel.definition == "elementwise" || kernel.definition == "fused" ||
                              kernel.definition == "pack" || ir::find_op(kernel.definition).has_value() ||
                              std::any_of(definitions.begin(), definitions.end(),
                                          [&](const Definition& d) { return d.name == kernel.definition; });
        EXPECT_TRUE(is_known) << kernel.id;
        ASSERT_NE(kernel.accepts, nullptr) << kernel.id;
        ASSERT_NE(kernel.run, nullptr) << kernel.id;
        for (const std::string& sample : kernel.samples) {
            const auto symbols = Symbols::create(), again = Symbols::create();
            const Problem problem = parse_problem(sample, *symbols);
            EXPECT_EQ(problem.definition, kernel.definition) << sample;
            EXPECT_EQ(to_string(parse_problem(to_string(problem), *again)), to_string(problem)) << sample;
        }
    }
}

TEST(KernelRegistry, DefinitionsBuildTheirPatterns) {
    std::set<std::string> names;
    for (const Definition& definition : kernels().definitions) {
        EXPECT_TRUE(names.insert(definition.name).second) << definition.name;
        for (const std::string& pattern : definition.patterns)
            for (const std::string& text : fusion::problems_of(pattern)) {
                const auto symbols = Symbols::create();
                Problem problem = parse_problem(text, *symbols);
                EXPECT_EQ(problem.definition, definition.name) << text;
                fusion::put_sentinels(problem);
                const Graph graph = ir::problem_graph(problem, kernels().definitions);
                EXPECT_FALSE(graph.data()->outputs().empty()) << text;
            }
    }
    for (const char* name : {"relu",
                             "sigmoid",
                             "silu",
                             "gelu",
                             "gelu_tanh",
                             "softmax",
                             "log_softmax",
                             "layer_norm",
                             "rms_norm",
                             "linear",
                             "embedding",
                             "attention",
                             "rope",
                             "mean",
                             "variance",
                             "linear_argmax",
                             "linear_low_rank",
                             "linear_swiglu",
                             "linear_geglu",
                             "linear_geglu_tanh",
                             "linear_halves_swiglu",
                             "linear_halves_geglu",
                             "linear_halves_geglu_tanh",
                             "add_layer_norm",
                             "add_rms_norm",
                             "copy"})
        EXPECT_TRUE(names.contains(name)) << name;
}

TEST(KernelRegistry, DefinitionsRefuseTooFewOperands) {
    for (const Definition& definition : kernels().definitions)
        EXPECT_THROW(definition.build({}, {}), Error) << definition.name;
}

/// True if some kernel makes the layout of a bound matrix: one of `pack`, or of a definition.
bool is_made(const std::string& layout) {
    const auto symbols = Symbols::create();
    const Problem pack = parse_problem("pack | f32[64,64] -> f32[64,64]@" + layout, *symbols);
    return std::any_of(kernels().kernels.begin(), kernels().kernels.end(), [&](const Kernel& kernel) {
        if (kernel.definition == "pack") return kernel.accepts(pack).empty();
        return kernel.output_layout && std::any_of(kernel.samples.begin(), kernel.samples.end(), [&](const auto& text) {
                   Problem sample = parse_problem(text, *symbols);
                   if (!sample.inputs[0].bound) return false;
                   const std::string written = kernel.output_layout(sample, 0);
                   return written == layout || written == layout + ".t" || written + ".t" == layout;
               });
    });
}

TEST(KernelRegistry, PackedInputsHaveALayoutAndAKernelThatMakesIt) {
    for (const Kernel& kernel : kernels().kernels)
        for (const LayoutInput& packed : kernel.packed_inputs) {
            const auto& layouts = kernels().layouts;
            EXPECT_TRUE(std::any_of(layouts.begin(), layouts.end(), [&](const Layout& layout) {
                return layout.name == packed.layout;
            })) << kernel.id;
            EXPECT_TRUE(is_made(packed.layout)) << kernel.id;
        }
}

}  // namespace
}  // namespace cairn::test
