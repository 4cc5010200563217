#pragma once

#include "cairn/compile.hpp"
#include "meaning/interpret.hpp"
#include "runtime/compiled_graph.hpp"

#include <map>
#include <string>
#include <vector>

/// Runs a compiled graph on the interpreter's kind of inputs, states included, and gives its kind of results.
namespace cairn::test {

/// A dense tensor as bytes of its dtype, and back.
std::vector<std::byte> to_bytes(const meaning::Value& value);
meaning::Value from_bytes(DType dtype, std::vector<std::int64_t> shape, const std::byte* data);

/// One executor over the programs of `compiled`, with weights and states as in `inputs`.
class CompiledRun {
public:
    CompiledRun(const runtime::ProgramSet& set, const Context& context, const meaning::Inputs& inputs);
    /// Runs once at the inputs' sizes; outputs and the live part of each state afterwards. `poison`: memory that is
    /// dead or not yet written holds NaN.
    meaning::Results run(const meaning::Inputs& inputs, bool poison = true);
    /// The same with each output in memory of the caller. Every byte around the results that was written to makes its
    /// output's name one of `overrun`.
    meaning::Results run_in_callers_memory(const meaning::Inputs& inputs, std::vector<std::string>& overrun);

private:
    void set(const meaning::Inputs& inputs);
    meaning::Results results(const meaning::Inputs& inputs) const;
    void fill_states(const meaning::Inputs& inputs);
    std::shared_ptr<runtime::Core> core_;
    std::unique_ptr<runtime::Instance> instance_;
    std::map<std::string, std::vector<std::byte>> weights_, tensors_;
};

/// The first difference between a run and the interpreter's results, with the output's name; empty when there is none.
std::string compare(const meaning::Results& actual, const meaning::Results& expected, double tolerance);

}  // namespace cairn::test
