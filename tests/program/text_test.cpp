#include "cairn/cairn.hpp"
#include "program/program.hpp"
#include "runtime/compiled_graph.hpp"
#include "tests/ir/random_graph.hpp"
#include "tests/program/random_program.hpp"

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

TEST(ProgramText, MutilatedTextIsRefusedOrReadsAsAProgram) {
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
