#include "cairn/cairn.hpp"
#include "program/program.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/graph/ir/random_graph.hpp"
#include "tests/program/random_program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace cairn {
namespace {

using test::program_of;

TEST(ProgramText, RoundTripIsAnIdentity) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const std::string text = program::to_string(program_of(seed));
        EXPECT_EQ(program::to_string(program::parse_program(text)), text) << "seed " << seed;
    }
}

/// A program with one state, its buffer's line ending in `data`.
std::string with_state(std::string_view data, std::string_view port = "axis -1 before {0} after {0} live f32[2]") {
    return fmt::format(
        "program \"p\" threads 1 symbols P 0 2\nbuffer state \"s\" f32[2]! bytes {{8}} storage -1{}\n"
        "state \"s\" 0 {} overwritten 0\n",
        data, port);
}

std::string fault_of(const std::string& text) {
    try {
        return program::to_string(program::parse_program(text)) == text ? "" : "reads as another program";
    } catch (const Error& error) { return error.what(); }
}

TEST(ProgramText, InitialValuesOfAStateAreCompleteOrAbsent) {
    EXPECT_EQ(fault_of(with_state("")), "");
    EXPECT_EQ(fault_of(with_state(" data 0000803f00000040")), "");
    EXPECT_EQ(fault_of(with_state(" data 0000803f")), "[program] state s of 8 bytes begins with 4");
    EXPECT_EQ(fault_of(with_state(" data 0000803f00000040", "axis 0 before {P} after {P} live f32[P]")),
              "[program] state s of 8 bytes begins with 8");
    EXPECT_NE(fault_of(with_state(" data 0000803f0000004")), "");
}

TEST(ProgramText, DamagedTextIsRefusedOrParsed) {
    std::mt19937 random(1);
    int refused = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::string text = program::to_string(program_of(seed));
        for (int i = 0; i < 40; ++i) {
            std::string damaged = text;
            const std::size_t at = random() % text.size();
            switch (random() % 3) {
                case 0: damaged[at] = static_cast<char>(32 + random() % 95); break;
                case 1: damaged.erase(at, 1 + random() % 8); break;
                default: damaged.resize(at);
            }
            try {
                EXPECT_EQ(program::verify(program::parse_program(damaged)), "");
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::argument) << error.what();
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 800);
}

}  // namespace
}  // namespace cairn
