#pragma once

#include "cairn/kernels.hpp"
#include "selection/cost/cost.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace cairn::selection {

/// Products with given times for their weight as stored and packed; product r has r + 1 rows.
class PackedProductFixture : public testing::Test {
protected:
    struct Seconds {
        double stored, packed;
    };

    PackedProductFixture() {
        costs.machine = nominal_machine(levels::baseline, 1);
        flops = costs.machine.flops;
        for (Kernel& kernel : kernels.kernels)
            if (kernel.definition == "matmul")
                kernel.cost = kernel.packed_inputs.empty() ? cost_of_form<false> : cost_of_form<true>;
    }

    KernelSet kernels = cpu_kernels();
    CostModel costs;
    inline static std::vector<Seconds> seconds_of;  // by product

private:
    template <bool packed>
    static Cost cost_of_form(const Problem& problem) {
        const Seconds& seconds = seconds_of.at(static_cast<std::size_t>(problem.inputs[0].shape[0].constant() - 1));
        return {(packed ? seconds.packed : seconds.stored) * flops, 0, 1};
    }

    inline static double flops = 0;
};

}  // namespace cairn::selection
