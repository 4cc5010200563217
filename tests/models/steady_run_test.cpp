#include "cairn/models/gpt2.hpp"
#include "examples/heap_calls.hpp"
#include "tests/models/golden.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdlib>

// This program puts counters before the allocator, the mutex and the system call that futexes go through, and looks at
// them over a whole decode.

namespace {

std::atomic<long> mutex_calls{0}, futex_calls{0};

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
    static const auto real = reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    mutex_calls.fetch_add(1, std::memory_order_relaxed);
    return real(mutex);
}

extern "C" long syscall(long number, ...) {
    static const auto real = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
    if (number == SYS_futex) futex_calls.fetch_add(1, std::memory_order_relaxed);
    va_list rest;
    va_start(rest, number);
    long values[6];
    for (long& value : values) value = va_arg(rest, long);
    va_end(rest);
    return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

namespace cairn::models {
namespace {

struct Counts {
    std::int64_t heap = heap_calls();
    long mutexes = mutex_calls, futexes = futex_calls;
};

/// Decodes 48 tokens behind a prompt, in pieces of several lengths before that.
void decode(Gpt2& model, const std::vector<std::int32_t>& prompt) {
    model.rewind();
    std::span<const std::int32_t> rest(prompt);
    for (const std::size_t piece : {5, 1, 17, 2}) {
        const std::size_t count = std::min(piece, rest.size() - 1);
        model.forward(rest.first(count));
        rest = rest.subspan(count);
    }
    std::span<const float> logits = model.forward(rest);
    for (int i = 0; i < 47; ++i) {
        const auto next = static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
        logits = model.forward({&next, 1});
    }
}

TEST(SteadyRun, AWholeDecodeMakesNoHeapMutexOrFutexCall) {
    Gpt2 model = Gpt2::load(test::model_folder("shakespeare-gpt2"), Context());
    const auto prompt = test::golden("shakespeare_gpt2.json")["cases"].back()["ids"].get<std::vector<std::int32_t>>();
    decode(model, prompt);  // touches the memory
    const Counts before;
    decode(model, prompt);
    const Counts after;
    EXPECT_EQ(after.heap - before.heap, 0);
    EXPECT_EQ(after.mutexes - before.mutexes, 0);
    EXPECT_EQ(after.futexes - before.futexes, 0);
}

TEST(SteadyRun, WithSeveralThreadsToo) {
    Gpt2 model = Gpt2::load(test::model_folder("shakespeare-gpt2"), Context({.threads = 2}));
    const auto prompt = test::golden("shakespeare_gpt2.json")["cases"].back()["ids"].get<std::vector<std::int32_t>>();
    decode(model, prompt);
    const Counts before;
    decode(model, prompt);
    const Counts after;
    // Members that waited long on a busy machine may have gone to sleep: waking them is a futex call, never a lock.
    EXPECT_EQ(after.heap - before.heap, 0);
    EXPECT_EQ(after.mutexes - before.mutexes, 0);
}

TEST(SteadyRun, TheCountersCount) {
    const Counts before;
    void* volatile memory = std::malloc(100);
    std::free(memory);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    int word = 1;
    syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 2, nullptr, nullptr, 0);
    const Counts after;
    EXPECT_GE(after.heap - before.heap, 1);
    EXPECT_EQ(after.mutexes - before.mutexes, 1);
    EXPECT_EQ(after.futexes - before.futexes, 1);
}

}  // namespace
}  // namespace cairn::models
