#include "runtime/bound_values.hpp"

#include "program/memory_plan/packing_problem.hpp"
#include "runtime/byte_range.hpp"
#include "runtime/run_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

namespace cairn::runtime {
namespace {

using program::Buffer;
using program::BufferKind;

const Buffer& buffer_of(const LinkedProgram& program, int buffer) {
    return program.program().buffers[static_cast<std::size_t>(buffer)];
}

std::string key_of(const Buffer& buffer) { return (buffer.kind == BufferKind::weight ? "w " : "b ") + buffer.name; }

bool is_shared_by_name(const Buffer& buffer) {
    return buffer.kind == BufferKind::weight || buffer.kind == BufferKind::bound;
}

std::string shape_text(const std::vector<std::int64_t>& sizes) {
    Shape shape;
    for (const std::int64_t size : sizes) shape.emplace_back(size);
    return to_string(shape);
}

}  // namespace

/// One bind in progress.
class Binding {
public:
    Binding(const std::vector<std::shared_ptr<BoundProgram>>& programs, Context::Impl& context,
            const BindRequest& request)
        : context_(context), request_(request) {
        std::set<std::string> planned;
        for (const std::shared_ptr<BoundProgram>& bound : programs) {
            const LinkedProgram* program = &bound->linked;
            for (const LinkedInstruction& instruction : program->bind()) {
                const LinkedOperand& output =
                    program->operands()[static_cast<std::size_t>(instruction.first_operand + instruction.inputs)];
                if (!planned.insert(buffer_of(*program, output.buffer).name).second) continue;
                work_.push_back({program, &instruction});
                for (int i = 0; i < instruction.inputs; ++i) count_use(*program, operand(work_.back(), i).buffer);
            }
            for (const LinkedInstruction& instruction : program->run())
                for (int i = 0; i < instruction.inputs; ++i)
                    retain(*program,
                           program->operands()[static_cast<std::size_t>(instruction.first_operand + i)].buffer);
            for (const LinkedOperand& port : program->outputs()) retain(*program, port.buffer);
        }
    }

    void run() {
        const std::vector<PackedValue> kept = request_.packed != nullptr ? packed_values() : std::vector<PackedValue>();
        if (!kept.empty() && load_packed(kept)) return;
        compute();
        for (const auto& [key, value] : retained_) fetch(*value.buffer);
        if (!faults_.empty()) throw Error(ErrorKind::argument, "bind", faults_);
        if (!kept.empty()) store_packed(kept);
    }

    /// The weights and bound values that a program's runs read.
    BoundMemory memory_of(const LinkedProgram& program) const {
        BoundMemory memory;
        const auto add_operand = [&](const LinkedOperand& operand) {
            const Buffer& buffer = buffer_of(program, operand.buffer);
            if (!is_shared_by_name(buffer)) return;
            const auto it = computed_.by_kind(buffer).find(buffer.name);
            if (it != computed_.by_kind(buffer).end()) memory.by_kind(buffer).insert(*it);
        };
        for (const LinkedInstruction& instruction : program.run())
            for (int i = 0; i < instruction.inputs; ++i)
                add_operand(program.operands()[static_cast<std::size_t>(instruction.first_operand + i)]);
        for (const LinkedOperand& port : program.outputs()) add_operand(port);
        return memory;
    }

private:
    struct Work {
        const LinkedProgram* program;
        const LinkedInstruction* instruction;
    };
    using Readers = std::set<const LinkedProgram*>;
    struct Retained {
        explicit Retained(const Buffer* first) : buffer(first) {}
        const Buffer* buffer;
        Readers readers;
    };
    /// One arena for all values of a device that the same programs read, freed with the last of these programs. Each
    /// value starts at a page. With an arena per value, the last huge page of each would be half empty.
    struct SharedArena {
        std::shared_ptr<device::Memory> memory;
        std::size_t used = 0;
    };

    void compute() {
        std::int64_t done = 0;
        for (const Work& work : work_) {
            if (request_.stop.stop_requested()) throw Cancelled("bind");
            const Buffer& made = buffer_of(*work.program, operand(work, work.instruction->inputs).buffer);
            if (request_.progress)
                request_.progress({"bind", done++, static_cast<std::int64_t>(work_.size()), made.name, 0});
            for (int i = 0; i < work.instruction->inputs; ++i) fetch(buffer_of(*work.program, operand(work, i).buffer));
            if (faults_.empty()) execute(work);
            for (int i = 0; i < work.instruction->inputs; ++i)
                release_after_last_use(buffer_of(*work.program, operand(work, i).buffer));
        }
    }

    /// The values that runs read, with their origins, in the order of `retained_`.
    std::vector<PackedValue> packed_values() const {
        std::map<std::string, std::string> origins;
        for (const Work& work : work_) {
            std::string made_by = work.instruction->kernel->id;
            for (int i = 0; i < work.instruction->inputs; ++i)
                if (const auto it = origins.find(key_of(buffer_of(*work.program, operand(work, i).buffer)));
                    it != origins.end())
                    made_by += ' ' + it->second;
            for (int o = 0; o < work.instruction->outputs; ++o) {
                const std::string key =
                    key_of(buffer_of(*work.program, operand(work, work.instruction->inputs + o).buffer));
                origins[key] = to_string(digest(key + ' ' + made_by));  // the name covers all but the kernels
            }
        }
        std::vector<PackedValue> kept;
        for (const auto& [key, value] : retained_) {
            const Buffer& buffer = *value.buffer;
            const auto it = origins.find(key);
            kept.push_back({it != origins.end() ? it->second : to_string(digest(key + ' ' + to_string(buffer.desc))),
                            buffer.bytes.constant()});
        }
        return kept;
    }

    bool load_packed(const std::vector<PackedValue>& kept) {
        std::error_code unknown;
        if (!std::filesystem::exists(request_.packed->path, unknown)) return false;
        try {
            std::vector<std::shared_ptr<const std::byte>> found =
                read_packed(*request_.packed, kept, context_.cpu->host_threads());
            std::size_t i = 0;
            for (const auto& [key, value] : retained_) {
                std::shared_ptr<const std::byte> stored = std::move(found[i++]);
                const Buffer& buffer = *value.buffer;
                if (is_on_host(buffer))
                    computed_.by_kind(buffer)[buffer.name] = std::move(stored);
                else if (const auto bytes = static_cast<std::size_t>(buffer.bytes.constant()); bytes > 0)
                    allocate(buffer).write(bytes, stored.get());
            }
            return true;
        } catch (const Error& error) {
            context_.log(LogLevel::info, fmt::format("packed weights are computed again: {}", error.what()));
            return false;
        }
    }

    void store_packed(const std::vector<PackedValue>& kept) const {
        std::vector<const std::byte*> data;
        std::vector<std::vector<std::byte>> copies;  // of values that lie on other devices
        for (const auto& [key, value] : retained_) {
            const Buffer& buffer = *value.buffer;
            data.push_back(is_on_host(buffer) ? computed_.by_kind(buffer).at(buffer.name).get()
                                              : copies.emplace_back(places_.at(buffer.name).read(buffer)).data());
        }
        try {
            write_packed(*request_.packed, kept, data, context_.cpu->host_threads());
        } catch (const Error& error) {
            context_.log(LogLevel::warning, fmt::format("packed weights are not stored: {}", error.what()));
        }
    }

    static const LinkedOperand& operand(const Work& work, int i) {
        return work.program->operands()[static_cast<std::size_t>(work.instruction->first_operand + i)];
    }

    void count_use(const LinkedProgram& program, int buffer) { ++uses_[key_of(buffer_of(program, buffer))]; }

    void retain(const LinkedProgram& program, int buffer) {
        const Buffer& b = buffer_of(program, buffer);
        if (!is_shared_by_name(b)) return;
        retained_.try_emplace(key_of(b), &b).first->second.readers.insert(&program);
    }

    void fault(const std::string& text) { faults_ += (faults_.empty() ? "" : "; ") + text; }

    void fetch(const Buffer& buffer) {
        if (buffer.kind != BufferKind::weight || computed_.weights.contains(buffer.name) ||
            refused_.contains(buffer.name))
            return;
        if (!request_.source) return refuse(buffer, "there is no source of weights");
        InputView view;
        try {
            view = request_.source(buffer.name);
        } catch (const Error& error) { return refuse(buffer, error.what()); }
        auto held = std::make_shared<const ScopedInputView>(view);
        Shape wanted = buffer.desc.shape, given;
        for (const std::int64_t size : view.shape) given.emplace_back(size);
        if (view.data == nullptr && element_count(wanted).constant() != 0) return refuse(buffer, "missing");
        if (view.device != Device::cpu || context_.device_of_memory(view.data))
            return refuse(buffer, "is not in host memory");
        if (view.dtype != buffer.desc.dtype || given != wanted)
            return refuse(buffer, fmt::format("expected {}, got {}", to_string(buffer.desc.dtype, wanted),
                                              to_string(view.dtype, given)));
        for (std::size_t i = 0; i < view.strides.size(); ++i)
            if (view.shape[i] > 1 && view.strides[i] != buffer.desc.strides[i].constant())
                return refuse(buffer, "must be dense, got strides " + shape_text(view.strides));
        const auto* const data = static_cast<const std::byte*>(view.data);
        computed_.weights.emplace(buffer.name, std::shared_ptr<const std::byte>(std::move(held), data));
    }

    void refuse(const Buffer& buffer, const std::string& why) {
        refused_.insert(buffer.name);
        fault(fmt::format("weight \"{}\": {}", buffer.name, why));
    }

    /// Part of a device's memory.
    struct Place {
        device::Memory* memory = nullptr;
        std::size_t offset = 0;

        void write(std::size_t bytes, const std::byte* host) { memory->write({offset, bytes}, host); }
        std::vector<std::byte> read(const Buffer& buffer) const {
            std::vector<std::byte> bytes(static_cast<std::size_t>(buffer.bytes.constant()));
            if (!bytes.empty()) memory->read({offset, bytes.size()}, bytes.data());
            return bytes;
        }
    };

    bool is_on_host(const Buffer& buffer) const { return &context_.backend(buffer.device) == context_.cpu.get(); }

    void execute(const Work& work) {
        const LinkedInstruction& instruction = *work.instruction;
        device::Backend& backend = context_.backend(instruction.kernel->device);
        std::vector<TensorArg> args;
        std::vector<std::int64_t> table;
        for (const int expression : work.program->table()) {
            const Dim& dim = work.program->expressions()[static_cast<std::size_t>(expression)];
            table.push_back(dim.is_constant() ? dim.constant() : 0);
        }
        const int operands = instruction.inputs + instruction.outputs;
        for (int i = 0; i < operands; ++i) {
            const LinkedOperand& linked = operand(work, i);
            const Buffer& buffer = buffer_of(*work.program, linked.buffer);
            if (i >= instruction.inputs) allocate(buffer);
            const std::int64_t offset = work.program->expressions()[static_cast<std::size_t>(linked.offset)].constant();
            args.push_back({computed_.find(buffer) + offset * linked.element_bytes, table.data() + linked.shape,
                            table.data() + linked.strides, linked.rank});
        }
        std::unique_ptr<device::Memory> workspace;
        if (instruction.workspace >= 0) {
            const auto bytes =
                static_cast<std::size_t>(buffer_of(*work.program, instruction.workspace).bytes.constant());
            workspace = backend.reserve(bytes, device::MemoryUse::scratch);
            workspace->touch(0, bytes);
        }
        device::KernelLaunch launch{instruction.kernel->run,
                                    {args.data(), args.data() + instruction.inputs, table.data() + instruction.dims,
                                     workspace == nullptr ? nullptr : workspace->data(), instruction.prepared.get()},
                                    instruction.inputs,
                                    instruction.outputs};
        launch.code = instruction.code.get();
        if (instruction.kernel->enqueue) launch.enqueued = instruction.kernel;
        launch.dims = instruction.dim_count;
        for (std::size_t axis = 0; axis < launch.grid.size(); ++axis)
            if (const int size = instruction.grid[axis]; size >= 0)
                launch.grid[axis] =
                    static_cast<unsigned>(work.program->expressions()[static_cast<std::size_t>(size)].constant());
        if (instruction.is_host_copy) {
            launch.copy_bytes = byte_count(args[0], static_cast<std::size_t>(operand(work, 0).element_bytes));
            launch.bytes = static_cast<std::int64_t>(2 * launch.copy_bytes);
        }
        device::Submission submission;
        backend.record({&launch, 1}, {})->run(submission);
        const auto at = static_cast<std::size_t>(&instruction - work.program->bind().data());
        const program::Program& program = work.program->program();
        throw_fault(submission, {&launch, 1}, "bind", program, std::span(&program.bind[at], 1));
    }

    /// Allocates a computed value on its device, in the arena of its readers if it stays.
    Place allocate(const Buffer& buffer) {
        const auto bytes = static_cast<std::size_t>(buffer.bytes.constant());
        const auto kept = retained_.find(key_of(buffer));
        const bool stays = kept != retained_.end();
        SharedArena own;
        SharedArena& room = stays ? arenas_[{kept->second.readers, buffer.device}] : own;
        const auto memory_for = [&](std::size_t size) {
            return SharedArena{context_.backend(buffer.device).reserve(size, device::MemoryUse::arena), 0};
        };
        if (room.memory == nullptr) room = memory_for(stays ? bytes_for(kept->second.readers, buffer.device) : bytes);
        if (bytes > room.memory->capacity() - room.used) room = memory_for(bytes);
        room.memory->touch(0, room.used + bytes);
        computed_.values.insert_or_assign(
            buffer.name, std::shared_ptr<const std::byte>(room.memory, room.memory->data() + room.used));
        const Place place = places_[buffer.name] = {room.memory.get(), room.used};
        room.used = std::min(room.used + in_pages(bytes, buffer.device), room.memory->capacity());
        return place;
    }

    std::size_t in_pages(std::size_t bytes, Device device) const {
        return static_cast<std::size_t>(memory_plan::align_up(
            static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(context_.backend(device).page_bytes())));
    }

    /// Bytes of all bound values of a device that are read by exactly these programs.
    std::size_t bytes_for(const Readers& readers, Device device) const {
        std::size_t bytes = 0;
        for (const auto& [key, value] : retained_)
            if (value.buffer->kind == BufferKind::bound && value.buffer->device == device && value.readers == readers)
                bytes += in_pages(static_cast<std::size_t>(value.buffer->bytes.constant()), device);
        return bytes;
    }

    void release_after_last_use(const Buffer& buffer) {
        if (!is_shared_by_name(buffer)) return;
        const std::string key = key_of(buffer);
        if (--uses_[key] <= 0 && !retained_.contains(key)) computed_.by_kind(buffer).erase(buffer.name);
    }

    Context::Impl& context_;
    const BindRequest& request_;
    BoundMemory computed_;
    std::vector<Work> work_;
    std::map<std::string, int> uses_;
    std::map<std::string, Retained> retained_;
    std::set<std::string> refused_;
    std::string faults_;
    std::map<std::pair<Readers, Device>, SharedArena> arenas_;
    std::map<std::string, Place> places_;  // of the values computed or loaded last under each name
};

/// The exclusive right of one thread to bind.
class BoundValues::BindLock {
public:
    BindLock(BoundValues& values, const std::stop_token& stop) : values_(values) {
        const std::thread::id self = std::this_thread::get_id();
        std::unique_lock lock(values_.mutex_);
        if (values_.binder_ == self)
            throw Error(ErrorKind::busy, "bind", "called from inside a bind of the same graph");
        if (!values_.binding_done_.wait(lock, stop, [&] { return values_.binder_ == std::thread::id(); }))
            throw Cancelled("bind");
        values_.binder_ = self;
    }
    ~BindLock() {
        const std::scoped_lock lock(values_.mutex_);
        values_.binder_ = {};
        values_.binding_done_.notify_all();
    }
    BindLock(const BindLock&) = delete;
    BindLock& operator=(const BindLock&) = delete;

private:
    BoundValues& values_;
};

void BoundValues::bind(const std::vector<std::shared_ptr<BoundProgram>>& programs, Context::Impl& context,
                       const BindRequest& request) {
    const BindLock bind_lock(*this, request.stop);
    if (ready())
        throw Error(ErrorKind::argument, "bind", "the weights are bound already; compile or load again for others");
    Binding binding(programs, context, request);
    binding.run();
    std::vector<BoundMemory> memories;
    for (const std::shared_ptr<BoundProgram>& program : programs)
        memories.push_back(binding.memory_of(program->linked));
    for (std::size_t p = 0; p < programs.size(); ++p) programs[p]->memory = std::move(memories[p]);
    ready_.store(true, std::memory_order_release);
}

std::byte* BoundMemory::find(const Buffer& buffer) const {
    // Kernels take one pointer type for all operands; nothing writes through these.
    if (buffer.kind == BufferKind::constant) return const_cast<std::byte*>(buffer.data.data());
    if (!is_shared_by_name(buffer)) return nullptr;
    const auto it = by_kind(buffer).find(buffer.name);
    return it == by_kind(buffer).end() ? nullptr : const_cast<std::byte*>(it->second.get());
}

}  // namespace cairn::runtime
