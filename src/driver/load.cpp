#include "driver/load.hpp"

#include "fusion/image_matches.hpp"
#include "fusion/pattern.hpp"
#include "graph/ir/op_table.hpp"
#include "graph/ir/problem_graph.hpp"
#include "graph/types/layouts.hpp"
#include "graph/types/workspace_bytes.hpp"
#include "program/nonnegative.hpp"
#include "runtime/compiled_graph.hpp"
#include "runtime/digest_line.hpp"
#include "runtime/file_io.hpp"
#include "runtime/kernel_binary_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

// A file with a valid digest may still contain anything. What a run relies on is checked here, once. program::verify
// and runtime::verify_set check the programs themselves; the code below checks them against the kernels.
namespace cairn::inline v0 {
namespace {

using program::Buffer;
using program::Instruction;
using program::Program;

[[noreturn]] void refuse(const Instruction& instruction, std::string_view text) {
    throw Error(ErrorKind::argument, "program",
                fmt::format("{} {}: {}", instruction.kernel, text, to_string(*instruction.problem)));
}

/// Checks pairs of a kernel and a Problem, independently of the program. Each pair is checked once, because the layers
/// of a model are alike.
class ProblemChecker {
public:
    explicit ProblemChecker(const Context::Impl& context) : context_(context) {}

    void check(const Instruction& instruction, const Kernel& kernel) {
        const std::pair pair{&kernel, instruction.problem.get()};
        if (known_.contains(pair)) return;
        if (kernel.definition != instruction.problem->definition) refuse(instruction, "is no kernel for");
        check_definition(instruction);
        if (const Refusal refusal = kernel.accepts(*instruction.problem); !refusal.empty())
            refuse(instruction, "refuses (" + refusal + ")");
        known_.insert(pair);
    }

private:
    /// Checks that the problem is valid for its definition: operands, attributes and results are consistent.
    void check_definition(const Instruction& instruction) const {
        const Problem& problem = *instruction.problem;
        if (problem.definition == "copy" || problem.definition == "pack") {
            const bool alike = problem.inputs.size() == 1 && problem.outputs.size() == 1 &&
                               problem.attributes.empty() && problem.inputs[0].dtype == problem.outputs[0].dtype &&
                               problem.inputs[0].shape == problem.outputs[0].shape;
            if (!alike) refuse(instruction, "has operands that do not match");
            return;
        }
        check_attributes(instruction);
        const Graph reference = ir::problem_graph(problem, context_.kernels.definitions);
        const auto& outputs = reference.data()->outputs();
        bool same = outputs.size() == problem.outputs.size();
        for (std::size_t o = 0; same && o < outputs.size(); ++o) {
            const ir::Node& node = reference.data()->node(outputs[o].node);
            same = node.dtype == problem.outputs[o].dtype && node.shape == problem.outputs[o].shape;
        }
        if (!same) refuse(instruction, "has results that do not match the definition in");
    }

    /// Kernels find attributes by position.
    void check_attributes(const Instruction& instruction) const {
        const Problem& problem = *instruction.problem;
        if (problem.definition == "fused") {
            const auto fused = parts_of_fused(problem);
            if (!fused || !has_attributes_of(fused->product.definition, fused->product.attributes))
                refuse(instruction, "has the attributes of no pattern in");
            return;
        }
        if (problem.definition == "elementwise") {
            if (!problem.attributes.empty()) refuse(instruction, "has attributes in");
            return;
        }
        if (has_attributes_of(problem.definition, problem.attributes)) return;
        const bool is_op = ir::find_op(problem.definition).has_value();
        refuse(instruction, is_op ? "has other attributes than" : "has the attributes of no pattern in");
    }

    bool has_attributes_of(const std::string& name, std::span<const Attribute> attributes) const {
        if (const auto op = ir::find_op(name))
            return std::ranges::equal(attributes, ir::info(*op).attributes, {}, &Attribute::name);
        const Definition* const definition = definition_of(name);
        if (definition == nullptr) return false;
        if (!definition->windowed_definition.empty()) {
            const std::size_t more = fusion::image_attributes.size();
            return attributes.size() >= more &&
                   std::ranges::equal(attributes.last(more), fusion::image_attributes, {}, &Attribute::name) &&
                   has_attributes_of(definition->windowed_definition, attributes.first(attributes.size() - more));
        }
        for (const std::string& pattern : definition->patterns)
            for (const std::string& text : fusion::problems_of(pattern)) {
                const std::string_view head = std::string_view(text).substr(0, text.find('|') + 1);
                const auto symbols = Symbols::create();
                if (std::ranges::equal(attributes, parse_problem(head, *symbols).attributes, {}, &Attribute::name,
                                       &Attribute::name))
                    return true;
            }
        return false;
    }

    const Definition* definition_of(const std::string& name) const {
        const auto& all = context_.kernels.definitions;
        const auto it = std::find_if(all.begin(), all.end(), [&](const Definition& d) { return d.name == name; });
        return it == all.end() ? nullptr : &*it;
    }

    const Context::Impl& context_;
    std::set<std::pair<const Kernel*, const Problem*>> known_;
};

/// Checks the instructions of one program against their kernels. Throws Error(argument).
class InstructionChecker {
public:
    InstructionChecker(const Program& program, const Context::Impl& context, ProblemChecker& problems)
        : program_(program), context_(context), problems_(problems) {}

    void check() {
        for (const auto* section : {&program_.bind, &program_.run})
            for (const Instruction& instruction : *section) check(instruction);
    }

private:
    const Buffer& buffer(int b) const { return program_.buffers[static_cast<std::size_t>(b)]; }

    void check(const Instruction& instruction) const {
        const Kernel* kernel = context_.find(instruction.kernel);
        // Linking reports all missing kernels at once.
        if (kernel == nullptr || !context_.features.includes(kernel->needs)) return;
        check_device(instruction, *kernel);
        problems_.check(instruction, *kernel);
        check_layouts(instruction);
        check_workspace(instruction, *kernel);
        check_in_place(instruction, *kernel);
    }

    /// Copies between devices run on the device that is not the CPU.
    void check_device(const Instruction& instruction, const Kernel& kernel) const {
        if (!has_device(context_.kernels.devices, kernel.device))
            refuse(instruction, "is no kernel for a device of this context");
        const auto on = [&](const program::View& view) { return buffer(view.buffer).device; };
        bool is_touched = false;
        for (const auto* views : {&instruction.inputs, &instruction.outputs})
            for (const program::View& view : *views) is_touched = is_touched || on(view) == kernel.device;
        if (!is_touched || (instruction.workspace >= 0 && buffer(instruction.workspace).device != kernel.device))
            refuse(instruction, "runs on a device without the operands of");
    }

    /// The layout determines the contents of an operand.
    void check_layouts(const Instruction& instruction) const {
        const Problem& problem = *instruction.problem;
        for (const auto& [descs, views] :
             {std::pair{&problem.inputs, &instruction.inputs}, std::pair{&problem.outputs, &instruction.outputs}})
            for (std::size_t i = 0; i < descs->size(); ++i)
                if (!(*descs)[i].layout.empty()) check_layout(instruction, (*descs)[i], (*views)[i].buffer);
    }

    void check_layout(const Instruction& instruction, const TensorDesc& packed, int at) const {
        const Buffer& memory = buffer(at);
        const bool is_bound = memory.kind == program::BufferKind::bound;
        for (const Layout& layout : context_.kernels.layouts) {
            if (!types::is_layout(layout, packed.layout) || is_bound == layout.is_computed) continue;
            if (is_bound && packed.shape.size() != 2) break;
            const TensorDesc stored = types::stored_tensor(layout, packed);
            const bool same = memory.desc.layout == (is_bound ? layout.name : packed.layout) &&
                              memory.desc.shape == stored.shape && memory.bytes == layout.bytes(stored);
            if (same) return;
        }
        refuse(instruction, fmt::format("finds {} where it wants {} in", to_string(memory.desc), to_string(packed)));
    }

    void check_workspace(const Instruction& instruction, const Kernel& kernel) const {
        const Dim wanted = types::workspace_bytes(kernel, *instruction.problem, program_.threads);
        if (wanted == Dim(0)) return;
        if (instruction.workspace < 0 ||
            !program::is_nonnegative(buffer(instruction.workspace).bytes - wanted, program_))
            refuse(instruction, fmt::format("has too little workspace ({} bytes are wanted) for", to_string(wanted)));
    }

    /// Two operands may share storage only if the kernel permits it.
    void check_in_place(const Instruction& instruction, const Kernel& kernel) const {
        const auto storage = [&](int b) { return b < 0 ? -1 : buffer(b).storage; };
        for (std::size_t o = 0; o < instruction.outputs.size(); ++o) {
            const int written = storage(instruction.outputs[o].buffer);
            if (written < 0) continue;
            bool shared = storage(instruction.workspace) == written;
            for (std::size_t other = 0; other < o; ++other)
                shared = shared || storage(instruction.outputs[other].buffer) == written;
            for (std::size_t i = 0; i < instruction.inputs.size(); ++i) {
                if (storage(instruction.inputs[i].buffer) != written) continue;
                const TensorDesc &from = instruction.problem->inputs[i], &to = instruction.problem->outputs[o];
                const bool is_declared =
                    std::any_of(kernel.in_place.begin(), kernel.in_place.end(), [&](const InPlace& pair) {
                        return pair.input == static_cast<int>(i) && pair.output == static_cast<int>(o);
                    });
                shared = shared || !is_declared || from.dtype != to.dtype || from.shape != to.shape ||
                         from.strides != to.strides || !(instruction.inputs[i].offset == instruction.outputs[o].offset);
            }
            if (shared) refuse(instruction, "writes into the memory of another operand of");
        }
    }

    const Program& program_;
    const Context::Impl& context_;
    ProblemChecker& problems_;
};

}  // namespace

CompiledGraph CompiledGraph::load(const std::filesystem::path& path, const Context& context) {
    context.impl();  // checked first: a moved-from Context is not an error of the file
    return driver::load_text(driver::read_saved(path), path, context);
}

}  // namespace cairn::inline v0

namespace cairn::driver {
namespace {

/// Logs that a file does not hold the machine code that its programs use.
void report_missing_code(const runtime::ProgramBinaries& binaries, const std::filesystem::path& path,
                         const Context::Impl& context) {
    if (binaries.matches_file()) return;
    context.log(LogLevel::info, fmt::format("{} holds no machine code of {} kernels for this device{}", path.string(),
                                            binaries.missing(), binaries.is_damaged() ? ": a part is damaged" : ""));
}

}  // namespace

std::string read_saved(const std::filesystem::path& path) {
    return runtime::read_file(path, "load", "the compiled graph");
}

CompiledGraph load_text(const std::string& text, const std::filesystem::path& path, const Context& context) {
    const Context::Impl& impl = *context.impl();
    const runtime::SavedText saved = runtime::parts_of_saved(text);
    if (!runtime::has_valid_digest(saved.programs))
        throw Error(ErrorKind::file, "load",
                    path.string() + " is damaged or not a compiled graph: its digest does not match");
    const auto refuse = [&](const char* reason) -> Error {
        return {ErrorKind::file, "load", path.string() + ": " + reason};
    };
    runtime::ProgramSet set;
    try {
        set = runtime::parse_program_set(runtime::without_digest_line(saved.programs));
        ProblemChecker problems(impl);
        for (const runtime::BucketProgram& bucket : set.buckets) {
            InstructionChecker(bucket.program, impl, problems).check();
            if (bucket.exact) InstructionChecker(*bucket.exact, impl, problems).check();
        }
    } catch (const std::exception& error) { throw refuse(error.what()); }
    runtime::ParsedBinaries code = runtime::parse_kernel_binaries(saved.code);
    set.binaries = runtime::ProgramBinaries(std::move(code.binaries), code.is_damaged);
    try {
        CompiledGraph loaded = runtime::make_compiled_graph(context, std::move(set));
        report_missing_code(runtime::binaries_of(loaded), path, impl);
        return loaded;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::graph) throw;
        throw refuse(error.what());  // sizes that do not fit into 64 bits
    }
}

}  // namespace cairn::driver
