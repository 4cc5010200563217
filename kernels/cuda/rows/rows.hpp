#pragma once

#include "cairn/kernel.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The families of CUDA kernels. Each appends its own rows.
namespace cairn::kernels::cuda {

void add_elementwise(std::vector<Kernel>& kernels);
void add_movement(std::vector<Kernel>& kernels);
void add_joins(std::vector<Kernel>& kernels);
void add_reductions(std::vector<Kernel>& kernels);
void add_norms(std::vector<Kernel>& kernels);
void add_gather(std::vector<Kernel>& kernels);
void add_products(std::vector<Kernel>& kernels);
void add_attention(std::vector<Kernel>& kernels);

/// The functions of a row.
using Accepts = Refusal (*)(const Problem& problem);
using Code = KernelCode (*)(const Problem& problem);
using WorkCost = Cost (*)(const Problem& problem);

/// A row with the fields that all have: id `cuda.<family>.<definition>.<dtype>@1`; without `dtype`, for several dtypes,
/// `cuda.<family>.<definition>@1`.
Kernel cuda_row(std::string_view family, std::string_view definition, std::string_view dtype, Accepts accepts,
                Code code, WorkCost cost, std::vector<std::string> samples);

/// How much longer arithmetic takes with so many blocks than with enough for all multiprocessors.
double idle_factor(double blocks);

/// Registers a thread that the kernels of a row may use, by its id: with fewer blocks at once they would be slower.
int register_budget(std::string_view id);

/// The cost of moving the bytes of all operands, with `operations` an element of the first output.
Cost memory_cost(const Problem& problem, double operations);

}  // namespace cairn::kernels::cuda
