#include "device/cuda/shared_library.hpp"

#include "tests/device/cpu/own_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

namespace cairn::device::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SharedLibraries : public OwnFiles {};

bool is_loaded(const std::string& path) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (handle != nullptr) dlclose(handle);
    return handle != nullptr;
}

TEST_F(SharedLibraries, ReasonsNameTheFile) {
    EXPECT_THAT(open_library("libcairn-absent.so.9").reason, HasSubstr("libcairn-absent.so.9"));
    EXPECT_THAT(open_library("/absent/libx.so").reason, HasSubstr("/absent/libx.so"));
    write("/text.so", "not a library, but a text that is longer than the header of one would be, line by line\n");
    const OpenedLibrary text = open_library(root_ / "text.so");
    EXPECT_EQ(text.shared_library, nullptr);
    EXPECT_THAT(text.reason, HasSubstr("text.so"));
    EXPECT_EQ(open_library(root_).shared_library, nullptr);
    EXPECT_EQ(open_library("").shared_library, nullptr);
    EXPECT_EQ(open_library("").reason, "the path is empty");
}

TEST_F(SharedLibraries, StaysOpenAsLongAsItIsUsed) {
    std::filesystem::copy_file(CAIRN_FAKE_NVRTC, root_ / "own.so");
    OpenedLibrary own = open_library(root_ / "own.so");
    ASSERT_NE(own.shared_library, nullptr) << own.reason;
    EXPECT_EQ(own.reason, "");
    void* const version = own.shared_library->find("nvrtcVersion");
    ASSERT_NE(version, nullptr);
    EXPECT_EQ(own.shared_library->find("absent"), nullptr);
    EXPECT_EQ(library_of_symbol(version), root_ / "own.so");
    EXPECT_EQ(folder_of_symbol(version), root_.string() + "/");
    EXPECT_TRUE(is_loaded(root_ / "own.so"));
    // Its symbols are not visible to the host program.
    EXPECT_EQ(dlsym(RTLD_DEFAULT, "nvrtcVersion"), nullptr);
    own.shared_library.reset();
    EXPECT_FALSE(is_loaded(root_ / "own.so"));
}

TEST_F(SharedLibraries, CanBeKeptLoaded) {
    std::filesystem::copy_file(CAIRN_FAKE_NVRTC, root_ / "kept.so");
    open_library(root_ / "kept.so").shared_library->keep_loaded();
    EXPECT_TRUE(is_loaded(root_ / "kept.so"));
}

TEST_F(SharedLibraries, SearchOrder) {
    EXPECT_THAT(library_paths("libx.so.1", {}), ElementsAre("libx.so.1"));
    EXPECT_THAT(library_paths("libx.so.1", {"", "/toolkit"}), ElementsAre("libx.so.1", "/toolkit/libx.so.1"));
    EXPECT_THAT(library_paths("libx.so.1", {"/given", "/toolkit"}), ElementsAre("/given/libx.so.1"));
}

TEST(SymbolFolder, IsEmptyIfUnknown) {
    const int local = 0;
    EXPECT_EQ(folder_of_symbol(&local), "");
    EXPECT_EQ(folder_of_symbol(nullptr), "");
    EXPECT_EQ(library_of_symbol(nullptr), "");
}

}  // namespace
}  // namespace cairn::device::cuda
