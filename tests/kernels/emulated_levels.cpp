#include "tests/kernels/emulated_levels.hpp"

#include "device/cpu/cpu_features.hpp"
#include "device/cpu/tile_permission.hpp"
#include "kernels/cpu/registry.hpp"

#include <stdexcept>

extern const cairn::kernels::cpu::CpuTable cairn_table_emulated_avx2;
extern const cairn::kernels::cpu::CpuTable cairn_table_emulated_avx512;
extern const cairn::kernels::cpu::IntegerTable cairn_table_emulated_avx512_vnni;
extern const cairn::kernels::cpu::Bf16Table cairn_table_emulated_amx_bf16;

// Eigen's code has no twin: the tables are complete, but these entries are never registered.
namespace cairn::kernels::cpu {
namespace emulated_avx2 {
void eigen_matmul(const Args&, Team&) { __builtin_trap(); }
}  // namespace emulated_avx2
namespace emulated_avx512 {
void eigen_matmul(const Args&, Team&) { __builtin_trap(); }
}  // namespace emulated_avx512
}  // namespace cairn::kernels::cpu

namespace cairn::test {

std::vector<Level> emulated_levels() {
    std::vector<Level> list;
#if defined(CAIRN_TWIN_OF_avx2)
    list.push_back({"emulated_avx2", levels::avx2, &cairn_table_emulated_avx2, true});
#endif
#if defined(CAIRN_TWIN_OF_avx512)
    list.push_back({"emulated_avx512", levels::avx512, &cairn_table_emulated_avx512, true});
#endif
    return list;
}

std::vector<Level> runnable_levels() {
    std::vector<Level> list = {{"baseline", levels::baseline, &cairn_table_baseline, false}};
    for (Level& twin : emulated_levels()) list.push_back(std::move(twin));
    [[maybe_unused]] const FeatureSet available = device::detect_features();
#if defined(CAIRN_HAS_avx2)
    if (available.includes(levels::avx2)) list.push_back({"avx2", levels::avx2, &cairn_table_avx2, false});
#endif
#if defined(CAIRN_HAS_avx512)
    if (available.includes(levels::avx512)) list.push_back({"avx512", levels::avx512, &cairn_table_avx512, false});
#endif
    return list;
}

namespace {

template <typename Table, typename Add>
ProductLevel product_level(std::string name, FeatureSet needs, Add add, const Table& table, bool is_twin) {
    ProductLevel level{std::move(name), needs, {}, is_twin};
    add(level.kernels, needs, table);
    for (Kernel& kernel : level.kernels)
        if (is_twin) kernel.needs = levels::baseline;
    return level;
}

}  // namespace

std::vector<ProductLevel> emulated_product_levels() {
    std::vector<ProductLevel> list;
#if defined(CAIRN_TWIN_OF_avx512_vnni)
    list.push_back(product_level("emulated_avx512_vnni", levels::avx512_vnni, kernels::cpu::add_panel_byte_linear,
                                 cairn_table_emulated_avx512_vnni, true));
#endif
#if defined(CAIRN_TWIN_OF_amx_bf16)
    list.push_back(product_level("emulated_amx_bf16", levels::amx_bf16, kernels::cpu::add_panel_bf16_linear,
                                 cairn_table_emulated_amx_bf16, true));
#endif
    return list;
}

std::vector<ProductLevel> runnable_product_levels() {
    std::vector<ProductLevel> list = emulated_product_levels();
    [[maybe_unused]] const FeatureSet available = device::detect_features();
#if defined(CAIRN_HAS_avx512_vnni)
    if (available.includes(levels::avx512_vnni))
        list.push_back(product_level("avx512_vnni", levels::avx512_vnni, kernels::cpu::add_panel_byte_linear,
                                     cairn_table_avx512_vnni, false));
#endif
#if defined(CAIRN_HAS_amx_bf16)
    if (available.includes(levels::amx_bf16) && device::request_tiles().empty())
        list.push_back(product_level("amx_bf16", levels::amx_bf16, kernels::cpu::add_panel_bf16_linear,
                                     cairn_table_amx_bf16, false));
#endif
    return list;
}

Level runnable_level(const FeatureSet& needs) {
    for (const Level& level : runnable_levels())
        if (level.needs == needs) return level;
    throw std::runtime_error("configured on a CPU that has more instructions: configure with -DCAIRN_TWINS=all");
}

bool is_of_eigen(const Kernel& kernel) { return kernel.id.find("eigen") != std::string::npos; }

std::vector<Kernel> kernels_of(const Level& level) {
    std::vector<Kernel> kernels;
    kernels::cpu::add_level(kernels, level.needs, *level.table);
    if (level.is_twin) {
        std::erase_if(kernels, is_of_eigen);
        for (Kernel& kernel : kernels) kernel.needs = levels::baseline;
    }
    return kernels;
}

}  // namespace cairn::test
