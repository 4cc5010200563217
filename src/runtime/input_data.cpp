#include "runtime/input_data.hpp"

#include "graph/types/element_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace cairn::runtime {
namespace {

using Sizes = std::span<const std::int64_t>;

std::size_t index_of(const Instance& instance, std::string_view name) {
    const auto& ports = instance.executable->set.inputs;
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (ports[i].name == name) return i;
    throw Error(ErrorKind::argument, "set", fmt::format("there is no input called \"{}\"", name));
}

template <typename... Args>
[[noreturn]] void refuse(const program::Port& port, fmt::format_string<Args...> format, Args&&... args) {
    throw Error(ErrorKind::argument, "set",
                fmt::format("input \"{}\" is {}, {}", port.name, to_string(port.desc),
                            fmt::format(format, std::forward<Args>(args)...)));
}

std::size_t element_count_of(Sizes shape) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    return count;
}

void check_size(const SizeSlot& slot, std::int64_t value) {
    if (slot.is_state_length && value != slot.value)
        throw Error(
            ErrorKind::argument, "set",
            fmt::format("{} is the length of a state and {} now; rewind() sets it back", slot.name, slot.value));
    if (value < slot.low || value > slot.high)
        throw Error(ErrorKind::argument, "set",
                    fmt::format("{} = {} is not in {}..{}", slot.name, value, slot.low, slot.high));
}

void assign_size(SizeSlot& slot, std::int64_t value, int input) {
    slot.value = value;
    slot.set = true;
    slot.derived = false;
    slot.input = input;
}

/// True if a size depends on the length of a state, which may change before the next run.
bool has_state_length(const Instance& instance, const Dim& size) {
    for (std::size_t s = 0; s < instance.sizes.size(); ++s)
        if (instance.sizes[s].is_state_length && detail::depends_on(size, s)) return true;
    return false;
}

/// Solves for the symbols that this shape alone determines. The solver then holds these and the single-valued symbols.
void solve_symbols(Instance& instance, const program::Port& port, Sizes shape) {
    SizeSolver& solver = instance.solver;
    solver.begin();
    for (std::size_t s = 0; s < instance.sizes.size(); ++s) {
        const SizeSlot& slot = instance.sizes[s];
        if (slot.low == slot.high && !slot.is_state_length) solver.set_known(s, slot.low);
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
            if (port.desc.shape[axis].symbol() == slot.name) solver.set_known(s, shape[axis]);
    }
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const Dim& size = port.desc.shape[axis];
        if (!size.is_constant() && size.symbol().empty() && !has_state_length(instance, size))
            solver.add(given_size(port, static_cast<int>(axis), shape[axis]));
    }
    for (const std::string& fault : {solver.solve(), solver.check()})
        if (!fault.empty()) throw Error(ErrorKind::argument, "set", fault);
}

void check_shape(Instance& instance, const program::Port& port, Sizes shape) {
    if (shape.size() != port.desc.shape.size()) refuse(port, "got {} axes", shape.size());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const Dim& size = port.desc.shape[axis];
        if (size.is_constant() ? size.constant() != shape[axis] : shape[axis] < 0)
            refuse(port, "got {} on axis {}", shape[axis], axis);
    }
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (const std::string_view symbol = port.desc.shape[axis].symbol(); !symbol.empty()) {
            check_size(instance.size(symbol), shape[axis]);
            for (std::size_t before = 0; before < axis; ++before)
                if (port.desc.shape[before].symbol() == symbol && shape[before] != shape[axis])
                    refuse(port, "got {} = {} on axis {} and {} on axis {}", symbol, shape[before], before, shape[axis],
                           axis);
        }
    solve_symbols(instance, port, shape);
}

bool has_elements(Sizes shape) { return std::find(shape.begin(), shape.end(), 0) == shape.end(); }

void check_data(const Instance& instance, std::size_t i, const void* data, Sizes shape) {
    // Without elements it is in no memory: its address may be any.
    if (!has_elements(shape)) return;
    const InputPort& port = instance.executable->set.inputs[i];
    if (data == nullptr) throw Error(ErrorKind::argument, "set", fmt::format("input \"{}\" has no data", port.name));
    // An address that was set before is not asked for again: that would cost two calls of a driver each time.
    const InputSlot& before = instance.inputs[i];
    if (data != before.data || !has_elements(before.shape))
        check_memory(*instance.executable->context.impl(), port.device, data, "set", "input", port.name);
}

/// Commits a checked input and releases the view held so far.
void commit_input(Instance& instance, std::size_t i, const void* data, Sizes shape, ScopedInputView held = {}) {
    InputSlot& slot = instance.inputs[i];
    if (slot.held.view().release != nullptr) instance.wait();
    for (std::size_t s = 0; s < instance.sizes.size(); ++s) {
        SizeSlot& size = instance.sizes[s];
        if (instance.solver.is_known(s) && !size.is_state_length) {
            if (size.low != size.high) assign_size(size, instance.solver.value(s), static_cast<int>(i));
        } else if (size.input == static_cast<int>(i)) {
            size.set = false;  // this shape does not determine it
            size.input = -1;
        }
    }
    std::copy(shape.begin(), shape.end(), slot.shape.begin());
    slot.data = data;
    slot.set = true;
    slot.held = std::move(held);
    instance.bucket = -1;
}

/// Memory for a copy, apart from the one that may be in use.
std::byte* copy_buffer(Instance& instance, InputSlot& slot, const program::Port& port, std::size_t bytes) {
    instance.wait();
    try {
        slot.spare.resize(bytes);
    } catch (const std::exception&) {
        throw Error(ErrorKind::memory, "set", fmt::format("a copy of input \"{}\" needs {} bytes", port.name, bytes));
    }
    return slot.spare.data();
}

bool is_dense(const InputView& view) {
    std::int64_t expected = 1;
    for (std::size_t axis = view.strides.size(); axis-- > 0;) {
        if (view.shape[axis] != 1 && view.strides[axis] != expected) return false;
        expected *= view.shape[axis];
    }
    return true;
}

/// Copies strided memory to dense memory, row-major.
void densify(const InputView& view, std::byte* dense) {
    const std::size_t element = size_of(view.dtype), count = element_count_of(view.shape);
    std::vector<std::int64_t> index(view.shape.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t at = 0;
        for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * view.strides[axis];
        std::memcpy(dense + i * element,
                    static_cast<const std::byte*>(view.data) + at * static_cast<std::int64_t>(element), element);
        for (std::size_t axis = index.size(); axis-- > 0;) {
            if (++index[axis] < view.shape[axis]) break;
            index[axis] = 0;
        }
    }
}

/// The symbols in a shape that an input may determine: no lengths of states, and none with a single value.
std::vector<std::size_t> free_symbols(const Instance& instance, const program::Port& port) {
    std::vector<std::size_t> symbols;
    for (std::size_t s = 0; s < instance.sizes.size(); ++s) {
        const SizeSlot& slot = instance.sizes[s];
        const bool occurs = std::any_of(port.desc.shape.begin(), port.desc.shape.end(),
                                        [&](const Dim& size) { return detail::depends_on(size, s); });
        if (occurs && !slot.is_state_length && slot.low != slot.high) symbols.push_back(s);
    }
    return symbols;
}

/// Derives the shape of an input from its number of elements.
std::vector<std::int64_t> solve_shape(Instance& instance, const program::Port& port, std::size_t count) {
    const std::vector<std::size_t> unknown = free_symbols(instance, port);
    const auto refuse_unknown = [&] {
        refuse(port, "whose shape the number of elements does not determine: give the shape");
    };
    if (unknown.size() > 1) refuse_unknown();
    SizeSolver& solver = instance.solver;
    solver.begin();
    for (std::size_t s = 0; s < instance.sizes.size(); ++s)
        if (unknown.empty() || s != unknown[0]) solver.set_known(s, instance.sizes[s].value);
    std::vector<std::int64_t> shape;
    const auto evaluate = [&] {
        shape.clear();
        for (const Dim& size : port.desc.shape) shape.push_back(size.evaluate(solver.values()));
    };
    if (!unknown.empty()) {
        const SizeSlot& slot = instance.sizes[unknown[0]];
        const auto bare = [&](const Dim& size) { return size.symbol() == slot.name; };
        const auto only = std::find_if(port.desc.shape.begin(), port.desc.shape.end(), bare);
        const bool is_factor =
            std::count_if(port.desc.shape.begin(), port.desc.shape.end(),
                          [&](const Dim& size) { return detail::depends_on(size, unknown[0]); }) == 1 &&
            only != port.desc.shape.end();
        if (is_factor) {
            solver.set_known(unknown[0], 1);
            evaluate();
            const std::size_t rest = element_count_of(shape);
            if (rest == 0) refuse_unknown();
            if (count % rest != 0) refuse(port, "got {} elements, not a multiple of {}", count, rest);
            solver.set_known(unknown[0], static_cast<std::int64_t>(count / rest));
        } else {
            solver.add(given_size(port, GivenSize::elements, static_cast<std::int64_t>(count)));
            if (const std::string fault = solver.solve(); !fault.empty())
                throw Error(ErrorKind::argument, "set", fault);
            if (!solver.is_known(unknown[0])) refuse_unknown();
        }
    }
    evaluate();
    return shape;
}

}  // namespace

void check_dtype(std::string_view part, std::string_view kind, std::string_view name, const TensorDesc& desc,
                 DType given) {
    if (types::is_element_type_of(desc.dtype, given)) return;
    throw Error(ErrorKind::argument, part,
                fmt::format("{} \"{}\" is {}, got elements of {}", kind, name, to_string(desc),
                            types::element_type_text(given)));
}

void check_memory(const Context::Impl& context, Device device, const void* data, std::string_view part,
                  std::string_view kind, std::string_view name) {
    // The memory of a device that is simulated is the host's, and a lost one cannot be asked: the run says so.
    const device::Backend* const backend = context.opened(device);
    if (data == nullptr || backend == nullptr || backend->is_lost()) return;
    const std::optional<Device> found = context.device_of_memory(data);
    if (found.value_or(Device::cpu) == device) return;
    const auto text_of = [](Device of) {
        return of == Device::cpu ? std::string("the host") : "the device " + to_string(of);
    };
    throw Error(ErrorKind::argument, part,
                fmt::format("{} \"{}\" is given memory of {}, expected memory of {}", kind, name,
                            text_of(found.value_or(Device::cpu)), text_of(device)));
}

void set_size(Instance& instance, std::string_view symbol, std::int64_t value) {
    SizeSlot& slot = instance.size(symbol);
    check_size(slot, value);
    assign_size(slot, value, -1);
    instance.bucket = -1;
}

void set_input(Instance& instance, std::string_view name, const void* data, Sizes shape) {
    const std::size_t i = index_of(instance, name);
    const program::Port& port = instance.executable->set.inputs[i];
    check_shape(instance, port, shape);
    check_data(instance, i, data, shape);
    commit_input(instance, i, data, shape);
}

void set_input(Instance& instance, std::string_view name, const InputView& view) {
    ScopedInputView held(view);
    const std::size_t i = index_of(instance, name);
    const InputPort& port = instance.executable->set.inputs[i];
    if (view.dtype != port.desc.dtype) refuse(port, "got {}", to_string(view.dtype));
    if (view.device != port.device)
        refuse(port, "in memory of {}, got memory of {}", to_string(port.device), to_string(view.device));
    if (!view.strides.empty() && view.strides.size() != view.shape.size())
        throw Error(
            ErrorKind::argument, "set",
            fmt::format("input \"{}\" has {} axes and {} strides", name, view.shape.size(), view.strides.size()));
    check_shape(instance, port, view.shape);
    check_data(instance, i, view.data, view.shape);
    if (is_dense(view)) return commit_input(instance, i, view.data, view.shape, std::move(held));
    if (port.device != Device::cpu)
        refuse(port, "got strided memory of {}, which is not copied: make it dense", to_string(port.device));
    InputSlot& slot = instance.inputs[i];
    densify(view, copy_buffer(instance, slot, port, element_count_of(view.shape) * size_of(view.dtype)));
    slot.copy.swap(slot.spare);
    commit_input(instance, i, slot.copy.data(), view.shape);
}

void set_input(Instance& instance, std::string_view name, const detail::ElementSpan& elements, const Sizes* given) {
    const std::size_t i = index_of(instance, name);
    const program::Port& port = instance.executable->set.inputs[i];
    check_dtype("set", "input", port.name, port.desc, elements.dtype);
    std::vector<std::int64_t> solved;
    if (given == nullptr) solved = solve_shape(instance, port, elements.count);
    const Sizes shape = given == nullptr ? Sizes(solved) : *given;
    check_shape(instance, port, shape);
    const std::size_t expected = element_count_of(shape);
    if (elements.count != expected) refuse(port, "expected {} elements, got {}", expected, elements.count);
    check_data(instance, i, elements.data, shape);
    if (!elements.is_temporary || expected == 0) return commit_input(instance, i, elements.data, shape);
    InputSlot& slot = instance.inputs[i];
    const std::size_t bytes = expected * size_of(port.desc.dtype);
    std::memcpy(copy_buffer(instance, slot, port, bytes), elements.data, bytes);
    slot.copy.swap(slot.spare);
    commit_input(instance, i, slot.copy.data(), shape);
}

}  // namespace cairn::runtime
