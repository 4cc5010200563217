#include "kernels/cuda/cuda_kernels.hpp"

#include "kernels/cuda/definitions.hpp"
#include "kernels/cuda/rows/rows.hpp"

namespace cairn::kernels::cuda {

KernelSet cuda_kernels(const DeviceRates& rates, const std::shared_ptr<device::ProductLibrary>& products) {
    KernelSet set;
    set.definitions = cuda_definitions();
    add_elementwise(set.kernels);
    add_movement(set.kernels);
    add_joins(set.kernels);
    add_reductions(set.kernels);
    add_norms(set.kernels);
    add_gather(set.kernels);
    add_products(set.kernels);
    add_product_tensor(set.kernels);
    if (products != nullptr) add_library_products(set.kernels, products);
    add_attention(set.kernels);
    add_attention_tensor(set.kernels);
    add_attention_row(set.kernels);
    add_mlp(set.kernels);
    for (Kernel& kernel : set.kernels) kernel.device = rates.device;
    set.devices = {rates};
    return set;
}

}  // namespace cairn::kernels::cuda
