#include "graph/types/convert_floats.hpp"
#include "runtime/instance.hpp"
#include "runtime/states.hpp"
#include "runtime/tensor_error.hpp"

#include <limits>

// Verification of inexact programs: in the first run of a bucket the exact program runs too, and its results are used
// if those of the inexact one are out of tolerance.
namespace cairn::runtime {
namespace {

/// Bytes of a device as the host can read them: copied, or in place in its own memory.
class HostCopy {
public:
    HostCopy(const Context::Impl& context, Device device, const std::byte* data, std::size_t bytes) : data_(data) {
        if (device == Device::cpu) return;
        copy_.resize(bytes);
        context.backend(device).copy(copy_.data(), data, bytes);
        data_ = copy_.data();
    }
    const std::byte* data() const noexcept { return data_; }

private:
    const std::byte* data_;
    std::vector<std::byte> copy_;
};

}  // namespace

std::unique_ptr<ExactRun> Instance::run_exact(std::shared_ptr<BoundProgram> program, int bucket_index,
                                              const RunOptions& options) {
    auto exact = std::make_unique<ExactRun>();
    exact->bucket = std::make_unique<BucketFrame>(std::move(program), context());
    exact->bucket->is_fallback = true;
    resize(*exact->bucket, bucket_index);
    Frame& run = exact->bucket->frame;
    exact->arenas = Arenas(context(), executable->arena_bytes, device::MemoryUse::scratch);
    exact->arenas.touch(run.arena_bytes());
    const program::Program& exact_program = run.program().program();
    for (std::size_t s = 0; s < states.size(); ++s) {
        const auto [before, after] = run.program().state_lengths()[s];
        StateSlot& slot = exact->states.emplace_back(exact_program, exact_program.states[s], context());
        slot.touch(run.value(after));
        slot.copy(states[s], run.value(before));
    }
    set_pointers(*exact->bucket, exact->states, {}, exact->arenas);
    exact->bucket->caller_outputs.check_views(run, outputs);
    device::Submission submission;
    execute(run, options, true, "verify", submission);
    if (options.profile) std::swap(exact->profile, profile);
    return exact;
}

bool Instance::run_active(int bucket_index, const RunOptions& options, bool wait, const ExactRun* exact) {
    const auto b = static_cast<std::size_t>(bucket_index);
    Frame& run = frames_[b]->frame;
    std::vector<double> found;
    if (exact != nullptr)
        found.assign(executable->set.buckets[b].inexact.size(), std::numeric_limits<double>::infinity());
    device::Submission submission;
    try {
        execute(run, options, wait, "run", submission);
        if (exact != nullptr) found = errors(bucket_index, *exact);
    } catch (...) {
        // A kernel that fails where exact ones succeeded counts as an infinite error. Anything else is a failed run.
        if (exact == nullptr || submission.failed < 0) {
            note_damage(run, submission);
            // The device was waited for, so the outcome is that of earlier runs, too.
            if (pending_ && !run.commands().is_pending()) settle_pending(submission);
            throw;
        }
    }
    return exact == nullptr || executable->resolve(b, exact->bucket->program, found);
}

bool Instance::overflows_storage(const BucketFrame& ran) const {
    const LinkedProgram& linked = ran.frame.program();
    for (std::size_t s = 0; s < states.size(); ++s) {
        if (!states[s].is_stored_narrow()) continue;
        const auto [before, after] = linked.state_lengths()[s];
        const Shape& live = linked.program().states[s].live.shape;
        if (states[s].has_non_finite(ran.frame.value(before), ran.frame.value(after), live, ran.symbol_values))
            return true;
    }
    return false;
}

std::vector<double> Instance::errors(int bucket_index, const ExactRun& exact) const {
    const BucketProgram& programs = executable->set.buckets[static_cast<std::size_t>(bucket_index)];
    const Frame &got = frame(bucket_index).frame, &wanted = exact.bucket->frame;
    std::vector<double> found;
    for (const InexactValue& value : programs.inexact) {
        const auto port = static_cast<std::size_t>(value.port);
        if (value.is_state) {
            found.push_back(state_error(port, got, exact));
            continue;
        }
        const DType dtype = programs.program.outputs[port].desc.dtype;
        const TensorArg y = got.output(port), r = wanted.output(port);
        const std::size_t bytes = byte_count(y, dtype);
        const Device device = program::device_of(programs.program, programs.program.outputs[port]);
        const HostCopy y_on_host(context(), device, y.data, bytes), r_on_host(context(), device, r.data, bytes);
        found.push_back(tensor_error(
            dtype, [&](const CompareSegment& compare) { compare(y_on_host.data(), r_on_host.data(), bytes); }));
    }
    return found;
}

/// Error of the live part of a state that the run may have changed.
double Instance::state_error(std::size_t state, const Frame& got, const ExactRun& exact) const {
    const StateSlot &y = states[state], &r = exact.states[state];
    const auto [before, after] = got.program().state_lengths()[state];
    std::vector<std::int64_t> live = live_shape(*this, state);
    std::int64_t first = 0;
    if (const int axis = y.port().axis; axis >= 0) {
        live[static_cast<std::size_t>(axis)] = got.value(after);
        if (!got.program().program().states[state].overwritten) first = got.value(before);
    }
    std::vector<std::int64_t> rows = live;
    std::int64_t end = 0;
    if (const int axis = y.port().axis; axis >= 0) {
        end = live[static_cast<std::size_t>(axis)];
        rows[static_cast<std::size_t>(axis)] = end - first;
    }
    const auto count_of = [&](std::size_t axis) { return rows[axis]; };
    const MappedRows got_rows = y.map(first, end), exact_rows = r.map(first, end);
    std::vector<const std::byte*> exact_segments;
    exact_rows.for_each_segment(count_of, [&](const std::byte* at, std::size_t) { exact_segments.push_back(at); });
    const DType stored = y.desc().dtype, wanted = r.desc().dtype;
    std::vector<std::byte> widened;
    return tensor_error(wanted, [&](const CompareSegment& compare) {
        std::size_t segment = 0;
        got_rows.for_each_segment(count_of, [&](const std::byte* at, std::size_t count) {
            const std::size_t bytes = count * size_of(wanted);
            if (stored != wanted) {
                widened.resize(bytes);
                types::convert_floats(widened.data(), wanted, at, stored, count);
                at = widened.data();
            }
            compare(at, exact_segments[segment++], bytes);
        });
    });
}

void Instance::fall_back(int bucket_index, ExactRun& exact) noexcept {
    std::swap(arenas_, exact.arenas);
    for (std::size_t s = 0; s < states.size(); ++s) states[s].swap_memory(exact.states[s]);
    std::swap(frames_[static_cast<std::size_t>(bucket_index)], exact.bucket);
    if (!exact.profile.seconds.empty()) std::swap(exact.profile, profile);
    for (OutputSlot& slot : outputs) slot.is_direct = false;
}

}  // namespace cairn::runtime
