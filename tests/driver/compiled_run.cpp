#include "tests/driver/compiled_run.hpp"

#include "graph/types/element_access.hpp"
#include "selection/emit/emit.hpp"
#include "tests/graph/ir/random_graph.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace cairn::test {
namespace {

std::int64_t load_integer(DType dtype, const std::byte* data, std::size_t i) {
    switch (dtype) {
        case DType::i64: return types::load_element<std::int64_t>(data, i);
        case DType::i32: return types::load_element<std::int32_t>(data, i);
        case DType::i8: return types::load_element<std::int8_t>(data, i);
        default: return types::load_element<std::uint8_t>(data, i);
    }
}

std::size_t bytes_of(const OutputView& view) {
    std::size_t bytes = size_of(view.dtype);
    for (const std::int64_t size : view.shape) bytes *= static_cast<std::size_t>(size);
    return bytes;
}

/// Byte offset of each element of a state's live part, in row-major order.
std::vector<std::int64_t> offsets_of(const program::Buffer& memory, const std::vector<std::int64_t>& live) {
    std::vector<std::int64_t> offsets{0};
    for (std::size_t axis = 0; axis < live.size(); ++axis) {
        std::vector<std::int64_t> finer;
        for (const std::int64_t offset : offsets)
            for (std::int64_t i = 0; i < live[axis]; ++i)
                finer.push_back(offset + i * memory.desc.strides[axis].constant() *
                                             static_cast<std::int64_t>(size_of(memory.desc.dtype)));
        offsets = std::move(finer);
    }
    return offsets;
}

}  // namespace

std::vector<std::byte> to_bytes(const interpreter::Value& value) {
    if (is_float(value.dtype))
        return selection::encode(value.dtype, value.data, static_cast<std::int64_t>(value.data.size()));
    std::vector<std::byte> bytes(value.integers.size() * size_of(value.dtype));
    for (std::size_t i = 0; i < value.integers.size(); ++i)
        // Little-endian two's complement: the low bytes are the value in the narrower type.
        std::memcpy(bytes.data() + i * size_of(value.dtype), &value.integers[i], size_of(value.dtype));
    return bytes;
}

interpreter::Value from_bytes(DType dtype, std::vector<std::int64_t> shape, const std::byte* data) {
    interpreter::Value value;
    value.dtype = dtype;
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    value.shape = std::move(shape);
    for (std::size_t i = 0; i < count; ++i) {
        if (is_float(dtype))
            value.data.push_back(types::load_float(dtype, data, i));
        else
            value.integers.push_back(load_integer(dtype, data, i));
    }
    return value;
}

PortMemory::PortMemory(const Context& context, Device device, std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {
    if (device == Device::cpu) return;
    memory_ = context.impl()->backend(device).reserve(bytes_.size() + 1, device::MemoryUse::scratch);
    memory_->touch(0, memory_->capacity());
    memory_->write({0, bytes_.size()}, bytes_.data());
}

std::vector<std::byte> PortMemory::contents() const {
    std::vector<std::byte> bytes = bytes_;
    if (memory_ != nullptr) memory_->read({0, bytes.size()}, bytes.data());
    return bytes;
}

CompileOptions with_random_ports(const Graph& graph, Device device, std::uint64_t seed, CompileOptions options) {
    std::mt19937_64 random(seed);
    const auto place = [&](const std::string& name, auto& devices) {
        if (random() % 2 == 0) devices[name] = random() % 4 == 0 ? Device::cpu : device;
    };
    for (const ir::Node& node : graph.data()->nodes())
        if (node.op == ir::Op::input) place(node.name, options.input_devices);
    for (const ir::Output& output : graph.data()->outputs()) place(output.name, options.output_devices);
    return options;
}

CompiledRun::CompiledRun(const runtime::ProgramSet& set, const Context& context, const interpreter::Inputs& inputs)
    : executable_(std::make_shared<runtime::Executable>(context, set)) {
    for (const auto& [name, value] : inputs.tensors) weights_[name] = to_bytes(value);
    const WeightSource source = [&](std::string_view name) {
        const interpreter::Value& value = inputs.tensors.at(std::string(name));
        InputView view;
        view.data = weights_.at(std::string(name)).data();
        view.dtype = value.dtype;
        view.shape = value.shape;
        return view;
    };
    if (!executable_->bound.ready())
        executable_->bound.bind(executable_->programs(), *context.impl(), {source, nullptr, {}, {}});
    instance_ = std::make_unique<runtime::Instance>(executable_);
}

void CompiledRun::fill_states(const interpreter::Inputs& inputs) {
    const program::Program& program = executable_->set.buckets[0].program;
    for (std::size_t s = 0; s < program.states.size(); ++s) {
        const program::StatePort& state = program.states[s];
        const program::Buffer& memory = program.buffers[static_cast<std::size_t>(state.buffer)];
        const interpreter::Value& value = inputs.tensors.at(state.name);
        const std::vector<std::byte> bytes = to_bytes(value);
        device::Memory& of_state = *instance_->states[s].memory;
        std::vector<std::byte> contents(of_state.capacity(), std::byte{0xff});
        const std::size_t element = size_of(value.dtype);
        const std::vector<std::int64_t> offsets = offsets_of(memory, value.shape);
        for (std::size_t i = 0; i < offsets.size(); ++i)
            std::memcpy(contents.data() + offsets[i], bytes.data() + i * element, element);
        of_state.write({0, contents.size()}, contents.data());
    }
}

void CompiledRun::set(const interpreter::Inputs& inputs) {
    for (runtime::SizeSlot& slot : instance_->sizes) {
        slot.value = inputs.sizes.at(slot.name);
        slot.set = true;
    }
    for (std::size_t i = 0; i < instance_->inputs.size(); ++i) {
        const std::string& name = executable_->set.inputs[i].name;
        tensors_[name] =
            PortMemory(executable_->context, executable_->set.inputs[i].device, to_bytes(inputs.tensors.at(name)));
        instance_->inputs[i].data = tensors_[name].data();
        instance_->inputs[i].shape = inputs.tensors.at(name).shape;
        instance_->inputs[i].set = true;
    }
    fill_states(inputs);
    instance_->reserve();
}

void CompiledRun::poison_arena() { instance_->arenas().poison(); }

interpreter::Results CompiledRun::run(const interpreter::Inputs& inputs, bool poison) {
    set(inputs);
    if (poison) poison_arena();
    instance_->run({});
    return results(inputs);
}

interpreter::Results CompiledRun::run_in_callers_memory(const interpreter::Inputs& inputs,
                                                        std::vector<std::string>& overrun) {
    constexpr std::size_t guard = 4096;
    constexpr std::byte untouched{0xa5};
    set(inputs);
    instance_->run({});
    std::vector<PortMemory> memory;
    for (std::size_t o = 0; o < instance_->outputs.size(); ++o) {
        const OutputView view = instance_->output(o);
        memory.emplace_back(executable_->context, view.device,
                            std::vector<std::byte>(bytes_of(view) + 2 * guard, untouched));
    }
    set(inputs);
    for (std::size_t o = 0; o < memory.size(); ++o) {
        instance_->outputs[o].data = memory[o].data() + guard;
        instance_->outputs[o].bytes = memory[o].size() - 2 * guard;
    }
    poison_arena();
    instance_->run({});
    const auto is_untouched = [&](std::byte byte) { return byte == untouched; };
    for (std::size_t o = 0; o < memory.size(); ++o) {
        const std::vector<std::byte> bytes = memory[o].contents();
        if (!std::all_of(bytes.begin(), bytes.begin() + guard, is_untouched) ||
            !std::all_of(bytes.end() - guard, bytes.end(), is_untouched))
            overrun.push_back(executable_->set.buckets[0].program.outputs[o].name);
    }
    interpreter::Results found = results(inputs);
    for (runtime::OutputSlot& slot : instance_->outputs) slot = {};
    return found;
}

interpreter::Results CompiledRun::results(const interpreter::Inputs& inputs) const {
    interpreter::Results results;
    const program::Program& program = executable_->set.buckets[static_cast<std::size_t>(instance_->bucket)].program;
    for (std::size_t o = 0; o < program.outputs.size(); ++o) {
        const OutputView view = instance_->output(o);
        std::vector<std::byte> bytes(bytes_of(view));
        executable_->context.impl()
            ->backend(view.device)
            .copy(bytes.data(), static_cast<const std::byte*>(view.data), bytes.size());
        results.outputs[program.outputs[o].name] =
            from_bytes(view.dtype, {view.shape.begin(), view.shape.end()}, bytes.data());
    }
    for (std::size_t s = 0; s < program.states.size(); ++s) {
        const program::StatePort& state = program.states[s];
        const program::Buffer& memory = program.buffers[static_cast<std::size_t>(state.buffer)];
        std::vector<std::int64_t> live = inputs.tensors.at(state.name).shape;
        if (state.axis >= 0) live[static_cast<std::size_t>(state.axis)] = instance_->size(state.before.symbol()).value;
        const device::Memory& of_state = *instance_->states[s].memory;
        std::vector<std::byte> contents(of_state.capacity()), bytes;
        of_state.read({0, contents.size()}, contents.data());
        for (const std::int64_t offset : offsets_of(memory, live)) {
            const std::byte* from = contents.data() + offset;
            bytes.insert(bytes.end(), from, from + size_of(memory.desc.dtype));
        }
        results.states[state.name] = from_bytes(memory.desc.dtype, live, bytes.data());
    }
    return results;
}

std::string compare(const interpreter::Results& actual, const interpreter::Results& expected, double tolerance) {
    const std::pair<const std::map<std::string, interpreter::Value>*, const std::map<std::string, interpreter::Value>*>
        pairs[] = {{&actual.outputs, &expected.outputs}, {&actual.states, &expected.states}};
    for (const auto& [got, wanted] : pairs)
        for (const auto& [name, value] : *wanted) {
            const auto it = got->find(name);
            if (it == got->end()) return name + " is missing";
            if (const std::string fault = difference(it->second, value, tolerance); !fault.empty()) return name + fault;
        }
    return {};
}

}  // namespace cairn::test
