#include "kernels/cpu/element_ops.hpp"
#include "kernels/cpu/number.hpp"
#include "kernels/cpu/reference/element.hpp"
#include "kernels/cpu/reference/registration.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>

/// Reference kernels of elementwise ops, alone or as a body, which is run step by step over blocks of elements.
namespace cairn::kernels::cpu::reference {
namespace {

template <ElementCode code>
struct Formula;
CAIRN_ELEMENT_OPS(CAIRN_FORMULA)

/// Evaluates a formula on `count` elements; integers are not yet wrapped to their dtype.
using BlockFormula = void (*)(const ElementBlock& a, const ElementBlock& b, ElementBlock& out, int count) noexcept;

template <typename F>
void on_reals(const ElementBlock& a, const ElementBlock& b, ElementBlock& out, int count) noexcept {
    for (int i = 0; i < count; ++i) {
        const auto result = F{}(Number<double>(a.real[i]), Number<double>(b.real[i]));
        if constexpr (std::is_same_v<decltype(result), const bool>)
            out.whole[i] = result ? 1 : 0;
        else
            out.real[i] = result.value;
    }
}
template <typename F>
void on_wholes(const ElementBlock& a, const ElementBlock& b, ElementBlock& out, int count) noexcept {
    for (int i = 0; i < count; ++i) {
        const auto result = F{}(Number<std::int64_t>(a.whole[i]), Number<std::int64_t>(b.whole[i]));
        if constexpr (std::is_same_v<decltype(result), const bool>)
            out.whole[i] = result ? 1 : 0;
        else
            out.whole[i] = result.value;
    }
}

/// The formulas of an op for floats and for integers; null if the op is not defined for them.
struct Rule {
    BlockFormula on_reals, on_wholes;
};
template <ElementCode code>
constexpr Rule rule_of() {
    constexpr const ElementOp& op = element_op(code);
    Rule rule{};
    if constexpr (op.on_floats()) rule.on_reals = on_reals<Formula<code>>;
    if constexpr (op.on_integers() || op.on_booleans()) rule.on_wholes = on_wholes<Formula<code>>;
    return rule;
}
constexpr Rule rules[] = {
#define CAIRN_RULE(name, ...) rule_of<ElementCode::name>(),
    CAIRN_ELEMENT_OPS(CAIRN_RULE)
#undef CAIRN_RULE
};

enum class StepKind { formula, cast, choice, number };

struct Operation {
    StepKind form;
    const ElementOp* op;
    int operands[3];
    DType operand_dtype, dtype;
    double number;
};

struct ReferenceBody {
    std::vector<DType> inputs, outputs;
    std::vector<Operation> operations;
    std::vector<int> results;
    std::size_t values() const noexcept { return inputs.size() + operations.size(); }
};

std::int64_t scratch_bytes(std::size_t values) noexcept {
    return static_cast<std::int64_t>(values * sizeof(ElementBlock));
}

Step single_step(const Problem& problem) {
    Step step{problem.definition, {}, problem.outputs.at(0).dtype, 0};
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) step.operands.push_back(static_cast<int>(i));
    return step;
}

Operation operation_of(const Step& step, const std::vector<DType>& dtypes) {
    Operation made{StepKind::formula, nullptr, {0, 0, 0}, step.dtype, step.dtype, step.number};
    for (std::size_t i = 0; i < step.operands.size() && i < 3; ++i) made.operands[i] = step.operands[i];
    if (!step.operands.empty()) made.operand_dtype = dtypes.at(static_cast<std::size_t>(step.operands.front()));
    if (step.op == "const")
        made.form = StepKind::number;
    else if (step.op == "cast")
        made.form = StepKind::cast;
    else if (step.op == "where")
        made.form = StepKind::choice;
    else
        made.op = find_element_op(step.op);
    return made;
}

// Refuses a step that cannot be computed; empty otherwise.
Refusal step_refusal(const Step& step, const std::vector<DType>& dtypes) {
    const auto is_wrong = [&](int operand) {
        return operand < 0 || static_cast<std::size_t>(operand) >= dtypes.size();
    };
    if (std::any_of(step.operands.begin(), step.operands.end(), is_wrong))
        return "the step " + step.op + " reads a value that does not come before it";
    const Operation made = operation_of(step, dtypes);
    if (made.form == StepKind::formula && made.op == nullptr) return "unknown elementwise op " + step.op;
    const std::size_t wanted = made.form == StepKind::number   ? 0
                               : made.form == StepKind::cast   ? 1
                               : made.form == StepKind::choice ? 3
                                                               : static_cast<std::size_t>(made.op->operands);
    if (step.operands.size() != wanted) return "the step " + step.op + " has the wrong number of operands";
    if (made.form == StepKind::formula && !made.op->supports(made.operand_dtype))
        return step.op + " is not defined for " + std::string(to_string(made.operand_dtype));
    return {};
}

/// The steps of the problem's body, or the one step of its definition, stored in `one`.
std::span<const Step> steps_of(const Problem& problem, std::vector<Step>& one) {
    if (problem.definition == "elementwise") return problem.body;
    one.push_back(single_step(problem));
    return one;
}

Refusal accepts(const Problem& problem) {
    if (Refusal refusal = needs_plain_memory(problem); !refusal.empty()) return refusal;
    if (problem.outputs.empty()) return "needs an output";
    std::vector<DType> dtypes;
    for (const TensorDesc& input : problem.inputs) {
        if (input.shape != problem.outputs[0].shape)
            return "needs inputs of the shape of the outputs (stride 0 repeats)";
        dtypes.push_back(input.dtype);
    }
    std::vector<Step> one;
    for (const Step& step : steps_of(problem, one)) {
        if (Refusal refusal = step_refusal(step, dtypes); !refusal.empty()) return refusal;
        dtypes.push_back(step.dtype);
    }
    if (problem.definition == "elementwise" && problem.results.size() != problem.outputs.size())
        return "needs a result for each output";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto body = std::make_shared<ReferenceBody>();
    std::vector<DType> dtypes;
    for (const TensorDesc& input : problem.inputs) dtypes.push_back(input.dtype);
    body->inputs = dtypes;
    std::vector<Step> one;
    for (const Step& step : steps_of(problem, one)) {
        body->operations.push_back(operation_of(step, dtypes));
        dtypes.push_back(step.dtype);
    }
    body->results = problem.definition == "elementwise" ? problem.results
                                                        : std::vector<int>{static_cast<int>(problem.inputs.size())};
    for (const TensorDesc& output : problem.outputs) body->outputs.push_back(output.dtype);
    return body;
}

Dim workspace(const Problem& problem, int threads) {
    const std::size_t steps = problem.definition == "elementwise" ? problem.body.size() : 1;
    const std::size_t values = problem.inputs.size() + steps;
    return Dim(scratch_bytes(values) * threads);
}

// Results of dtypes other than f64 are rounded to f32 at each step: all kernels compute f16 and bf16 in f32 too.
void apply_formula(const Operation& operation, const ElementBlock& a, const ElementBlock& b, ElementBlock& out,
                   int count) noexcept {
    const Rule& rule = rules[static_cast<std::size_t>(operation.op->code)];
    if (is_float(operation.operand_dtype)) {
        rule.on_reals(a, b, out, count);
        if (is_float(operation.dtype) && operation.dtype != DType::f64) convert(out, count, DType::f64, DType::f32);
        return;
    }
    rule.on_wholes(a, b, out, count);
    for (int i = 0; i < count; ++i) out.whole[i] = wrap(out.whole[i], operation.dtype);
}

void apply(const Operation& operation, std::span<ElementBlock> values, ElementBlock& out, int count) noexcept {
    const ElementBlock& a = values[static_cast<std::size_t>(operation.operands[0])];
    const ElementBlock& b = values[static_cast<std::size_t>(operation.operands[1])];
    const ElementBlock& c = values[static_cast<std::size_t>(operation.operands[2])];
    switch (operation.form) {
        case StepKind::formula: return apply_formula(operation, a, b, out, count);
        case StepKind::cast: out = a; return convert(out, count, operation.operand_dtype, operation.dtype);
        case StepKind::choice:
            for (int i = 0; i < count; ++i) out.whole[i] = a.whole[i] != 0 ? b.whole[i] : c.whole[i];
            return;
        case StepKind::number:
            for (int i = 0; i < count; ++i) out.real[i] = operation.number;
            return convert(out, count, DType::f64, operation.dtype);
    }
}

// One run of at most block_size elements along the last axis. All inputs are read before an output is written.
void run_block(const ReferenceBody& body, const Args& args, std::span<ElementBlock> values, std::int64_t row,
               std::int64_t column, int count, bool flat) noexcept {
    const auto place = [&](const TensorArg& arg) {
        const StridedView view = strided_view_of(arg);
        if (flat) return column;
        return offset_of(view, row * inner_size(view)) + column * inner_stride(view);
    };
    const auto stride = [&](const TensorArg& arg) { return flat ? 1 : inner_stride(strided_view_of(arg)); };
    for (std::size_t i = 0; i < body.inputs.size(); ++i)
        load(values[i], args.inputs[i].data, place(args.inputs[i]), stride(args.inputs[i]), count, body.inputs[i]);
    for (std::size_t i = 0; i < body.operations.size(); ++i)
        apply(body.operations[i], values, values[body.inputs.size() + i], count);
    for (std::size_t i = 0; i < body.outputs.size(); ++i)
        store(values[static_cast<std::size_t>(body.results[i])], args.outputs[i].data, place(args.outputs[i]),
              stride(args.outputs[i]), count, body.outputs[i]);
}

void run(const Args& args, Team& team) {
    const ReferenceBody& body = *static_cast<const ReferenceBody*>(args.prepared);
    const StridedView out = strided_view_of(args.outputs[0]);
    bool flat = true;
    for (std::size_t i = 0; i < body.inputs.size(); ++i) flat = flat && is_dense(strided_view_of(args.inputs[i]));
    for (std::size_t i = 0; i < body.outputs.size(); ++i) flat = flat && is_dense(strided_view_of(args.outputs[i]));
    const std::int64_t total = element_count(out), inner = flat ? total : inner_size(out);
    if (total == 0) return;
    auto* scratch = reinterpret_cast<ElementBlock*>(args.workspace + scratch_bytes(body.values()) * team.rank());
    const std::span<ElementBlock> values(scratch, body.values());
    const std::int64_t pieces = (inner + block_size - 1) / block_size, items = total / inner * pieces;
    constexpr std::int64_t items_per_chunk = 64;
    for (std::int64_t chunk = team.next_chunk(); chunk * items_per_chunk < items; chunk = team.next_chunk()) {
        const std::int64_t end = std::min(items, (chunk + 1) * items_per_chunk);
        for (std::int64_t item = chunk * items_per_chunk; item < end; ++item) {
            const std::int64_t column = item % pieces * block_size;
            run_block(body, args, values, item / pieces, column,
                      static_cast<int>(std::min<std::int64_t>(block_size, inner - column)), flat);
        }
    }
}

// Samples of an elementwise op: every dtype it takes, dense and strided.
std::vector<std::string> samples_of(const ElementOp& op) {
    const std::string shapes[] = {"[2,N]", "[4,3]"}, strides[] = {"", ":(0,1)"}, ranges[] = {" where N in 0..200", ""};
    std::vector<std::string> samples;
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8, DType::u8,
                        DType::boolean}) {
        if (!op.supports(dtype)) continue;
        const int form = dtype == DType::f32 || dtype == DType::i32 || dtype == DType::boolean ? 0 : 1;
        const std::string tensor = std::string(to_string(dtype)) + shapes[form];
        std::string text = std::string(op.name) + " | " + tensor;
        if (op.operands == 2) text += " " + tensor + strides[form];
        samples.push_back(text + " -> " + std::string(to_string(op.result_of(dtype))) + shapes[form] + ranges[form]);
    }
    return samples;
}

/// Number of operands of an op, from its samples; for a body 3, the most that matter here.
int operand_count(std::string_view name, const std::vector<std::string>& samples) {
    if (name == "elementwise" || samples.empty()) return 3;
    const auto symbols = Symbols::create();
    return static_cast<int>(parse_problem(samples.front(), *symbols).inputs.size());
}

Kernel kernel(std::string_view name, std::vector<std::string> samples) {
    const int operands = operand_count(name, samples);
    Kernel made = reference_kernel(name, accepts, run, prepare, std::move(samples));
    for (int i = 0; i < operands; ++i) made.in_place.push_back({i, 0});
    made.workspace = workspace;
    made.cost = [](const Problem& problem) {
        double bytes = 0;
        for (const auto* list : {&problem.inputs, &problem.outputs})
            for (const TensorDesc& tensor : *list) bytes += size_in_bytes(tensor);
        const double steps = problem.definition == "elementwise" ? static_cast<double>(problem.body.size()) : 1;
        return scalar_cost(static_cast<double>(element_count(problem.outputs[0].shape).constant()) * steps, bytes);
    };
    return made;
}

std::vector<std::string> cast_samples() {
    constexpr DType all[] = {DType::f64, DType::f32, DType::f16, DType::bf16,   DType::i64,
                             DType::i32, DType::i8,  DType::u8,  DType::boolean};
    std::vector<std::string> samples;
    for (DType from : all)
        for (DType to : all)
            samples.push_back("cast dtype=(" + std::to_string(static_cast<int>(to)) + ") | " +
                              std::string(to_string(from)) + "[3,30] -> " + std::string(to_string(to)) + "[3,30]");
    return samples;
}

}  // namespace

void add_elementwise(std::vector<Kernel>& kernels) {
    for (const ElementOp& op : element_ops) kernels.push_back(kernel(op.name, samples_of(op)));
    kernels.push_back(kernel("where", {"where | bool[3,N] f32[3,N] f32[3,N] -> f32[3,N] where N in 0..70",
                                       "where | bool[5,7]:(0,1) i64[5,7] i64[5,7]:(1,5) -> i64[5,7]"}));
    kernels.push_back(kernel("cast", cast_samples()));
    kernels.push_back(kernel(
        "elementwise", {"elementwise {2=add(0,1):f32 3=tanh(2):f32} | f32[5,N] f32[5,N]:(0,1) -> f32[5,N] results (3) "
                        "where N in 0..300",
                        "elementwise {2=const(0.5):f32 3=mul(0,2):f32 4=gt(3,1):bool 5=where(4,3,1):f32} | f32[T,9] "
                        "f32[T,9] -> f32[T,9] bool[T,9] "
                        "results (5,4) where T in 1..80",
                        "elementwise {1=cast(0):f32 2=exp(1):f32 3=cast(2):f16} | f16[33] -> f16[33] results (3)"}));
}

}  // namespace cairn::kernels::cpu::reference
