#include "apps/cli/scratch_folder.hpp"

#include "apps/console/text_file.hpp"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

TEST(ScratchFolders, AreRemovedWithTheirContents) {
    std::filesystem::path path;
    {
        const ScratchFolder one, other;
        EXPECT_NE(one.path(), other.path());
        path = one.path();
        console::write_text((path / "f").string(), "x");
        EXPECT_EQ(std::filesystem::status(path).permissions() &
                      (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
                  std::filesystem::perms::none);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace cairn::cli
