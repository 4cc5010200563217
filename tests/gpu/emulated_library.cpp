// The CUDA driver, NVRTC and cuBLASLt as one shared library, for programs that open it as libcuda.so.1, libnvrtc.so.13
// and libcublasLt.so.13: the emulated device. Environment variables: CAIRN_EMULATED_BYTES is the size of its memory;
// cuBLASLt supports the device if there is CAIRN_EMULATED_CUBLASLT.
#include "device/cuda/driver_calls.hpp"
#include "tests/driver/emulated_device.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace cairn::device::cuda;
using cairn::test::EmulatedDevice;

struct Libraries {
    EmulatedDevice device;
    std::shared_ptr<const DriverTable> driver = device.driver().table();
    std::shared_ptr<const NvrtcTable> nvrtc = EmulatedDevice::nvrtc_table();
    StandInCublaslt cublaslt{device.driver()};
    bool has_cublaslt = std::getenv("CAIRN_EMULATED_CUBLASLT") != nullptr;
};

/// Never destroyed, as a driver is usable until the process ends.
Libraries& libraries() {
    static auto* const only = [] {
        cairn::test::EmulatedDeviceOptions options;
        if (const char* const bytes = std::getenv("CAIRN_EMULATED_BYTES"))
            options.memory_bytes = std::strtoull(bytes, nullptr, 10);
        return new Libraries{EmulatedDevice(options)};
    }();
    return *only;
}

/// The function of a table, with faults of emulated kernels as results and broken rules on standard error.
template <auto Member>
struct Exported;
template <class... Arguments, Result (*DriverTable::*Member)(Arguments...)>
struct Exported<Member> {
    static Result call(Arguments... arguments) {
        Libraries& all = libraries();
        if ((*all.driver).*Member == nullptr) return Result::not_supported;
        const std::size_t broken = all.device.driver().violations().size();
        try {
            const Result result = ((*all.driver).*Member)(arguments...);
            for (std::size_t i = broken; i < all.device.driver().violations().size(); ++i)
                std::fprintf(stderr, "emulated driver: %s\n", all.device.driver().violations()[i].c_str());
            return result;
        } catch (const std::exception& fault) {
            std::fprintf(stderr, "emulated driver: %s\n", fault.what());
            return Result::launch_failed;
        }
    }
};
template <class... Arguments, NvrtcResult (*NvrtcTable::*Member)(Arguments...)>
struct Exported<Member> {
    static NvrtcResult call(Arguments... arguments) { return ((*libraries().nvrtc).*Member)(arguments...); }
};
template <class... Arguments, CublasltStatus (*CublasltTable::*Member)(Arguments...)>
struct Exported<Member> {
    static CublasltStatus call(Arguments... arguments) {
        Libraries& all = libraries();
        return all.has_cublaslt ? ((*all.cublaslt.table()).*Member)(arguments...) : CublasltStatus::not_supported;
    }
};

}  // namespace

extern "C" {

// dlsym() calls the resolver: the parameters need no names, by which they would be passed on.
#define CAIRN_CUDA_EXPORT(symbol, table, member, result, parameters)     \
    [[gnu::used]] static void* cairn_resolve_##symbol() {                \
        return reinterpret_cast<void*>(&Exported<&table::member>::call); \
    }                                                                    \
    [[gnu::visibility("default"), gnu::ifunc("cairn_resolve_" #symbol)]] result symbol parameters;
#define CAIRN_CUDA_EXPORT_DRIVER(symbol, member, parameters) \
    CAIRN_CUDA_EXPORT(symbol, DriverTable, member, Result, parameters)
#define CAIRN_CUDA_EXPORT_NVRTC(symbol, member, parameters) \
    CAIRN_CUDA_EXPORT(symbol, NvrtcTable, member, NvrtcResult, parameters)
CAIRN_CUDA_DRIVER_OPENING_FUNCTIONS(CAIRN_CUDA_EXPORT_DRIVER)
CAIRN_CUDA_DRIVER_FUNCTIONS(CAIRN_CUDA_EXPORT_DRIVER)
CAIRN_CUDA_NVRTC_FUNCTIONS(CAIRN_CUDA_EXPORT_NVRTC)
#define CAIRN_CUDA_EXPORT_CUBLASLT(symbol, member, parameters) \
    CAIRN_CUDA_EXPORT(symbol, CublasltTable, member, CublasltStatus, parameters)
CAIRN_CUDA_CUBLASLT_FUNCTIONS(CAIRN_CUDA_EXPORT_CUBLASLT)

[[gnu::visibility("default")]] std::size_t cublasLtGetVersion() { return libraries().cublaslt.table()->version(); }
[[gnu::visibility("default")]] const char* cublasLtGetStatusName(CublasltStatus status) {
    return libraries().cublaslt.table()->status_name(status);
}
[[gnu::visibility("default")]] const char* nvrtcGetErrorString(NvrtcResult result) {
    return libraries().nvrtc->error_name(result);
}
}
