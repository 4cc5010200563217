#include "apps/console/text_file.hpp"

#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

namespace cairn::console {
namespace {

using testing::StartsWith;

TEST(TextFile, FaultsNameThePath) {
    const test::TempFolder temp;
    EXPECT_THAT(test::message([&] { read_text(temp.path().string()); }), StartsWith("[read] "));
    EXPECT_THAT(test::message([&] { write_text((temp / "no/file").string(), "x"); }), StartsWith("[write] "));
    for (const std::string& wrong : {(temp / "no/file").string(), temp.path().string()})
        EXPECT_THAT(test::message([&] { check_can_write(wrong); }), StartsWith("[write] " + wrong));
    EXPECT_NO_THROW(check_can_write(""));
    EXPECT_NO_THROW(check_can_write((temp / "fresh").string()));
    EXPECT_FALSE(std::filesystem::exists(temp / "fresh"));
}

}  // namespace
}  // namespace cairn::console
