#include "driver/open_devices.hpp"

#include "cairn/cairn.hpp"
#include "tests/errors/message.hpp"

#include <gmock/gmock.h>

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace cairn {
namespace {

using test::message;
using testing::HasSubstr;

ContextOptions with_devices(std::vector<Device> devices) {
    ContextOptions options;
    options.devices = std::move(devices);
    options.cuda_driver = std::filesystem::path(CAIRN_BINARY_DIR) / "no_such_driver.so";
    return options;
}

TEST(OpenDevices, TheCpuNeedsNoLibrary) {
    EXPECT_TRUE(driver::open_devices(with_devices({})).empty());
    EXPECT_TRUE(driver::open_devices(with_devices({Device::cpu, Device::cpu})).empty());
    EXPECT_EQ(Context(with_devices({Device::cpu})).kernels().devices.size(), 0U);
    const Context context;
    Graph g;
    g.output("y", matmul(g.input("a", DType::f32, {2, 3}), g.input("b", DType::f32, {3, 2})));
    (void)compile(g, context);
    for (const char* library : {"libcuda.so.1", "libnvrtc.so.13", "libcublasLt.so.13"})
        EXPECT_EQ(dlopen(library, RTLD_NOW | RTLD_NOLOAD), nullptr) << library;
}

TEST(OpenDevices, ADeviceThatIsNotOpenHasNoFacts) {
    EXPECT_EQ(message([&] { device_info(Context(), Device::cuda()); }),
              "[context] the device cuda is not open in this Context");
    EXPECT_EQ(message([&] { device_info(Context(), Device::cpu); }),
              "[context] the device cpu is not open in this Context");
}

#if defined(CAIRN_WITH_CUDA)
TEST(OpenDevices, WithoutAGpuTheReasonIsTold) {
    const std::filesystem::path folder = CAIRN_BINARY_DIR;
    const FoundDevices none = find_devices(folder / "no_such_driver.so");
    EXPECT_TRUE(none.devices.empty());
    EXPECT_FALSE(none.has_driver);
    EXPECT_THAT(none.reason, HasSubstr("the CUDA driver cannot be opened"));
    EXPECT_THAT(none.reason, HasSubstr("no_such_driver.so"));
}

TEST(OpenDevices, AGpuThatCannotBeUsedIsRefusedInOneSentence) {
    try {
        const Context context(with_devices({Device::cpu, Device::cuda()}));
        FAIL() << "without a driver";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_THAT(error.what(), HasSubstr("the CUDA driver cannot be opened"));
        EXPECT_THAT(error.what(), HasSubstr("no_such_driver.so"));
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
    ContextOptions options = with_devices({Device::cuda()});
    options.cuda_driver = std::filesystem::path(CAIRN_BINARY_DIR) / "text_for_a_driver.so";
    std::ofstream(options.cuda_driver) << "text";
    EXPECT_THAT(message([&] { const Context context(options); }), HasSubstr("text_for_a_driver.so"));
}

#else
TEST(OpenDevices, ALibraryWithoutCudaSaysSo) {
    EXPECT_EQ(message([&] { const Context context(with_devices({Device::cuda()})); }),
              "[context] the device cuda cannot be used: this library was built without CUDA");
    EXPECT_EQ(find_devices().reason, "this library was built without CUDA");
    EXPECT_FALSE(find_devices().has_driver);
}
#endif

TEST(OpenDevices, DevicesAreReadFromAnOption) {
    const std::filesystem::path none = std::filesystem::path(CAIRN_BINARY_DIR) / "no_such_driver.so";
    EXPECT_EQ(devices_from_text("cpu", none), std::vector{Device::cpu});
    EXPECT_EQ(devices_from_text("cuda", none), (std::vector{Device::cpu, Device::cuda()}));
    EXPECT_EQ(devices_from_text("cuda:3", none), (std::vector{Device::cpu, Device::cuda(3)}));
    EXPECT_EQ(devices_from_text("auto", none), std::vector{Device::cpu}) << "without a driver";
    EXPECT_EQ(message([&] { devices_from_text("gpu", none); }),
              "[context] there is no device \"gpu\": it is cpu, cuda, cuda:1 and so on, or auto");
}

}  // namespace
}  // namespace cairn
