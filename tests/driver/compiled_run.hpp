#pragma once

#include "cairn/compile.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "runtime/compiled_graph.hpp"

#include <map>
#include <string>
#include <vector>

/// Runs a compiled graph on inputs of the interpreter, including states, and returns results in its format.
namespace cairn::test {

/// A dense tensor as bytes of its dtype, and back.
std::vector<std::byte> to_bytes(const interpreter::Value& value);
interpreter::Value from_bytes(DType dtype, std::vector<std::int64_t> shape, const std::byte* data);

/// One executor over the programs of `compiled`, with weights and states as in `inputs`.
class CompiledRun {
public:
    CompiledRun(const runtime::ProgramSet& set, const Context& context, const interpreter::Inputs& inputs);
    /// Runs once at the inputs' sizes; returns the outputs and then the live part of each state. `poison`: fills memory
    /// that is dead or not yet written with NaN.
    interpreter::Results run(const interpreter::Inputs& inputs, bool poison = true);
    /// The same with each output in the caller's memory. Appends the name of an output to `overrun` if a byte outside
    /// its result was written.
    interpreter::Results run_in_callers_memory(const interpreter::Inputs& inputs, std::vector<std::string>& overrun);

private:
    void set(const interpreter::Inputs& inputs);
    interpreter::Results results(const interpreter::Inputs& inputs) const;
    void fill_states(const interpreter::Inputs& inputs);
    std::shared_ptr<runtime::Executable> executable_;
    void poison_arena();

    std::unique_ptr<runtime::Instance> instance_;
    std::map<std::string, std::vector<std::byte>> weights_, tensors_;
};

/// The first difference between a run and the interpreter's results, with the output's name; empty if there is none.
std::string compare(const interpreter::Results& actual, const interpreter::Results& expected, double tolerance);

}  // namespace cairn::test
