#include "autotune/measurement/fingerprint.hpp"
#include "cairn/cairn.hpp"
#include "device/context_impl.hpp"
#include "tests/autotune/database/took.hpp"
#include "tests/io/weights/test_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace cairn::test {
namespace {

Graph small() {
    Graph g("small");
    g.output("y", exp(g.input("x", DType::f32, {64})));
    return g;
}

Context with_threads(int threads, const std::filesystem::path& database) {
    ContextOptions options;
    options.threads = threads;
    options.timing_db = database;
    return Context(options);
}

void record(const Context& context) {
    const Context::Impl& impl = *context.impl();
    impl.timings->record(parse_problem("exp | f32[64] -> f32[64]", *Symbols::create()), "cpu.reference.exp@1",
                         autotune::environment_of(impl), {.threads = context.threads()}, took(1e-6));
    EXPECT_TRUE(impl.timings->flush());
}

Explanation explained(const Context& context, Mode mode = Mode::cached) {
    return compile(small(), context, {.mode = mode}).explain();
}

TEST(TimingNotes, NameTimesOfAnotherNumberOfThreads) {
    const TempFolder temp;
    const std::filesystem::path database = temp / "t.db";
    record(with_threads(2, database));
    const Context one = with_threads(1, database);
    const std::string note = "times in the database were measured with 2 threads, this Context has 1";
    EXPECT_THAT(explained(one).notes, testing::ElementsAre(note));
    EXPECT_THAT(to_string(explained(one)), testing::HasSubstr(note + '\n'));
    EXPECT_THAT(details(explained(one)), testing::HasSubstr(note + '\n'));
    EXPECT_THAT(explained(one, Mode::off).notes, testing::IsEmpty()) << "it reads no times";
    record(one);
    EXPECT_THAT(explained(one).notes, testing::IsEmpty()) << "there are times that count";
    EXPECT_THAT(explained(with_threads(2, database)).notes, testing::IsEmpty());
}

TEST(TimingNotes, AreEmptyWithoutTimes) {
    const TempFolder temp;
    EXPECT_THAT(explained(with_threads(1, temp / "t.db")).notes, testing::IsEmpty());
    EXPECT_THAT(explained(Context()).notes, testing::IsEmpty());
}

}  // namespace
}  // namespace cairn::test
