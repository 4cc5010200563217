#include "bench/busy_process.hpp"

#include "cairn/context.hpp"
#include "cairn/error.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

/// BusyProcess keeps one CPU busy and ends with its parent. It is refused if only one CPU is usable.
namespace bench {
namespace {

using namespace std::chrono_literals;

/// The fields of /proc/PID/stat after the name: 0 is the state, 11 and 12 the CPU time. Empty if there is no such
/// process.
std::vector<std::string> stat_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream rest(text.substr(text.empty() ? 0 : text.rfind(')') + 1));
    std::vector<std::string> fields;
    for (std::string field; rest >> field;) fields.push_back(field);
    return fields;
}

long ticks_of(pid_t pid) {
    const auto fields = stat_of(pid);
    return fields.size() > 12 ? std::stol(fields[11]) + std::stol(fields[12]) : -1;
}

/// True if the process does not exist, or is a zombie that its new parent has not waited for yet.
bool has_ended(pid_t pid) {
    const auto fields = stat_of(pid);
    return fields.empty() || fields[0] == "Z" || fields[0] == "X";
}

template <typename Holds>
bool comes_true(const Holds& holds) {
    for (int i = 0; i < 1000; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

cpu_set_t mask_of(pid_t pid) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    EXPECT_EQ(sched_getaffinity(pid, sizeof mask, &mask), 0);
    return mask;
}

/// Sets the CPU mask of the test, and restores it in the destructor.
struct WithMask {
    cpu_set_t before = mask_of(0);
    explicit WithMask(const cpu_set_t& mask) { EXPECT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0); }
    ~WithMask() { EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0); }
};

bool has_two_cpus() {
    const cpu_set_t mask = mask_of(0);
    return CPU_COUNT(&mask) > 1;
}

void expect_refused() { EXPECT_THROW(BusyProcess(), cairn::Error); }

TEST(BusyProcess, UsesItsCpuWhileItIsAwake) {
    if (!has_two_cpus()) return expect_refused();
    BusyProcess busy;
    const cpu_set_t mask = mask_of(busy.pid());
    EXPECT_EQ(CPU_COUNT(&mask), 1);
    EXPECT_TRUE(CPU_ISSET(busy.cpu(), &mask));
    const long resting = ticks_of(busy.pid());
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(ticks_of(busy.pid()), resting);
    busy.wake();
    EXPECT_TRUE(comes_true([&] { return ticks_of(busy.pid()) > resting + 2; }));
    busy.rest();
    const long again = ticks_of(busy.pid());
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(ticks_of(busy.pid()), again);
}

TEST(BusyProcess, EndsWithTheObject) {
    if (!has_two_cpus()) return expect_refused();
    pid_t pid = -1;
    {
        BusyProcess busy;
        pid = busy.pid();
        busy.wake();
        EXPECT_FALSE(has_ended(pid));
    }
    EXPECT_TRUE(stat_of(pid).empty()) << "not fetched";
}

/// Creates a BusyProcess in a child process and kills that child. Returns the pid of the busy process.
pid_t left_behind(bool awake) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t maker = fork();
    if (maker == 0) {
        BusyProcess busy;
        if (awake) busy.wake();
        const pid_t pid = busy.pid();
        if (write(ends[1], &pid, sizeof pid) != sizeof pid) _exit(1);
        for (;;) pause();
    }
    pid_t pid = -1;
    EXPECT_EQ(read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    kill(maker, SIGKILL);
    waitpid(maker, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

TEST(BusyProcess, EndsWithAKilledParent) {
    if (!has_two_cpus()) return expect_refused();
    for (const bool awake : {false, true}) {
        const pid_t pid = left_behind(awake);
        const bool ended = comes_true([&] { return has_ended(pid); });
        if (!ended) kill(pid, SIGKILL);
        EXPECT_TRUE(ended) << (awake ? "awake" : "at rest");
    }
}

TEST(BusyProcess, IsRefusedOnOneCpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    const WithMask mask(one);
    expect_refused();
}

}  // namespace
}  // namespace bench
