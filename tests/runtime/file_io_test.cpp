#include "runtime/file_io.hpp"

#include "tests/errors/message.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace cairn::runtime {
namespace {

using test::TempFolder;

TEST(FileIo, WritesAndReadsAFile) {
    const TempFolder folder;
    for (const std::string& text : {std::string(), std::string("a\0b", 3), std::string(200'000, 'x')}) {
        write_file(folder / "f", text, "save");
        EXPECT_EQ(read_file(folder / "f", "load", "the file"), text);
    }
    EXPECT_THAT(test::message([&] { write_file(folder / "none" / "f", "x", "save"); }),
                testing::HasSubstr("cannot write"));
    EXPECT_THAT(test::message([&] { write_file(folder.path(), "x", "save"); }), testing::HasSubstr("cannot write"));
    EXPECT_THAT(test::message([&] { read_file(folder.path(), "load", "the file"); }),
                testing::HasSubstr("cannot read the file"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing is left beside it";
}

// Concurrent readers see the whole text of one of the writers.
TEST(FileIo, SeveralThreadsWriteOneFileConcurrently) {
    const TempFolder folder;
    write_file(folder / "f", std::string(100'000, 'a'), "save");
    std::atomic<int> mixed = 0, failed = 0;
    std::vector<std::thread> threads;
    for (const char letter : {'b', 'c', 'd'})
        threads.emplace_back([&, letter] {
            for (int i = 0; i < 20; ++i) {
                try {
                    write_file(folder / "f", std::string(100'000, letter), "save");
                } catch (const Error&) { ++failed; }
                const std::string read = read_file(folder / "f", "load", "the file");
                mixed += read.size() != 100'000 || read.find_first_not_of(read[0]) != read.npos;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(mixed, 0);
    EXPECT_EQ(failed, 0);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing is left beside it";
}

}  // namespace
}  // namespace cairn::runtime
