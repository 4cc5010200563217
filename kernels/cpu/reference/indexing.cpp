#include "kernels/cpu/reference/element.hpp"
#include "kernels/cpu/reference/registration.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

/// Reference kernels of pad, concat, gather, scatter, take_along_axis, bitcast and iota, whose results are not views of
/// one input. Team members share the elements evenly; results do not depend on the split.
namespace cairn::kernels::cpu::reference {
namespace {

struct Indexing {
    std::size_t bytes = 0;  ///< of an element
    int axis = 0, before_at = 0, start_at = 0;
    DType index_dtype = DType::i32, dtype = DType::f32, from = DType::f32;
    alignas(8) std::byte fill[8] = {};
};

// Scratch of one member: one shape and two lists of strides.
std::int64_t list_bytes(std::int64_t rank) noexcept { return rounded_to_line(rank * 8); }
std::int64_t scratch_bytes(std::int64_t rank) noexcept { return 3 * list_bytes(rank); }

// The part [begin, begin + size) of `whole` along an axis. Its shape is written to `shape`.
StridedView part_of(const StridedView& whole, int axis, std::int64_t begin, std::int64_t size, std::size_t bytes,
                    std::int64_t* shape) noexcept {
    std::copy(whole.shape, whole.shape + whole.rank, shape);
    shape[axis] = size;
    return {whole.data + begin * whole.strides[axis] * static_cast<std::int64_t>(bytes), shape, whole.strides,
            whole.rank};
}

void move_share(const StridedView& to, const StridedView& from, std::size_t bytes, const Team& team) noexcept {
    move_elements(to, from, bytes, share(element_count(to), team.rank(), team.size()));
}

void run_pad(const Args& args, Team& team) {
    const Indexing& how = *static_cast<const Indexing*>(args.prepared);
    const StridedView in = strided_view_of(args.inputs[0]), out = strided_view_of(args.outputs[0]);
    auto* shape = reinterpret_cast<std::int64_t*>(args.workspace + scratch_bytes(out.rank) * team.rank());
    std::int64_t* zeros = shape + list_bytes(out.rank) / 8;
    std::fill(zeros, zeros + out.rank, 0);
    Indexing local = how;
    const std::int64_t before = args.dims[how.before_at], middle = in.shape[how.axis];
    const auto fill = [&](std::int64_t begin, std::int64_t size) {
        const StridedView to = part_of(out, how.axis, begin, size, how.bytes, shape);
        move_share(to, {local.fill, to.shape, zeros, to.rank}, how.bytes, team);
    };
    fill(0, before);
    fill(before + middle, out.shape[how.axis] - before - middle);
    move_share(part_of(out, how.axis, before, middle, how.bytes, shape), in, how.bytes, team);
}

void run_concat(const Args& args, Team& team) {
    const Indexing& how = *static_cast<const Indexing*>(args.prepared);
    const StridedView out = strided_view_of(args.outputs[0]);
    auto* shape = reinterpret_cast<std::int64_t*>(args.workspace + scratch_bytes(out.rank) * team.rank());
    std::int64_t begin = 0;
    for (int i = 0; begin < out.shape[how.axis]; ++i) {
        const StridedView in = strided_view_of(args.inputs[i]);
        move_share(part_of(out, how.axis, begin, in.shape[how.axis], how.bytes, shape), in, how.bytes, team);
        begin += in.shape[how.axis];
    }
}

// The `position`-th element of input 1, the indices; fails and returns -1 if it is outside 0 .. size - 1.
std::int64_t index_at(const TensorArg& indices, std::int64_t position, std::int64_t size, DType dtype,
                      Team& team) noexcept {
    ElementBlock block;
    load(block, indices.data, offset_of(strided_view_of(indices), position), 1, 1, dtype);
    const std::int64_t index = block.whole[0];
    if (index >= 0 && index < size) return index;
    team.fail("an index is out of range of the indexed axis", 1, position, index);
    return -1;
}

// The axes of a tensor before and after some axes, as views that begin at its start.
struct Sides {
    StridedView before, behind;
    Sides(const TensorArg& arg, int first, int count) noexcept
        : before{arg.data, arg.shape, arg.strides, first},
          behind{arg.data, arg.shape + first + count, arg.strides + first + count, arg.rank - first - count} {}
};

void run_gather(const Args& args, Team& team) {
    const Indexing& how = *static_cast<const Indexing*>(args.prepared);
    const TensorArg &table = args.inputs[0], &indices = args.inputs[1], &out = args.outputs[0];
    const Sides from(table, how.axis, 1), to(out, how.axis, indices.rank);
    const StridedView index_view{nullptr, out.shape + how.axis, out.strides + how.axis, indices.rank};
    const std::int64_t chosen = element_count(index_view), behind = element_count(from.behind);
    const auto bytes = static_cast<std::int64_t>(how.bytes);
    const Range rows = share(element_count(from.before) * chosen, team.rank(), team.size());
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const std::int64_t index = index_at(indices, row % chosen, table.shape[how.axis], how.index_dtype, team);
        if (index < 0) return;
        StridedView source = from.behind, target = to.behind;
        source.data += (offset_of(from.before, row / chosen) + index * table.strides[how.axis]) * bytes;
        target.data += (offset_of(to.before, row / chosen) + offset_of(index_view, row % chosen)) * bytes;
        move_elements(target, source, how.bytes, {0, behind});
    }
}

void run_scatter(const Args& args, Team& team) {
    const Indexing& how = *static_cast<const Indexing*>(args.prepared);
    const TensorArg &indices = args.inputs[1], &updates = args.inputs[2], &out = args.outputs[0];
    move_share(strided_view_of(out), strided_view_of(args.inputs[0]), how.bytes, team);
    team.barrier();
    const Sides from(updates, how.axis, 1), to(out, how.axis, 1);
    const std::int64_t chosen = indices.shape[0], outer = element_count(to.before), behind = element_count(to.behind);
    const auto bytes = static_cast<std::int64_t>(how.bytes);
    // Each output row belongs to one member, so that of equal indices the last wins whatever the team size.
    for (std::int64_t i = 0; i < chosen; ++i) {
        const std::int64_t index = index_at(indices, i, out.shape[how.axis], how.index_dtype, team);
        if (index < 0) return;
        if (index % team.size() != team.rank()) continue;
        for (std::int64_t a = 0; a < outer; ++a) {
            StridedView source = from.behind, target = to.behind;
            source.data += (offset_of(from.before, a) + i * updates.strides[how.axis]) * bytes;
            target.data += (offset_of(to.before, a) + index * out.strides[how.axis]) * bytes;
            move_elements(target, source, how.bytes, {0, behind});
        }
    }
}

void run_take_along_axis(const Args& args, Team& team) {
    const Indexing& how = *static_cast<const Indexing*>(args.prepared);
    const TensorArg &x = args.inputs[0], &indices = args.inputs[1], &out = args.outputs[0];
    const auto bytes = static_cast<std::int64_t>(how.bytes);
    const Range range = share(element_count(strided_view_of(out)), team.rank(), team.size());
    for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int64_t index = index_at(indices, i, x.shape[how.axis], how.index_dtype, team);
        if (index < 0) return;
        std::int64_t from = index * x.strides[how.axis], rest = i;
        for (int axis = out.rank - 1; axis >= 0; --axis) {
            if (axis != how.axis) from += rest % out.shape[axis] * x.strides[axis];
            rest /= out.shape[axis];
        }
        std::memcpy(out.data + offset_of(strided_view_of(out), i) * bytes, x.data + from * bytes, how.bytes);
    }
}

void run_bitcast(const Args& args, Team& team) {
    const Indexing& how = *static_cast<const Indexing*>(args.prepared);
    const StridedView x = strided_view_of(args.inputs[0]), out = strided_view_of(args.outputs[0]);
    const auto from = static_cast<std::int64_t>(size_of(how.from)), to = static_cast<std::int64_t>(how.bytes);
    if (from == to) return move_share(out, x, how.bytes, team);
    // Each element of one side is the elements of the last axis of the other.
    const bool splits = from > to;
    const StridedView &whole = splits ? x : out, &parts = splits ? out : x;
    const std::int64_t whole_bytes = std::max(from, to), part_bytes = std::min(from, to);
    const StridedView first_parts{parts.data, parts.shape, parts.strides, parts.rank - 1};
    const Range range = share(element_count(whole), team.rank(), team.size());
    for (std::int64_t i = range.begin; i < range.end; ++i) {
        std::byte* const of_whole = whole.data + offset_of(whole, i) * whole_bytes;
        std::byte* const of_parts = parts.data + offset_of(first_parts, i) * part_bytes;
        for (std::int64_t k = 0; k < whole_bytes / part_bytes; ++k) {
            std::byte* const in_whole = of_whole + k * part_bytes;
            std::byte* const part = of_parts + k * inner_stride(parts) * part_bytes;
            std::memcpy(splits ? part : in_whole, splits ? in_whole : part, static_cast<std::size_t>(part_bytes));
        }
    }
}

void run_iota(const Args& args, Team& team) {
    const Indexing& how = *static_cast<const Indexing*>(args.prepared);
    const TensorArg& out = args.outputs[0];
    const auto start = static_cast<std::uint64_t>(args.dims[how.start_at]);  // wraps, as integers do
    const Range range = share(out.shape[0], team.rank(), team.size());
    for (std::int64_t i = range.begin; i < range.end; i += block_size) {
        const int count = static_cast<int>(std::min<std::int64_t>(block_size, range.end - i));
        ElementBlock block;
        for (int j = 0; j < count; ++j)
            block.whole[j] = static_cast<std::int64_t>(start + static_cast<std::uint64_t>(i + j));
        if (is_float(how.dtype)) convert(block, count, DType::i64, how.dtype);
        store(block, out.data, i * out.strides[0], out.strides[0], count, how.dtype);
    }
}

bool can_hold(DType dtype, double value) {
    if (is_float(dtype)) return true;
    ElementBlock block;
    block.real[0] = value;
    convert(block, 1, DType::f64, dtype);
    return static_cast<double>(block.whole[0]) == value;
}

Refusal accepts(const Problem& problem) {
    if (Refusal refusal = needs_plain_memory(problem); !refusal.empty()) return refusal;
    if (problem.outputs.size() != 1) return "needs one output";
    const std::string& name = problem.definition;
    const std::size_t inputs = problem.inputs.size();
    if (name == "pad" || name == "bitcast"              ? inputs != 1
        : name == "gather" || name == "take_along_axis" ? inputs != 2
        : name == "scatter"                             ? inputs != 3
        : name == "iota"                                ? inputs != 0
                                                        : inputs == 0)
        return "has the wrong number of inputs";
    if (name == "pad" && !can_hold(problem.outputs[0].dtype, problem.attributes.number("value")))
        return "needs a value that the dtype can hold";
    if (name == "gather" || name == "scatter" || name == "take_along_axis") {
        const DType dtype = problem.inputs[1].dtype;
        if (dtype != DType::i32 && dtype != DType::i64) return "needs indices i32 or i64";
    }
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto how = std::make_shared<Indexing>();
    how->dtype = problem.outputs[0].dtype;
    how->bytes = size_of(how->dtype);
    if (problem.definition == "iota") {
        how->start_at = position_of_list(problem, "start");
        return how;
    }
    if (problem.definition == "bitcast") {
        how->from = problem.inputs[0].dtype;
        return how;
    }
    how->axis = axis_index(problem.attributes.integer("axis"), problem.inputs[0].shape.size());
    if (problem.inputs.size() > 1) how->index_dtype = problem.inputs[1].dtype;
    if (problem.definition != "pad") return how;
    how->before_at = position_of_list(problem, "before");
    ElementBlock value;
    value.real[0] = problem.attributes.number("value");
    convert(value, 1, DType::f64, how->dtype);
    store(value, how->fill, 0, 1, 1, how->dtype);
    return how;
}

/// A gather moves the elements after its axis together; the other ops move single elements.
Cost cost(const Problem& problem) {
    constexpr double of_row = 1, of_element_in_row = 0.02;
    const double count = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    double bytes = 2 * size_in_bytes(problem.outputs[0]);
    if (problem.definition == "scatter") {  // a copy of the table, then the updates
        bytes = size_in_bytes(problem.outputs[0]);
        for (const TensorDesc& input : problem.inputs) bytes += size_in_bytes(input);
        return scalar_cost(count + static_cast<double>(element_count(problem.inputs[2].shape).constant()), bytes);
    }
    if (problem.definition != "gather") return scalar_cost(count, bytes);
    const Shape& table = problem.inputs[0].shape;
    const auto axis = static_cast<std::size_t>(axis_index(problem.attributes.integer("axis"), table.size()));
    double row = 1;
    for (std::size_t i = axis + 1; i < table.size(); ++i) row *= static_cast<double>(table[i].constant());
    return scalar_cost(of_element_in_row * count + of_row * count / std::max(row, 1.0), bytes);
}

Kernel kernel(const std::string& name, void (*run)(const Args&, Team&), std::vector<std::string> samples) {
    Kernel made = reference_kernel(name, accepts, run, prepare, std::move(samples));
    made.cost = cost;
    made.workspace = [](const Problem& problem, int threads) {
        return Dim(scratch_bytes(static_cast<std::int64_t>(problem.outputs[0].shape.size())) * threads);
    };
    return made;
}

}  // namespace

void add_indexing(std::vector<Kernel>& kernels) {
    kernels.push_back(
        kernel("pad", run_pad,
               {"pad axis=(-2) before=(1) after=(2) value=0.5 | f32[3,N,4] -> f32[3,N+3,4] where N in 0..90",
                "pad axis=(-1) before=(N) after=(0) value=-7 | i8[5,6] -> i8[5,N+6] where N in 0..9",
                "pad axis=(-1) before=(3) after=(3) value=1 | f16[4]:(2) -> f16[10]"}));
    kernels.push_back(kernel(
        "concat", run_concat,
        {"concat axis=(-2) | f32[2,N,3] f32[2,4,3] -> f32[2,N+4,3] where N in 0..90",
         "concat axis=(-1) | i64[4,1] i64[4,2]:(1,4) i64[4,3] -> i64[4,6]", "concat axis=(-1) | bool[7] -> bool[7]"}));
    kernels.push_back(
        kernel("gather", run_gather,
               {"gather axis=(-2) | f32[50,9] i32[N] -> f32[N,9] where N in 0..200",
                "gather axis=(-2) | f16[2,7,3] i64[4,2] -> f16[2,4,2,3]",
                "gather axis=(-1) | u8[3,8]:(1,3) i32[5] -> u8[3,5]", "gather axis=(-1) | f64[8] i32[] -> f64[]"}));
    kernels.push_back(kernel("scatter", run_scatter,
                             {"scatter axis=(-2) | f32[50,9] i32[N] f32[N,9] -> f32[50,9] where N in 0..200",
                              "scatter axis=(-1) | i32[3,8] i64[5] i32[3,5]:(1,3) -> i32[3,8]"}));
    kernels.back().in_place = {{0, 0}};
    kernels.push_back(kernel("take_along_axis", run_take_along_axis,
                             {"take_along_axis axis=(-2) | f32[50,9] i32[N,9] -> f32[N,9] where N in 0..200",
                              "take_along_axis axis=(-1) | u8[3,8]:(1,3) i64[3,5] -> u8[3,5]",
                              "take_along_axis axis=(-3) | f64[7,2,3] i32[4,2,3]:(1,4,8) -> f64[4,2,3]:(12,6,2)"}));
    kernels.push_back(kernel(
        "bitcast", run_bitcast,
        {"bitcast dtype=(2) | u8[N,5,2]:(90,18,1) -> f16[N,5] where N in 0..200",
         "bitcast dtype=(7) | f32[3,N]:(1,3) -> u8[3,N,4] where N in 0..90", "bitcast dtype=(4) | f16[3,4] -> i64[3]",
         "bitcast dtype=(5) | f32[7] -> i32[7]:(2)", "bitcast dtype=(0) | i32[2]:(3) -> f64[]"}));
    kernels.push_back(kernel("iota", run_iota,
                             {"iota length=(N) start=(0) dtype=(5) | -> i32[N] where N in 0..200",
                              "iota length=(9) start=(N) dtype=(1) | -> f32[9] where N in 0..50"}));
}

}  // namespace cairn::kernels::cpu::reference
