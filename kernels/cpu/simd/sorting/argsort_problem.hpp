#pragma once

#include "cairn/kernel.hpp"
#include "kernels/cpu/simd/axis_offsets.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/reduction/reduce_plan.hpp"
#include "kernels/cpu/simd/sorting/sort_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

/// What all kernels of argsort share: their Problems, and the lines that a member sorts.
namespace cairn::kernels::cpu {

/// Result of `prepare`.
struct ArgsortPlan {
    int axis;
    DType dtype;
    bool descending;
};

/// Where the indices of a sorted line are written.
struct Indices {
    std::byte* to;
    std::int64_t stride;
    void put(std::int64_t at, std::int32_t index) const noexcept {
        reinterpret_cast<std::int32_t*>(to)[at * stride] = index;
    }
};

inline Refusal argsort_refusal(const Problem& problem) {
    if (Refusal no = needs_plain(problem, max_reduce_rank); !no.empty()) return no;
    if (problem.inputs.size() != 1 || problem.outputs.size() != 1) return "needs one input and one output";
    const TensorDesc &x = problem.inputs[0], &out = problem.outputs[0];
    if (x.dtype == DType::boolean) return "needs numbers";
    if (out.dtype != DType::i32 || x.shape != out.shape) return "needs indices i32 of one shape with x";
    return x.shape.empty() ? "needs an axis" : Refusal();
}

inline ArgsortPlan argsort_plan(const Problem& problem) {
    const TensorDesc& x = problem.inputs[0];
    return {axis_index(problem.attributes.integer("axis"), x.shape.size()), x.dtype,
            problem.attributes.integer("descending") != 0};
}

inline std::shared_ptr<const void> prepare_argsort(const Problem& problem, int) {
    return std::make_shared<ArgsortPlan>(argsort_plan(problem));
}

/// Elements of a line.
inline Dim argsort_size(const Problem& problem) {
    return problem.inputs[0].shape[static_cast<std::size_t>(argsort_plan(problem).axis)];
}

/// Number of members that sort at the same time.
inline Dim argsort_members(const Problem& problem, int threads) {
    const Shape& shape = problem.inputs[0].shape;
    Dim lines = 1;
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (static_cast<int>(i) != argsort_plan(problem).axis) lines *= shape[i];
    return min(lines, Dim(threads));
}

/// Calls sort(keys, stride of keys, size, function from a stored key to its rank, scratch, where indices go) for each
/// line of this member. `scratch_bytes` are those of one member.
template <typename Sort>
void for_each_line(const Args& args, Team& team, std::int64_t scratch_bytes, const Sort& sort) {
    const auto& plan = *static_cast<const ArgsortPlan*>(args.prepared);
    const TensorArg &in = args.inputs[0], &out = args.outputs[0];
    const std::int64_t size = in.shape[plan.axis], behind = count_of(in, plan.axis + 1, in.rank - plan.axis - 1);
    if (size == 0) return;
    const std::int64_t lines = count_of(in, 0, plan.axis) * behind;
    // Scratch is indexed by the member's first line if there are fewer lines than members, otherwise by its rank.
    std::byte* scratch = nullptr;
    const auto first_of = [&](const TensorArg& arg, std::int64_t line) {
        return offset_of(arg, 0, plan.axis, line / behind) +
               offset_of(arg, plan.axis + 1, arg.rank - plan.axis - 1, line % behind);
    };
    // Lines that share cache lines are sorted by one member.
    const std::int64_t shared = in.strides[plan.axis] == 1 ? 1 : 16,
                       at_once = std::max<std::int64_t>(4096 / size, shared);
    with_keys(plan.dtype, [&](auto element, auto key_of) {
        using Key = decltype(element);
        const Key flip = plan.descending ? static_cast<Key>(~Key{0}) : Key{0};
        const auto rank_of = [key_of, flip](Key key) { return static_cast<Key>(key_of(key) ^ flip); };
        for (std::int64_t chunk = team.next_chunk(); chunk * at_once < lines; chunk = team.next_chunk()) {
            const std::int64_t end = std::min(lines, (chunk + 1) * at_once);
            if (scratch == nullptr)
                scratch = args.workspace +
                          scratch_bytes * (lines < team.size() ? chunk * at_once : std::int64_t{team.rank()});
            for (std::int64_t line = chunk * at_once; line < end; ++line)
                sort(reinterpret_cast<const Key*>(in.data) + first_of(in, line), in.strides[plan.axis], size, rank_of,
                     scratch, Indices{out.data + first_of(out, line) * 4, out.strides[plan.axis]});
        }
    });
}

}  // namespace cairn::kernels::cpu
