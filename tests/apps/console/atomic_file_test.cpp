#include "apps/console/atomic_file.hpp"

#include "apps/console/text_file.hpp"
#include "cairn/error.hpp"
#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <iterator>

namespace cairn::console {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
protected:
    std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(temp.path()), fs::directory_iterator());
    }
    std::string refusal(const std::string& path, bool may_replace) const {
        try {
            const AtomicFile file(path, may_replace);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::file);
            return error.what();
        }
        return "";
    }
    test::TempFolder temp;
    std::string path = (temp / "f").string();
};

TEST_F(AtomicFileTest, AppearComplete) {
    AtomicFile file(path, false);
    write_text(file.temporary_path().string(), "all of it");
    EXPECT_FALSE(fs::exists(path));
    file.commit();
    EXPECT_EQ(test::read_file(path), "all of it");
    EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, WithoutCommitLeaveNothing) {
    temp.write("f", "before");
    { const AtomicFile file(path, true); }
    EXPECT_EQ(test::read_file(path), "before");
    EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFileTest, ReplaceOnlyPermittedFiles) {
    temp.write("f", "before");
    EXPECT_THAT(refusal(path, false), testing::HasSubstr("is there already: --force"));
    EXPECT_EQ(test::read_file(path), "before");
    AtomicFile(path, true).commit();
    EXPECT_EQ(test::read_file(path), "");
    EXPECT_THAT(refusal(temp.path().string(), true), testing::HasSubstr("directory"));
    EXPECT_THAT(refusal("/dev/null", true), testing::HasSubstr("not a regular file"));
    EXPECT_THAT(refusal((temp / "no/f").string(), true), testing::HasSubstr("No such file"));
    EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace cairn::console
