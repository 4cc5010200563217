#include "device/cuda/driver_calls.hpp"

#include "tests/device/cuda/expect_error.hpp"

#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace cairn::device::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What the functions of the table below return, and what has been called. Functions of a table have no context.
struct DriverAnswers {
    Result result = Result::success;  // of all functions but memory_info
    Result memory_info = Result::success;
    std::atomic<int> calls = 0;
};
DriverAnswers* driver_answers = nullptr;

Result answer() {
    ++driver_answers->calls;
    return driver_answers->result;
}

class DriverCall : public ::testing::Test {
protected:
    DriverCall() {
        driver_answers = &answers_;
        table_->error_name = [](Result result, const char** name) {
            *name = result == Result::illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
            return Result::success;
        };
        table_->error_text = [](Result result, const char** text) {
            *text = result == Result::illegal_address ? "an illegal memory access was encountered" : "other";
            return Result::success;
        };
        table_->memory_alloc = [](DeviceAddress* address, std::size_t) {
            *address = 4096;
            return answer();
        };
        table_->memory_free = [](DeviceAddress) { return answer(); };
        table_->host_alloc = [](void** address, std::size_t, unsigned flags) {
            *address = reinterpret_cast<void*>(std::uintptr_t{flags});
            return answer();
        };
        table_->memory_info = [](std::size_t* free_bytes, std::size_t* total_bytes) {
            *free_bytes = 700;
            *total_bytes = 1000;
            return driver_answers->memory_info;
        };
        table_->stream_synchronize = [](StreamHandle) { return answer(); };
        table_->stream_query = [](StreamHandle) { return answer(); };
        table_->event_query = [](EventHandle) { return answer(); };
        table_->module_load = [](ModuleHandle*, const void*) { return answer(); };
    }
    ~DriverCall() override { driver_answers = nullptr; }

    void synchronize() { calls_.call(&DriverTable::stream_synchronize, nullptr); }

    DriverAnswers answers_;
    const std::shared_ptr<DriverTable> table_ = std::make_shared<DriverTable>();
    DriverCalls calls_{table_, "cuda:0"};
};

static_assert(!std::is_copy_constructible_v<DriverCalls>);

TEST(Outcomes, OfAllClasses) {
    EXPECT_EQ(outcome_of(Result::success), Outcome::success);
    EXPECT_EQ(outcome_of(Result::not_ready), Outcome::not_ready);
    EXPECT_EQ(outcome_of(Result::out_of_memory), Outcome::memory);
    for (const unsigned code : {36, 46, 100, 101, 102, 200, 209, 222, 304, 800, 801, 802, 803, 804, 805, 807, 808, 809})
        EXPECT_EQ(outcome_of(static_cast<Result>(code)), Outcome::unsupported) << code;
    for (const unsigned code :
         {3, 4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 806, 810, 999})
        EXPECT_EQ(outcome_of(static_cast<Result>(code)), Outcome::lost) << code;
    for (const unsigned code : {1, 201, 400, 500, 701, 900, 901, 907, 912, 12345})
        EXPECT_EQ(outcome_of(static_cast<Result>(code)), Outcome::internal) << code;
}

TEST(Symbols, OfMembers) {
    EXPECT_STREQ(symbol_of(&DriverTable::init), "cuInit");
    EXPECT_STREQ(symbol_of(&DriverTable::memory_alloc), "cuMemAlloc_v2");
    EXPECT_STREQ(symbol_of(&DriverTable::stream_query), "cuStreamQuery");
    EXPECT_STREQ(symbol_of(&DriverTable::stream_synchronize), "cuStreamSynchronize");
    EXPECT_STREQ(symbol_of(&DriverTable::graph_destroy), "cuGraphDestroy");
}

TEST_F(DriverCall, Succeeds) {
    synchronize();
    EXPECT_EQ(calls_.allocate(100), 4096U);
    EXPECT_EQ(calls_.allocate_pinned(100, 2), reinterpret_cast<void*>(std::uintptr_t{2}));
    calls_.release(&DriverTable::memory_free, DeviceAddress{4096});
    EXPECT_TRUE(calls_.is_complete(&DriverTable::stream_query, StreamHandle()));
    EXPECT_EQ(answers_.calls, 5);
    EXPECT_FALSE(calls_.is_lost());
    calls_.throw_if_lost();
    EXPECT_EQ(&calls_.driver(), table_.get());
}

TEST_F(DriverCall, NotReadyIsNoError) {
    answers_.result = Result::not_ready;
    EXPECT_FALSE(calls_.is_complete(&DriverTable::stream_query, StreamHandle()));
    EXPECT_FALSE(calls_.is_complete(&DriverTable::event_query, EventHandle()));
    answers_.result = Result::illegal_address;
    EXPECT_THAT(
        message_of(ErrorKind::unsupported, [&] { calls_.is_complete(&DriverTable::event_query, EventHandle()); }),
        HasSubstr("cuEventQuery failed with CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(DriverCall, MemoryErrorsNameTheBytes) {
    answers_.result = Result::out_of_memory;
    EXPECT_EQ(message_of(ErrorKind::memory, [&] { calls_.allocate(5000); }),
              "[cuda] 5000 bytes are needed on cuda:0, but 700 of 1000 bytes are free");
    EXPECT_EQ(message_of(ErrorKind::memory, [&] { calls_.allocate_pinned(6000, 0); }),
              "[cuda] cannot pin 6000 bytes of host memory");
    EXPECT_EQ(message_of(ErrorKind::memory, [&] { calls_.call(&DriverTable::module_load, nullptr, nullptr); }),
              "[cuda] cuModuleLoadData is out of memory on cuda:0: 700 of 1000 bytes are free");
    answers_.memory_info = Result::invalid_context;
    EXPECT_EQ(message_of(ErrorKind::memory, [&] { calls_.allocate(5000); }),
              "[cuda] 5000 bytes are needed on cuda:0, but the driver does not report the free bytes");
    EXPECT_FALSE(calls_.is_lost());
    answers_.result = Result::success;
    EXPECT_EQ(calls_.allocate(100), 4096U);
}

TEST_F(DriverCall, OtherErrorsNameTheCallAndTheResult) {
    answers_.result = Result::not_supported;
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { synchronize(); }),
              "[cuda] cuStreamSynchronize failed on cuda:0: CUDA_ERROR_OTHER (other)");
    answers_.result = Result::invalid_value;
    EXPECT_EQ(message_of(ErrorKind::internal, [&] { synchronize(); }),
              "[cuda] cuStreamSynchronize failed on cuda:0: CUDA_ERROR_OTHER (other)");
    // A call that is no query is not expected to return it.
    answers_.result = Result::not_ready;
    message_of(ErrorKind::internal, [&] { synchronize(); });
    answers_.result = Result::success;
    synchronize();
}

TEST_F(DriverCall, ALostDeviceIsLatched) {
    answers_.result = Result::illegal_address;
    const std::string first = message_of(ErrorKind::unsupported, [&] { synchronize(); });
    EXPECT_EQ(first,
              "[cuda] the device cuda:0 is lost: cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS (an "
              "illegal memory access was encountered); only a new process can use it again");
    EXPECT_TRUE(calls_.is_lost());

    // Later calls report the first cause and do not reach the driver, whatever it would return.
    answers_.result = Result::success;
    answers_.calls = 0;
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { synchronize(); }), first);
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { calls_.allocate(1); }), first);
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { calls_.allocate_pinned(1, 0); }), first);
    EXPECT_EQ(
        message_of(ErrorKind::unsupported, [&] { calls_.is_complete(&DriverTable::stream_query, StreamHandle()); }),
        first);
    EXPECT_EQ(message_of(ErrorKind::unsupported, [&] { calls_.throw_if_lost(); }), first);
    calls_.release(&DriverTable::memory_free, DeviceAddress{4096});
    EXPECT_EQ(answers_.calls, 0);
}

TEST_F(DriverCall, AllocationsLoseTheDeviceToo) {
    answers_.result = Result::launch_failed;
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { calls_.allocate_pinned(1, 0); }),
                HasSubstr("lost: cuMemHostAlloc failed"));
    DriverCalls other(table_, "cuda:1");
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { other.allocate(1); }),
                HasSubstr("cuda:1 is lost: cuMemAlloc_v2 failed"));
}

TEST_F(DriverCall, ReleaseIgnoresErrorsAndLatchesALoss) {
    static_assert(noexcept(calls_.release(&DriverTable::memory_free, DeviceAddress{1})));
    answers_.result = Result::invalid_value;
    calls_.release(&DriverTable::memory_free, DeviceAddress{1});
    EXPECT_FALSE(calls_.is_lost());
    answers_.result = Result::ecc_uncorrectable;
    calls_.release(&DriverTable::memory_free, DeviceAddress{1});
    EXPECT_TRUE(calls_.is_lost());
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { synchronize(); }), HasSubstr("cuMemFree_v2 failed"));
    EXPECT_EQ(answers_.calls, 2);
}

TEST_F(DriverCall, TheFirstCauseIsKept) {
    // Another thread loses the device while this one is in the driver.
    static DriverCalls* other;
    other = &calls_;
    table_->stream_synchronize = [](StreamHandle) {
        driver_answers->result = Result::launch_failed;
        message_of(ErrorKind::unsupported, [] { other->allocate(1); });
        return Result::illegal_address;
    };
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { synchronize(); }), HasSubstr("lost: cuMemAlloc_v2 failed"));
}

TEST_F(DriverCall, InAForkedProcess) {
    answers_.result = Result::not_initialized;
    EXPECT_THAT(message_of(ErrorKind::unsupported, [&] { synchronize(); }),
                HasSubstr("; a child process cannot use the CUDA devices of its parent"));
}

TEST_F(DriverCall, ManyThreadsLoseOneDevice) {
    answers_.result = Result::launch_timeout;
    std::vector<std::string> messages(8);
    std::vector<std::thread> threads;
    for (std::string& message : messages)
        threads.emplace_back([&] {
            message = message_of(ErrorKind::unsupported, [&] { calls_.allocate(1); });
            calls_.release(&DriverTable::memory_free, DeviceAddress{1});
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& message : messages) {
        EXPECT_THAT(message, StartsWith("[cuda] the device cuda:0 is lost: cuMemAlloc_v2"));
        EXPECT_EQ(message, messages[0]);
    }
}

}  // namespace
}  // namespace cairn::device::cuda
