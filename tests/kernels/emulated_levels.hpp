#pragma once

#include "kernels/cpu/table.hpp"

#include <string>
#include <vector>

namespace cairn::test {

/// The code of one level that this machine can run.
struct Level {
    std::string name;  ///< `avx512`, or `emulated_avx512` for its twin
    FeatureSet needs;  ///< of the level whose source it is
    const kernels::cpu::CpuTable* table;
    bool is_twin;
};

/// The kernels of a level that has some products alone.
struct ProductLevel {
    std::string name;
    FeatureSet needs;
    std::vector<Kernel> kernels;
    bool is_twin;
};

/// The twins of levels above the baseline, which run anywhere: the levels' sources, each instruction computed by plain
/// arithmetic (kernels/cpu/simd/vector/instructions.hpp). Those that are built: see CAIRN_TWINS in CMakeLists.txt.
std::vector<Level> emulated_levels();
/// The baseline, the twins, and the levels that this machine has.
std::vector<Level> runnable_levels();
/// The twin of a level if it is built, else the level itself. Throws std::runtime_error if this machine has neither.
Level runnable_level(const FeatureSet& needs);

std::vector<ProductLevel> emulated_product_levels();
/// Asks the operating system for tile registers if the CPU has them.
std::vector<ProductLevel> runnable_product_levels();

/// The level's own kernels in order of preference. Kernels of a twin need no features, and Eigen's are excluded from
/// them, since its code does not use our instructions.
std::vector<Kernel> kernels_of(const Level& level);
bool is_of_eigen(const Kernel& kernel);

}  // namespace cairn::test
