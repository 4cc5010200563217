#include "kernels/cpu/simd/elementwise/block_memory.hpp"
#include "kernels/cpu/simd/elementwise/block_ops.hpp"
#include "kernels/cpu/simd/elementwise/block_program.hpp"
#include "kernels/cpu/simd/table.hpp"

/// Runs a BlockProgram over tensors. The flattened output is split into chunks that members claim, and a chunk into
/// blocks that stay in L1. An operand stored in memory as in its block is used in place and not copied.
namespace CAIRN_LEVEL {
namespace {

constexpr int max_operands = max_body_inputs + max_body_outputs;

/// How the current block accesses an operand.
enum class OperandAccess : std::uint8_t {
    constant,  ///< one element for the whole run: its block is filled before the first chunk
    dense,     ///< contiguous along the flattened output
    strided,
};

/// The output's axes after merging those that have a single stride in all operands. The last axis is the innermost.
struct IterationSpace {
    int rank = 0;
    std::int64_t shape[max_body_rank];
    std::int64_t strides[max_operands][max_body_rank];  ///< inputs, then outputs
    std::int64_t total = 1;
};

IterationSpace merged_iteration_space(const Args& args, int inputs, int outputs) {
    IterationSpace space;
    const TensorArg& first = args.outputs[0];
    const auto operand = [&](int k) -> const TensorArg& {
        return k < inputs ? args.inputs[k] : args.outputs[k - inputs];
    };
    for (int axis = 0; axis < first.rank; ++axis) {
        const std::int64_t size = first.shape[axis];
        space.total *= size;
        if (size == 1) continue;
        bool merge = space.rank > 0;
        for (int k = 0; merge && k < inputs + outputs; ++k) {
            merge = space.strides[k][space.rank - 1] == operand(k).strides[axis] * size;
        }
        if (!merge) ++space.rank;
        const int at = space.rank - 1;
        space.shape[at] = merge ? space.shape[at] * size : size;
        for (int k = 0; k < inputs + outputs; ++k) space.strides[k][at] = operand(k).strides[axis];
    }
    if (space.rank == 0) {
        space.rank = 1;
        space.shape[0] = 1;
        for (int k = 0; k < inputs + outputs; ++k) space.strides[k][0] = 0;
    }
    return space;
}

OperandAccess access_of(const IterationSpace& space, int operand) {
    bool constant = true, dense = true;
    std::int64_t stride = 1;
    for (int axis = space.rank - 1; axis >= 0; --axis) {
        constant = constant && space.strides[operand][axis] == 0;
        dense = dense && (space.strides[operand][axis] == stride || space.shape[axis] == 1);
        stride *= space.shape[axis];
    }
    return dense ? OperandAccess::dense : constant ? OperandAccess::constant : OperandAccess::strided;
}

/// Calls f(offset in the operand, first element, length) for each run of the inner axis within [begin, begin + n) of
/// the flattened output.
template <typename F>
CAIRN_INLINE void for_runs(const IterationSpace& space, int operand, std::int64_t begin, std::int64_t n, F f) {
    const int last = space.rank - 1;
    const std::int64_t* strides = space.strides[operand];
    std::int64_t at[max_body_rank], rest = begin, offset = 0;
    for (int axis = last; axis >= 0; --axis) {
        at[axis] = rest % space.shape[axis];
        rest /= space.shape[axis];
        offset += at[axis] * strides[axis];
    }
    for (std::int64_t done = 0; done < n;) {
        const std::int64_t left = space.shape[last] - at[last];
        const std::int64_t run = left < n - done ? left : n - done;
        f(offset, done, run);
        done += run;
        at[last] += run;
        offset += run * strides[last];
        for (int axis = last; axis > 0 && at[axis] == space.shape[axis]; --axis) {
            offset += strides[axis - 1] - at[axis] * strides[axis];
            at[axis] = 0;
            ++at[axis - 1];
        }
    }
}

/// The state of a team member during a run.
struct MemberRun {
    const Args& args;
    const BlockProgram& body;
    IterationSpace space;
    std::byte* scratch;
    OperandAccess seen[max_operands];
    bool in_memory[max_operands];  ///< the operand's dtype equals the type of its block

    std::byte* block(std::int64_t place) const { return scratch + place * body.block_bytes; }
    std::int64_t block_element_bytes(DType dtype) const {
        return body.in_memory_format ? bytes_of(dtype) : block_bytes_of(dtype);
    }
    void load(DType dtype, std::byte* to, const std::byte* from, std::int64_t stride, std::int64_t n) const {
        if (body.in_memory_format)
            load_bits(bytes_of(dtype), to, from, stride, n);
        else
            load_run(dtype, to, from, stride, n);
    }
    void store(DType dtype, std::byte* to, const std::byte* from, std::int64_t stride, std::int64_t n) const {
        if (body.in_memory_format)
            store_bits(bytes_of(dtype), to, from, stride, n);
        else
            store_run(dtype, to, from, stride, n);
    }
};

std::int64_t offset_of(const IterationSpace& space, int operand, std::int64_t element) {
    std::int64_t offset = 0;
    for (int axis = space.rank - 1; axis >= 0; --axis) {
        offset += element % space.shape[axis] * space.strides[operand][axis];
        element /= space.shape[axis];
    }
    return offset;
}

/// The memory of [begin, begin + n) of an operand if it can be used in place of a block; null otherwise.
CAIRN_INLINE std::byte* memory_of(const MemberRun& pass, const TensorArg& arg, int operand, DType dtype,
                                  std::int64_t begin, bool one_row) {
    if (!pass.in_memory[operand]) return nullptr;
    const std::int64_t bytes = bytes_of(dtype);
    if (pass.seen[operand] == OperandAccess::dense) return arg.data + begin * bytes;
    if (!one_row || pass.space.strides[operand][pass.space.rank - 1] != 1) return nullptr;
    return arg.data + offset_of(pass.space, operand, begin) * bytes;
}

std::byte* memory_of_output(const MemberRun& pass, int output, std::int64_t begin, bool one_row) {
    const BlockProgram& body = pass.body;
    return memory_of(pass, pass.args.outputs[output], body.input_count + output, body.outputs[output].dtype, begin,
                     one_row);
}

void run_block(const MemberRun& pass, std::int64_t begin, std::int64_t n, bool one_row) {
    const BlockProgram& body = pass.body;
    std::byte* place[max_body_ops + max_body_inputs];
    bool written[max_body_outputs] = {};
    for (int i = 0; i < body.block_count; ++i) place[i] = pass.block(i);
    for (int i = 0; i < body.input_count; ++i) {
        if (pass.seen[i] == OperandAccess::constant) continue;
        const TensorArg& arg = pass.args.inputs[i];
        const DType dtype = body.inputs[i];
        if (std::byte* memory = memory_of(pass, arg, i, dtype, begin, one_row)) {
            place[i] = memory;
            continue;
        }
        // Without operations the loaded block is stored, so it is loaded directly to the output.
        if (body.op_count == 0 && i == body.outputs[0].place)
            if (std::byte* memory = memory_of_output(pass, 0, begin, one_row)) {
                place[i] = memory;
                written[0] = true;
            }
        const std::int64_t bytes = bytes_of(dtype);
        const std::int64_t stride = pass.space.strides[i][pass.space.rank - 1];
        if (pass.seen[i] == OperandAccess::dense) {
            pass.load(dtype, place[i], arg.data + begin * bytes, 1, n);
        } else {
            for_runs(pass.space, i, begin, n, [&](std::int64_t offset, std::int64_t first, std::int64_t length) {
                pass.load(dtype, place[i] + first * pass.block_element_bytes(dtype), arg.data + offset * bytes, stride,
                          length);
            });
        }
    }
    for (int i = 0; i < body.op_count; ++i) {
        const BlockOp& op = body.ops[i];
        if (op.output >= 0) {
            if (std::byte* memory = memory_of_output(pass, op.output, begin, one_row)) {
                place[op.result] = memory;
                written[op.output] = true;
            }
        }
        block_functions[static_cast<int>(op.code)].of[static_cast<int>(op.slot)](
            place[op.result], place[op.operand[0]], place[op.operand[1]], place[op.operand[2]], n);
    }
    for (int o = 0; o < body.output_count; ++o) {
        if (written[o]) continue;
        const int operand = body.input_count + o;
        const DType dtype = body.outputs[o].dtype;
        const std::byte* from = place[body.outputs[o].place];
        const std::int64_t bytes = bytes_of(dtype), stride = pass.space.strides[operand][pass.space.rank - 1];
        for_runs(pass.space, operand, begin, n, [&](std::int64_t offset, std::int64_t first, std::int64_t length) {
            pass.store(dtype, pass.args.outputs[o].data + offset * bytes,
                       from + first * pass.block_element_bytes(dtype), stride, length);
        });
    }
}

void start(MemberRun& pass) {
    const BlockProgram& body = pass.body;
    for (int k = 0; k < body.input_count + body.output_count; ++k) {
        const DType dtype = k < body.input_count ? body.inputs[k] : body.outputs[k - body.input_count].dtype;
        pass.seen[k] = access_of(pass.space, k);
        pass.in_memory[k] = bytes_of(dtype) == pass.block_element_bytes(dtype);
        if (pass.seen[k] == OperandAccess::constant && k < body.input_count)
            pass.load(dtype, pass.block(k), pass.args.inputs[k].data, 0, block_size);
    }
    for (int i = 0; i < body.constant_count; ++i) fill_block(body.constants[i], pass.block(body.constants[i].place));
}

}  // namespace

void elementwise(const Args& args, Team& team) {
    const BlockProgram& body = *static_cast<const BlockProgram*>(args.prepared);
    MemberRun pass{args,
                   body,
                   merged_iteration_space(args, body.input_count, body.output_count),
                   args.workspace + body.bytes_per_member() * team.rank(),
                   {},
                   {}};
    const std::int64_t total = pass.space.total, inner = pass.space.shape[pass.space.rank - 1];
    if (total == 0) return;
    // Long rows: blocks end at row ends, so that rows can be used in place. Short rows: a block holds several rows.
    const bool long_rows = inner >= block_size / 4;
    bool started = false;
    for (std::int64_t chunk = team.next_chunk(); chunk * chunk_size < total; chunk = team.next_chunk()) {
        if (!started) start(pass);
        started = true;
        const std::int64_t end = (chunk + 1) * chunk_size < total ? (chunk + 1) * chunk_size : total;
        for (std::int64_t at = chunk * chunk_size; at < end;) {
            std::int64_t n = end - at < block_size ? end - at : block_size;
            if (long_rows && inner - at % inner < n) n = inner - at % inner;
            run_block(pass, at, n, long_rows);
            at += n;
        }
    }
}

}  // namespace CAIRN_LEVEL
