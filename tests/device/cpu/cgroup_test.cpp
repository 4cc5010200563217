#include "device/cpu/cgroup.hpp"

#include "tests/device/cpu/own_files.hpp"

namespace cairn::device {
namespace {

class ControlGroups : public OwnFiles {
protected:
    std::vector<std::string> folders(const char* controller) const {
        std::vector<std::string> found;
        for (const ControlGroup& group : control_groups(controller, root_.string()))
            found.push_back(group.folder.substr(root_.string().size()) + (group.unified ? " 2" : " 1"));
        return found;
    }
};

TEST_F(ControlGroups, AreListedBeforeTheirParents) {
    EXPECT_TRUE(folders("cpu").empty());
    unified("/a/b");
    EXPECT_EQ(folders("memory"),
              (std::vector<std::string>{"/sys/fs/cgroup/a/b 2", "/sys/fs/cgroup/a 2", "/sys/fs/cgroup 2"}));
}

TEST_F(ControlGroups, OfTheHierarchyThatHasTheController) {
    write("/proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/y\n");
    write("/proc/self/mountinfo",
          "34 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
          "35 31 0:30 / /cg/memory rw - cgroup cgroup rw,memory\n");
    EXPECT_EQ(folders("cpu"), (std::vector<std::string>{"/cg/cpu/y 1", "/cg/cpu 1"}));
    EXPECT_EQ(folders("memory"), (std::vector<std::string>{"/cg/memory/x 1", "/cg/memory 1"}));
    EXPECT_TRUE(folders("io").empty());
}

}  // namespace
}  // namespace cairn::device
