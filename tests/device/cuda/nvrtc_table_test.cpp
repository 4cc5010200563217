#include "device/cuda/nvrtc_table.hpp"

#include "device/cuda/cuda_backend.hpp"
#include "tests/device/cpu/own_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <string>

namespace cairn::device::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A folder with libraries that stand for NVRTC.
class NvrtcLibrary : public OwnFiles {
protected:
    void copy(const char* library, const std::string& name) const { std::filesystem::copy_file(library, root_ / name); }
    OpenedNvrtc open() const { return open_nvrtc({root_.string(), "/absent"}); }
    bool is_loaded(const std::string& name) const {
        void* const handle = dlopen((root_ / name).c_str(), RTLD_NOW | RTLD_NOLOAD);
        if (handle != nullptr) dlclose(handle);
        return handle != nullptr;
    }
};

TEST_F(NvrtcLibrary, NoFile) {
    const OpenedNvrtc opened = open();
    EXPECT_EQ(opened.nvrtc, nullptr);
    EXPECT_THAT(opened.reason, AllOf(HasSubstr("NVRTC, the compiler of CUDA kernels, cannot be opened: "),
                                     HasSubstr(root_.string() + "/libnvrtc.so.13: "), Not(HasSubstr("/absent"))));
}

TEST_F(NvrtcLibrary, NoLibrary) {
    write("/libnvrtc.so.13", "a text\n");
    EXPECT_EQ(open().nvrtc, nullptr);
    EXPECT_THAT(open().reason, HasSubstr(root_.string() + "/libnvrtc.so.13: "));
}

TEST_F(NvrtcLibrary, AnotherLibrary) {
    copy(CAIRN_FAKE_DRIVER, "libnvrtc.so.13");
    EXPECT_EQ(open().nvrtc, nullptr);
    EXPECT_THAT(open().reason,
                HasSubstr(root_.string() + "/libnvrtc.so.13 is not NVRTC: it lacks the function nvrtcVersion"));
}

TEST_F(NvrtcLibrary, BuiltinsAreMissing) {
    copy(CAIRN_FAKE_NVRTC, "libnvrtc.so.13");
    const OpenedNvrtc opened = open();
    EXPECT_EQ(opened.nvrtc, nullptr);
    EXPECT_THAT(opened.reason, HasSubstr(root_.string() +
                                         "/libnvrtc.so.13 cannot compile without its library of built-in functions: " +
                                         root_.string() + "/libnvrtc-builtins.so.13.777: "));
}

TEST_F(NvrtcLibrary, BuiltinsBesideIt) {
    copy(CAIRN_FAKE_NVRTC, "libnvrtc.so.13");
    copy(CAIRN_FAKE_DRIVER, "libnvrtc-builtins.so.13.777");  // any library will do
    const OpenedNvrtc opened = open();
    ASSERT_NE(opened.nvrtc, nullptr) << opened.reason;
    EXPECT_EQ(opened.reason, "");
    int major = 0, minor = 0;
    EXPECT_EQ(opened.nvrtc->version(&major, &minor), NvrtcResult::success);
    EXPECT_EQ(major, 13);
    EXPECT_EQ(minor, 777);
    for (const char* name : {"libnvrtc.so.13", "libnvrtc-builtins.so.13.777"}) EXPECT_TRUE(is_loaded(name)) << name;
    EXPECT_STREQ(opened.nvrtc->error_name(NvrtcResult::compilation), "NVRTC_ERROR_OF_THE_FAKE");
#define CAIRN_CUDA_EXPECT(symbol, member, parameters) EXPECT_NE(opened.nvrtc->member, nullptr) << #symbol;
    CAIRN_CUDA_NVRTC_FUNCTIONS(CAIRN_CUDA_EXPECT)
#undef CAIRN_CUDA_EXPECT
}

// A program that is loaded with its machine code runs without NVRTC.
TEST_F(NvrtcLibrary, IsOpenedForWhatTimesDependOnAndNotWithTheDevice) {
    copy(CAIRN_FAKE_NVRTC, "libnvrtc.so.13");
    copy(CAIRN_FAKE_DRIVER, "libnvrtc-builtins.so.13.777");
    CudaOptions options;
    options.driver = CAIRN_FAKE_DRIVER;
    options.folders = {root_.string(), "/absent"};
    const OpenedDevice device = open_device(0, options);
    EXPECT_EQ(device.rates.name, "");
    EXPECT_FALSE(is_loaded("libnvrtc.so.13"));
    EXPECT_THAT(device.backend->fingerprint({}), HasSubstr("| NVRTC 13.777 |"));
    EXPECT_TRUE(is_loaded("libnvrtc.so.13"));
}

}  // namespace
}  // namespace cairn::device::cuda
