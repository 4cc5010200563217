#include "device/cuda/driver_table.hpp"

#include "tests/device/cpu/own_files.hpp"
#include "tests/device/cuda/fake_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <memory>

namespace cairn::device::cuda {
namespace {

using ::testing::HasSubstr;

/// The fake driver, loaded with its answers reset.
class DriverLibrary : public OwnFiles {
protected:
    void SetUp() override {
        OwnFiles::SetUp();
        handle_.reset(dlopen(CAIRN_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL));
        ASSERT_NE(handle_, nullptr) << dlerror();
        fake_ = static_cast<FakeDriver*>(dlsym(handle_.get(), "cairn_fake_driver"));
        ASSERT_NE(fake_, nullptr);
        *fake_ = {0, 0, 13000, 0, 1, 0};
    }

    /// The reason why the fake driver is refused.
    static std::string refusal() {
        const OpenedDriver opened = open_driver(CAIRN_FAKE_DRIVER);
        EXPECT_EQ(opened.driver, nullptr);
        return opened.reason;
    }

    struct Close {
        void operator()(void* handle) const { dlclose(handle); }
    };
    std::unique_ptr<void, Close> handle_;
    FakeDriver* fake_ = nullptr;
};

TEST_F(DriverLibrary, IsOpenedWithAllFunctions) {
    fake_->version = 13010;
    fake_->devices = 3;
    const OpenedDriver opened = open_driver(CAIRN_FAKE_DRIVER);
    ASSERT_NE(opened.driver, nullptr) << opened.reason;
    EXPECT_EQ(opened.reason, "");
    EXPECT_TRUE(opened.is_library);
    EXPECT_EQ(opened.version, 13010);
    EXPECT_EQ(opened.devices, 3);
    EXPECT_EQ(fake_->calls, 1);
#define CAIRN_CUDA_EXPECT(symbol, member, parameters) \
    EXPECT_EQ(reinterpret_cast<void*>(opened.driver->member), dlsym(handle_.get(), #symbol)) << #symbol;
    CAIRN_CUDA_DRIVER_OPENING_FUNCTIONS(CAIRN_CUDA_EXPECT)
    CAIRN_CUDA_DRIVER_FUNCTIONS(CAIRN_CUDA_EXPECT)
#undef CAIRN_CUDA_EXPECT
}

TEST_F(DriverLibrary, StaysLoadedIfItIsUsable) {
    const auto is_loaded = [](const std::string& path) {
        const std::unique_ptr<void, Close> handle(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD));
        return handle != nullptr;
    };
    const std::string usable = root_ / "usable.so", refused = root_ / "refused.so";
    std::filesystem::copy_file(CAIRN_FAKE_DRIVER, usable);
    std::filesystem::copy_file(CAIRN_FAKE_DRIVER_WITHOUT_LAUNCH, refused);
    ASSERT_EQ(open_driver(usable).reason, "");
    EXPECT_TRUE(is_loaded(usable));
    ASSERT_NE(open_driver(refused).reason, "");
    EXPECT_FALSE(is_loaded(refused));
}

TEST_F(DriverLibrary, NoFile) {
    const OpenedDriver absent = open_driver("/absent/libcuda.so.1");
    EXPECT_EQ(absent.driver, nullptr);
    EXPECT_THAT(absent.reason, HasSubstr("the CUDA driver cannot be opened: /absent/libcuda.so.1: "));
    EXPECT_FALSE(absent.is_library);
    EXPECT_EQ(absent.version, 0);
    EXPECT_NE(open_driver("").reason, "");
}

TEST_F(DriverLibrary, NoLibrary) {
    write("/libcuda.so.1", "a text\n");
    const OpenedDriver text = open_driver(root_ / "libcuda.so.1");
    EXPECT_EQ(text.driver, nullptr);
    EXPECT_THAT(text.reason, HasSubstr("the CUDA driver cannot be opened: "));
    EXPECT_THAT(text.reason, HasSubstr("libcuda.so.1"));
}

TEST_F(DriverLibrary, AnotherLibrary) {
    EXPECT_EQ(open_driver(CAIRN_FAKE_NVRTC).reason,
              std::string(CAIRN_FAKE_NVRTC) + " is not a CUDA driver: it lacks the function cuInit");
}

TEST_F(DriverLibrary, Stub) {
    const std::string wanted = " is the stub library of a CUDA toolkit, with which programs are linked, not a driver";
    fake_->init_result = 34;
    EXPECT_EQ(refusal(), CAIRN_FAKE_DRIVER + wanted);
#if defined(CAIRN_CUDA_STUB)
    const std::string path = root_ / "libcuda.so.1";
    std::filesystem::create_symlink(CAIRN_CUDA_STUB, path);
    EXPECT_EQ(open_driver(path).reason, path + wanted);
#endif
}

TEST_F(DriverLibrary, NoDevice) {
    fake_->init_result = 100;
    EXPECT_EQ(refusal(), "the CUDA driver finds no device");
    fake_->init_result = 0;
    fake_->devices = 0;
    EXPECT_EQ(refusal(), "the CUDA driver finds no device");
    fake_->count_result = 999;
    EXPECT_EQ(refusal(),
              "the number of CUDA devices is unknown: cuDeviceGetCount returns CUDA_ERROR_OF_THE_FAKE "
              "(the fake fails)");
}

TEST_F(DriverLibrary, InitialisationFails) {
    fake_->init_result = 803;
    EXPECT_EQ(refusal(),
              "the CUDA driver cannot be initialised: cuInit returns CUDA_ERROR_OF_THE_FAKE (the fake fails)");
    fake_->init_result = 3;
    EXPECT_EQ(refusal(),
              "the CUDA driver cannot be initialised in a child process whose parent had initialised it before fork()");
}

TEST_F(DriverLibrary, TooOld) {
    fake_->version = 12090;
    EXPECT_EQ(refusal(), "the CUDA driver supports CUDA 12.9, but 13.0 or later is needed");
    EXPECT_EQ(open_driver(CAIRN_FAKE_DRIVER).version, 12090);
    EXPECT_TRUE(open_driver(CAIRN_FAKE_DRIVER).is_library) << "a driver is there, though not usable";
    fake_->version_result = 999;
    EXPECT_THAT(refusal(), HasSubstr("cuDriverGetVersion returns CUDA_ERROR_OF_THE_FAKE"));
}

TEST_F(DriverLibrary, AFunctionIsMissing) {
    const OpenedDriver opened = open_driver(CAIRN_FAKE_DRIVER_WITHOUT_LAUNCH);
    EXPECT_EQ(opened.driver, nullptr);
    EXPECT_EQ(opened.reason, std::string("the CUDA driver ") + CAIRN_FAKE_DRIVER_WITHOUT_LAUNCH +
                                 " lacks the function cuLaunchKernelEx");
}

TEST(Describe, ResultsHaveANameOrANumber) {
    DriverTable table;
    EXPECT_EQ(describe(table, Result::unknown), "error 999");
    table.error_name = [](Result result, const char** name) {
        *name = "CUDA_ERROR_UNKNOWN";
        return result == Result::unknown ? Result::success : Result::invalid_value;
    };
    EXPECT_EQ(describe(table, Result::unknown), "CUDA_ERROR_UNKNOWN");
    EXPECT_EQ(describe(table, static_cast<Result>(12345)), "error 12345");
    table.error_text = [](Result, const char** text) {
        *text = "unknown error";
        return Result::success;
    };
    EXPECT_EQ(describe(table, Result::unknown), "CUDA_ERROR_UNKNOWN (unknown error)");
}

/// Opens whatever driver this machine has: the reason is one sentence, or the table is usable.
TEST(InstalledDriver, IsUsableOrRefused) {
    const OpenedDriver opened = open_driver();
    EXPECT_EQ(opened.driver == nullptr, !opened.reason.empty());
    if (opened.driver == nullptr) {
        EXPECT_THAT(opened.reason, HasSubstr("CUDA driver"));
    } else {
        EXPECT_GE(opened.version, required_driver_version);
        EXPECT_GE(opened.devices, 1);
    }
}

}  // namespace
}  // namespace cairn::device::cuda
