#include "kernels/cpu/simd/elementwise/block_program_compiler.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace cairn::kernels::cpu {
namespace {

/// An operation with one or two operands of one dtype.
struct OpRow {
    std::string_view name;
    BlockOpcode code;
    const ElementOp* op;  ///< null: an activation

    std::size_t operands() const { return op != nullptr ? static_cast<std::size_t>(op->operands) : 1; }
    bool supports(DType dtype) const { return op != nullptr ? op->supports(dtype) : is_float(dtype); }
    DType result_of(DType dtype) const { return op != nullptr ? op->result_of(dtype) : dtype; }
};

constexpr OpRow op_rows[] = {
#define CAIRN_ELEMENT_ROW(name, ...) {#name, BlockOpcode::name, &element_op(ElementCode::name)},
#define CAIRN_ACTIVATION_ROW(name) {#name, BlockOpcode::name, nullptr},
    CAIRN_ELEMENT_OPS(CAIRN_ELEMENT_ROW) CAIRN_ACTIVATIONS(CAIRN_ACTIVATION_ROW)
#undef CAIRN_ELEMENT_ROW
#undef CAIRN_ACTIVATION_ROW
};

const OpRow* find_row(std::string_view name) {
    for (const OpRow& row : op_rows) {
        if (name == row.name) return &row;
    }
    return nullptr;
}

std::string kind_of(DType dtype) {
    return dtype == DType::boolean ? "booleans" : is_integer(dtype) ? "integers" : std::string(to_string(dtype));
}

/// The equivalent operation on bytes, the same for i8, u8 and boolean; none if there is none.
std::optional<BlockOpcode> on_bytes(BlockOpcode code) {
    using enum BlockOpcode;
    constexpr std::pair<BlockOpcode, BlockOpcode> codes[] = {{to_i8, byte_to_i8},
                                                             {to_u8, byte_to_u8},
                                                             {to_bool, byte_to_bool},
                                                             {where, where},
                                                             {eq, eq},
                                                             {ne, ne},
                                                             {logical_and, logical_and},
                                                             {logical_or, logical_or},
                                                             {logical_xor, logical_xor},
                                                             {logical_not, logical_not}};
    for (const auto& [of_numbers, of_bytes] : codes)
        if (code == of_numbers) return of_bytes;
    return std::nullopt;
}

/// A cast in memory format: from another dtype to f16 or bf16, or from floats to bytes. None from f32 to f16 or bf16,
/// which the store converts.
std::optional<BlockOp> cast_in_memory_format(DType from, DType to) {
    using enum DType;
    const bool is_half = from == f16 || from == bf16;
    BlockOp op{BlockOpcode::cast_f16, block_type_of(from), {0, 0, 0}, 1, 0};
    if (from == f16) op.slot = BlockType::f16;
    if (from == bf16) op.slot = BlockType::bf16;
    if (from == u8) op.slot = BlockType::byte;
    if (from == i8) op.slot = BlockType::i8;
    if (to == f16 || to == bf16) {
        if (to == bf16) op.code = BlockOpcode::cast_bf16;
        return from != f32 && from != to ? std::optional(op) : std::nullopt;
    }
    if (to == boolean) {
        op.code = BlockOpcode::cast_bool;
        return is_half ? std::optional(op) : std::nullopt;
    }
    op.code = to == i8 ? BlockOpcode::cast_i8 : BlockOpcode::cast_u8;
    return size_of(to) == 1 && is_float(from) ? std::optional(op) : std::nullopt;
}

/// One operation on values, before block allocation.
struct VirtualOp {
    BlockOpcode code;
    BlockType slot;
    int operand[3] = {-1, -1, -1};
    int result = -1;
};

class Compiler {
public:
    explicit Compiler(const BodySteps& source) : source_(source), dtypes_(source.inputs) {}

    Refusal compile(const std::vector<DType>& outputs, BlockProgram& body) {
        if (source_.inputs.size() > max_body_inputs) return "more than 16 inputs";
        if (outputs.empty() || outputs.size() > max_body_outputs) return "needs 1 to 8 outputs";
        if (source_.results.size() != outputs.size()) return "needs one result for each output";
        for (const DType dtype : source_.inputs) { values_.push_back(next_value(block_type_of(dtype))); }
        for (const Step& step : source_.steps) {
            if (Refusal no = add(step); !no.empty()) return no;
            if (virtual_ops_.size() > max_body_ops / 2 || slots_.size() > max_body_values) return "body too long";
        }
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            const int r = source_.results[o];
            if (r < 0 || r >= static_cast<int>(dtypes_.size())) return "a result names no value of the body";
            if (dtypes_[static_cast<std::size_t>(r)] != outputs[o]) return "an output's dtype is not its value's";
            const bool is_only = outputs.size() == 1;
            int value = without_rounding(values_[static_cast<std::size_t>(r)], is_only);
            // A copy of an input is made before another output may overwrite it in place.
            if (!is_only && value < input_count()) {
                value = emit(BlockOpcode::copy, slots_[static_cast<std::size_t>(value)],
                             slots_[static_cast<std::size_t>(value)], value);
            }
            result_values_.push_back(value);
        }
        write(outputs, body);
        return {};
    }

private:
    int next_value(BlockType slot) {
        slots_.push_back(slot);
        return static_cast<int>(slots_.size()) - 1;
    }
    int emit(BlockOpcode code, BlockType slot, BlockType result, int a, int b = -1, int c = -1) {
        const int value = next_value(result);
        virtual_ops_.push_back({code, slot, {a, b, c}, value});
        return value;
    }
    BlockType slot(int value) const { return slots_[static_cast<std::size_t>(value)]; }

    Refusal add(const Step& step) {
        for (const int operand : step.operands) {
            if (operand < 0 || operand >= static_cast<int>(dtypes_.size()))
                return "a step reads a value that does not come before it";
        }
        std::optional<Refusal> no;
        if (step.op == "const") {
            no = add_constant(step);
        } else if (step.op == "cast") {
            no = step.operands.size() == 1 ? add_cast(step) : Refusal("cast needs one operand");
        } else if (step.op == "where") {
            no = add_choice(step);
        } else {
            no = add_op(step);
        }
        dtypes_.push_back(step.dtype);
        return *no;
    }

    Refusal add_constant(const Step& step) {
        const int value = next_value(block_type_of(step.dtype));
        values_.push_back(value);
        constants_.push_back({static_cast<std::int16_t>(value), block_type_of(step.dtype), 0});
        double number = step.number;
        if (is_integer(step.dtype)) {
            if (std::isnan(number)) number = 0;
            if (std::fabs(number) > 9007199254740992.0) return "an integer constant beyond 2^53";
            const auto [low, high] = range(step.dtype);
            number = std::clamp(std::trunc(number), low, high);
        } else if (step.dtype == DType::boolean) {
            number = number != 0 ? 1 : 0;
        } else if (step.dtype == DType::f16 || step.dtype == DType::bf16) {
            number = round_bits(number, step.dtype == DType::f16 ? 11 : 8, step.dtype == DType::f16 ? -14 : -126,
                                step.dtype == DType::f16 ? 65504.0 : 3.3895313892515355e38);
        }
        constants_.back().number = number;
        return {};
    }

    static std::pair<double, double> range(DType dtype) {
        switch (dtype) {
            case DType::i8: return {-128, 127};
            case DType::u8: return {0, 255};
            case DType::i32:
                return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
            default: return {-9007199254740992.0, 9007199254740992.0};
        }
    }
    /// Rounds to `digits` significant binary digits, ties to even. Exponents below `low` use its unit in the last
    /// place; magnitudes above `largest` become infinite.
    static double round_bits(double x, int digits, int low, double largest) {
        if (x == 0 || !std::isfinite(x)) return x;
        const int exponent = std::max(std::ilogb(x), low) - (digits - 1);
        const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
        return std::fabs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
    }

    Refusal add_cast(const Step& step) {
        const int operand = step.operands[0];
        const DType from = dtypes_[static_cast<std::size_t>(operand)], to = step.dtype;
        const bool half = to == DType::f16 || to == DType::bf16;
        const BlockOpcode round = to == DType::f16 ? BlockOpcode::round_f16 : BlockOpcode::round_bf16;
        int value = values_[static_cast<std::size_t>(operand)];
        if (from == to && !half) {
            values_.push_back(value);
            return {};
        }
        switch (to) {
            case DType::f64: value = emit(BlockOpcode::to_f64, slot(value), BlockType::f64, value); break;
            case DType::i64: value = emit(BlockOpcode::to_i64, slot(value), BlockType::i64, value); break;
            case DType::i32:
                if (slot(value) != BlockType::i32)
                    value = emit(BlockOpcode::to_i32, slot(value), BlockType::i32, value);
                break;
            case DType::i8: value = emit(BlockOpcode::to_i8, slot(value), BlockType::i32, value); break;
            case DType::u8: value = emit(BlockOpcode::to_u8, slot(value), BlockType::i32, value); break;
            case DType::boolean: value = emit(BlockOpcode::to_bool, slot(value), BlockType::byte, value); break;
            case DType::f32:
                if (slot(value) != BlockType::f32)
                    value = emit(BlockOpcode::to_f32, slot(value), BlockType::f32, value);
                break;
            case DType::f16:
            case DType::bf16:
                // Wide numbers are converted through f32 rounded to odd, so that there is one rounding.
                if (slot(value) != BlockType::f32)
                    value = emit(is_wide(from) ? BlockOpcode::to_f32_odd : BlockOpcode::to_f32, slot(value),
                                 BlockType::f32, value);
                value = emit(round, BlockType::f32, BlockType::f32, value);
                break;
        }
        values_.push_back(value);
        return {};
    }

    /// True if the dtype has more digits than a float.
    static bool is_wide(DType dtype) { return dtype == DType::f64 || dtype == DType::i64 || dtype == DType::i32; }
    /// True if every result that is this value has the dtype, so that its store rounds it.
    bool is_stored_as(int value, DType dtype) const {
        return std::all_of(source_.results.begin(), source_.results.end(), [&](int r) {
            const auto result = static_cast<std::size_t>(r);
            return values_.at(result) != value || dtypes_.at(result) == dtype;
        });
    }
    /// Drops the rounding of a value that is only stored in the dtype it is rounded to: the store rounds. The rounding
    /// stays if the value is stored as f32 after a cast to f16. For a rounded input it is dropped only if that is the
    /// only result.
    int without_rounding(int value, bool is_only) {
        const auto draft = std::find_if(virtual_ops_.begin(), virtual_ops_.end(),
                                        [&](const VirtualOp& d) { return d.result == value; });
        const bool is_rounded = draft != virtual_ops_.end() &&
                                ((draft->code == BlockOpcode::round_f16 && is_stored_as(value, DType::f16)) ||
                                 (draft->code == BlockOpcode::round_bf16 && is_stored_as(value, DType::bf16)));
        const bool is_read = std::any_of(virtual_ops_.begin(), virtual_ops_.end(), [&](const VirtualOp& d) {
            return std::find(std::begin(d.operand), std::end(d.operand), value) != std::end(d.operand);
        });
        if (!is_rounded || is_read || (!is_only && draft->operand[0] < input_count())) return value;
        const int unrounded = draft->operand[0];
        virtual_ops_.erase(draft);
        std::replace(values_.begin(), values_.end(), value, unrounded);
        return unrounded;
    }

    DType dtype_of(const Step& step, std::size_t operand) const {
        return dtypes_[static_cast<std::size_t>(step.operands[operand])];
    }
    int value_of(const Step& step, std::size_t operand) const {
        return values_[static_cast<std::size_t>(step.operands[operand])];
    }

    Refusal check(const OpRow& row, const Step& step) const {
        if (step.operands.size() != row.operands()) return step.op + " has a wrong number of operands";
        const DType of = dtype_of(step, 0);
        if (dtype_of(step, row.operands() - 1) != of) return step.op + " needs operands of one dtype";
        if (!row.supports(of)) return step.op + " of " + kind_of(of) + " is left to other kernels";
        return step.dtype == row.result_of(of) ? Refusal() : step.op + " has a wrong result dtype";
    }

    Refusal add_op(const Step& step) {
        const OpRow* row = find_row(step.op);
        if (row == nullptr) return "no code for " + step.op;
        if (Refusal no = check(*row, step); !no.empty()) return no;
        const int a = value_of(step, 0), b = row->operands() == 2 ? value_of(step, 1) : -1;
        int value = emit(row->code, slot(a), block_type_of(step.dtype), a, b);
        // Integers in a wider BlockType wrap to their own range. 16-bit floats keep the precision of the block until a
        // cast or a store.
        if (step.dtype == DType::i8) value = emit(BlockOpcode::round_i8, BlockType::i32, BlockType::i32, value);
        if (step.dtype == DType::u8) value = emit(BlockOpcode::round_u8, BlockType::i32, BlockType::i32, value);
        values_.push_back(value);
        return {};
    }

    Refusal add_choice(const Step& step) {
        if (step.operands.size() != 3) return "where has a wrong number of operands";
        if (dtype_of(step, 0) != DType::boolean) return "where needs a boolean condition";
        if (dtype_of(step, 1) != dtype_of(step, 2)) return "where needs operands of one dtype";
        if (step.dtype != dtype_of(step, 1)) return "where has a wrong result dtype";
        const int a = value_of(step, 1);
        values_.push_back(emit(BlockOpcode::where, slot(a), slot(a), value_of(step, 0), a, value_of(step, 2)));
        return {};
    }

    bool is_result(int value) const {
        return std::find(result_values_.begin(), result_values_.end(), value) != result_values_.end();
    }
    bool is_constant(int value) const {
        return std::any_of(constants_.begin(), constants_.end(),
                           [&](const BlockConstant& c) { return c.place == value; });
    }

    /// Finds the last operation that reads each value, and the last that reads an input.
    void find_last_uses() {
        last_use_.assign(slots_.size(), -1);
        for (std::size_t i = 0; i < virtual_ops_.size(); ++i) {
            for (const int operand : virtual_ops_[i].operand) {
                if (operand < 0) continue;
                last_use_[static_cast<std::size_t>(operand)] = static_cast<int>(i);
                if (operand < input_count()) last_input_use_ = static_cast<int>(i);
            }
        }
    }

    /// Sets the blocks of the operands; those whose last use is operation `i` are appended to `freed`.
    void assign_operand_blocks(std::size_t i, BlockOp& op, std::vector<int>& freed) const {
        for (int k = 0; k < 3; ++k) {
            const int operand = virtual_ops_[i].operand[k];
            if (operand < 0) continue;
            op.operand[k] = static_cast<std::int16_t>(block_of_[static_cast<std::size_t>(operand)]);
            const bool dies = last_use_[static_cast<std::size_t>(operand)] == static_cast<int>(i);
            if (!dies || operand < input_count() || is_constant(operand) || is_result(operand)) continue;
            if (std::find(freed.begin(), freed.end(), op.operand[k]) == freed.end()) freed.push_back(op.operand[k]);
        }
    }

    BlockOp assign_blocks(std::size_t i, std::size_t outputs) {
        const VirtualOp& draft = virtual_ops_[i];
        BlockOp op{draft.code, draft.slot, {0, 0, 0}, 0, -1};
        std::vector<int> freed;
        assign_operand_blocks(i, op, freed);
        // A result of another type may not overwrite its operand: elements have different offsets.
        const bool same_type = slot(draft.result) == draft.slot && draft.code != BlockOpcode::where;
        if (same_type) free_.insert(free_.end(), freed.begin(), freed.end());
        if (free_.empty() || is_result(draft.result)) {
            op.result = static_cast<std::int16_t>(block_count_++);
        } else {
            op.result = static_cast<std::int16_t>(free_.back());
            free_.pop_back();
        }
        if (!same_type) free_.insert(free_.end(), freed.begin(), freed.end());
        block_of_[static_cast<std::size_t>(draft.result)] = op.result;
        // An output may alias an input, so it is written directly only after the last read of any input.
        for (std::size_t o = 0; o < outputs && op.output < 0; ++o) {
            if (result_values_[o] == draft.result && static_cast<int>(i) >= last_input_use_)
                op.output = static_cast<std::int16_t>(o);
        }
        return op;
    }

    /// Block allocation: inputs, constants and results keep their blocks; other values share.
    void write(const std::vector<DType>& outputs, BlockProgram& body) {
        find_last_uses();
        block_of_.assign(slots_.size(), -1);
        for (int v = 0; v < static_cast<int>(slots_.size()); ++v) {
            if (v < input_count() || is_constant(v)) block_of_[static_cast<std::size_t>(v)] = block_count_++;
        }
        body.op_count = 0;
        for (std::size_t i = 0; i < virtual_ops_.size(); ++i)
            body.ops[body.op_count++] = assign_blocks(i, outputs.size());
        body.input_count = input_count();
        body.output_count = static_cast<int>(outputs.size());
        body.constant_count = static_cast<int>(constants_.size());
        body.block_count = block_count_;
        body.in_memory_format = false;
        const auto is_wide = [](BlockType s) { return s == BlockType::f64 || s == BlockType::i64; };
        body.block_bytes = block_size * (std::any_of(slots_.begin(), slots_.end(), is_wide) ? 8 : 4);
        std::copy(source_.inputs.begin(), source_.inputs.end(), body.inputs);
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            body.outputs[o] = {outputs[o],
                               static_cast<std::int16_t>(block_of_[static_cast<std::size_t>(result_values_[o])])};
        }
        for (std::size_t c = 0; c < constants_.size(); ++c) {
            body.constants[c] = constants_[c];
            body.constants[c].place =
                static_cast<std::int16_t>(block_of_[static_cast<std::size_t>(constants_[c].place)]);
        }
    }

    int input_count() const { return static_cast<int>(source_.inputs.size()); }

    const BodySteps& source_;
    std::vector<DType> dtypes_;  ///< of inputs and steps
    std::vector<int> values_;    ///< of inputs and steps: indices into slots_
    std::vector<BlockType> slots_;
    std::vector<VirtualOp> virtual_ops_;
    std::vector<BlockConstant> constants_;  ///< `place` is the value until write()
    std::vector<int> result_values_;
    std::vector<int> last_use_;  ///< per value: index into virtual_ops_
    int last_input_use_ = -1;
    std::vector<int> block_of_;  ///< block of each value
    std::vector<int> free_;      ///< blocks whose values are dead
    int block_count_ = 0;
};

}  // namespace

BodySteps body_steps(const Problem& problem) {
    BodySteps source;
    for (const TensorDesc& input : problem.inputs) source.inputs.push_back(input.dtype);
    if (problem.definition == "elementwise") {
        source.steps = problem.body;
        source.results = problem.results;
        return source;
    }
    Step step{problem.definition, {}, problem.outputs.empty() ? DType::f32 : problem.outputs[0].dtype, 0};
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) step.operands.push_back(static_cast<int>(i));
    source.one.push_back(std::move(step));
    source.steps = source.one;
    source.results.push_back(static_cast<int>(problem.inputs.size()));
    return source;
}

double operations_of(const BodySteps& source) {
    double operations = 0;
    for (const Step& step : source.steps) {
        const ElementOp* op = find_element_op(step.op);
        const bool is_move = step.op == "const" || step.op == "where";
        operations += op != nullptr ? op->cost : is_move ? 1 : 12;
    }
    return operations;
}

double epilogue_flops(const Problem& problem, double efficiency) {
    const auto parts = parts_of_fused(problem);
    if (!parts) return 0;
    const double elements = static_cast<double>(element_count(parts->product.outputs[0].shape).constant());
    return elements * operations_of(body_steps(parts->epilogue)) * efficiency / body_efficiency;
}

BlockProgram identity_block_program(DType dtype) {
    BlockProgram body{};
    body.input_count = body.output_count = body.block_count = 1;
    body.block_bytes = block_size * static_cast<std::int64_t>(std::max<std::size_t>(size_of(dtype), 4));
    body.inputs[0] = dtype;
    body.outputs[0] = {dtype, 0};
    return body;
}

Refusal compile_block_program(const BodySteps& source, const std::vector<DType>& outputs, BlockProgram& body) {
    return Compiler(source).compile(outputs, body);
}

void keep_memory_format(const BodySteps& source, BlockProgram& body) {
    const auto is_byte = [](DType dtype) { return size_of(dtype) == 1; };
    const auto are_all = [&](auto fits) {
        return std::all_of(body.inputs, body.inputs + body.input_count, fits) &&
               std::all_of(body.outputs, body.outputs + body.output_count,
                           [&](const BlockOutput& output) { return fits(output.dtype); });
    };
    if (source.steps.size() == 1 && source.steps[0].op == "cast" && body.input_count == 1 && body.output_count == 1 &&
        source.results[0] == 1)
        if (const auto op = cast_in_memory_format(body.inputs[0], body.outputs[0].dtype)) {
            body.ops[0] = *op;
            body.outputs[0].place = op->result;
            body.op_count = 1;
            body.block_count = 2;
            body.in_memory_format = true;
            return;
        }
    if (body.constant_count > 0 || body.op_count == 0) return;
    if (are_all(is_byte) &&
        std::all_of(source.steps.begin(), source.steps.end(), [&](const Step& step) { return is_byte(step.dtype); })) {
        BlockOp ops[max_body_ops];
        for (int i = 0; i < body.op_count; ++i) {
            const std::optional<BlockOpcode> code = on_bytes(body.ops[i].code);
            if (!code) return;
            ops[i] = body.ops[i];
            ops[i].code = *code;
            ops[i].slot = BlockType::byte;
        }
        std::copy(ops, ops + body.op_count, body.ops);
        body.in_memory_format = true;
    }
    for (const DType half : {DType::f16, DType::bf16})
        if (body.op_count == 1 && body.ops[0].slot == BlockType::f32 && is_cheap_in_memory_format(body.ops[0].code) &&
            are_all([&](DType dtype) { return dtype == half || dtype == DType::boolean; })) {
            body.ops[0].slot = half == DType::f16 ? BlockType::f16 : BlockType::bf16;
            body.in_memory_format = true;
        }
}

}  // namespace cairn::kernels::cpu
