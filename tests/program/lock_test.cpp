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

/// A lock with the covers of two buckets, one of them with an exact cover.
Lock lock_with_covers() {
    Lock lock = some_lock();
    lock.selection_key = "0123456789abcdef";
    lock.stored = "f16";
    lock.states = Device::cuda();
    const std::string linear = problem_digest("linear | f32[T,64] f32[64,64]! -> f32[T,64] where T in 2..12"),
                      exp = problem_digest("exp | f32[] -> f32[]");
    const CoverStep packed{"%3[panel.f32]", "a@1", linear, "%7", "", 1.2e-5, 0, 0},
        made{"%5", "b@2", linear, "%1 %3[panel.f32]", "%5 %6", 0.1, 0.5, 0},
        other{"%5@cuda+", "c@1", exp, "%1:dense", "%5", 1e-9, 0.25, 0.125};
    lock.covers = {{{{"T", 1, 1}, {"B", 1, 4}}, {packed, made}, {other}}, {{{"T", 2, 12}, {"B", 1, 4}}, {}, {}}};
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

TEST(Lock, RoundTripsThroughText) {
    for (const Lock& lock : {some_lock(), lock_with_covers(), Lock()}) EXPECT_EQ(parse_lock(to_string(lock)), lock);
    EXPECT_EQ(to_string(some_lock()).substr(0, 27), "cairn lock 2\nsplit B 4\nspli");
    const std::string text = to_string(lock_with_covers()), exp = problem_digest("exp | f32[] -> f32[]");
    EXPECT_NE(text.find("\ngraph 0123456789abcdef states cuda stored f16\n"), text.npos) << text;
    EXPECT_NE(text.find("\ncall " + exp + " 0 0 c@1 exp | f32[] -> f32[]\n"), text.npos) << text;
    EXPECT_NE(text.find("\nexact\nstep %5@cuda+ c@1 " + exp + " cost 1e-09 0.25 0.125 %1:dense -> %5\n"), text.npos)
        << text;
    EXPECT_NE(text.find(" %7 ->\n"), text.npos) << text;
}

TEST(Lock, AnOlderFormatIsRefusedByItsName) {
    const std::string fault =
        fault_of_lock("cairn lock 1\nsha256 eadf74885207eaffb62191d5eb06ec9f333433fb7791ea0db23c92d59dffa4ca\n");
    EXPECT_NE(fault.find("the format \"cairn lock 1\", expected \"cairn lock 2\": write it again"), fault.npos)
        << fault;
    EXPECT_NE(fault_of_lock("cairn lock 3").find("cairn lock 3"), std::string::npos);
}

TEST(Lock, HasADigestThatOtherToolsCanCheck) {
    EXPECT_EQ(to_string(Lock()),
              "cairn lock 2\nsha256 9e93f4106f17f45df4992bb16cfb73dc718d587fc3f15771efa609865700c335\n");
}

TEST(Lock, FindsTheChosenKernel) {
    const Lock lock = some_lock();
    EXPECT_EQ(lock.find("exp | f32[] -> f32[]", "c@1")->seconds, 0);
    EXPECT_EQ(lock.find("linear | f32[T,64] f32[64,64]! -> f32[T,64] where T in 2..12", "b@2")->error, 0.5);
    EXPECT_EQ(lock.find("exp | f32[] -> f32[]", "a@1"), nullptr);
    EXPECT_EQ(lock.find("exp | f32[1] -> f32[1]", "c@1"), nullptr);
}

TEST(Lock, ContainsEachCallOfAProgramOnce) {
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
                EXPECT_NE(lock.find(cairn::to_string(each.chosen_for != nullptr ? *each.chosen_for : *each.problem),
                                    each.kernel),
                          nullptr);
    }
}

TEST(Lock, DetectsAnyChange) {
    const std::string text = to_string(lock_with_covers());
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string changed = text;
        changed[at] = changed[at] == '1' ? '2' : '1';
        EXPECT_NE(fault_of_lock(changed), "") << at;
        EXPECT_NE(fault_of_lock(text.substr(0, at)), "") << at;
    }
    EXPECT_NE(fault_of_lock(text + "\n"), "");
    EXPECT_NE(fault_of_lock(""), "");
}

TEST(Lock, InvalidLinesAreNamed) {
    for (const char* const line : {"call P 1e-5 0 k",
                                   "call P x 0 k p",
                                   "call P -1 0 k p",
                                   "call P inf 0 k p",
                                   "call P nan 0 k p",
                                   "call P 1 0.5x k p",
                                   "call 0 1 0 k p",
                                   "call 1 0 k p",
                                   "split",
                                   "split T",
                                   "split T 4 4",
                                   "split T x",
                                   "cal P 1 0 k p",
                                   "graph",
                                   "graph g states",
                                   "graph g states cpu",
                                   "graph g place cuda",
                                   "exact",
                                   "step %1 k P ->",
                                   "cover T",
                                   "cover T 1",
                                   "cover T 1 x",
                                   ""}) {
        std::string named = line;
        if (const std::size_t at = named.find(" P "); at != named.npos) named.replace(at + 1, 1, problem_digest("p"));
        const std::string fault = fault_of_lock(sealed("cairn lock 2\nsplit B 4\n" + named + "\n"));
        EXPECT_NE(fault.find("line 3"), std::string::npos) << line << ": " << fault;
    }
    const std::string begin = "cairn lock 2\ngraph g\ncall " + problem_digest("p") + " 1 0 k p\ncover\n";
    EXPECT_EQ(fault_of_lock(sealed(begin + "step %1 k " + problem_digest("p") + " %0 -> %1\n")), "");
    for (const char* const line :
         {"step %1 k P %0", "step %1 k P %0 -> -> %1", "step %1 j P %0 -> %1", "step %1 k Q %0 -> %1",
          "step %1 k P cost 1 0 %0 -> %1", "step %1 k P cost 1 0 nan %0 -> %1", "exact x"}) {
        std::string named = line;
        if (const std::size_t at = named.find(" P "); at != named.npos) named.replace(at + 1, 1, problem_digest("p"));
        EXPECT_NE(fault_of_lock(sealed(begin + named + "\n")).find("line 5"), std::string::npos) << line;
    }
    EXPECT_NE(fault_of_lock(sealed("cairn lock 2\ngraph g\n")), "");
    EXPECT_NE(fault_of_lock(sealed("cairn lock 2\ncover\n")), "");
}

}  // namespace
}  // namespace cairn::program
