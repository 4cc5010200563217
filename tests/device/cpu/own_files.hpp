#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace cairn::device {

/// A fake root folder with the system files that are read.
class OwnFiles : public ::testing::Test {
protected:
    void SetUp() override {
        const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
        root_ = std::filesystem::path(CAIRN_BINARY_DIR) / "own_files" / test->test_suite_name() / test->name();
        std::filesystem::remove_all(root_);
        std::filesystem::create_directories(root_);
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root_.string() + path).substr(0, (root_.string() + path).rfind('/')));
        std::ofstream(root_.string() + path) << text;
    }

    /// This process's control group of version 2.
    void unified(const std::string& path, const std::string& mount_root = "/") const {
        write("/proc/self/cgroup", "0::" + path + "\n");
        write("/proc/self/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n31 22 0:27 " + mount_root +
                                          " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    }

    std::filesystem::path root_;
};

}  // namespace cairn::device
