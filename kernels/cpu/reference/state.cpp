#include "kernels/cpu/reference/element.hpp"
#include "kernels/cpu/reference/registration.hpp"

#include <algorithm>
#include <memory>

/// Reference kernels of state_append and state_write on plain tensors: copies the state, then the new rows after it or
/// over a part of it. A program that keeps its state in place needs only a `copy` of the rows.
namespace cairn::kernels::cpu::reference {
namespace {

struct Change {
    std::size_t bytes;
    int start_at;  ///< of state_write: index in Args::dims of its first start, one per axis; -1: append
};

// Offset of the first new row in the result, in elements. state_append grows the axis whose sizes before and after
// differ; if none differs, there are no rows.
std::int64_t offset_of_rows(const Change& change, const StridedView& state, const StridedView& out,
                            const Args& args) noexcept {
    std::int64_t offset = 0;
    for (int axis = 0; axis < out.rank; ++axis) {
        const std::int64_t behind = state.shape[axis] == out.shape[axis] ? 0 : state.shape[axis];
        offset += (change.start_at >= 0 ? args.dims[change.start_at + axis] : behind) * out.strides[axis];
    }
    return offset;
}

void move_share(const StridedView& to, const StridedView& from, std::size_t bytes, const Team& team) noexcept {
    if (to.data == from.data) return;
    move_elements(to, from, bytes, share(element_count(from), team.rank(), team.size()));
}

void run(const Args& args, Team& team) {
    const Change& change = *static_cast<const Change*>(args.prepared);
    const StridedView state = strided_view_of(args.inputs[0]), rows = strided_view_of(args.inputs[1]),
                      out = strided_view_of(args.outputs[0]);
    move_share({out.data, state.shape, out.strides, out.rank}, state, change.bytes, team);
    // Rows may overwrite copied elements.
    team.barrier();
    const std::int64_t skipped = offset_of_rows(change, state, out, args) * static_cast<std::int64_t>(change.bytes);
    move_share({out.data + skipped, rows.shape, out.strides, out.rank}, rows, change.bytes, team);
}

Refusal accepts(const Problem& problem) {
    if (Refusal refusal = needs_plain_memory(problem); !refusal.empty()) return refusal;
    if (problem.inputs.size() != 2 || problem.outputs.size() != 1) return "needs a state, rows and one output";
    if (problem.inputs[0].shape.size() != problem.inputs[1].shape.size()) return "needs rows of the state's rank";
    const bool is_write = problem.definition == "state_write";
    if (is_write && problem.attributes.dims("start").size() != problem.inputs[0].shape.size())
        return "needs one start an axis";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    const bool is_write = problem.definition == "state_write";
    return std::make_shared<Change>(
        Change{size_of(problem.outputs[0].dtype), is_write ? position_of_list(problem, "start") : -1});
}

Kernel kernel(const std::string& name, std::vector<std::string> samples) {
    Kernel made = reference_kernel(name, accepts, run, prepare, std::move(samples));
    made.in_place = {{0, 0}};
    return made;
}

}  // namespace

void add_state_changes(std::vector<Kernel>& kernels) {
    kernels.push_back(
        kernel("state_append", {"state_append | f32[3,P,8] f32[3,T,8] -> f32[3,P+T,8] where P in 0..90, T in 0..20"}));
    kernels.push_back(
        kernel("state_write", {"state_write start=(0,P,0) | f32[3,P+9,8] f32[3,4,8] -> f32[3,P+9,8] where P in 0..90",
                               "state_write start=(1,P,2) | f32[3,P+9,8] f32[2,4,5] -> f32[3,P+9,8] where P in 0..90",
                               "state_write start=() | f32[] f32[] -> f32[]"}));
}

}  // namespace cairn::kernels::cpu::reference
