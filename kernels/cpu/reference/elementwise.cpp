#include "kernels/cpu/reference/element.hpp"
#include "kernels/cpu/reference/element_rules.hpp"
#include "kernels/cpu/reference/rows.hpp"

#include <algorithm>
#include <memory>
#include <span>

/// Elementwise ops, one at a time or a whole body of them: a body is run step by step over blocks of elements.
namespace cairn::inline v0::kernels::cpu::reference {
namespace {

enum class Form { rule, cast, choice, number };

struct Operation {
    Form form;
    const ElementRule* rule;
    int operands[3];
    DType operand_dtype, dtype;
    double number;
};

struct Body {
    std::vector<DType> inputs, outputs;
    std::vector<Operation> operations;
    std::vector<int> results;
    std::size_t values() const noexcept { return inputs.size() + operations.size(); }
};

std::int64_t scratch_bytes(std::size_t values) noexcept { return static_cast<std::int64_t>(values * sizeof(Block)); }

Step single_step(const Problem& problem) {
    Step step{problem.definition, {}, problem.outputs.at(0).dtype, 0};
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) step.operands.push_back(static_cast<int>(i));
    return step;
}

Operation operation_of(const Step& step, const std::vector<DType>& dtypes) {
    Operation made{Form::rule, nullptr, {0, 0, 0}, step.dtype, step.dtype, step.number};
    for (std::size_t i = 0; i < step.operands.size() && i < 3; ++i) made.operands[i] = step.operands[i];
    if (!step.operands.empty()) made.operand_dtype = dtypes.at(static_cast<std::size_t>(step.operands.front()));
    if (step.op == "const")
        made.form = Form::number;
    else if (step.op == "cast")
        made.form = Form::cast;
    else if (step.op == "where")
        made.form = Form::choice;
    else
        made.rule = find_element_rule(step.op);
    return made;
}

// Why a step cannot be computed; empty when it can.
Refusal step_refusal(const Step& step, const std::vector<DType>& dtypes) {
    const auto is_wrong = [&](int operand) {
        return operand < 0 || static_cast<std::size_t>(operand) >= dtypes.size();
    };
    if (std::any_of(step.operands.begin(), step.operands.end(), is_wrong))
        return "the step " + step.op + " reads a value that does not come before it";
    const Operation made = operation_of(step, dtypes);
    if (made.form == Form::rule && made.rule == nullptr) return "unknown elementwise op " + step.op;
    const std::size_t wanted = made.form == Form::number   ? 0
                               : made.form == Form::cast   ? 1
                               : made.form == Form::choice ? 3
                                                           : static_cast<std::size_t>(made.rule->operands);
    if (step.operands.size() != wanted) return "the step " + step.op + " has the wrong number of operands";
    if (made.form != Form::rule) return {};
    const ElementRule& rule = *made.rule;
    const bool real = is_float(made.operand_dtype);
    // Booleans are compared for equality and combined by logic, and only they are.
    const bool is_logic = step.op.starts_with("logical_"), is_equality = step.op == "eq" || step.op == "ne";
    const bool is_defined = real ? rule.real != nullptr || rule.real_test != nullptr
                            : made.operand_dtype == DType::boolean
                                ? is_logic || is_equality
                                : !is_logic && (rule.whole != nullptr || rule.whole_test != nullptr);
    if (!is_defined) return step.op + " is not defined for " + std::string(to_string(made.operand_dtype));
    return {};
}

std::vector<Step> steps_of(const Problem& problem) {
    return problem.definition == "elementwise" ? problem.body : std::vector<Step>{single_step(problem)};
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
    for (const Step& step : steps_of(problem)) {
        if (Refusal refusal = step_refusal(step, dtypes); !refusal.empty()) return refusal;
        dtypes.push_back(step.dtype);
    }
    if (problem.definition == "elementwise" && problem.results.size() != problem.outputs.size())
        return "needs a result for each output";
    return {};
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto body = std::make_shared<Body>();
    std::vector<DType> dtypes;
    for (const TensorDesc& input : problem.inputs) dtypes.push_back(input.dtype);
    body->inputs = dtypes;
    for (const Step& step : steps_of(problem)) {
        body->operations.push_back(operation_of(step, dtypes));
        dtypes.push_back(step.dtype);
    }
    body->results = problem.definition == "elementwise" ? problem.results
                                                        : std::vector<int>{static_cast<int>(problem.inputs.size())};
    for (const TensorDesc& output : problem.outputs) body->outputs.push_back(output.dtype);
    return body;
}

Dim workspace(const Problem& problem, int threads) {
    const std::size_t values = problem.inputs.size() + steps_of(problem).size();
    return Dim(scratch_bytes(values) * threads);
}

void apply_rule(const Operation& operation, const Block& a, const Block& b, Block& out, int count) noexcept {
    const ElementRule& rule = *operation.rule;
    const bool real = is_float(operation.operand_dtype);
    for (int i = 0; i < count; ++i) {
        if (real && rule.real != nullptr)
            out.real[i] = rule.real(a.real[i], b.real[i]);
        else if (real)
            out.whole[i] = rule.real_test(a.real[i], b.real[i]) ? 1 : 0;
        else if (rule.whole != nullptr)
            out.whole[i] = wrap(rule.whole(a.whole[i], b.whole[i]), operation.dtype);
        else
            out.whole[i] = rule.whole_test(a.whole[i], b.whole[i]) ? 1 : 0;
    }
}

void apply(const Operation& operation, std::span<Block> values, Block& out, int count) noexcept {
    const Block& a = values[static_cast<std::size_t>(operation.operands[0])];
    const Block& b = values[static_cast<std::size_t>(operation.operands[1])];
    const Block& c = values[static_cast<std::size_t>(operation.operands[2])];
    switch (operation.form) {
        case Form::rule: return apply_rule(operation, a, b, out, count);
        case Form::cast: out = a; return convert(out, count, operation.operand_dtype, operation.dtype);
        case Form::choice:
            for (int i = 0; i < count; ++i) out.whole[i] = a.whole[i] != 0 ? b.whole[i] : c.whole[i];
            return;
        case Form::number:
            for (int i = 0; i < count; ++i) out.real[i] = operation.number;
            return convert(out, count, DType::f64, operation.dtype);
    }
}

// One run of at most block_size elements along the last axis: all inputs are read before an output is written.
void run_block(const Body& body, const Args& args, std::span<Block> values, std::int64_t row, std::int64_t column,
               int count, bool flat) noexcept {
    const auto place = [&](const TensorArg& arg) {
        const View view = view_of(arg);
        if (flat) return column;
        return offset_of(view, row * inner_size(view)) + column * inner_stride(view);
    };
    const auto stride = [&](const TensorArg& arg) { return flat ? 1 : inner_stride(view_of(arg)); };
    for (std::size_t i = 0; i < body.inputs.size(); ++i)
        load(values[i], args.inputs[i].data, place(args.inputs[i]), stride(args.inputs[i]), count, body.inputs[i]);
    for (std::size_t i = 0; i < body.operations.size(); ++i)
        apply(body.operations[i], values, values[body.inputs.size() + i], count);
    for (std::size_t i = 0; i < body.outputs.size(); ++i)
        store(values[static_cast<std::size_t>(body.results[i])], args.outputs[i].data, place(args.outputs[i]),
              stride(args.outputs[i]), count, body.outputs[i]);
}

void run(const Args& args, Team& team) {
    const Body& body = *static_cast<const Body*>(args.prepared);
    const View out = view_of(args.outputs[0]);
    bool flat = true;
    for (std::size_t i = 0; i < body.inputs.size(); ++i) flat = flat && is_dense(view_of(args.inputs[i]));
    for (std::size_t i = 0; i < body.outputs.size(); ++i) flat = flat && is_dense(view_of(args.outputs[i]));
    const std::int64_t total = element_count(out), inner = flat ? total : inner_size(out);
    if (total == 0) return;
    auto* scratch = reinterpret_cast<Block*>(args.workspace + scratch_bytes(body.values()) * team.rank());
    const std::span<Block> values(scratch, body.values());
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

// What an elementwise op is tried on: every dtype it takes, dense and with other strides.
std::vector<std::string> samples_of(std::string_view name) {
    const std::string op(name);
    if (op == "where")
        return {"where | bool[3,N] f32[3,N] f32[3,N] -> f32[3,N] where N in 0..70",
                "where | bool[5,7]:(0,1) i64[5,7] i64[5,7]:(1,5) -> i64[5,7]"};
    const ElementRule& rule = *find_element_rule(name);
    const std::string shapes[] = {"[2,N]", "[4,3]"}, strides[] = {"", ":(0,1)"}, ranges[] = {" where N in 0..200", ""};
    std::vector<std::string> samples;
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8, DType::u8,
                        DType::boolean}) {
        const bool real = is_float(dtype), test = real ? rule.real_test != nullptr : rule.whole_test != nullptr;
        if (real ? !test && rule.real == nullptr : !test && rule.whole == nullptr) continue;
        if (dtype == DType::boolean &&
            (rule.whole != nullptr || (rule.real_test != nullptr && op != "eq" && op != "ne")))
            continue;
        if (dtype != DType::boolean && op.starts_with("logical")) continue;
        const int form = dtype == DType::f32 || dtype == DType::i32 || dtype == DType::boolean ? 0 : 1;
        const std::string tensor = std::string(to_string(dtype)) + shapes[form];
        std::string text = op + " | " + tensor;
        if (rule.operands == 2) text += " " + tensor + strides[form];
        samples.push_back(text + " -> " + (test ? "bool" + shapes[form] : tensor) + ranges[form]);
    }
    return samples;
}

/// Of an op as many as its samples have; a body may have more than the three that matter here.
int operand_count(std::string_view name, const std::vector<std::string>& samples) {
    if (name == "elementwise" || samples.empty()) return 3;
    const auto symbols = Symbols::create();
    return static_cast<int>(parse_problem(samples.front(), *symbols).inputs.size());
}

Kernel kernel(std::string_view name, std::vector<std::string> samples) {
    Kernel made;
    made.id = "cpu.reference." + std::string(name) + "@1";
    made.definition = name;
    made.accepts = accepts;
    made.run = run;
    for (int i = 0; i < operand_count(name, samples); ++i) made.in_place.push_back({i, 0});
    made.workspace = workspace;
    made.prepare = prepare;
    made.cost = [](const Problem& problem) {
        Cost cost{0, 0, efficiency};
        for (const auto* list : {&problem.inputs, &problem.outputs})
            for (const TensorDesc& tensor : *list)
                cost.bytes += static_cast<double>(element_count(tensor.shape).constant()) *
                              static_cast<double>(size_of(tensor.dtype));
        cost.flops = static_cast<double>(element_count(problem.outputs[0].shape).constant()) *
                     static_cast<double>(steps_of(problem).size());
        return cost;
    };
    made.samples = std::move(samples);
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
    for (std::string_view name :
         {"neg",   "abs", "exp", "log", "sqrt",        "rsqrt",      "sin",         "cos",         "tanh", "erf",
          "floor", "add", "sub", "mul", "div",         "min",        "max",         "pow",         "eq",   "ne",
          "lt",    "le",  "gt",  "ge",  "logical_and", "logical_or", "logical_xor", "logical_not", "where"})
        kernels.push_back(kernel(name, samples_of(name)));
    kernels.push_back(kernel("cast", cast_samples()));
    kernels.push_back(kernel(
        "elementwise", {"elementwise {2=add(0,1):f32 3=tanh(2):f32} | f32[5,N] f32[5,N]:(0,1) -> f32[5,N] results (3) "
                        "where N in 0..300",
                        "elementwise {2=const(0.5):f32 3=mul(0,2):f32 4=gt(3,1):bool 5=where(4,3,1):f32} | f32[T,9] "
                        "f32[T,9] -> f32[T,9] bool[T,9] "
                        "results (5,4) where T in 1..80",
                        "elementwise {1=cast(0):f32 2=exp(1):f32 3=cast(2):f16} | f16[33] -> f16[33] results (3)"}));
}

}  // namespace cairn::inline v0::kernels::cpu::reference
