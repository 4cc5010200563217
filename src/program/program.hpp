#pragma once

#include "cairn/problem.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Declares Program, the flat instruction list that the compiler emits and the runtime links and runs.
namespace cairn::program {

/// Where a buffer's memory comes from and how long it lives.
enum class BufferKind : std::uint8_t {
    weight,     ///< bound by name, read-only
    constant,   ///< its bytes are stored in the program
    bound,      ///< computed from weights and constants by the `bind` section, once; equal names have equal contents in
                ///< every program
    state,      ///< persistent between runs, allocated at capacity
    input,      ///< given by the caller for each run
    output,     ///< in the arena, or in the caller's memory
    transient,  ///< in the arena of its device
    workspace,  ///< in the arena of its device, live during one instruction
};
std::string_view to_string(BufferKind kind) noexcept;

/// Memory of one value of a program.
struct Buffer {
    BufferKind kind = BufferKind::transient;
    std::string name;  ///< of a weight, state, input or output; of a bound buffer the digest of its computation
    TensorDesc desc;   ///< contents: dense, or in a layout; u8[bytes] for a workspace
    Dim bytes;
    std::vector<std::byte> data;  ///< contents of a constant; initial contents of a state, empty: zeros
    int storage = -1;             ///< index in MemoryPlan::storages; arena kinds only, set by the plan stage
    Device device = Device::cpu;  ///< device whose memory holds it
};

/// A part of a buffer. Shape and strides are in the accompanying Problem or TensorDesc.
struct View {
    int buffer = -1;
    Dim offset = 0;  ///< in elements
};

/// One call of a kernel.
struct Instruction {
    std::string kernel;                      ///< Kernel::id
    std::shared_ptr<const Problem> problem;  ///< never null; shared by identical calls
    std::vector<View> inputs, outputs;       ///< one per input and output of the problem
    int workspace = -1;                      ///< index of a workspace buffer, or -1
    double seconds = 0;                      ///< expected time at representative sizes; 0: unknown
    int choice = -1;  ///< number of the selection's choice that it implements; -1: none, or parsed from text
    std::vector<std::string> names = {};  ///< user-given names of the values it computes, results first
    // Not in the text form:
    double error = 0;  ///< relative error of the kernel as estimated by the selection; 0: exact
    std::shared_ptr<const Problem> chosen_for = {};  ///< the selected Problem, if an operand was copied since
};

/// An input or output of a program.
struct Port {
    std::string name;
    View view;
    TensorDesc desc;
};

/// A state of a program.
struct StatePort {
    std::string name;
    int buffer = -1;
    int axis = 0;              ///< growing axis of the buffer's shape; -1: none, the state has a fixed size
    Dim before, after;         ///< live length before the run (the state's symbol) and after it; 0 if no axis grows
    TensorDesc live;           ///< live part before the run, as if dense, in the declared dtype: the buffer's, or wider
    bool overwritten = false;  ///< a run overwrites elements that were live before it
};

/// Unit of placement in an arena: one or more buffers that share memory because one is computed in place of another.
/// Each device has an arena of its own.
struct Storage {
    std::vector<int> buffers;  ///< all on one device
    Dim bytes;                 ///< size of its largest buffer, proved
    int first = 0, last = 0;   ///< live interval, as instruction indices in `run`
    std::vector<int> below;    ///< storages of the same device directly below: offset = max over them of
                               ///< align(offset + bytes, 64)
};

/// Memory plan: an order relation of the storages of each device that gives their offsets at every size.
struct MemoryPlan {
    std::vector<Storage> storages;
    std::vector<int> order;  ///< topological order: each storage after those below it
};

/// A compiled program of one bucket.
struct Program {
    std::string name;
    int threads = 1;                   ///< number of threads it was planned for
    std::shared_ptr<Symbols> symbols;  ///< with the bounds of its bucket
    std::vector<Buffer> buffers;
    std::vector<Instruction> bind, run;
    std::vector<Port> inputs, outputs;
    std::vector<StatePort> states;
    MemoryPlan plan;
};

/// The device whose arena holds a storage.
inline Device device_of(const Program& program, const Storage& storage) {
    return program.buffers[static_cast<std::size_t>(storage.buffers.front())].device;
}
/// The device whose memory holds an input or output.
inline Device device_of(const Program& program, const Port& port) {
    return program.buffers[static_cast<std::size_t>(port.view.buffer)].device;
}
/// The devices that hold buffers of a program, the CPU first; the CPU is always among them.
std::vector<Device> devices_of(const Program& program);

/// The text form: exact, and read back by parse_program. See print.cpp for the grammar.
std::string to_string(const Program& program);
/// Parses and verifies the text form. Throws Error(argument), naming the line of an ill-formed one.
Program parse_program(std::string_view text);

/// Verifies a program: returns the first fault in words, empty if there is none. Indices are in range, every value is
/// written before it is read, problems and views agree, views end within their buffers and storages do not overlap for
/// any legal symbol values, each storage holds one live value at a time, ports and states are complete. Independent of
/// how the program was made, and of all kernels.
std::string verify(const Program& program);

}  // namespace cairn::program
