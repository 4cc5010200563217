#include "tests/device/cuda/cuda_fixture.hpp"
#include "tests/device/in_child.hpp"

#include <functional>
#include <stdexcept>

// ThreadSanitizer does not follow a child of a program with threads.
#if defined(__linux__) && !defined(__SANITIZE_THREAD__)
namespace cairn::device::cuda {
namespace {

std::string text_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) { return error.what(); }
    return "no error";
}

constexpr char reason[] =
    "[cuda] the device cuda:0 was opened before fork(): a child process cannot use the CUDA devices of its parent";

class CudaFork : public CudaTest {
protected:
    CudaFork() {
        driver.add_kernel("k", {3, [](const StandInLaunch&) {}});
        code = compile({"k", "k"});
        launches.resize(2);
        for (KernelLaunch& launch : launches) launch.code = code.get();
        commands = backend->record(launches, {});
    }
    void TearDown() override {
        commands.reset();
        code.reset();
        memory.reset();
        CudaTest::TearDown();
    }
    /// The end of a child: everything is destroyed. The calls of the driver since clear_calls().
    std::string calls_of_the_end() {
        commands.reset();
        code.reset();
        memory.reset();
        backend.reset();
        std::string text;
        for (const std::string& call : driver.calls()) text += call + ' ';
        return text;
    }

    std::shared_ptr<const void> code;
    std::vector<KernelLaunch> launches;
    std::unique_ptr<CommandBuffer> commands;
    std::unique_ptr<Memory> memory = upload(std::vector<int>(1 << 19));  // through the staging buffers
};

TEST_F(CudaFork, AChildIsToldSoByEveryCallAndCallsNothing) {
    std::vector<TimeSpan> spans(2);
    Submission timed;
    timed.spans = spans.data();
    commands->run(timed);  // with events
    EXPECT_EQ(in_child([&] {
                  driver.clear_calls();
                  std::vector<int> values(1 << 19);
                  auto* const bytes = reinterpret_cast<std::byte*>(values.data());
                  const DeviceCode another = {"l", "l"};
                  const DeviceCode* const texts[] = {&another};
                  std::optional<Failure> failure;
                  const std::function<void()> calls[] = {
                      [&] {
                          memory->read({0, 8, 1, 8}, bytes);
                      },
                      [&] {
                          memory->write({0, 8, 1, 8}, bytes);
                      },
                      [&] {
                          memory->write({0, memory->capacity(), 1, memory->capacity()}, bytes);
                      },
                      [&] {
                          memory->clear({0, 8, 1, 8});
                      },
                      [&] { backend->reserve(8, MemoryUse::arena); },
                      [&] { backend->compile(texts); },
                      [&] { backend->record(launches, {}); },
                      [&] { backend->free_memory(); },
                      [&] { backend->fingerprint({}); },
                      [&] { backend->time({}, failure); },
                      [&] {
                          Submission submission;
                          commands->run(submission);
                          if (submission.thrown) std::rethrow_exception(submission.thrown);
                      }};
                  for (const auto& call : calls)
                      if (const std::string text = text_of(call); text != reason) return text;
                  if (backend->device_of_memory(memory->data())) return std::string("it asks the driver");
                  return calls_of_the_end();
              }),
              "");
    Submission submission;
    commands->run(submission);
    EXPECT_EQ(submission.thrown, nullptr) << "the parent goes on";
}

// The child begins in the middle of a run: the parent's context is current there.
TEST_F(CudaFork, AChildOfARunLeavesItWithoutACall) {
    struct Left {};
    pid_t child = -1;
    struct Caller {
        pid_t* child;
        StandInDriver* driver;
    } caller{&child, &driver};
    Submission watched;
    watched.caller = &caller;
    watched.progress = [](void* self, std::int64_t) {
        const Caller& of = *static_cast<Caller*>(self);
        if (*of.child != -1) return;
        *of.child = fork();
        if (*of.child != 0) return;
        of.driver->clear_calls();
        throw Left();
    };
    try {
        commands->run(watched);
    } catch (const Left&) {
        const std::string calls = calls_of_the_end();
        _exit(calls.empty() ? 0 : 1);
    }
    ASSERT_GT(child, 0);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(watched.thrown, nullptr);
}

}  // namespace
}  // namespace cairn::device::cuda
#endif
