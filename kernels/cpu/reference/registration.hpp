#pragma once

#include "cairn/kernel.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The reference kernels: one for every atomic op, for all dtypes, strides, ranks and sizes; written for simplicity,
/// not speed. Each family appends its own.
namespace cairn::kernels::cpu::reference {

void add_elementwise(std::vector<Kernel>& kernels);
void add_reductions(std::vector<Kernel>& kernels);
void add_matmul(std::vector<Kernel>& kernels);
void add_movement(std::vector<Kernel>& kernels);
void add_indexing(std::vector<Kernel>& kernels);
void add_scans(std::vector<Kernel>& kernels);
void add_state_changes(std::vector<Kernel>& kernels);

/// A Kernel `cpu.reference.<definition>@1` with the fields that all reference kernels share.
Kernel reference_kernel(std::string_view definition, Refusal (*accepts)(const Problem& problem),
                        void (*run)(const Args& args, Team& team),
                        std::shared_ptr<const void> (*prepare)(const Problem& problem, int threads),
                        std::vector<std::string> samples);

/// The fraction of peak arithmetic that a reference kernel is expected to reach.
constexpr double efficiency = 0.005;

/// The cost of a scalar loop: `operations` scalar operations and `bytes` read and written at four fifths of the
/// bandwidth that vector code reaches. A vector kernel that accepts the same Problem therefore has the lower estimate.
Cost scalar_cost(double operations, double bytes);
/// Bytes of all elements of a tensor; elements repeated by a stride of 0 count each time.
double size_in_bytes(const TensorDesc& tensor);

}  // namespace cairn::kernels::cpu::reference
