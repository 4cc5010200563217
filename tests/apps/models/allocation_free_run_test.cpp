#include "cairn/cairn.hpp"
#include "cairn/models/gpt2.hpp"
#include "examples/heap_calls.hpp"
#include "tests/apps/models/golden.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdlib>

// This program counts calls of the allocator, of mutexes and of the futex system call, and checks the counts over a
// whole decode.

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

/// Processes a prompt in pieces of several lengths, then decodes 48 tokens.
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

TEST(AllocationFreeRun, ADecodeMakesNoHeapMutexOrFutexCall) {
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

TEST(AllocationFreeRun, ADecodeWithSeveralThreadsMakesNoHeapOrMutexCall) {
    Gpt2 model = Gpt2::load(test::model_folder("shakespeare-gpt2"), Context({.threads = 2}));
    const auto prompt = test::golden("shakespeare_gpt2.json")["cases"].back()["ids"].get<std::vector<std::int32_t>>();
    decode(model, prompt);
    const Counts before;
    decode(model, prompt);
    const Counts after;
    // Threads that waited long on a busy machine may sleep: waking them is a futex call, never a lock.
    EXPECT_EQ(after.heap - before.heap, 0);
    EXPECT_EQ(after.mutexes - before.mutexes, 0);
}

TEST(AllocationFreeRun, TheCountersCount) {
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

// Symbols that are derived from the shapes of inputs are solved in set() and in run().
TEST(AllocationFreeRun, SolvingForSizesMakesNoHeapOrMutexCall) {
    Graph g;
    const Dim n = g.symbol("n", 1, 64), m = g.symbol("m", 1, 64), h = g.symbol("h", 1, 8);
    g.output("a", g.input("rows", DType::f32, {4 * n}) * 2.0f);
    g.output("b", g.input("both", DType::f32, {n * m + m}) * 2.0f);
    g.output("c", g.input("image", DType::f32, {32 * h, floordiv(h * h + 1, 2)}) * 2.0f);
    CompiledGraph model = compile(g, Context());
    const std::vector<float> x(8192);
    const auto run = [&](std::int64_t rows, std::int64_t columns, std::int64_t side) {
        model.set("rows", x.data(), {4 * rows});
        model.set("both", x.data(), {rows * columns + columns});
        model.set("image", x.data(), {32 * side, (side * side + 1) / 2});
        model.run();
        return model.output("b").shape[0];
    };
    run(64, 64, 8);  // touches the memory
    const Counts before;
    EXPECT_EQ(run(5, 7, 3), 42);
    EXPECT_EQ(run(6, 7, 4), 49);
    const Counts after;
    EXPECT_EQ(after.heap - before.heap, 0);
    EXPECT_EQ(after.mutexes - before.mutexes, 0);
}

}  // namespace
}  // namespace cairn::models
