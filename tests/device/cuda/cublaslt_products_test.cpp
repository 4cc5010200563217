#include "device/cuda/cublaslt_products.hpp"

#include "device/cuda/cuda_backend.hpp"
#include "tests/device/cuda/cuda_fixture.hpp"
#include "tests/device/cuda/stand_in_cublaslt.hpp"

namespace cairn::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// A device with the stand-in for the library.
class CublasltDevice : public ::testing::Test {
protected:
    CublasltDevice() { open({}); }
    void open(std::shared_ptr<Cublaslt> other) {
        opened = {};
        CudaBackendOptions options;
        options.cublaslt = other != nullptr ? std::move(other) : std::make_shared<Cublaslt>(cublaslt.table());
        opened = open_device(0, driver.table(), nvrtc.nvrtc(), options);
    }
    void TearDown() override {
        opened = {};
        EXPECT_THAT(driver.violations(), IsEmpty());
        EXPECT_THAT(driver.leaks(), IsEmpty());
        EXPECT_THAT(cublaslt.faults(), IsEmpty());
    }

    StandInDriver driver;
    StandInNvrtc nvrtc;
    StandInCublaslt cublaslt{driver};
    OpenedDevice opened;
};

TEST_F(CublasltDevice, TheLibraryIsAskedWhenItIsNeeded) {
    EXPECT_THAT(cublaslt.calls(), IsEmpty());
    EXPECT_EQ(opened.products->refusal(), "");
    EXPECT_EQ(opened.products->refusal(), "");
    EXPECT_THAT(cublaslt.calls(), ElementsAre("cublasLtCreate"));
    EXPECT_EQ(driver.context_depth(), 0U);
    opened = {};
    EXPECT_THAT(cublaslt.calls(), ElementsAre("cublasLtCreate", "cublasLtDestroy"));
}

TEST_F(CublasltDevice, FactsNameTheLibraryOrItsAbsence) {
    DeviceInfo info = opened.backend->info();
    EXPECT_EQ(info.cublaslt, "13.2.7");
    EXPECT_THAT(info.cublaslt_path, HasSubstr("cuda_test")) << "the functions of the stand-in are in the test";
    open(std::make_shared<Cublaslt>(LibraryFolders{"/absent", {}}));
    info = opened.backend->info();
    EXPECT_EQ(info.cublaslt, "");
    EXPECT_THAT(info.cublaslt_path, StartsWith("cuBLASLt was not found: /absent/libcublasLt.so.13: "));
    EXPECT_EQ(cuda_backend(0, driver.table(), nvrtc.nvrtc())->info().cublaslt_path, "");
}

TEST_F(CublasltDevice, ALibraryThatDoesNotSupportTheDeviceIsRefused) {
    cublaslt.fail("cublasLtCreate", 1, CublasltStatus::not_supported);
    const std::string reason =
        "cuBLASLt cannot be used on this device: cublasLtCreate failed with CUBLAS_STATUS_NOT_SUPPORTED";
    EXPECT_EQ(opened.products->refusal(), reason);
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { opened.products->check({}, 16); }), HasSubstr(reason));
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { opened.products->enqueue({}, {}, nullptr); }),
                HasSubstr(reason));
}

TEST_F(CublasltDevice, AProductWithoutAnAlgorithmIsNamedWithItsSizes) {
    cublaslt.propose(1, 0);
    LibraryProduct product;
    product.dtype = DType::bf16;
    product.a = {3, 40, 40, false, 120};
    product.b = {40, 5, 40, true, 200};
    product.out = {3, 5, 5, false, 15};
    product.batches = 2;
    product.has_bias = true;
    EXPECT_NO_THROW(opened.products->check(product, 16));
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { opened.products->check(product, 2); }),
                HasSubstr("bf16 product of 2 times [3,40] and [40,5] transposed with a bias"));
}

}  // namespace
}  // namespace cairn::device::cuda
