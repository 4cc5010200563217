#include "runtime/compiled_graph.hpp"
#include "runtime/input_data.hpp"
#include "runtime/states.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::inline v0 {
namespace {

using runtime::StateContents;

constexpr std::string_view set_part = "set_state";

void set_checked(runtime::Instance& instance, const StateContents& contents) {
    if (const std::string fault = runtime::contents_fault(instance, {contents}); !fault.empty())
        throw Error(ErrorKind::argument, set_part, fault);
    const bool empty = std::find(contents.shape.begin(), contents.shape.end(), 0) != contents.shape.end();
    if (contents.data == nullptr && !empty)
        throw Error(ErrorKind::argument, set_part,
                    fmt::format("state \"{}\" is given no data", instance.states[contents.state].port().name));
    runtime::check_memory(*instance.executable->context.impl(), Device::cpu, contents.data, set_part, "state",
                          instance.states[contents.state].port().name);
    runtime::set_contents(instance, {contents});
}

bool is_dense(const InputView& view) {
    std::int64_t expected = 1;
    for (std::size_t axis = view.strides.size(); axis-- > 0;) {
        if (view.shape[axis] > 1 && view.strides[axis] != expected) return false;
        expected *= view.shape[axis];
    }
    return true;
}

/// Shape of the live part of a state with `count` elements.
std::vector<std::int64_t> shape_of(const runtime::Instance& instance, const program::StatePort& port,
                                   std::size_t count) {
    std::vector<std::int64_t> shape;
    std::size_t row = 1;
    for (std::size_t axis = 0; axis < port.live.shape.size(); ++axis) {
        const Dim& size = port.live.shape[axis];
        const bool grows = static_cast<int>(axis) == port.axis;
        const auto slot = std::find_if(instance.sizes.begin(), instance.sizes.end(),
                                       [&](const runtime::SizeSlot& given) { return given.name == size.symbol(); });
        if (!grows && !size.is_constant() && (slot == instance.sizes.end() || !slot->set))
            throw Error(ErrorKind::argument, set_part,
                        fmt::format("state \"{}\" is {}: give the shape", port.name, to_string(port.live)));
        shape.push_back(grows ? 1 : size.is_constant() ? size.constant() : slot->value);
        row *= static_cast<std::size_t>(shape.back());
    }
    if (port.axis >= 0 && row > 0 && count % row == 0)
        shape[static_cast<std::size_t>(port.axis)] = static_cast<std::int64_t>(count / row);
    else if (count != row)
        throw Error(ErrorKind::argument, set_part,
                    fmt::format("state \"{}\" is {}, got {} elements", port.name, to_string(port.live), count));
    return shape;
}

}  // namespace

OutputView CompiledGraph::state(std::string_view name) const {
    runtime::Instance& instance = valid().instance.require_complete("state");
    return runtime::show_state(instance, runtime::find_state(instance, name, "state"), "state");
}

void CompiledGraph::set_state(std::string_view state, const void* data, std::span<const std::int64_t> shape) {
    runtime::Instance& instance = valid().instance.require_complete(set_part);
    set_checked(instance, {runtime::find_state(instance, state, set_part),
                           static_cast<const std::byte*>(data),
                           {shape.begin(), shape.end()}});
}

void CompiledGraph::set_state(std::string_view state, const void* data, std::initializer_list<std::int64_t> shape) {
    set_state(state, data, std::span<const std::int64_t>(shape.begin(), shape.size()));
}

void CompiledGraph::set_state(std::string_view state, const InputView& view) {
    const runtime::ScopedInputView held(view);
    const runtime::Instance& instance = valid().instance.require_complete(set_part);
    const auto& port = instance.states[runtime::find_state(instance, state, set_part)].port();
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorKind::argument, set_part,
                    fmt::format("state \"{}\" is {}, got {}", state, to_string(port.live), why));
    };
    if (view.dtype != port.live.dtype) refuse(std::string(to_string(view.dtype)));
    if (view.device != Device::cpu) refuse("memory that is not the host's");
    if (!view.strides.empty() && view.strides.size() != view.shape.size()) refuse("not one stride an axis");
    if (!is_dense(view)) refuse("memory that is not dense");
    set_state(state, view.data, view.shape);
}

void CompiledGraph::set_state_elements(std::string_view state, const detail::ElementSpan& elements,
                                       const std::span<const std::int64_t>* shape) {
    runtime::Instance& instance = valid().instance.require_complete(set_part);
    const std::size_t s = runtime::find_state(instance, state, set_part);
    const program::StatePort& port = instance.states[s].port();
    runtime::check_dtype(set_part, "state", port.name, port.live, elements.dtype);
    const auto live = shape == nullptr ? shape_of(instance, port, elements.count)
                                       : std::vector<std::int64_t>(shape->begin(), shape->end());
    set_checked(instance, {s, static_cast<const std::byte*>(elements.data), live});
}

void CompiledGraph::reset_states() { runtime::reset_states(valid().instance.require_complete("reset_states")); }

void CompiledGraph::save_states(const std::filesystem::path& path) const {
    runtime::Instance& instance = valid().instance.require_complete("save_states");
    std::vector<NamedTensor> tensors;
    for (std::size_t s = 0; s < instance.states.size(); ++s) {
        const OutputView live = runtime::show_state(instance, s, "save_states");
        NamedTensor& tensor = tensors.emplace_back();
        tensor.name = instance.states[s].port().name;
        tensor.view.data = live.data;
        tensor.view.dtype = live.dtype;
        tensor.view.shape.assign(live.shape.begin(), live.shape.end());
    }
    write_safetensors(path, tensors, {{"format", "pt"}});
}

void CompiledGraph::load_states(const std::filesystem::path& path) {
    runtime::Instance& instance = valid().instance.require_complete("load_states");
    const Safetensors file = Safetensors::open(path);
    std::string faults;
    const auto fault = [&](const std::string& text) { faults += (faults.empty() ? "" : "; ") + text; };
    std::vector<runtime::ScopedInputView> held;
    std::vector<StateContents> contents;
    for (std::size_t s = 0; s < instance.states.size(); ++s) {
        const program::StatePort& port = instance.states[s].port();
        if (!file.contains(port.name)) {
            fault(fmt::format("there is no state \"{}\"", port.name));
            continue;
        }
        const InputView& view = held.emplace_back(file.view(port.name)).view();
        if (view.dtype != port.live.dtype)
            fault(fmt::format("state \"{}\" is {}, got {}", port.name, to_string(port.live), to_string(view.dtype)));
        contents.push_back({s, static_cast<const std::byte*>(view.data), view.shape});
    }
    for (const Safetensors::Tensor& tensor : file.tensors())
        if (std::none_of(instance.states.begin(), instance.states.end(),
                         [&](const runtime::StateSlot& state) { return state.port().name == tensor.name; }))
            fault(fmt::format("the graph has no state \"{}\"", tensor.name));
    if (const std::string text = runtime::contents_fault(instance, contents); !text.empty()) fault(text);
    if (!faults.empty()) throw Error(ErrorKind::argument, "load_states", fmt::format("{}: {}", path.string(), faults));
    runtime::set_contents(instance, contents);
}

}  // namespace cairn::inline v0
