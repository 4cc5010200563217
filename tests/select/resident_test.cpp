#include "cairn/cairn.hpp"
#include "ir/graph_data.hpp"
#include "select/select.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cairn::select {
namespace {

double flops_of_quick = 0, flops_of_slow = 0;

// Products that read packed panels are the quick ones for many rows, those that read the weight as stored for one row.
template <bool packed>
Cost rival_cost(const Problem& problem) {
    const bool one_row = problem.inputs[0].shape[0] == Dim(1);
    return {packed == one_row ? flops_of_slow : flops_of_quick, 0, 1};
}

class Resident : public testing::Test {
protected:
    Resident() {
        for (Kernel& kernel : kernels_.kernels)
            if (kernel.definition == "matmul")
                kernel.cost = kernel.packed_inputs.empty() ? rival_cost<false> : rival_cost<true>;
        costs_.machine = nominal_machine(Isa::baseline, 1);
    }

    // How the product of `rows` rows with a weight of 1 MiB reads that weight, after what was selected before.
    std::string form_at(int rows, double quick_seconds, double slow_seconds) {
        flops_of_quick = quick_seconds * costs_.machine.flops;
        flops_of_slow = slow_seconds * costs_.machine.flops;
        Graph graph;
        graph.output("y", matmul(graph.input("x", DType::f32, {rows, 512}), graph.weight("w", DType::f32, {512, 512})));
        Candidates candidates(*graph.data(), kernels_, Isa::baseline, costs_, true, resident_);
        const auto tiles = fuse::propose(*graph.data(), kernels_.definitions, {});
        const Selection selection = select(*graph.data(), tiles, candidates, {.find_low = true});
        EXPECT_GT(selection.low, 0);
        EXPECT_LE(selection.low, selection.seconds);
        for (const Choice& choice : selection.chosen)
            if (choice.candidate.problem->definition == "matmul")
                return choice.candidate.kernel->packed_inputs.empty() ? "stored" : "packed";
        return "none";
    }

    KernelSet kernels_ = cpu_kernels();
    CostSource costs_;
    std::set<std::string> resident_;
};

TEST_F(Resident, AProgramAloneTakesTheFormItIsQuickestWith) {
    EXPECT_EQ(form_at(1, 1e-4, 2e-4), "stored");
    resident_.clear();
    EXPECT_EQ(form_at(64, 1e-4, 2e-4), "packed");
}

// 1 MiB is read in about a tenth of a millisecond: a form seen to gain several times that was timed on a busy machine.
TEST_F(Resident, ALaterProgramTakesTheFormThatIsThere) {
    EXPECT_EQ(form_at(64, 1e-4, 2e-4), "packed");
    EXPECT_EQ(form_at(1, 1e-4, 8e-4), "packed");
    resident_.clear();
    EXPECT_EQ(form_at(1, 1e-4, 2e-4), "stored");
    EXPECT_EQ(form_at(64, 1e-4, 8e-4), "stored");
}

TEST_F(Resident, ASecondFormIsMadeWhereTheFirstIsHopeless) {
    EXPECT_EQ(form_at(64, 1e-4, 2e-4), "packed");
    EXPECT_EQ(form_at(1, 1e-4, 1e-1), "stored");
}

}  // namespace
}  // namespace cairn::select
