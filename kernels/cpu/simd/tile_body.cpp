#include "kernels/cpu/simd/tile_body.hpp"

#include "kernels/cpu/simd/block_memory.hpp"
#include "kernels/cpu/simd/block_ops.hpp"
#include "kernels/cpu/simd/vector.hpp"

#include <algorithm>
#include <cstring>

namespace CAIRN_LEVEL {
namespace {

// The last `axes` axes are columns.
bool has_rows_at_one_distance(const TensorArg& arg, int axes, std::int64_t& distance) noexcept {
    bool is_first = true;
    std::int64_t next = 0;
    distance = 0;
    for (int axis = arg.rank - 1 - axes; axis >= 0; --axis) {
        if (arg.shape[axis] == 1) continue;
        if (is_first)
            distance = arg.strides[axis];
        else if (arg.strides[axis] != next)
            return false;
        next = arg.strides[axis] * arg.shape[axis];
        is_first = false;
    }
    return true;
}

// Rows of elements of four bytes, which vectors of floats copy as they are.
CAIRN_INLINE void copy_rows(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
                            std::int64_t height, std::int64_t width) noexcept {
    for (std::int64_t i = 0; i < height; ++i, to += to_stride, from += from_stride) {
        std::int64_t j = 0;
        for (; j + lanes <= width; j += lanes) store(to + j, load(from + j));
        if (j < width) store_part(to + j, load_part(from + j, width - j), width - j);
    }
}

}  // namespace

std::int64_t TileBody::Operand::run_from(std::int64_t column) const noexcept {
    const std::int64_t size = arg.shape[arg.rank - 1];
    return axes == 1 ? end - column : size - (column - first) % size;
}

std::byte* TileBody::Operand::at(std::int64_t row, std::int64_t column) const noexcept {
    std::int64_t offset = 0;
    column -= first;
    for (int axis = arg.rank - 1; axis > arg.rank - axes; --axis) {
        offset += column % arg.shape[axis] * arg.strides[axis];
        column /= arg.shape[axis];
    }
    offset += column * arg.strides[arg.rank - axes];
    if (is_uniform) return arg.data + (offset + row * row_stride) * bytes;
    for (int axis = arg.rank - 1 - axes; axis >= 0; --axis) {
        offset += row % arg.shape[axis] * arg.strides[axis];
        row /= arg.shape[axis];
    }
    return arg.data + offset * bytes;
}

TileBody::Operand TileBody::operand_of(const TensorArg& arg, DType dtype) noexcept {
    Operand operand{arg, dtype, false, false, false, 0, bytes_of(dtype), 0, 0, arg.shape[arg.rank - 1], 1};
    operand.slot_bytes = operand.bytes < 4 ? 4 : operand.bytes;
    operand.is_uniform = has_rows_at_one_distance(arg, 1, operand.row_stride);
    operand.is_row = operand.is_uniform && operand.row_stride == 0;
    operand.is_element = operand.is_row && arg.strides[arg.rank - 1] == 0;
    return operand;
}

TileBody::TileBody(const Body& body, int given, const TensorArg* inputs, const TensorArg* outputs,
                   std::byte* memory) noexcept
    : body_(body), given_(given), memory_(memory) {
    for (int i = given; i < body.input_count; ++i) operands_[i] = operand_of(inputs[i - given], body.inputs[i]);
    for (int i = 0; i < body.output_count; ++i)
        operands_[body.input_count + i] = operand_of(outputs[i], body.outputs[i].dtype);
}

void TileBody::holds(int output, std::int64_t first, int axes) noexcept {
    Operand& operand = operands_[body_.input_count + output];
    operand.first = operand.end = first;
    operand.axes = axes;
    std::int64_t count = 1;
    for (int axis = operand.arg.rank - axes; axis < operand.arg.rank; ++axis) count *= operand.arg.shape[axis];
    operand.end += count;
    operand.is_uniform = has_rows_at_one_distance(operand.arg, axes, operand.row_stride);
}

void TileBody::start() noexcept {
    has_started_ = true;
    for (int i = given_; i < body_.input_count; ++i)
        if (operands_[i].is_element) load_run(operands_[i].dtype, block(i), operands_[i].arg.data, 0, block_size);
    for (int i = 0; i < body_.constant_count; ++i) fill_block(body_.constants[i], block(body_.constants[i].place));
}

void TileBody::load_rows(const Operand& from, const MatrixPart& part, std::byte* block) const noexcept {
    const std::int64_t stride = from.arg.strides[from.arg.rank - 1], pitch = part.pitch * from.slot_bytes;
    const std::int64_t filled = part.width * from.slot_bytes;
    if (from.bytes == 4 && stride == 1 && from.is_uniform) {
        copy_rows(reinterpret_cast<float*>(block), part.pitch,
                  reinterpret_cast<const float*>(from.at(part.row, part.column)), from.row_stride, part.height,
                  part.width);
    } else {
        for (std::int64_t i = 0; i < part.height; ++i)
            load_run(from.dtype, block + i * pitch, from.at(part.row + i, part.column), stride, part.width);
    }
    if (filled == pitch) return;
    for (std::int64_t i = 0; i < part.height; ++i)
        std::memset(block + i * pitch + filled, 0, static_cast<std::size_t>(pitch - filled));
}

void TileBody::store_rows(const Operand& to, const MatrixPart& part, const std::byte* block) const noexcept {
    const std::int64_t stride = to.arg.strides[to.arg.rank - 1], pitch = part.pitch * to.slot_bytes;
    if (to.bytes == 4 && stride == 1 && to.is_uniform) {
        copy_rows(reinterpret_cast<float*>(to.at(part.row, part.column)), to.row_stride,
                  reinterpret_cast<const float*>(block), part.pitch, part.height, part.width);
        return;
    }
    for (std::int64_t i = 0; i < part.height; ++i)
        store_run(to.dtype, to.at(part.row + i, part.column), block + i * pitch, stride, part.width);
}

// What an output holds of a part, run by run.
void TileBody::store_held(const Operand& to, const MatrixPart& part, const std::byte* block) const noexcept {
    const std::int64_t end = std::min(part.column + part.width, to.end);
    for (std::int64_t column = std::max(part.column, to.first), width = 0; column < end; column += width) {
        width = std::min(to.run_from(column), end - column);
        store_rows(to, {part.row, part.height, column, width, part.pitch},
                   block + (column - part.column) * to.slot_bytes);
    }
}

std::byte* TileBody::memory_of(const Operand& operand, const MatrixPart& part) noexcept {
    const bool is_held =
        part.column >= operand.first && part.column < operand.end && operand.run_from(part.column) >= part.width;
    const bool is_block =
        is_held && part.height == 1 && operand.bytes >= 4 && operand.arg.strides[operand.arg.rank - 1] == 1;
    return is_block ? operand.at(part.row, part.column) : nullptr;
}

void TileBody::run(const MatrixPart& part, void* const* blocks) noexcept {
    if (!has_started_) start();
    const int inputs = body_.input_count;
    std::byte* place[max_body_ops + max_body_inputs];
    for (int i = 0; i < body_.place_count; ++i) place[i] = block(i);
    for (int i = 0; i < given_; ++i) place[i] = static_cast<std::byte*>(blocks[i]);
    const bool are_rows_filled = filled_column_ == part.column && filled_rows_ >= part.height;
    for (int i = given_; i < inputs; ++i) {
        if (operands_[i].is_element) continue;
        if (std::byte* const memory = memory_of(operands_[i], part))
            place[i] = memory;
        else if (!operands_[i].is_row || !are_rows_filled)
            load_rows(operands_[i], part, place[i]);
    }
    if (part.height > 1 && !are_rows_filled) filled_column_ = part.column, filled_rows_ = part.height;
    const std::int64_t count = part.height == 1 ? part.width : part.height * part.pitch;
    bool is_written[max_body_outputs] = {};
    for (int i = 0; i < body_.op_count; ++i) {
        const BlockOp& op = body_.ops[i];
        if (op.output >= 0)
            if (std::byte* const memory = memory_of(operands_[inputs + op.output], part)) {
                place[op.result] = memory;
                is_written[op.output] = true;
            }
        block_functions[static_cast<int>(op.code)].of[static_cast<int>(op.slot)](
            place[op.result], place[op.operand[0]], place[op.operand[1]], place[op.operand[2]], count);
    }
    for (int i = 0; i < body_.output_count; ++i)
        if (!is_written[i]) store_held(operands_[inputs + i], part, place[body_.outputs[i].place]);
}

}  // namespace CAIRN_LEVEL
