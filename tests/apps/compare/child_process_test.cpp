#include "apps/compare/child_process.hpp"

#include "apps/compare/stopwatch.hpp"
#include "cairn/error.hpp"
#include "tests/apps/compare/fake_command.hpp"
#include "tests/errors/message.hpp"
#include "tests/examples/run_program.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace cairn::compare {
namespace {

using test::shell_script;
using testing::HasSubstr;

class ChildProcesses : public test::IgnoresSigpipe {
protected:
    std::string refusal(const std::string& script, const std::string& line = "x", double seconds = 20) {
        return test::message([&] {
            ChildProcess process(shell_script(script), {});
            for (int i = 0; i < 3; ++i) process.exchange(line, seconds, {});
        });
    }
};

TEST_F(ChildProcesses, LinesAreAnswered) {
    ChildProcess process({"cat"}, {});
    for (int i = 0; i < 100; ++i) EXPECT_EQ(process.exchange(std::to_string(i), 20, {}), std::to_string(i));
    EXPECT_EQ(process.exchange("", 20, {}), "");
}

TEST_F(ChildProcesses, LongLinesGoBothWaysAtOnce) {
    ChildProcess process({"cat"}, {});  // answers while it reads: neither may wait for the other
    const std::string line(5'000'000, 'a');
    EXPECT_TRUE(process.exchange(line, 60, {}) == line);
    EXPECT_EQ(process.exchange("b", 20, {}), "b");
}

TEST_F(ChildProcesses, ProgramsRunInTheirFolder) {
    const test::TempFolder temp;
    temp.write("named", "inside\n");
    ChildProcess process(shell_script("read x; cat named"), temp.path());
    EXPECT_EQ(process.exchange("", 20, {}), "inside");
}

TEST_F(ChildProcesses, MuchOutputOnStandardErrorBlocksNothing) {
    ChildProcess process(shell_script("while read x; do head -c 300000 /dev/zero | tr '\\0' e >&2; echo $x; done"), {});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(process.exchange("y", 20, {}), "y");
}

TEST_F(ChildProcesses, AProgramThatDoesNotStart) {
    EXPECT_EQ(test::message([] { ChildProcess({"no-such-program"}, {}); }),
              "[command] no-such-program does not start: No such file or directory");
    EXPECT_THAT(test::message([] { ChildProcess({"cat"}, "/no/such/folder"); }), HasSubstr("does not start"));
    EXPECT_THAT(test::message([] { ChildProcess({"/"}, {}); }), HasSubstr("does not start: Permission denied"));
}

TEST_F(ChildProcesses, AProgramThatEnds) {
    EXPECT_EQ(refusal("exit 3"), "[command] it ended with exit code 3 before it answered");
    EXPECT_EQ(refusal("read x; echo 'Traceback' >&2; echo 'no module' >&2; exit 1"),
              "[command] it ended with exit code 1 before it answered: no module");
    EXPECT_EQ(refusal("read x; echo 1; exit 0"), "[command] it ended with exit code 0 before it answered");
    EXPECT_EQ(refusal("read x; kill -9 $$"), "[command] signal 9 ended it before it answered");
}

TEST_F(ChildProcesses, AProgramThatClosesAStream) {
    EXPECT_EQ(refusal("exec <&-; sleep 60", std::string(300'000, 'a')),
              "[command] it closed its standard input before it answered");
    EXPECT_EQ(refusal("read x; exec >&-; sleep 60"), "[command] it closed its standard output before it answered");
}

TEST_F(ChildProcesses, AProgramThatIsLate) {
    const Stopwatch watch;
    EXPECT_EQ(refusal("read x; echo waiting >&2; sleep 60", "x", 0.2),
              "[command] it did not answer within 0.2 s: waiting");
    EXPECT_LT(watch.seconds(), 30) << "it is killed";
}

TEST_F(ChildProcesses, AProgramThatReadsNothing) {
    EXPECT_EQ(refusal("sleep 60", std::string(300'000, 'a'), 0.2), "[command] it did not answer within 0.2 s");
}

TEST_F(ChildProcesses, AStopEndsTheWait) {
    ChildProcess process(shell_script("sleep 60"), {});
    std::stop_source source;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        source.request_stop();
    });
    EXPECT_THROW(process.exchange("x", 60, source.get_token()), Cancelled);
}

TEST_F(ChildProcesses, NothingOfItLivesOn) {
    const test::TempFolder temp;
    const std::string id_file = (temp / "id").string();
    {
        ChildProcess process(shell_script("sleep 600 & echo $! > " + id_file + "; read x; echo 1; wait"), {});
        EXPECT_EQ(process.exchange("x", 20, {}), "1");
    }
    const int id = std::atoi(test::read_file(id_file).c_str());
    ASSERT_GT(id, 1);
    int code = 0;
    for (int i = 0; i < 500 && code == 0; ++i) {  // the system reaps it
        std::ifstream status("/proc/" + std::to_string(id) + "/stat");
        std::string name, state;
        if (!(status >> name >> name >> state) || state == "Z") break;
        code = ::kill(id, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ASSERT_LT(i, 499) << "process " << id << " lives";
    }
}

TEST_F(ChildProcesses, MemoryIsThatOfTheGroup) {
    ChildProcess process(
        {"python3", "-c", "import sys\nx = b'a' * 200_000_000\nfor line in sys.stdin: print(len(x), flush=True)"}, {});
    EXPECT_EQ(process.exchange("x", 60, {}), "200000000");
    const auto peak = process.peak_bytes();
    ASSERT_TRUE(peak);
    EXPECT_GT(*peak, 200e6);
    EXPECT_LT(*peak, 300e6);
}

}  // namespace
}  // namespace cairn::compare
