#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/mapped_file/mapped_file.hpp"
#include "tests/io/weights/resident_pages.hpp"
#include "tests/io/weights/test_files.hpp"

namespace cairn::files {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Touches each page and returns the sum of their first bytes.
int touched(std::span<const std::byte> bytes) {
    int sum = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 4096) sum += std::to_integer<int>(bytes[at]);
    return sum;
}

// In files mapped with huge pages, which the system uses if it can, small tensors lie between large ones: a model's
// biases. They are read again after the large ones were released.
TEST(MappedFile, PagesNextToReleasedBytesLoadNoHugePages) {
    const test::TempFolder folder;
    constexpr std::size_t huge_pages = 8;
    const auto path = folder.write("weights", std::string(huge_pages * huge_page, '\1'));
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ::fsync(descriptor);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);  // read again, it comes in huge pages
    ::close(descriptor);

    const MappedFile file(path, "test");
    const auto bytes = file.bytes();
    EXPECT_EQ(touched(bytes), static_cast<int>(bytes.size() / 4096));
    EXPECT_GE(test::resident_pages(bytes.data(), bytes.size()), bytes.size() / 4096 / 2);
    for (std::size_t i = 0; i < huge_pages; ++i)
        file.release_pages(bytes.subspan(i * huge_page + 4096, huge_page - 4096));
    for (std::size_t i = 0; i < huge_pages; ++i) EXPECT_EQ(bytes[i * huge_page], std::byte{1});
    EXPECT_LE(test::resident_pages(bytes.data(), bytes.size()), huge_pages * huge_page / 4096 / 16);
    EXPECT_EQ(touched(bytes), static_cast<int>(bytes.size() / 4096)) << "given back, and still there to be read";
}

}  // namespace
}  // namespace cairn::files
