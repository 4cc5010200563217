#pragma once

#include "cairn/composites.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

/// Programs that a user might write by mistake, each with the expected error text in full.
namespace cairn::test {

/// The wrong call is on line `line`; 0 if the error names no line. `message` is the text without the location.
struct WrongProgram {
    const char* about;
    unsigned line;
    void (*run)(Graph& g);
    const char* message;
};

inline void expect_errors(std::span<const WrongProgram> programs, const char* file) {
    for (const WrongProgram& program : programs) {
        SCOPED_TRACE(program.about);
        std::string expected = program.message;
        if (program.line != 0) expected += " (" + std::string(file) + ":" + std::to_string(program.line) + ")";
        Graph g("g");
        try {
            program.run(g);
            ADD_FAILURE() << "nothing was thrown; expected " << expected;
        } catch (const Error& error) {
            EXPECT_EQ(error.what(), expected);
            EXPECT_EQ(error.kind(), ErrorKind::graph);
        }
        // The graph remains usable.
        EXPECT_EQ(to_string((g.input("after the error", DType::f32, {2}) * 2).shape()), "[2]");
    }
}

inline Tensor floats(Graph& g, const char* name, Shape shape) { return g.input(name, DType::f32, std::move(shape)); }
inline Tensor integers(Graph& g, const char* name, Shape shape) { return g.input(name, DType::i32, std::move(shape)); }
inline Tensor booleans(Graph& g, const char* name, Shape shape) {
    return g.input(name, DType::boolean, std::move(shape));
}

}  // namespace cairn::test
