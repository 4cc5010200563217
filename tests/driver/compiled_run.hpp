#pragma once

#include "cairn/compile.hpp"
#include "device/memory.hpp"
#include "graph/interpreter/interpreter.hpp"
#include "runtime/compiled_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Runs a compiled graph on inputs of the interpreter, including states, and returns results in its format.
namespace cairn::test {

/// A dense tensor as bytes of its dtype, and back.
std::vector<std::byte> to_bytes(const interpreter::Value& value);
interpreter::Value from_bytes(DType dtype, std::vector<std::int64_t> shape, const std::byte* data);

/// Bytes in the memory of a device, or of the host.
class PortMemory {
public:
    PortMemory() = default;
    PortMemory(const Context& context, Device device, std::vector<std::byte> bytes);
    std::byte* data() const { return memory_ != nullptr ? memory_->data() : const_cast<std::byte*>(bytes_.data()); }
    std::size_t size() const { return bytes_.size(); }
    std::vector<std::byte> contents() const;

private:
    std::vector<std::byte> bytes_;
    std::unique_ptr<device::Memory> memory_;  // null: the host's
};

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
    std::map<std::string, std::vector<std::byte>> weights_;
    std::map<std::string, PortMemory> tensors_;
};

/// The options with inputs and outputs of the graph in the memory of the host or of `device`, at random.
CompileOptions with_random_ports(const Graph& graph, Device device, std::uint64_t seed, CompileOptions options = {});

/// The first difference between a run and the interpreter's results, with the output's name; empty if there is none.
std::string compare(const interpreter::Results& actual, const interpreter::Results& expected, double tolerance);

}  // namespace cairn::test
