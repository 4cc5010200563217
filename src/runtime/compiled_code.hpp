#pragma once

#include "cairn/kernel.hpp"
#include "device/context_impl.hpp"
#include "device/device_code.hpp"
#include "program/program.hpp"
#include "runtime/program_binaries.hpp"

#include <map>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace cairn::runtime {

/// A kernel that is code for a device, compiled for one Problem.
struct CompiledCode {
    std::shared_ptr<const void> code;  ///< of Backend::compile
    std::vector<Dim> grid;             ///< blocks along each axis
};

/// The compiled code of all instructions of some programs whose kernels have code. Equal calls are compiled once, and
/// the texts of a device together.
class CompiledCodes {
public:
    /// Adds an instruction's kernel; one without code is ignored. Throws InternalError for a Problem whose symbols are
    /// not those of its program, which the code reads by number.
    void add(const Kernel& kernel, const std::shared_ptr<const Problem>& problem, const Symbols* symbols);
    /// Compiles what was added, on the threads of the context, unless the file of `binaries` has it, and adds to them
    /// what it uses (null: neither). Throws as Backend::compile does.
    void compile(const Context::Impl& context, ProgramBinaries* binaries, const std::stop_token& stop = {});
    /// The code of a kernel for a Problem; null if the kernel has none.
    const CompiledCode* find(const Kernel& kernel, const Problem& problem) const;

private:
    using Call = std::pair<const Kernel*, const Problem*>;
    struct Entry {
        std::shared_ptr<const Problem> problem;
        CompiledCode compiled;
    };
    std::map<Call, Entry> entries_;
};

}  // namespace cairn::runtime
