#pragma once

#include "cairn/problem.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// A flat instruction list: where the compile wing ends and the run wing begins.
namespace cairn::program {

enum class BufferKind : std::uint8_t {
    weight,     ///< bound by name, read-only
    constant,   ///< its bytes are in the program
    bound,      ///< computed from weights and constants by the `bind` section, once; equal names have equal contents in
                ///< every program
    state,      ///< persistent, at capacity
    input,      ///< given for each run
    output,     ///< in the arena, or given by the caller
    transient,  ///< in the arena
    workspace,  ///< in the arena, alive during one instruction
};
std::string_view to_string(BufferKind kind) noexcept;

struct Buffer {
    BufferKind kind = BufferKind::transient;
    std::string name;  ///< of a weight, state, input or output; of a bound buffer the digest of how it is made
    TensorDesc desc;   ///< what it holds: dense but for packed layouts; of a workspace u8[bytes]
    Dim bytes;
    std::vector<std::byte> data;  ///< of a constant; of a state what it begins with, none: zeros
    int storage = -1;  ///< the storage it lies in (MemoryPlan::storages); arena kinds only, set by the plan stage
    Device device = Device::cpu;  ///< in the memory of which
};

/// A part of a buffer; its shape and strides stand in the Problem beside it.
struct View {
    int buffer = -1;
    Dim offset = 0;  ///< in elements
};

/// One call of a kernel.
struct Instruction {
    std::string kernel;                      ///< Kernel::id
    std::shared_ptr<const Problem> problem;  ///< never null; one for many calls that do the same
    std::vector<View> inputs, outputs;       ///< one each of the problem's inputs and outputs
    int workspace = -1;                      ///< a workspace buffer, or none
    double seconds = 0;                   ///< what selection expected it to take at representative sizes; 0: not known
    int choice = -1;                      ///< that it was made for, of whoever chose; -1: of none, or read from a text
    std::vector<std::string> names = {};  ///< that the user gave to values it computes, results first
    // Neither of these is in the text form.
    double error = 0;                                ///< of the kernel, relative, as selection counted it; 0: exact
    std::shared_ptr<const Problem> chosen_for = {};  ///< that it was chosen for, where an operand lies elsewhere since
};

/// A value that crosses the border of a run.
struct Port {
    std::string name;
    View view;
    TensorDesc desc;
};

struct StatePort {
    std::string name;
    int buffer = -1;
    int axis = 0;       ///< that grows: non-negative, of the buffer's shape; -1: none, the state has a fixed size
    Dim before, after;  ///< live length: the state's symbol before the run, and what it is after; 0 where none grows
    TensorDesc live;  ///< what is live before the run, as if dense, in the dtype that users see: the buffer's, or wider
    bool overwritten = false;  ///< a run replaces elements that were live before it
};

/// Storages are what is placed in the arena: one or more buffers that share memory because one is computed in place of
/// another.
struct Storage {
    std::vector<int> buffers;
    Dim bytes;                ///< the largest of its buffers, proved
    int first = 0, last = 0;  ///< instruction numbers in `run`
    std::vector<int> below;   ///< storages that lie directly below: offset = max over them of align(offset + bytes, 64)
};

struct MemoryPlan {
    std::vector<Storage> storages;
    std::vector<int> order;  ///< storages, each after those below it
};

struct Program {
    std::string name;
    int threads = 1;                   ///< that it was planned for
    std::shared_ptr<Symbols> symbols;  ///< with the bounds of its bucket
    std::vector<Buffer> buffers;
    std::vector<Instruction> bind, run;
    std::vector<Port> inputs, outputs;
    std::vector<StatePort> states;
    MemoryPlan plan;
};

/// The text form: exact, and parsed back by parse_program. See print.cpp for the grammar.
std::string to_string(const Program& program);
/// Throws Error(argument) naming the line.
Program parse_program(std::string_view text);

/// The first thing wrong with a program, in words; empty when all is well: indices in range, every value written before
/// it is read, problems and views agree, views end within their buffers and storages do not overlap for any legal
/// symbol values, in-place storages used by one live value at a time, ports and states complete. Knows nothing of how
/// the program was made, and no kernel.
std::string verify(const Program& program);

}  // namespace cairn::program
