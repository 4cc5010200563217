#include "runtime/kernel_cache_folder.hpp"

#include "cairn/error.hpp"
#include "runtime/kernel_binary_text.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

namespace cairn::runtime {
namespace {

using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string key_of(int kernel) { return std::string(31, '0') + static_cast<char>('a' + kernel); }

/// A binary whose bytes all depend on the kernel and on who wrote it.
device::KernelBinary binary_of(int kernel, int writer = 0) {
    device::KernelBinary binary;
    binary.keys = {key_of(kernel)};
    binary.architecture = "sm_90a";
    binary.device = "a card";
    binary.compiler = "NVRTC 13." + std::to_string(writer);
    binary.image.assign(5000 + 1000 * static_cast<std::size_t>(kernel),
                        static_cast<std::byte>(1 + 16 * writer + kernel));
    return binary;
}

std::string read_whole(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class KernelCacheFolderTest : public testing::Test {
protected:
    KernelCacheFolder cache(const std::filesystem::path& folder) {
        return KernelCacheFolder(folder, [this](LogLevel level, std::string_view line) {
            EXPECT_EQ(level, LogLevel::warning);
            log.emplace_back(line);
        });
    }
    std::filesystem::path file_of(int kernel) const { return folder / (key_of(kernel) + ".code"); }

    const TempFolder folder;
    std::vector<std::string> log;
};

TEST_F(KernelCacheFolderTest, KeepsBinariesForOtherProcesses) {
    KernelCacheFolder first = cache(folder.path());
    EXPECT_EQ(first.find(key_of(0)), nullptr);
    first.store(binary_of(0));
    first.store(binary_of(1));
    KernelCacheFolder second = cache(folder.path());
    ASSERT_NE(second.find(key_of(1)), nullptr);
    EXPECT_EQ(*second.find(key_of(1)), binary_of(1));
    second.store(binary_of(1, 2));
    EXPECT_EQ(*first.find(key_of(1)), binary_of(1, 2)) << "the newest";
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
    EXPECT_THAT(log, IsEmpty());
    // A binary of several kernels has no name there.
    device::KernelBinary several = binary_of(2);
    several.keys.push_back(key_of(3));
    first.store(several);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

TEST_F(KernelCacheFolderTest, ADamagedFileCountsAsMissingAndIsReplaced) {
    KernelCacheFolder files = cache(folder.path());
    files.store(binary_of(0));
    const std::string whole = read_whole(file_of(0));
    std::vector<std::string> wrong = {"", "nonsense", whole + whole, whole + "x", to_string(binary_of(1))};
    for (std::size_t at = 0; at < whole.size(); at += 61) {
        wrong.push_back(whole.substr(0, at));
        wrong.push_back(whole);
        wrong.back()[at] = static_cast<char>(wrong.back()[at] ^ 1);
    }
    for (const std::string& bytes : wrong) {
        std::ofstream(file_of(0), std::ios::binary) << bytes;
        EXPECT_EQ(files.find(key_of(0)), nullptr) << bytes.substr(0, 200);
        files.store(binary_of(0));
        ASSERT_NE(files.find(key_of(0)), nullptr);
        EXPECT_EQ(*files.find(key_of(0)), binary_of(0));
    }
    EXPECT_THAT(log, IsEmpty());
}

TEST_F(KernelCacheFolderTest, AFolderThatCannotBeWrittenIsLoggedOnce) {
    for (const std::filesystem::path& none : {folder / "absent", folder.write("file", "x")}) {
        log.clear();
        KernelCacheFolder files = cache(none);
        for (int kernel = 0; kernel < 3; ++kernel) {
            EXPECT_EQ(files.find(key_of(kernel)), nullptr);
            files.store(binary_of(kernel));
        }
        EXPECT_THAT(
            log, ElementsAre(HasSubstr("compiled kernels are not kept: [kernel cache] cannot write " + none.string())));
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "absent")) << "it is not created";
    KernelCacheFolder(folder / "absent", nullptr).store(binary_of(0));
}

/// A limit of the process while it lives.
class Limit {
public:
    Limit(decltype(RLIMIT_NOFILE) resource, rlim_t value) : resource_(resource) {
        getrlimit(resource_, &before_);
        const rlimit limit = {value, before_.rlim_max};
        setrlimit(resource_, &limit);
    }
    ~Limit() { setrlimit(resource_, &before_); }
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

private:
    decltype(RLIMIT_NOFILE) resource_;
    rlimit before_ = {};
};

// Opening, writing and renaming fail in turn: nothing but the old file is left, and what was there is still found.
TEST_F(KernelCacheFolderTest, AFileThatCannotBeWrittenLeavesTheOldOne) {
    {
        KernelCacheFolder files = cache(folder.path());
        files.store(binary_of(0));
        // The first check of an object of a type takes UndefinedBehaviorSanitizer a file descriptor.
        EXPECT_STREQ(Error(ErrorKind::file, "checked").what(), "checked");
        EXPECT_NE(files.find(key_of(0)), nullptr);
        const Limit no_file(RLIMIT_NOFILE, 0);
        files.store(binary_of(0, 1));
        EXPECT_EQ(files.find(key_of(0)), nullptr) << "it cannot be opened to read either";
    }
    EXPECT_THAT(log, ElementsAre(HasSubstr("compiled kernels are not kept")));
    {
        KernelCacheFolder files = cache(folder.path());
        const auto before = signal(SIGXFSZ, SIG_IGN);
        {
            const Limit short_files(RLIMIT_FSIZE, 1000);
            files.store(binary_of(0, 2));
        }
        signal(SIGXFSZ, before);
        EXPECT_EQ(*files.find(key_of(0)), binary_of(0));
    }
    EXPECT_THAT(log, ElementsAre(HasSubstr("compiled kernels"), HasSubstr("compiled kernels are not kept")));
    {
        KernelCacheFolder files = cache(folder.path());
        std::filesystem::create_directory(file_of(1));
        files.store(binary_of(1));
        EXPECT_EQ(files.find(key_of(1)), nullptr);
    }
    EXPECT_EQ(log.size(), 3U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2)
        << "the file and the folder with its name";
}

/// Finds and stores all kernels in random order. False if a file holds anything but what some writer wrote.
bool use(const std::filesystem::path& folder, int writer, int rounds) {
    KernelCacheFolder files(folder, [](LogLevel, std::string_view) {});
    bool is_right = true;
    for (int round = 0; round < rounds; ++round) {
        const int kernel = (round * 7 + writer) % 5;
        if (const auto found = files.find(key_of(kernel))) {
            const int by = found->compiler.back() - '0';
            is_right = is_right && by >= 1 && by <= 8 && *found == binary_of(kernel, by);
        } else {
            // Once written, a file is there for good.
            is_right = is_right && round < 5;
        }
        files.store(binary_of(kernel, writer));
    }
    return is_right;
}

TEST_F(KernelCacheFolderTest, SeveralProcessesAndThreadsUseAFolderAtOnce) {
    std::vector<pid_t> processes;
    for (int writer = 1; writer <= 4; ++writer) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) _exit(use(folder.path(), writer, 200) ? 0 : 1);
        processes.push_back(child);
    }
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int writer = 5; writer <= 8; ++writer)
        threads.emplace_back([&, writer] { wrong += use(folder.path(), writer, 200) ? 0 : 1; });
    for (std::thread& thread : threads) thread.join();
    for (const pid_t child : processes) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 5)
        << "nothing is left beside them";
}

TEST_F(KernelCacheFolderTest, AKilledWriterLeavesNothingThatIsTakenForCode) {
    for (int round = 0; round < 10; ++round) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            use(folder.path(), 1, 1'000'000);
            _exit(0);
        }
        while (!std::filesystem::exists(file_of(4))) std::this_thread::yield();
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status));
        KernelCacheFolder files = cache(folder.path());
        for (int kernel = 0; kernel < 5; ++kernel) {
            ASSERT_NE(files.find(key_of(kernel)), nullptr) << kernel;
            EXPECT_EQ(*files.find(key_of(kernel)), binary_of(kernel, 1));
        }
        std::filesystem::remove(file_of(4));
    }
    EXPECT_THAT(log, IsEmpty());
}

}  // namespace
}  // namespace cairn::runtime
