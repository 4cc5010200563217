#include "program/program.hpp"

#include "program/verify_sizes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <vector>

namespace cairn::program {
namespace {

class Verifier {
public:
    explicit Verifier(const Program& program) : program_(program), written_(program.buffers.size(), false) {}

    std::string check() {
        for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
            const BufferKind kind = program_.buffers[b].kind;
            written_[b] = kind == BufferKind::weight || kind == BufferKind::constant || kind == BufferKind::state ||
                          kind == BufferKind::input;
            const bool is_hosts = kind == BufferKind::weight || kind == BufferKind::constant;
            if (is_hosts && program_.buffers[b].device != Device::cpu)
                fault("buffer {}, given by the host, is on {}", b, cairn::to_string(program_.buffers[b].device));
        }
        check_section("bind", program_.bind, true);
        check_section("run", program_.run, false);
        check_ports();
        check_states();
        check_plan();
        if (fault_.empty() && !program_.plan.storages.empty()) check_storages();
        if (fault_.empty()) check_disjoint();
        return fault_.empty() ? verify_sizes(program_) : fault_;
    }

private:
    template <typename... A>
    void fault(fmt::format_string<A...> text, A&&... values) {
        if (fault_.empty()) fault_ = fmt::format(text, std::forward<A>(values)...);
    }

    const Buffer& buffer(int b) const { return program_.buffers[static_cast<std::size_t>(b)]; }
    bool is_written(int b) const { return written_[static_cast<std::size_t>(b)]; }

    bool valid(int b, std::string_view where) {
        if (b >= 0 && b < static_cast<int>(program_.buffers.size())) return true;
        fault("{} names buffer {}, of {}", where, b, program_.buffers.size());
        return false;
    }

    void check_section(std::string_view section, const std::vector<Instruction>& instructions, bool bind) {
        for (std::size_t i = 0; i < instructions.size(); ++i) {
            const Instruction& instruction = instructions[i];
            const std::string where = fmt::format("{} instruction {} ({})", section, i, instruction.kernel);
            if (instruction.inputs.size() != instruction.problem->inputs.size() ||
                instruction.outputs.size() != instruction.problem->outputs.size())
                fault("{}: views and problem differ in number", where);
            if (instruction.outputs.empty()) fault("{} writes nothing", where);
            if (!(instruction.seconds >= 0 && std::isfinite(instruction.seconds)))
                fault("{} has the expected time {} s", where, instruction.seconds);
            for (const View& view : instruction.inputs) {
                if (!valid(view.buffer, where)) return;
                if (!is_written(view.buffer)) fault("{} reads buffer {} before it is written", where, view.buffer);
                const BufferKind kind = buffer(view.buffer).kind;
                if (bind && kind != BufferKind::weight && kind != BufferKind::constant && kind != BufferKind::bound)
                    fault("{} reads buffer {}, which is not a weight", where, view.buffer);
            }
            for (const View& view : instruction.outputs) {
                if (!valid(view.buffer, where)) return;
                const BufferKind kind = buffer(view.buffer).kind;
                const bool right =
                    bind ? kind == BufferKind::bound
                         : kind == BufferKind::transient || kind == BufferKind::output || kind == BufferKind::state;
                if (!right) fault("{} writes a buffer of kind {}", where, to_string(kind));
                if (kind != BufferKind::state && is_written(view.buffer))
                    fault("{} writes buffer {} a second time", where, view.buffer);
                written_[static_cast<std::size_t>(view.buffer)] = true;
            }
            if (instruction.workspace != -1 && valid(instruction.workspace, where) &&
                buffer(instruction.workspace).kind != BufferKind::workspace)
                fault("{}: buffer {} is not a workspace", where, instruction.workspace);
            check_devices(instruction, where);
        }
    }

    /// All buffers of an instruction are on one device, except for copies to another device.
    void check_devices(const Instruction& instruction, const std::string& where) {
        if (!fault_.empty() || instruction.problem->definition == "copy_to") return;
        const Device device = buffer(instruction.outputs[0].buffer).device;
        const auto check = [&](int b) {
            if (buffer(b).device != device)
                fault("{} uses buffer {} on {} but writes on {}", where, b, cairn::to_string(buffer(b).device),
                      cairn::to_string(device));
        };
        for (const auto* views : {&instruction.inputs, &instruction.outputs})
            for (const View& view : *views) check(view.buffer);
        if (instruction.workspace != -1) check(instruction.workspace);
    }

    /// Every input buffer belongs to exactly one port; output names are unique.
    void check_ports() {
        std::vector<int> ports(program_.buffers.size(), 0);
        std::set<std::string_view> names;
        for (const Port& port : program_.inputs) {
            if (!valid(port.view.buffer, "an input port")) return;
            const Buffer& memory = buffer(port.view.buffer);
            if (memory.kind != BufferKind::input || memory.name != port.name)
                fault("input {} has buffer {} of another kind or name", port.name, port.view.buffer);
            ++ports[static_cast<std::size_t>(port.view.buffer)];
        }
        for (std::size_t b = 0; b < ports.size(); ++b)
            if (ports[b] != (program_.buffers[b].kind == BufferKind::input ? 1 : 0))
                fault("buffer {} has {} input ports", b, ports[b]);
        for (const Port& port : program_.outputs) {
            if (!valid(port.view.buffer, "an output port")) return;
            if (!is_written(port.view.buffer)) fault("output {} is never written", port.name);
            if (!names.insert(port.name).second) fault("two outputs are called {}", port.name);
        }
    }

    void check_state(const StatePort& state) {
        const Buffer& memory = buffer(state.buffer);
        if (memory.kind != BufferKind::state || memory.name != state.name)
            fault("state {} has buffer {} of another kind or name", state.name, state.buffer);
        const auto rank = static_cast<int>(memory.desc.shape.size());
        if (state.axis < -1 || state.axis >= rank || !memory.desc.layout.empty())
            return fault("state {} has no axis {}", state.name, state.axis);
        if (static_cast<int>(state.live.shape.size()) != rank ||
            !(state.live.dtype == memory.desc.dtype || is_widening(memory.desc.dtype, state.live.dtype)))
            return fault("the live part of state {} is not of its memory's rank or dtype", state.name);
        if (!memory.data.empty() && (state.axis >= 0 || !(memory.bytes == Dim(memory.data.size()))))
            fault("state {} of {} bytes begins with {}", state.name, cairn::to_string(memory.bytes),
                  memory.data.size());
        for (int axis = 0; axis < rank; ++axis) {
            const auto i = static_cast<std::size_t>(axis);
            const bool right = axis == state.axis ? state.live.shape[i] == state.before
                                                  : provably_le(state.live.shape[i], memory.desc.shape[i]);
            if (!right) fault("state {} has a live part that does not fit on axis {}", state.name, axis);
        }
    }

    /// Every state buffer is the memory of exactly one state.
    void check_states() {
        std::vector<int> ports(program_.buffers.size(), 0);
        for (const StatePort& state : program_.states) {
            if (!valid(state.buffer, "a state")) return;
            check_state(state);
            ++ports[static_cast<std::size_t>(state.buffer)];
        }
        for (std::size_t b = 0; b < ports.size(); ++b)
            if (ports[b] != (program_.buffers[b].kind == BufferKind::state ? 1 : 0))
                fault("buffer {} is the memory of {} states", b, ports[b]);
    }

    void check_plan() {
        const MemoryPlan& plan = program_.plan;
        const int count = static_cast<int>(plan.storages.size());
        if (plan.order.size() != plan.storages.size())
            fault("the plan orders {} of {} storages", plan.order.size(), count);
        std::vector<bool> placed(plan.storages.size(), false);
        for (const int s : plan.order) {
            if (s < 0 || s >= count || placed[static_cast<std::size_t>(s)])
                return fault("the plan's order is not a permutation");
            if (plan.storages[static_cast<std::size_t>(s)].buffers.empty()) return fault("storage {} has no buffer", s);
            for (const int below : plan.storages[static_cast<std::size_t>(s)].below)
                if (below < 0 || below >= count || !placed[static_cast<std::size_t>(below)])
                    return fault("storage {} is ordered before a storage below it", s);
            placed[static_cast<std::size_t>(s)] = true;
        }
        std::vector<int> listed(program_.buffers.size(), 0);
        for (std::size_t s = 0; s < plan.storages.size(); ++s) {
            const Storage& storage = plan.storages[s];
            if (storage.first < 0 || storage.first > storage.last ||
                storage.last > static_cast<int>(program_.run.size()))
                fault("storage {} has the live interval {} to {}", s, storage.first, storage.last);
            for (const int b : storage.buffers) {
                if (!valid(b, "a storage")) return;
                if (buffer(b).storage != static_cast<int>(s)) fault("buffer {} is not in storage {}", b, s);
                ++listed[static_cast<std::size_t>(b)];
            }
            if (!fault_.empty()) return;
            const Device device = device_of(program_, storage);
            for (const int b : storage.buffers)
                if (buffer(b).device != device)
                    fault("storage {} has buffers on {} and {}", s, cairn::to_string(device),
                          cairn::to_string(buffer(b).device));
        }
        for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
            const Buffer& made = program_.buffers[b];
            if (made.storage < -1 || made.storage >= count)
                return fault("buffer {} has storage {}, of {}", b, made.storage, count);
            if (listed[b] != (made.storage >= 0 ? 1 : 0)) fault("buffer {} is listed by {} storages", b, listed[b]);
            if (made.storage >= 0 && !in_arena(made)) fault("a {} is in the arena", to_string(made.kind));
        }
    }

    static bool in_arena(const Buffer& buffer) {
        return buffer.kind == BufferKind::transient || buffer.kind == BufferKind::output ||
               buffer.kind == BufferKind::workspace;
    }

    /// Any two storages of one device that are live at the same time are ordered by "below", hence disjoint at every
    /// size; storages of different devices are not.
    void check_disjoint() {
        const MemoryPlan& plan = program_.plan;
        const std::size_t count = plan.storages.size(), words = (count + 63) / 64;
        std::vector<std::uint64_t> below(count * words, 0);
        for (std::size_t p = 0; p < count; ++p) {
            const auto s = static_cast<std::size_t>(plan.order[p]);
            std::uint64_t* const mine = below.data() + s * words;
            const Device device = device_of(program_, plan.storages[s]);
            for (const int lower : plan.storages[s].below) {
                const auto l = static_cast<std::size_t>(lower);
                for (std::size_t w = 0; w < words; ++w) mine[w] |= below[l * words + w];
                mine[l / 64] |= std::uint64_t{1} << (l % 64);
                if (device_of(program_, plan.storages[l]) != device)
                    return fault("storage {} is below storage {} of another device", l, s);
            }
            // Storages later in the order cannot be below this one, so each pair is checked once, from the upper one.
            for (std::size_t q = 0; q < p; ++q) {
                const auto other = static_cast<std::size_t>(plan.order[q]);
                const Storage &a = plan.storages[s], &b = plan.storages[other];
                const bool together = a.first <= b.last && b.first <= a.last && device_of(program_, b) == device;
                if (together && (mine[other / 64] >> (other % 64) & 1) == 0)
                    return fault("storages {} and {} are live at once and neither is below the other", other, s);
            }
        }
    }

    /// Simulates a run on the storages: each is used only within its live interval, and read only for the buffer that
    /// was written last.
    void check_storages() {
        std::vector<int> owner(program_.plan.storages.size(), -1);
        const auto storage_of = [&](int b, std::size_t at) -> int {
            const int s = buffer(b).storage;
            if (s < 0) {
                if (in_arena(buffer(b))) fault("buffer {} is used by instruction {} but has no storage", b, at);
                return -1;
            }
            const Storage& storage = program_.plan.storages[static_cast<std::size_t>(s)];
            if (static_cast<int>(at) < storage.first || static_cast<int>(at) > storage.last)
                fault("instruction {} uses storage {}, which is live from {} to {}", at, s, storage.first,
                      storage.last);
            return s;
        };
        const auto read = [&](int b, std::size_t at) {
            if (const int s = storage_of(b, at); s >= 0 && owner[static_cast<std::size_t>(s)] != b)
                fault("instruction {} reads buffer {} where buffer {} was written", at, b,
                      owner[static_cast<std::size_t>(s)]);
        };
        for (std::size_t i = 0; i < program_.run.size(); ++i) {
            for (const View& view : program_.run[i].inputs) read(view.buffer, i);
            if (const int w = program_.run[i].workspace; w >= 0)
                if (const int s = storage_of(w, i); s >= 0) owner[static_cast<std::size_t>(s)] = w;
            for (const View& view : program_.run[i].outputs)
                if (const int s = storage_of(view.buffer, i); s >= 0) owner[static_cast<std::size_t>(s)] = view.buffer;
        }
        for (const Port& port : program_.outputs) read(port.view.buffer, program_.run.size());
    }

    const Program& program_;
    std::vector<bool> written_;
    std::string fault_;
};

}  // namespace

std::string verify(const Program& program) { return Verifier(program).check(); }

}  // namespace cairn::program
