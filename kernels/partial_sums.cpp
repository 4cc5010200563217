#include "kernels/partial_sums.hpp"

namespace cairn::kernels {

void add_partial_sums_layout(std::vector<Layout>& layouts) {
    layouts.push_back({.name = std::string(partial_sums_layout),
                       .bytes =
                           [](const TensorDesc& tensor) {
                               return element_count(tensor.shape) *
                                      Dim(part_count(tensor) * static_cast<std::int64_t>(size_of(tensor.dtype)));
                           },
                       .is_computed = true,
                       .has_parameter = true,
                       .holds_reshapes = true});
}

}  // namespace cairn::kernels
