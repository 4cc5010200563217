#include "runtime/states.hpp"

#include "graph/types/convert_floats.hpp"
#include "graph/types/element_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cairn::runtime {
namespace {

using program::StatePort;

bool grows_with(const StatePort& port, std::string_view symbol) {
    return port.axis >= 0 && port.before.symbol() == symbol;
}

/// Values of the symbols that state ports use, in their order, from these sizes of the graph.
std::vector<std::int64_t> port_values(const Instance& instance, const std::vector<SizeSlot>& sizes) {
    std::vector<std::int64_t> values;
    for (const int position : instance.executable->symbol_of[0])
        values.push_back(sizes[static_cast<std::size_t>(position)].value);
    return values;
}

std::string type_text(const StatePort& port, const std::vector<std::int64_t>& shape) {
    return to_string(port.live.dtype, Shape(shape.begin(), shape.end()));
}

/// Largest value of a size. A length may fill the whole capacity, though a run needs room for more.
std::int64_t max_length_of(const Instance& instance, const SizeSlot& slot) {
    std::int64_t most = slot.high;
    bool is_length = false;
    for (const StateSlot& state : instance.states)
        if (grows_with(state.port(), slot.name)) {
            most = is_length ? std::min(most, state.capacity()) : state.capacity();
            is_length = true;
        }
    return most;
}

void assign_size(SizeSlot& slot, std::int64_t value) {
    slot.value = value;
    slot.set = true;
    slot.derived = false;
    slot.input = -1;
}

/// Sets the bare symbols of a state's shape from its contents. Returns the fault, if any.
std::string assign_sizes(const Instance& instance, const StateContents& contents, std::vector<SizeSlot>& sizes,
                         std::vector<bool>& is_set) {
    const StatePort& port = instance.states[contents.state].port();
    const Shape& live = port.live.shape;
    const std::string begin =
        fmt::format("state \"{}\" is {}, got {}", port.name, to_string(port.live), type_text(port, contents.shape));
    if (contents.shape.size() != live.size()) return begin;
    for (std::size_t axis = 0; axis < live.size(); ++axis) {
        const std::int64_t given = contents.shape[axis];
        if (live[axis].is_constant() && live[axis].constant() != given) return begin;
        for (std::size_t s = 0; s < sizes.size(); ++s) {
            if (sizes[s].name != live[axis].symbol()) continue;
            if (is_set[s] && sizes[s].value != given)
                return fmt::format("{}: {} is {} in another state", begin, sizes[s].name, sizes[s].value);
            const std::int64_t most = max_length_of(instance, sizes[s]);
            if (given < sizes[s].low || given > most)
                return fmt::format("{}: {} = {} is not in {}..{}", begin, sizes[s].name, given, sizes[s].low, most);
            assign_size(sizes[s], given);
            is_set[s] = true;
        }
    }
    return {};
}

/// Solves for the symbols that the other sizes of the contents determine, after the bare ones. A symbol with several
/// solutions keeps its value. Returns the fault, if any.
std::string solve_sizes(const Instance& instance, const std::vector<StateContents>& contents,
                        std::vector<SizeSlot>& sizes, const std::vector<bool>& is_set) {
    const std::vector<int>& positions = instance.executable->symbol_of[0];
    std::vector<Symbols::Symbol> symbols;
    std::size_t axes = 0;
    for (const int position : positions) {
        const SizeSlot& slot = sizes[static_cast<std::size_t>(position)];
        symbols.push_back({slot.name, slot.low, slot.high});
    }
    for (const StateContents& each : contents) axes += each.shape.size();
    SizeSolver solver(std::move(symbols), axes);
    for (std::size_t s = 0; s < positions.size(); ++s) {
        const auto position = static_cast<std::size_t>(positions[s]);
        const SizeSlot& slot = sizes[position];
        if (is_set[position] || slot.is_state_length || slot.low == slot.high) solver.set_known(s, slot.value);
    }
    for (const StateContents& each : contents) {
        const StatePort& port = instance.states[each.state].port();
        for (std::size_t axis = 0; axis < each.shape.size(); ++axis)
            if (!port.live.shape[axis].is_constant() && port.live.shape[axis].symbol().empty())
                solver.add({"state", port.name, &port.live, static_cast<int>(axis), each.shape[axis]});
    }
    std::string fault = solver.solve();
    // The rest may follow from symbols that were set before.
    for (std::size_t s = 0; s < positions.size(); ++s)
        if (const SizeSlot& slot = sizes[static_cast<std::size_t>(positions[s])]; slot.set && !solver.is_known(s))
            solver.set_known(s, slot.value);
    if (fault.empty()) fault = solver.solve();
    for (std::size_t s = 0; s < positions.size(); ++s) {
        SizeSlot& slot = sizes[static_cast<std::size_t>(positions[s])];
        if (solver.is_known(s) && (!slot.set || slot.value != solver.value(s))) assign_size(slot, solver.value(s));
    }
    return fault;
}

/// True if a finite number of the contents is not finite in the state's stored dtype.
bool overflows_storage(const StateSlot& slot, const StateContents& contents) {
    if (!slot.is_stored_narrow()) return false;
    const DType shown = slot.port().live.dtype, stored = slot.desc().dtype;
    std::size_t count = 1;
    for (const std::int64_t size : contents.shape) count *= static_cast<std::size_t>(size);
    constexpr std::size_t most = 1024;
    std::vector<std::byte> rounded(most * size_of(stored));
    for (std::size_t begin = 0; begin < count; begin += most) {
        const std::size_t n = std::min(most, count - begin);
        const std::byte* from = contents.data + begin * size_of(shown);
        types::convert_floats(rounded.data(), stored, from, shown, n);
        for (std::size_t i = 0; i < n; ++i)
            if (std::isfinite(types::load_float(shown, from, i)) &&
                !std::isfinite(types::load_float(stored, rounded.data(), i)))
                return true;
    }
    return false;
}

/// The instance's sizes, updated by the contents. Appends to `fault`.
std::vector<SizeSlot> sizes_with(const Instance& instance, const std::vector<StateContents>& contents,
                                 std::string& fault) {
    std::vector<SizeSlot> sizes = instance.sizes;
    std::vector<bool> is_set(sizes.size(), false);
    const auto add = [&](const std::string& text) {
        if (!text.empty()) fault += (fault.empty() ? "" : "; ") + text;
    };
    for (const StateContents& each : contents) add(assign_sizes(instance, each, sizes, is_set));
    if (!fault.empty()) return sizes;
    add(solve_sizes(instance, contents, sizes, is_set));
    if (!fault.empty()) return sizes;
    const std::vector<std::int64_t> values = port_values(instance, sizes);
    for (const StateContents& each : contents) {
        const StatePort& port = instance.states[each.state].port();
        for (std::size_t axis = 0; axis < each.shape.size(); ++axis)
            if (const std::int64_t wanted = port.live.shape[axis].evaluate(values); wanted != each.shape[axis])
                add(fmt::format("state \"{}\" is {}, got {}: axis {} must have size {}", port.name,
                                to_string(port.live), type_text(port, each.shape), axis, wanted));
    }
    return sizes;
}

}  // namespace

std::size_t find_state(const Instance& instance, std::string_view name, std::string_view part) {
    for (std::size_t s = 0; s < instance.states.size(); ++s)
        if (instance.states[s].port().name == name) return s;
    throw Error(ErrorKind::argument, part, fmt::format("there is no state called \"{}\"", name));
}

std::vector<std::int64_t> live_shape(const Instance& instance, std::size_t state) {
    const std::vector<std::int64_t> values = port_values(instance, instance.sizes);
    std::vector<std::int64_t> shape;
    for (const Dim& size : instance.states[state].port().live.shape) shape.push_back(size.evaluate(values));
    return shape;
}

OutputView show_state(Instance& instance, std::size_t state, std::string_view part) {
    StateSlot& slot = instance.states[state];
    const StatePort& port = slot.port();
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorKind::argument, part, fmt::format("state \"{}\" {}", port.name, why));
    };
    if (slot.damaged) refuse("has been overwritten in part by a failed run");
    for (const Dim& size : port.live.shape)
        for (const SizeSlot& given : instance.sizes) {
            const bool occurs = size.symbol().empty() ? !size.is_constant() : size.symbol() == given.name;
            if (occurs && !given.set)
                refuse(fmt::format("is {}, and the size {} is not set", to_string(port.live), given.name));
        }
    slot.shape = live_shape(instance, state);
    OutputView view;
    view.dtype = port.live.dtype;
    view.shape = slot.shape;
    view.data = slot.memory->data();
    if (slot.is_readable_in_place(slot.shape)) return view;
    std::size_t bytes = size_of(view.dtype);
    for (const std::int64_t size : slot.shape) bytes *= static_cast<std::size_t>(size);
    slot.last_shown.resize(bytes);
    slot.load(slot.last_shown.data(), slot.shape);
    view.data = slot.last_shown.data();
    return view;
}

std::string contents_fault(const Instance& instance, const std::vector<StateContents>& contents) {
    std::string fault;
    sizes_with(instance, contents, fault);
    return fault;
}

void set_contents(Instance& instance, const std::vector<StateContents>& contents) {
    std::string fault;
    std::vector<SizeSlot> sizes = sizes_with(instance, contents, fault);
    const std::vector<std::int64_t> before = port_values(instance, instance.sizes),
                                    after = port_values(instance, sizes);
    if (std::any_of(contents.begin(), contents.end(),
                    [&](const StateContents& each) { return overflows_storage(instance.states[each.state], each); })) {
        instance.widen_states();
        instance.executable->fall_back();
    }
    for (StateSlot& slot : instance.states)
        if (slot.port().axis >= 0) slot.touch(slot.port().before.evaluate(after));
    for (const StateContents& each : contents) instance.states[each.state].touch(0);
    // In the host's memory nothing below throws.
    for (StateSlot& slot : instance.states)
        if (slot.port().axis >= 0) slot.clear(slot.port().before.evaluate(before), slot.port().before.evaluate(after));
    for (const StateContents& each : contents) {
        instance.states[each.state].store(each.data, each.shape);
        instance.states[each.state].damaged = false;
    }
    instance.sizes = std::move(sizes);
    instance.bucket = -1;
}

void reset_states(Instance& instance) {
    for (SizeSlot& size : instance.sizes)
        if (size.is_state_length) size.value = size.low;
    const std::vector<std::int64_t> values = port_values(instance, instance.sizes);
    for (StateSlot& slot : instance.states) {
        slot.damaged = false;
        if (slot.port().axis < 0) {
            slot.reset();
        } else if (const std::int64_t length = slot.port().before.evaluate(values); length > 0) {
            slot.touch(length);
            slot.clear(0, length);
        }
    }
    instance.bucket = -1;
}

}  // namespace cairn::runtime
