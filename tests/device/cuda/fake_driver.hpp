#pragma once

namespace cairn::device::cuda {

/// What the fake driver returns; exported by it as `cairn_fake_driver`.
struct FakeDriver {
    unsigned init_result;
    unsigned version_result;
    int version;
    unsigned count_result;
    int devices;
    int calls;  ///< of cuInit
};

}  // namespace cairn::device::cuda
