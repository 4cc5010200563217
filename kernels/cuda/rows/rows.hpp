#pragma once

#include "cairn/kernel.hpp"
#include "device/libraries/product_library.hpp"

#include <cstdint>
#include <memory>
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
void add_product_tensor(std::vector<Kernel>& kernels);
void add_library_products(std::vector<Kernel>& kernels, const std::shared_ptr<device::ProductLibrary>& library);
void add_attention(std::vector<Kernel>& kernels);
void add_attention_tensor(std::vector<Kernel>& kernels);
void add_attention_row(std::vector<Kernel>& kernels);
void add_mlp(std::vector<Kernel>& kernels);

/// The functions of a row.
using Accepts = Refusal (*)(const Problem& problem);
using Code = KernelCode (*)(const Problem& problem);
using WorkCost = Cost (*)(const Problem& problem);

/// A row with the fields that all have: id `cuda.<family>.<definition>.<dtype>@1`; without `dtype`, for several dtypes,
/// `cuda.<family>.<definition>@1`.
Kernel cuda_row(std::string_view family, std::string_view definition, std::string_view dtype, Accepts accepts,
                Code code, WorkCost cost, std::vector<std::string> samples);

/// Clusters of 8 blocks that are resident at once with one block per multiprocessor. The blocks of a cluster share a
/// GPC (graphics processing cluster); 15 clusters were measured on an H100 with 132 multiprocessors.
constexpr std::int64_t resident_clusters = 14;

/// Multiprocessors of the device per multiprocessor that a grid of `blocks` blocks keeps busy; at least 1. Arithmetic
/// takes longer by this factor than with a grid that fills the device.
double idle_factor(double blocks);

/// Steps in which a thread sums the parts of an element in partial sums, one after the other.
double steps_of_parts(const TensorDesc& tensor);

/// The most registers per thread that kernels of the row `id` may use; with more, fewer blocks are resident per
/// multiprocessor.
int register_budget(std::string_view id);

/// The cost of moving the bytes of all operands, with `operations` an element of the first output.
Cost memory_cost(const Problem& problem, double operations);

}  // namespace cairn::kernels::cuda
