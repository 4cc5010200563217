#include "kernels/cpu/simd/elementwise/tile_epilogue.hpp"

#include "kernels/cpu/simd/elementwise/block_memory.hpp"
#include "kernels/cpu/simd/elementwise/block_ops.hpp"
#include "kernels/cpu/simd/vector/vector.hpp"

#include <algorithm>
#include <cstring>

namespace CAIRN_LEVEL {
namespace {

/// Adjacent axes [begin, end) merged into one with a single stride, from the last axis on.
struct MergedAxes {
    int axes = 0;
    std::int64_t size = 1, stride = 0;

    MergedAxes(const TensorArg& arg, int begin, int end) noexcept {
        for (int axis = end - 1; axis >= begin; --axis, ++axes) {
            if (arg.shape[axis] == 1) continue;
            if (size != 1 && arg.strides[axis] != stride * size) break;
            if (size == 1) stride = arg.strides[axis];
            size *= arg.shape[axis];
        }
    }
};

// Copies rows of four-byte elements unchanged, as vectors of floats.
CAIRN_INLINE void copy_rows(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
                            std::int64_t height, std::int64_t width) noexcept {
    for (std::int64_t i = 0; i < height; ++i, to += to_stride, from += from_stride) {
        std::int64_t j = 0;
        for (; j + lanes <= width; j += lanes) store(to + j, load(from + j));
        if (j < width) store_part(to + j, load_part(from + j, width - j), width - j);
    }
}

// Broadcasts one element of each row along the row.
CAIRN_INLINE void fill_rows(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
                            std::int64_t height, std::int64_t width) noexcept {
    for (std::int64_t i = 0; i < height; ++i, to += to_stride, from += from_stride) {
        const F32 value = splat(*from);
        std::int64_t j = 0;
        for (; j + lanes <= width; j += lanes) store(to + j, value);
        if (j < width) store_part(to + j, value, width - j);
    }
}

}  // namespace

std::int64_t TileEpilogue::Operand::run_from(std::int64_t column) const noexcept {
    return is_one_run() ? end - column : run - (column - first) % run;
}

std::byte* TileEpilogue::Operand::at(std::int64_t row, std::int64_t column) const noexcept {
    std::int64_t offset = 0;
    column -= first;
    if (is_one_run()) {
        offset = column * run_stride;
    } else {
        offset = column % run * run_stride;
        column /= run;
        for (int axis = arg.rank - 1 - run_axes; axis >= arg.rank - axes; --axis) {
            offset += column % arg.shape[axis] * arg.strides[axis];
            column /= arg.shape[axis];
        }
    }
    if (is_uniform) return arg.data + (offset + row * row_stride) * bytes;
    for (int axis = arg.rank - 1 - axes; axis >= 0; --axis) {
        offset += row % arg.shape[axis] * arg.strides[axis];
        row /= arg.shape[axis];
    }
    return arg.data + offset * bytes;
}

void TileEpilogue::Operand::set_columns(std::int64_t from, int last_axes) noexcept {
    axes = last_axes;
    const MergedAxes rows(arg, 0, arg.rank - axes), columns(arg, arg.rank - axes, arg.rank);
    row_stride = rows.stride;
    rows_in_run = rows.size;
    is_uniform = rows.axes == arg.rank - axes;
    run = columns.size;
    run_stride = columns.size == 1 ? 1 : columns.stride;
    run_axes = columns.axes;
    first = end = from;
    std::int64_t count = 1;
    for (int axis = arg.rank - axes; axis < arg.rank; ++axis) count *= arg.shape[axis];
    end += count;
}

TileEpilogue::Operand TileEpilogue::operand_of(const TensorArg& arg, DType dtype, int axes) noexcept {
    Operand operand{};
    operand.arg = arg;
    operand.dtype = dtype;
    operand.bytes = bytes_of(dtype);
    operand.block_element_bytes = block_bytes_of(dtype);
    operand.set_columns(0, axes);
    operand.is_row = operand.is_uniform && operand.row_stride == 0;
    operand.is_column = operand.is_one_run() && operand.run_stride == 0;
    operand.is_element = operand.is_row && operand.is_column;
    return operand;
}

TileEpilogue::TileEpilogue(const BlockProgram& body, int given, const TensorArg* inputs, const TensorArg* outputs,
                           std::byte* memory, int axes) noexcept
    : body_(body), given_(given), memory_(memory) {
    for (int i = given; i < body.input_count; ++i) operands_[i] = operand_of(inputs[i - given], body.inputs[i], axes);
    for (int i = 0; i < body.output_count; ++i)
        operands_[body.input_count + i] = operand_of(outputs[i], body.outputs[i].dtype, axes);
}

void TileEpilogue::holds(int output, std::int64_t first, int axes) noexcept {
    operands_[body_.input_count + output].set_columns(first, axes);
}

void TileEpilogue::start() noexcept {
    has_started_ = true;
    for (int i = given_; i < body_.input_count; ++i)
        if (operands_[i].is_element) load_run(operands_[i].dtype, block(i), operands_[i].arg.data, 0, block_size);
    for (int i = 0; i < body_.constant_count; ++i) fill_block(body_.constants[i], block(body_.constants[i].place));
}

void TileEpilogue::load_rows(const Operand& from, const OutputTile& part, std::byte* block) const noexcept {
    const bool are_even = from.bytes == 4 && from.run_stride <= 1 && from.has_even_rows(part);
    const std::byte* const first = from.at(part.row, part.column);
    if (are_even) {
        (from.run_stride == 1 ? copy_rows : fill_rows)(reinterpret_cast<float*>(block), part.pitch,
                                                       reinterpret_cast<const float*>(first), from.row_stride,
                                                       part.height, part.width);
        return;
    }
    for (std::int64_t i = 0; i < part.height; ++i)
        load_run(from.dtype, block + i * part.pitch * from.block_element_bytes, from.at(part.row + i, part.column),
                 from.run_stride, part.width);
}

// Loads a tile run by run; zeros after its columns.
void TileEpilogue::load_all(const Operand& from, const OutputTile& part, std::byte* block) const noexcept {
    const std::int64_t end = part.column + part.width;
    for (std::int64_t column = part.column, width = 0; column < end; column += width) {
        width = std::min(from.run_from(column), end - column);
        load_rows(from, {part.row, part.height, column, width, part.pitch},
                  block + (column - part.column) * from.block_element_bytes);
    }
    const std::int64_t filled = part.width * from.block_element_bytes, pitch = part.pitch * from.block_element_bytes;
    if (filled == pitch) return;
    for (std::int64_t i = 0; i < part.height; ++i)
        std::memset(block + i * pitch + filled, 0, static_cast<std::size_t>(pitch - filled));
}

void TileEpilogue::store_rows(const Operand& to, const OutputTile& part, const std::byte* block) const noexcept {
    const std::int64_t pitch = part.pitch * to.block_element_bytes;
    if (to.bytes == 4 && to.run_stride == 1 && to.has_even_rows(part)) {
        copy_rows(reinterpret_cast<float*>(to.at(part.row, part.column)), to.row_stride,
                  reinterpret_cast<const float*>(block), part.pitch, part.height, part.width);
        return;
    }
    for (std::int64_t i = 0; i < part.height; ++i)
        store_run(to.dtype, to.at(part.row + i, part.column), block + i * pitch, to.run_stride, part.width);
}

// Stores the columns of a tile that an output holds, run by run.
void TileEpilogue::store_held(const Operand& to, const OutputTile& part, const std::byte* block) const noexcept {
    const std::int64_t end = std::min(part.column + part.width, to.end);
    for (std::int64_t column = std::max(part.column, to.first), width = 0; column < end; column += width) {
        width = std::min(to.run_from(column), end - column);
        store_rows(to, {part.row, part.height, column, width, part.pitch},
                   block + (column - part.column) * to.block_element_bytes);
    }
}

std::byte* TileEpilogue::memory_of(const Operand& operand, const OutputTile& part) noexcept {
    const bool is_block = operand.has_run(part) && part.height == 1 && operand.bytes == operand.block_element_bytes &&
                          operand.run_stride == 1;
    return is_block ? operand.at(part.row, part.column) : nullptr;
}

void TileEpilogue::prefetch(const OutputTile& part) const noexcept {
    for (int i = given_; i < body_.input_count + body_.output_count; ++i) {
        const Operand& operand = operands_[i];
        const bool is_filled = operand.is_row || operand.is_column;
        if (is_filled || !operand.has_run(part) || operand.run_stride != 1 || !operand.has_even_rows(part)) continue;
        const std::byte* row = operand.at(part.row, part.column);
        for (std::int64_t k = 0; k < part.height; ++k, row += operand.row_stride * operand.bytes)
            for (std::int64_t line = 0; line < part.width * operand.bytes; line += 64)
                __builtin_prefetch(row + line, 0, 2);
    }
}

void TileEpilogue::run(const OutputTile& part, void* const* blocks) noexcept {
    if (!has_started_) start();
    const int inputs = body_.input_count;
    std::byte* place[max_body_ops + max_body_inputs];
    for (int i = 0; i < body_.block_count; ++i) place[i] = block(i);
    for (int i = 0; i < given_; ++i) place[i] = static_cast<std::byte*>(blocks[i]);
    const bool are_rows_filled =
        filled_column_ == part.column && filled_width_ == part.width && filled_rows_ >= part.height;
    const bool are_columns_filled = filled_row_ == part.row && filled_height_ >= part.height &&
                                    filled_columns_ >= part.width && (part.height == 1 || filled_pitch_ == part.pitch);
    for (int i = given_; i < inputs; ++i) {
        const Operand& operand = operands_[i];
        if (operand.is_element || (operand.is_column && are_columns_filled)) continue;
        if (std::byte* const memory = memory_of(operand, part))
            place[i] = memory;
        else if (!operand.is_row || !are_rows_filled)
            load_all(operand, part, place[i]);
    }
    if (part.height > 1 && !are_rows_filled)
        filled_column_ = part.column, filled_width_ = part.width, filled_rows_ = part.height;
    if (!are_columns_filled)
        filled_row_ = part.row, filled_height_ = part.height, filled_columns_ = part.width, filled_pitch_ = part.pitch;
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
