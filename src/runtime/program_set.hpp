#pragma once

#include "cairn/compiled_graph.hpp"
#include "device/context_impl.hpp"
#include "graph/types/per_device.hpp"
#include "program/lock.hpp"
#include "program/peak_memory.hpp"
#include "program/program.hpp"
#include "runtime/compiled_code.hpp"
#include "runtime/program_binaries.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

/// Declares the programs of all buckets of one graph, linked to kernels: immutable, shared by all instances.
namespace cairn::runtime {

using Range = ExplainedBucket::Range;

/// An output or state of an inexact program that is verified.
struct InexactValue {
    bool is_state = false;
    int port = 0;         ///< among the program's outputs, or states
    double allowed = 0;   ///< tolerance: the largest error allowed against the exact program
    double expected = 0;  ///< estimated error: the errors of the program's kernels, added up
};

/// The programs of one bucket, as the compiler emits them and a saved file holds them.
struct BucketProgram {
    std::vector<Range> ranges;  ///< sizes it covers; a symbol not named here may have any value
    program::Program program;
    /// For an inexact program: the exact program that verifies it, and the values that are compared.
    std::optional<program::Program> exact = {};
    std::vector<InexactValue> inexact = {};
    program::CoverSteps steps = {}, exact_steps = {};  ///< covers of `program` and `exact`, for a lock
};

/// Identifies what the covers of all buckets were selected for (program::Lock).
struct SelectionKey {
    std::string digest;  ///< of graph and options; empty: unknown
    std::string stored;  ///< storage dtype of states if narrower than declared
    Device states = Device::cpu;
};

/// True if some state is stored in a dtype other than the declared one.
bool stores_narrow_states(const program::Program& program);

/// `T in 1..12, B in 1..8`
std::string to_string(const std::vector<Range>& ranges);

/// An input of a graph, which its programs need not read.
struct InputPort : program::Port {
    Device device = Device::cpu;  ///< device whose memory holds its elements
};

struct ProgramSet;
/// Adds the reasons of the selection to an explanation that lists the instructions. Called from any thread.
using Explainer = std::function<void(const ProgramSet& set, Explanation& explanation, const std::stop_token& stop)>;

/// Receives the error of each inexact value of a bucket's program after a verification. Called from any thread.
using VerificationSink = std::function<void(const BucketProgram& bucket, std::span<const double> errors)>;

/// The programs of all buckets of one graph.
struct ProgramSet {
    std::string name;
    std::shared_ptr<Symbols> symbols;  ///< with the bounds of the whole graph
    std::vector<InputPort> inputs;     ///< name, dtype and shape in those symbols; views are not used
    std::vector<BucketProgram> buckets;
    Explainer explainer;                      ///< null if the set was loaded
    VerificationSink verification_sink = {};  ///< null: results of verifications are not kept
    SelectionKey selection_key = {};
    ProgramBinaries binaries = {};
};

/// Template of a TensorArg: buffer, offset and sizes, as indices.
struct LinkedOperand {
    int buffer = 0;
    int offset = 0;  ///< index of a size expression
    std::int64_t element_bytes = 1;
    int shape = 0, strides = 0;  ///< first entry in the size table
    int rank = 0;
};

/// An instruction with its kernel and operands resolved.
struct LinkedInstruction {
    const Kernel* kernel = nullptr;
    std::shared_ptr<const void> prepared;
    int first_operand = 0, inputs = 0, outputs = 0;  ///< operands are contiguous, inputs first
    int dims = 0, dim_count = 0;                     ///< first entry of its attribute values in the size table
    int workspace = -1;                              ///< buffer, or -1
    std::shared_ptr<const void> code;                ///< KernelLaunch::code; null: none
    std::array<int, 3> grid{-1, -1, -1};             ///< size expressions of its grid; -1: 1
    bool is_host_copy = false;  ///< a copy between the host and a device whose kernels are code (KernelLaunch)
};

/// A write of a run's instruction to rows of a state that may have been live before.
struct Overwrite {
    int instruction = 0, operand = 0;
    int state = 0;  ///< index among the program's states
};

/// A program linked to its kernels. Each distinct size is one expression. The size table holds shapes, strides and
/// attribute values as indices of expressions, so a change of sizes evaluates each expression once.
class LinkedProgram {
public:
    /// Looks up kernels by id in the context. Throws Error(unsupported) naming all that are missing or need other CPU
    /// features, or naming a device that the context does not have, Error(argument) if the program was planned for
    /// another number of threads, Cancelled on a stop. Kernels that are code are added to `codes`: when these have been
    /// compiled, take_codes() completes the program.
    LinkedProgram(const program::Program& program, const Context& context, CompiledCodes& codes,
                  const std::stop_token& stop = {});
    /// Takes the code of its instructions.
    void take_codes(const CompiledCodes& codes);

    const program::Program& program() const noexcept { return *program_; }
    const std::vector<Dim>& expressions() const noexcept { return expressions_; }
    const std::vector<int>& table() const noexcept { return table_; }
    const std::vector<LinkedOperand>& operands() const noexcept { return operands_; }
    const std::vector<LinkedInstruction>& run() const noexcept { return run_; }
    const std::vector<LinkedInstruction>& bind() const noexcept { return bind_; }
    /// The expression of each storage's bytes.
    const std::vector<int>& storage_bytes() const noexcept { return storage_bytes_; }
    /// The device of each storage.
    const std::vector<Device>& storage_devices() const noexcept { return storage_devices_; }
    /// The operand of each output port, in port order.
    const std::vector<LinkedOperand>& outputs() const noexcept { return outputs_; }
    /// The expressions of each state's live length before and after a run.
    const std::vector<std::pair<int, int>>& state_lengths() const noexcept { return state_lengths_; }
    /// The devices that hold its buffers, the CPU first.
    const std::vector<Device>& devices() const noexcept { return devices_; }
    /// Peak size of each device's arena over all legal sizes.
    const program::PeakMemory& peak(Device device = Device::cpu) const noexcept { return *peaks_.find(device); }
    types::PerDevice<std::int64_t> peak_bytes() const;
    /// Writes of a run to rows of a state that were live before it: they cannot be undone.
    const std::vector<Overwrite>& overwrites() const noexcept { return overwrites_; }

private:
    int expression(const Dim& dim);
    int entries(const std::vector<Dim>& dims);
    LinkedInstruction link(const program::Instruction& instruction, const Context& context, CompiledCodes& codes,
                           std::string& missing);
    LinkedOperand operand(const program::View& view, const TensorDesc& desc);
    int overwritten_state(const program::View& view) const;
    const std::shared_ptr<const void>& prepared(const Kernel& kernel, const program::Instruction& instruction,
                                                const Context& context);

    const program::Program* program_;
    std::vector<Device> devices_, storage_devices_;
    types::PerDevice<program::PeakMemory> peaks_;
    std::vector<Dim> expressions_;
    std::unordered_multimap<std::size_t, int> expression_at_;  // by hash
    std::map<std::vector<int>, int> entries_at_;
    std::map<std::pair<const Kernel*, const Problem*>, std::shared_ptr<const void>> prepared_;
    std::vector<int> table_, storage_bytes_;
    std::vector<LinkedOperand> operands_, outputs_;
    std::vector<std::pair<int, int>> state_lengths_;
    std::vector<Overwrite> overwrites_;
    std::vector<LinkedInstruction> run_, bind_;
};

}  // namespace cairn::runtime
