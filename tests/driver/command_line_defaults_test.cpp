#include "cairn/context.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace cairn::test {
namespace {

/// Sets an environment variable while it lives; null removes it.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        set(value);
    }
    ~Variable() { set(before_ ? before_->c_str() : nullptr); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    void set(const char* value) const { value == nullptr ? unsetenv(name_) : setenv(name_, value, 1); }
    const char* name_;
    std::optional<std::string> before_;
};

TEST(CommandLineDefaults, UseAllUsableCpusAndTheUsersDatabase) {
    const TempFolder temp;
    const std::string cache = (temp / "cache").string(), home = (temp / "home").string();
    const Variable xdg("XDG_CACHE_HOME", cache.c_str()), at_home("HOME", home.c_str());
    EXPECT_EQ(default_timing_db(), std::filesystem::path(cache) / "cairn" / "timings.db");
    EXPECT_EQ(default_kernel_cache(), std::filesystem::path(cache) / "cairn" / "kernels");
    EXPECT_FALSE(std::filesystem::exists(cache)) << "which makes nothing";
    const ContextOptions options = ContextOptions::command_line_defaults();
    EXPECT_EQ(options.threads, usable_cpus());
    EXPECT_EQ(options.timing_db, default_timing_db());
    EXPECT_EQ(options.kernel_cache, default_kernel_cache());
    EXPECT_TRUE(std::filesystem::is_directory(std::filesystem::path(cache) / "cairn" / "kernels"));
    EXPECT_EQ(Context(options).threads(), usable_cpus());
}

TEST(CommandLineDefaults, FallBackToTheHomeFolderAndToNoDatabase) {
    const TempFolder temp;
    const std::string home = (temp / "home").string();
    const Variable xdg("XDG_CACHE_HOME", "");
    {
        const Variable at_home("HOME", home.c_str());
        EXPECT_EQ(default_timing_db(), std::filesystem::path(home) / ".cache" / "cairn" / "timings.db");
    }
    const Variable nowhere("HOME", nullptr);
    EXPECT_TRUE(ContextOptions::command_line_defaults().timing_db.empty());
    EXPECT_TRUE(ContextOptions::command_line_defaults().kernel_cache.empty());
}

TEST(CommandLineDefaults, DoNotApplyToAPlainContext) {
    const TempFolder temp;
    const std::string cache = (temp / "cache").string();
    const Variable xdg("XDG_CACHE_HOME", cache.c_str());
    const Context context;
    EXPECT_EQ(context.threads(), 1);
    EXPECT_FALSE(std::filesystem::exists(cache));
}

}  // namespace
}  // namespace cairn::test
