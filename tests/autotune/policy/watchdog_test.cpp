#include "autotune/policy/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace cairn::autotune {
namespace {

TEST(Watchdog, ReportsSlowWorkOnceFromAnotherThread) {
    Watchdog dog(0.01);
    std::promise<std::thread::id> reporting_thread;
    std::atomic<int> times = 0;
    dog.begin([&] {
        if (times++ == 0) reporting_thread.set_value(std::this_thread::get_id());
    });
    EXPECT_NE(reporting_thread.get_future().get(), std::this_thread::get_id());
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    dog.end();
    EXPECT_EQ(times, 1);
}

TEST(Watchdog, WorkOfManyPartsMayTakeLonger) {
    std::atomic<int> times = 0;
    Watchdog dog(0.001);
    dog.begin([&] { ++times; }, 3'600'000);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    dog.end();
    EXPECT_EQ(times, 0);
}

TEST(Watchdog, DoesNotReportWorkThatEnds) {
    std::atomic<int> times = 0;
    {
        Watchdog dog(3600);
        for (int i = 0; i < 1000; ++i) {
            dog.begin([&] { ++times; });
            dog.end();
        }
        dog.begin([&] { ++times; });
    }
    EXPECT_EQ(times, 0) << "nor of work that it does not live to see the end of";
    Watchdog idle(0.001);
    idle.begin([&] { ++times; });
    idle.end();
    const int before = times;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(times, before);
}

}  // namespace
}  // namespace cairn::autotune
