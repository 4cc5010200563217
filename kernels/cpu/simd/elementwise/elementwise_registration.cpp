#include "graph/types/isa_levels.hpp"
#include "kernels/cpu/simd/elementwise/block_program_compiler.hpp"
#include "kernels/cpu/simd/plain_memory.hpp"
#include "kernels/cpu/simd/table.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

/// Registers elementwise kernels: fused bodies, the atomic ops, and the activations with definitions of their own,
/// whose code is faster and more accurate than their atomic bodies.
namespace cairn::kernels::cpu {
namespace {

std::vector<DType> output_dtypes(const Problem& problem) {
    std::vector<DType> dtypes;
    for (const TensorDesc& output : problem.outputs) dtypes.push_back(output.dtype);
    return dtypes;
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain(problem, max_body_rank); !no.empty()) return no;
    if (problem.outputs.empty()) return "needs an output";
    const Shape& shape = problem.outputs[0].shape;
    for (const auto* side : {&problem.inputs, &problem.outputs}) {
        for (const TensorDesc& tensor : *side) {
            if (tensor.shape != shape) return "needs inputs of the shape of the outputs (stride 0 repeats)";
        }
    }
    BlockProgram body;
    return compile_block_program(body_steps(problem), output_dtypes(problem), body);
}

/// Compiles the body that runs, with values in memory format where possible.
Refusal compile_body(const Problem& problem, BlockProgram& body) {
    const BodySteps source = body_steps(problem);
    Refusal no = compile_block_program(source, output_dtypes(problem), body);
    if (no.empty()) keep_memory_format(source, body);
    return no;
}

std::shared_ptr<const void> prepare(const Problem& problem, int) {
    auto body = std::make_shared<BlockProgram>();
    if (const Refusal no = compile_body(problem, *body); !no.empty()) throw InternalError("elementwise", no);
    return body;
}

Dim workspace(const Problem& problem, int threads) {
    BlockProgram body;
    if (!compile_body(problem, body).empty()) return 0;
    return Dim(body.bytes_per_member() * threads);
}

Cost cost(const Problem& problem) {
    const double elements = static_cast<double>(element_count(problem.outputs[0].shape).constant());
    return {operations_of(body_steps(problem)) * elements, bytes_of(problem), body_efficiency};
}

/// All pairs of an input and an output that may share memory if their dtypes are equal.
std::vector<InPlace> pairs(int inputs, int outputs) {
    std::vector<InPlace> all;
    for (int o = 0; o < outputs; ++o) {
        for (int i = 0; i < inputs; ++i) all.push_back({i, o});
    }
    return all;
}

Kernel kernel(FeatureSet needs, const SimdTable& table, const std::string& name, const std::string& version = "1") {
    Kernel made;
    made.id = "cpu." + std::string(isa_level_name(needs)) + "." + name + "@" + version;
    made.definition = name;
    made.needs = needs;
    made.accepts = accepts;
    made.run = table.elementwise;
    made.workspace = workspace;
    made.cost = cost;
    made.prepare = prepare;
    return made;
}

struct SampleForm {
    std::string_view shape;
    std::array<std::string_view, 3> strides;  ///< of the operands
    std::string_view where;
};

// Coverage: dense operands, short rows, a repeated row, a repeated element, gaps, a transposed operand; each dtype at
// least once.
constexpr SampleForm sample_forms[] = {
    {"[N,7]", {"", ":(1,N)", ""}, " where N in 0..1500"},
    {"[3,N]", {":(0,1)", "", ":(0,0)"}, " where N in 1..700"},
    {"[5,33]", {":(1,5)", ":(0,0)", ":(40,1)"}, ""},
    {"[2,3,50]", {"", ":(50,0,1)", ":(0,50,1)"}, ""},
};

// Each Context builds thousands of samples, so text is appended without temporaries.
std::string sample_of(std::string_view op, int inputs, DType from, DType to, const SampleForm& form) {
    std::string text;
    text.reserve(112);
    text.append(op).append(" |");
    for (int i = 0; i < inputs; ++i) {
        const bool condition = op == "where" && i == 0;
        text.append(" ").append(to_string(condition ? DType::boolean : from)).append(form.shape);
        text.append(form.strides[static_cast<std::size_t>(i)]);
    }
    return text.append(" -> ").append(to_string(to)).append(form.shape).append(form.where);
}

constexpr DType all_dtypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16,   DType::i64,
                                DType::i32, DType::i8,  DType::u8,  DType::boolean};

void add_samples(Kernel& kernel, int inputs, DType from, DType to, std::span<const SampleForm> forms) {
    for (const SampleForm& form : forms) kernel.samples.push_back(sample_of(kernel.definition, inputs, from, to, form));
}

void add_samples(Kernel& kernel, int inputs, DType from, DType to) {
    add_samples(kernel, inputs, from, to, std::span(sample_forms).first(from == DType::f32 ? 4 : 2));
}

/// True for functions with an implementation per vector width, or with an instruction.
constexpr bool is_function(ElementCode code) {
    using enum ElementCode;
    return code == floor || code == exp || code == log || code == sin || code == cos || code == tanh || code == erf ||
           code == pow;
}
constexpr const char* version_of(ElementCode code) {
    return code == ElementCode::pow ? "3" : is_function(code) ? "2" : "1";
}

Kernel atomic(FeatureSet needs, const SimdTable& table, const ElementOp& op) {
    const std::string name(op.name);
    Kernel made = kernel(needs, table, name, version_of(op.code));
    made.in_place = pairs(op.operands, 1);
    for (const DType dtype : all_dtypes) {
        if (op.supports(dtype)) add_samples(made, op.operands, dtype, op.result_of(dtype));
    }
    return made;
}

Kernel choice(FeatureSet needs, const SimdTable& table) {
    Kernel made = kernel(needs, table, "where", "2");
    made.in_place = pairs(3, 1);
    for (const DType dtype : all_dtypes) add_samples(made, 3, dtype, dtype);
    return made;
}

Kernel cast(FeatureSet needs, const SimdTable& table) {
    Kernel made = kernel(needs, table, "cast", "5");
    made.in_place = pairs(1, 1);
    for (const DType from : all_dtypes) {
        for (const DType to : all_dtypes) {
            const std::string op = "cast dtype=(" + std::to_string(static_cast<int>(to)) + ")";
            // Casts to these dtypes are sampled with a transposed operand.
            const bool is_apart = to == DType::u8 || to == DType::bf16;
            if (from != to) made.samples.push_back(sample_of(op, 1, from, to, sample_forms[is_apart ? 2 : 1]));
        }
    }
    return made;
}

Kernel activation(FeatureSet needs, const SimdTable& table, const std::string& name) {
    Kernel made = kernel(needs, table, name, "2");
    made.in_place = pairs(1, 1);
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
        add_samples(made, 1, dtype, dtype, sample_forms);
    return made;
}

Kernel fused(FeatureSet needs, const SimdTable& table) {
    Kernel made = kernel(needs, table, "elementwise", "2");
    made.in_place = pairs(8, 4);
    made.samples = {
        "elementwise {2=add(0,1):f32 3=tanh(2):f32} | f32[T,768] f32[T,768]:(0,1) -> f32[T,768] results (3) where T in "
        "1..12",
        "elementwise {2=add(0,1):f32 3=tanh(2):f32 4=mul(3,2):f32} | f32[N,5] f32[N,5]:(0,1) -> f32[N,5] f32[N,5] "
        "results (2,4) where N in 0..900",
        "elementwise {2=lt(0,1):bool 3=where(2,0,1):f32 4=cast(3):f16 5=cast(2):i8} | f32[3,N] f32[3,N]:(1,3) -> "
        "f16[3,N] i8[3,N] results (4,5) where N in 1..600",
        "elementwise {1=cast(0):f64 2=exp(1):f64 3=cast(2):bf16 4=neg(3):bf16} | f16[4,40]:(1,4) -> bf16[4,40] "
        "f64[4,40] results (4,2)",
        "elementwise {2=mul(0,1):i64 3=cast(2):f32 4=sqrt(3):f32 5=cast(4):i32} | i64[2,3,70] i64[2,3,70]:(0,1,3) -> "
        "i32[2,3,70] results (5)",
        "elementwise {1=const(0.5):f32 2=mul(0,1):f32 3=const(1.5):f32 4=add(2,3):f32} | f32[N] -> f32[N] f32[N] "
        "results (4,0) where N in 0..5000",
    };
    return made;
}

}  // namespace

void add_elementwise(std::vector<Kernel>& kernels, FeatureSet needs, const SimdTable& table) {
#define CAIRN_ADD(name) kernels.push_back(activation(needs, table, #name));
    CAIRN_ACTIVATIONS(CAIRN_ADD)
#undef CAIRN_ADD
    kernels.push_back(fused(needs, table));
    for (const ElementOp& op : element_ops) kernels.push_back(atomic(needs, table, op));
    kernels.push_back(choice(needs, table));
    kernels.push_back(cast(needs, table));
}

}  // namespace cairn::kernels::cpu
