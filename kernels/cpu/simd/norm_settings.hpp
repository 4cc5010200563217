#pragma once

/// What the prepare functions of the normalisations hand to their run functions.
namespace cairn::inline v0::kernels::cpu {

struct NormSettings {
    float eps;
};

}  // namespace cairn::inline v0::kernels::cpu
