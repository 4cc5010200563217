#include "program/verify_sizes.hpp"

#include "program/nonnegative.hpp"
#include "program/view_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::program {
namespace {

// Sums of a few sizes below this fit 64 bits.
constexpr std::int64_t max_bytes = std::int64_t{1} << 60;

class SizeVerifier {
public:
    explicit SizeVerifier(const Program& program) : program_(program), prover_(program) {}

    std::string check() {
        for (std::size_t b = 0; b < program_.buffers.size(); ++b) check_buffer(static_cast<int>(b));
        for (const StatePort& state : program_.states) check_state(state);
        for (const auto& [section, instructions] : {std::pair{"bind", &program_.bind}, std::pair{"run", &program_.run}})
            for (std::size_t i = 0; i < instructions->size(); ++i) {
                const Instruction& instruction = (*instructions)[i];
                const std::string where = fmt::format("{} instruction {} ({})", section, i, instruction.kernel);
                for (std::size_t k = 0; k < instruction.inputs.size(); ++k)
                    check_view(instruction.inputs[k], instruction.problem->inputs[k], where);
                for (std::size_t k = 0; k < instruction.outputs.size(); ++k)
                    check_view(instruction.outputs[k], instruction.problem->outputs[k], where);
                if (section == std::string_view("bind")) check_fixed(instruction, where);
            }
        for (const Port& port : program_.inputs) {
            if (!(port.view.offset == Dim(0)) || port.desc != buffer(port.view.buffer).desc)
                fault("input {} is not all of its buffer", port.name);
        }
        for (const Port& port : program_.outputs) {
            if (!port.desc.layout.empty() || !port.desc.is_dense()) fault("output {} is not dense", port.name);
            check_view(port.view, port.desc, fmt::format("output {}", port.name));
        }
        for (std::size_t s = 0; s < program_.plan.storages.size(); ++s)
            for (const int b : program_.plan.storages[s].buffers)
                require(program_.plan.storages[s].bytes - buffer(b).bytes, "storage {} may be smaller than buffer {}",
                        s, b);
        return fault_;
    }

private:
    template <typename... A>
    void fault(fmt::format_string<A...> text, A&&... values) {
        if (fault_.empty()) fault_ = fmt::format(text, std::forward<A>(values)...);
    }

    template <typename... A>
    void require(const Dim& nonnegative, fmt::format_string<A...> text, A&&... values) {
        if (!proved(nonnegative)) fault(text, std::forward<A>(values)...);
    }

    const Buffer& buffer(int b) const { return program_.buffers[static_cast<std::size_t>(b)]; }

    bool proved(const Dim& size) { return prover_.proved(size); }

    void check_buffer(int b) {
        const Buffer& made = buffer(b);
        const std::string name = fmt::format("buffer {} ({})", b, to_string(made.kind));
        check_desc(made.desc, name);
        require(made.bytes, "{} may have a negative size", name);
        if (made.bytes.upper_bound() > max_bytes) fault("{} may have {} bytes", name, made.bytes.upper_bound());
        if (!made.desc.is_dense() && made.desc.layout.empty()) fault("{} is not dense", name);
        const bool plain = made.desc.layout.empty();
        const bool may_have_layout = made.kind == BufferKind::bound || made.kind == BufferKind::transient;
        if (!plain && !may_have_layout) fault("{} is in the layout {}", name, made.desc.layout);
        if (plain && !(made.bytes == element_count(made.desc.shape) * Dim(size_of(made.desc.dtype))))
            fault("{} has {} bytes for {}", name, cairn::to_string(made.bytes), cairn::to_string(made.desc));
        const bool in_arena = made.kind == BufferKind::transient || made.kind == BufferKind::output ||
                              made.kind == BufferKind::workspace || made.kind == BufferKind::input;
        const bool fixed = std::all_of(made.desc.shape.begin(), made.desc.shape.end(),
                                       [](const Dim& size) { return size.is_constant(); });
        if (!in_arena && !(fixed && made.bytes.is_constant())) fault("{} has no fixed size", name);
        if (made.kind == BufferKind::constant && static_cast<std::int64_t>(made.data.size()) != made.bytes.constant())
            fault("{} holds {} bytes, not {}", name, made.data.size(), made.bytes.constant());
    }

    void check_desc(const TensorDesc& desc, const std::string& where) {
        if (desc.strides.size() != desc.shape.size())
            return fault("{} has {} sizes and {} strides", where, desc.shape.size(), desc.strides.size());
        for (const auto* sizes : {&desc.shape, &desc.strides})
            for (const Dim& size : *sizes)
                if (!proved(size)) fault("{} may have the negative size or stride {}", where, cairn::to_string(size));
    }

    void check_state(const StatePort& state) {
        check_desc(state.live, "state " + state.name);
        if (state.axis < 0) return;
        const Dim& capacity = buffer(state.buffer).desc.shape[static_cast<std::size_t>(state.axis)];
        if (state.before.symbol().empty()) fault("the length of state {} is not a symbol", state.name);
        require(state.after, "state {} may have a negative length", state.name);
        require(capacity, "state {} may have a negative capacity", state.name);
    }

    /// Bind instructions must not depend on symbols.
    void check_fixed(const Instruction& instruction, const std::string& where) {
        const auto is_fixed = [](const std::vector<Dim>& sizes) {
            return std::all_of(sizes.begin(), sizes.end(), [](const Dim& size) { return size.is_constant(); });
        };
        bool fixed = symbols_of(*instruction.problem) == nullptr;
        for (const auto* views : {&instruction.inputs, &instruction.outputs})
            for (const View& view : *views) fixed = fixed && is_fixed({view.offset});
        if (instruction.workspace >= 0) fixed = fixed && is_fixed({buffer(instruction.workspace).bytes});
        if (!fixed) fault("{} depends on sizes of a run", where);
    }

    void check_view(const View& view, const TensorDesc& desc, const std::string& where) {
        const Buffer& memory = buffer(view.buffer);
        if (desc.dtype != memory.desc.dtype)
            fault("{} views buffer {} of {} as {}", where, view.buffer, to_string(memory.desc.dtype),
                  to_string(desc.dtype));
        check_desc(desc, where);
        const ViewRegion region{view.offset, desc.shape, desc.strides, memory.desc.shape};
        if (!begins_within(region, prover_)) fault("{} may access memory before buffer {}", where, view.buffer);
        if (desc.layout.empty() != memory.desc.layout.empty())
            return fault("{} views buffer {}: one of them is in a layout", where, view.buffer);
        if (!desc.layout.empty()) {
            if (!(view.offset == Dim(0)))
                fault("{} views a part of buffer {}, which is in a layout", where, view.buffer);
            return;
        }
        if (!fault_.empty()) return;
        if (view.offset == Dim(0) && desc.shape == memory.desc.shape && desc.strides == memory.desc.strides) return;
        if (std::find(desc.shape.begin(), desc.shape.end(), Dim(0)) != desc.shape.end()) return;
        // For states usually only this proof succeeds, so it is tried first.
        if ((memory.kind == BufferKind::state && ends_within_state(region, view.buffer)) ||
            ends_within(region, prover_))
            return;
        Dim end = view.offset + 1;
        for (std::size_t axis = 0; axis < desc.shape.size(); ++axis)
            end = end + (desc.shape[axis] - 1) * desc.strides[axis];
        fault("{} may access memory after buffer {}: {} of {} elements", where, view.buffer, cairn::to_string(end),
              cairn::to_string(element_count(memory.desc.shape)));
    }

    /// As ends_within, with the free rows of a state as slack: a run starts only if every state has room.
    bool ends_within_state(const ViewRegion& region, int memory) {
        return std::any_of(program_.states.begin(), program_.states.end(), [&](const StatePort& state) {
            if (state.buffer != memory || state.axis < 0) return false;
            const TensorDesc& desc = buffer(memory).desc;
            const auto axis = static_cast<std::size_t>(state.axis);
            return ends_within(region, prover_, desc.shape[axis] - state.after, desc.strides[axis]);
        });
    }

    const Program& program_;
    NonnegativeProver prover_;
    std::string fault_;
};

}  // namespace

std::string verify_sizes(const Program& program) {
    try {
        return SizeVerifier(program).check();
    } catch (const Error& error) { return error.what(); }
}

}  // namespace cairn::program
