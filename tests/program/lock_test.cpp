#include "program/lock.hpp"

#include "cairn/cairn.hpp"
#include "tests/program/random_program.hpp"

#include <gtest/gtest.h>
#include <sha2.h>

#include <array>
#include <cstdint>
#include <string>

namespace cairn::program {
namespace {

Lock some_lock() {
    Lock lock;
    lock.ends = {{"B", {4}}, {"T", {1, 12}}};
    lock.calls["linear | f32[T,64] f32[64,64]! -> f32[T,64] where T in 2..12"] = {{"a@1", 1.2e-5, 0},
                                                                                  {"b@2", 0.1, 0.5}};
    lock.calls["exp | f32[] -> f32[]"] = {{"c@1", 0, 0}};
    return lock;
}

std::string fault_of_lock(const std::string& text) {
    try {
        parse_lock(text);
        return {};
    } catch (const Error& error) { return error.what(); }
}

std::string sealed(const std::string& lines) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> hex{};
    SHA256Data(reinterpret_cast<const std::uint8_t*>(lines.data()), lines.size(), hex.data());
    return lines + "sha256 " + hex.data() + '\n';
}

TEST(Lock, TextAndBack) {
    for (const Lock& lock : {some_lock(), Lock()}) EXPECT_EQ(parse_lock(to_string(lock)), lock);
    EXPECT_EQ(to_string(some_lock()).substr(0, 27), "cairn lock 1\nsplit B 4\nspli");
}

TEST(Lock, ADigestThatEveryToolCanCheck) {
    EXPECT_EQ(to_string(Lock()),
              "cairn lock 1\nsha256 eadf74885207eaffb62191d5eb06ec9f333433fb7791ea0db23c92d59dffa4ca\n");
}

TEST(Lock, FindsWhatWasChosen) {
    const Lock lock = some_lock();
    EXPECT_EQ(lock.find("exp | f32[] -> f32[]", "c@1")->seconds, 0);
    EXPECT_EQ(lock.find("linear | f32[T,64] f32[64,64]! -> f32[T,64] where T in 2..12", "b@2")->error, 0.5);
    EXPECT_EQ(lock.find("exp | f32[] -> f32[]", "a@1"), nullptr);
    EXPECT_EQ(lock.find("exp | f32[1] -> f32[1]", "c@1"), nullptr);
}

TEST(Lock, HoldsEachCallOfAProgramOnce) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Program program = test::program_of(seed);
        Lock lock;
        lock.add(program);
        const std::string once = to_string(lock);
        lock.add(program);
        EXPECT_EQ(to_string(lock), once);
        EXPECT_EQ(parse_lock(once), lock);
        for (const auto* section : {&program.bind, &program.run})
            for (const Instruction& each : *section)
                EXPECT_NE(lock.find(cairn::to_string(each.asked != nullptr ? *each.asked : *each.problem), each.kernel),
                          nullptr);
    }
}

TEST(Lock, AnyChangeShows) {
    const std::string text = to_string(some_lock());
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string changed = text;
        changed[at] = changed[at] == '1' ? '2' : '1';
        EXPECT_NE(fault_of_lock(changed), "") << at;
        EXPECT_NE(fault_of_lock(text.substr(0, at)), "") << at;
    }
    EXPECT_NE(fault_of_lock(text + "\n"), "");
    EXPECT_NE(fault_of_lock(""), "");
}

TEST(Lock, LinesThatAreNoneAreNamed) {
    for (const char* const line :
         {"call 1e-5 0 k", "call x 0 k p", "call -1 0 k p", "call inf 0 k p", "call nan 0 k p", "call 1 0.5x k p",
          "split", "split T", "split T 4 4", "split T x", "cal 1 0 k p", ""}) {
        const std::string fault = fault_of_lock(sealed(std::string("cairn lock 1\nsplit B 4\n") + line + "\n"));
        EXPECT_NE(fault.find("line 3"), std::string::npos) << line << ": " << fault;
    }
}

}  // namespace
}  // namespace cairn::program
