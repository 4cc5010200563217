#include "device/cuda/cublaslt.hpp"

#include "tests/device/cpu/own_files.hpp"
#include "tests/device/cuda/expect_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace cairn::device::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A folder with libraries that stand for cuBLASLt.
class CublasltLibrary : public OwnFiles {
protected:
    OpenedCublaslt open() const { return open_cublaslt({root_.string(), "/absent"}); }
};

TEST_F(CublasltLibrary, NoFile) {
    EXPECT_EQ(open().cublaslt, nullptr);
    EXPECT_THAT(open().reason, AllOf(StartsWith("cuBLASLt was not found: " + root_.string() + "/libcublasLt.so.13: "),
                                     Not(HasSubstr("/absent"))));
}

TEST_F(CublasltLibrary, AnotherLibrary) {
    std::filesystem::copy_file(CAIRN_FAKE_DRIVER, root_ / "libcublasLt.so.13");
    EXPECT_EQ(open().cublaslt, nullptr);
    EXPECT_EQ(open().reason, "cuBLASLt was not found: " + root_.string() +
                                 "/libcublasLt.so.13 is not cuBLASLt: it lacks the function cublasLtCreate");
}

TEST_F(CublasltLibrary, IsSearchedOnce) {
    Cublaslt cublaslt(LibraryFolders{root_.string(), {}});
    const std::string reason = message_of(ErrorKind::unsupported, [&] { cublaslt.table(); });
    EXPECT_THAT(reason, HasSubstr("cuBLASLt was not found: "));
    std::filesystem::copy_file(CAIRN_FAKE_DRIVER, root_ / "libcublasLt.so.13");
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { cublaslt.table(); }), reason);
}

#if defined(CAIRN_CUBLASLT_FOLDER)
TEST_F(CublasltLibrary, OfTheToolkit) {
    Cublaslt cublaslt(LibraryFolders{CAIRN_CUBLASLT_FOLDER, {}});
    EXPECT_THAT(cublaslt.version(), StartsWith("13."));
    EXPECT_THAT(cublaslt.path(), HasSubstr("libcublasLt.so.13"));
    EXPECT_STREQ(cublaslt.table().status_name(CublasltStatus::not_supported), "CUBLAS_STATUS_NOT_SUPPORTED");
}
#endif

}  // namespace
}  // namespace cairn::device::cuda
