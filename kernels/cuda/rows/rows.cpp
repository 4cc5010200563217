#include "kernels/cuda/rows/rows.hpp"

#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/partial_sums.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cairn::kernels::cuda {

Kernel cuda_row(std::string_view family, std::string_view definition, std::string_view dtype, Accepts accepts,
                Code code, WorkCost cost, std::vector<std::string> samples) {
    Kernel made;
    made.id = "cuda." + std::string(family) + "." + std::string(definition);
    if (!dtype.empty()) made.id += "." + std::string(dtype);
    made.id += "@1";
    made.definition = definition;
    made.device = Device::cuda();
    made.accepts = accepts;
    made.code = code;
    made.waits_for_dependencies = true;
    made.cost = cost;
    made.samples = std::move(samples);
    return made;
}

double idle_factor(double blocks) {
    constexpr double multiprocessors = 132;
    return std::max(1.0, multiprocessors / std::max(blocks, 1.0));
}

double steps_of_parts(const TensorDesc& tensor) { return 0.2 * static_cast<double>(part_count(tensor) - 1); }

int register_budget(std::string_view id) {
    struct Budget {
        std::string_view prefix;
        int registers;
    };
    constexpr std::array budgets{Budget{"cuda.elementwise.", 64},
                                 Budget{"cuda.movement.", 48},
                                 Budget{"cuda.joins.", 40},
                                 Budget{"cuda.reduction.", 48},
                                 Budget{"cuda.norm.", 48},
                                 Budget{"cuda.gather.", 48},
                                 Budget{"cuda.product_rows.", 128},
                                 Budget{"cuda.product_tile", 128},
                                 Budget{"cuda.product_bf16x6", 255},
                                 Budget{"cuda.product_f16", 255},
                                 Budget{"cuda.attention_query.", 80},
                                 Budget{"cuda.attention_tile.", 168},
                                 Budget{"cuda.attention_bf16x6.", 255},
                                 Budget{"cuda.attention_f16", 255},
                                 Budget{"cuda.attention_row.", 88},
                                 Budget{"cuda.mlp_row.", 80}};
    for (const Budget& budget : budgets)
        if (id.starts_with(budget.prefix)) return budget.registers;
    return 32;
}

Cost memory_cost(const Problem& problem, double operations) {
    const double elements = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    Cost cost{operations * elements, bytes_of(problem), 0.5};
    cost.steps = 1;
    for (const TensorDesc& input : problem.inputs) cost.steps += steps_of_parts(input);
    return cost;
}

}  // namespace cairn::kernels::cuda
