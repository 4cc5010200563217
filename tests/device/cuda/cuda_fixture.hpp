#pragma once

#include "device/cuda/cuda_backend.hpp"
#include "tests/device/cuda/expect_error.hpp"
#include "tests/device/cuda/stand_in_driver.hpp"
#include "tests/device/cuda/stand_in_nvrtc.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace cairn::device::cuda {

/// Gives the same arguments to each call.
class SameArguments final : public CallArguments {
public:
    explicit SameArguments(const Args& args) : args_(args) {}
    const Args& next() noexcept override { return args_; }

private:
    const Args& args_;
};

/// Name of a test's parameter that chooses CUDA graphs.
inline std::string mode_name(const ::testing::TestParamInfo<bool>& graphs) {
    return graphs.param ? "AsGraphs" : "OneByOne";
}

/// A backend on the stand-in driver. At its end no rule is broken, nothing is left, and the thread's stack of contexts
/// is what it was.
class CudaTest : public ::testing::Test {
protected:
    explicit CudaTest(bool graphs = true)
        : backend(cuda_backend(0, driver.table(), nvrtc.nvrtc(), {.graphs = graphs})) {}
    void TearDown() override {
        backend.reset();
        EXPECT_THAT(driver.violations(), ::testing::IsEmpty());
        if (!is_lost) { EXPECT_THAT(driver.leaks(), ::testing::IsEmpty()); }
        EXPECT_EQ(driver.context_depth(), 0U);
    }

    /// Memory of the device with these values.
    template <class T>
    std::unique_ptr<Memory> upload(const std::vector<T>& values) {
        auto memory = backend->reserve(values.size() * sizeof(T), MemoryUse::arena);
        memory->write({0, values.size() * sizeof(T), 1, values.size() * sizeof(T)},
                      reinterpret_cast<const std::byte*>(values.data()));
        return memory;
    }
    template <class T>
    static std::vector<T> download(const Memory& memory) {
        std::vector<T> values(memory.capacity() / sizeof(T));
        memory.read({0, memory.capacity(), 1, memory.capacity()}, reinterpret_cast<std::byte*>(values.data()));
        return values;
    }
    std::shared_ptr<const void> compile(const DeviceCode& code) {
        const DeviceCode* const texts[] = {&code};
        return backend->compile(texts).at(0);
    }

    bool is_lost = false;
    StandInDriver driver;
    StandInNvrtc nvrtc;
    std::unique_ptr<Backend> backend;
};

}  // namespace cairn::device::cuda
