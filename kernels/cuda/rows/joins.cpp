#include "kernels/cuda/generate/body_text.hpp"
#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/offset_text.hpp"
#include "kernels/cuda/generate/problem_facts.hpp"
#include "kernels/cuda/generate/size_text.hpp"
#include "kernels/cuda/rows/rows.hpp"

#include <fmt/format.h>

#include <bit>

/// concat, pad, state_append and state_write: each element of the result comes from one of several inputs, or is a
/// constant. An input whose memory is that of the result is not copied.
namespace cairn::kernels::cuda {
namespace {

constexpr int threads = 256;

/// An input, or part of it, that fills a box of the result.
struct Piece {
    int input;  ///< -1: the padding value
    std::vector<Dim> begin;
    Shape shape;
};

// The pieces in the order in which they are tried; the last one fills all that is left.
std::vector<Piece> pieces_of(const Problem& problem) {
    const Shape& out = problem.outputs[0].shape;
    const std::vector<Dim> origin(out.size(), Dim(0));
    const Shape& first = problem.inputs[0].shape;
    if (problem.definition == "state_write")
        return {{1, problem.attributes.dims("start"), problem.inputs[1].shape}, {0, origin, out}};
    if (problem.definition == "pad") {
        Piece middle{0, origin, first};
        middle.begin[axis_index(problem.attributes.integer("axis"), out.size())] = problem.attributes.dims("before")[0];
        return {middle, {-1, origin, out}};
    }
    std::size_t axis = 0;
    if (problem.definition == "concat") {
        axis = axis_index(problem.attributes.integer("axis"), out.size());
    } else {
        while (axis + 1 < out.size() && first[axis] == out[axis]) ++axis;
    }
    std::vector<Piece> pieces;
    std::vector<Dim> begin = origin;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
        const Shape& shape = problem.inputs[i].shape;
        pieces.push_back({static_cast<int>(i), begin, shape});
        begin[axis] = begin[axis] + shape[axis];
    }
    return pieces;
}

std::string fill_text(const Problem& problem) {
    const DType dtype = problem.outputs[0].dtype;
    const Body body{{}, {{"const", {}, dtype, problem.attributes.number("value")}}, {0}};
    return body_text(body, "    ") + fmt::format("    const {} fill = {};\n", memory_type(dtype), stored(dtype, "v0"));
}

std::string piece_text(const Problem& problem, const Piece& piece, bool is_last) {
    if (piece.input < 0) return "    y[target] = fill;\n    return;\n";
    const TensorDesc& in = problem.inputs[static_cast<std::size_t>(piece.input)];
    std::string inside = "true", index = "0";
    for (std::size_t axis = 0; axis < piece.shape.size(); ++axis) {
        const std::string place = fmt::format("(c{} - {})", axis, size_text(piece.begin[axis]));
        if (!is_last && !(piece.shape[axis] == problem.outputs[0].shape[axis] && piece.begin[axis] == Dim(0)))
            inside += fmt::format(" && {0} >= 0 && {0} < {1}", place, size_text(piece.shape[axis]));
        index = fmt::format("({} * {} + {})", index, size_text(piece.shape[axis]), place);
    }
    return fmt::format(
        "    if ({0}) {{\n        if (in{1} == out0) return;\n        const i64 j = {2};\n"
        "        y[target] = (({3}*)in{1})[{4}];\n        return;\n    }}\n",
        inside, piece.input, index, memory_type(in.dtype), AxisList(in).offset("j"));
}

// An input in place has the strides of the result, so its elements stay where they are.
bool may_be_in_place(const Problem& problem) {
    return problem.definition == "state_append" || problem.definition == "state_write";
}

KernelCode code(const Problem& problem) {
    const TensorDesc& out = problem.outputs[0];
    KernelCode code;
    code.entry = entry_of("joins", problem);
    const Dim count = element_count(out.shape);
    std::string text = kernel_begin(problem, code.entry, threads);
    text += fmt::format(
        "    const i64 i = i64(blockIdx.x) * {} + threadIdx.x;\n    if (i >= {}) return;\n    {}* const y = "
        "({}*)out0;\n"
        "    const i64 target = {};\n",
        threads, size_text(count), memory_type(out.dtype), memory_type(out.dtype), AxisList(out).offset("i"));
    std::string rest = "i";
    for (std::size_t axis = out.shape.size(); axis-- > 0;) {
        const std::string size = size_text(out.shape[axis]);
        text += fmt::format("    const i64 c{} = {};\n", axis, axis == 0 ? rest : fmt::format("{} % {}", rest, size));
        rest = fmt::format("({} / {})", rest, size);
    }
    if (problem.definition == "pad") text += fill_text(problem);
    const std::vector<Piece> pieces = pieces_of(problem);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        std::string piece = piece_text(problem, pieces[i], i + 1 == pieces.size());
        if (!may_be_in_place(problem) || pieces[i].input != 0) {
            const std::string check = fmt::format("        if (in{} == out0) return;\n", pieces[i].input);
            if (const auto at = piece.find(check); at != std::string::npos) piece.erase(at, check.size());
        }
        text += piece;
    }
    code.text = text + "}\n";
    code.grid = {blocks_for(count, threads)};
    code.block = threads;
    return code;
}

Refusal accepts(const Problem& problem) {
    if (Refusal no = needs_plain_memory(problem); !no.empty()) return no;
    const std::string& name = problem.definition;
    const std::size_t inputs = problem.inputs.size(), wanted = name == "pad" ? 1 : name == "concat" ? inputs : 2;
    if (inputs == 0 || inputs != wanted || problem.outputs.size() != 1) return "has the wrong number of operands";
    const TensorDesc& out = problem.outputs[0];
    for (const TensorDesc& in : problem.inputs) {
        if (in.dtype != out.dtype) return "needs one dtype";
        if (in.shape.size() != out.shape.size()) return "needs operands of one rank";
    }
    if (name == "state_write" && problem.attributes.dims("start").size() != out.shape.size())
        return "needs one start an axis";
    if (name == "pad" && !is_float(out.dtype)) {
        const double value = problem.attributes.number("value");
        if (!(value >= -128 && value <= 255 && value == static_cast<double>(static_cast<int>(value))) ||
            (out.dtype == DType::u8 && value < 0) || (out.dtype == DType::i8 && value > 127) ||
            (out.dtype == DType::boolean && value != 0 && value != 1))
            return "needs a value that the dtype can hold, of 8 bits";
    }
    return {};
}

Cost cost(const Problem& problem) { return memory_cost(problem, 4); }

}  // namespace

void add_joins(std::vector<Kernel>& kernels) {
    const auto add = [&](std::string_view name, std::vector<std::string> samples) {
        kernels.push_back(cuda_row("joins", name, "", accepts, code, cost, std::move(samples)));
    };
    add("concat",
        {"concat axis=(-2) | f32[2,N,3] f32[2,4,3] -> f32[2,N+4,3] where N in 0..90",
         "concat axis=(-1) | i64[4,1] i64[4,2]:(1,4) i64[4,3] -> i64[4,6]", "concat axis=(-1) | bool[7] -> bool[7]"});
    add("pad", {"pad axis=(-2) before=(1) after=(2) value=0.5 | f32[3,N,4] -> f32[3,N+3,4] where N in 0..90",
                "pad axis=(-1) before=(N) after=(0) value=-7 | i8[5,6] -> i8[5,N+6] where N in 0..9",
                "pad axis=(-1) before=(3) after=(3) value=1 | f16[4]:(2) -> f16[10]"});
    add("state_append", {"state_append | f32[3,P,8] f32[3,T,8] -> f32[3,P+T,8] where P in 0..90, T in 0..20"});
    kernels.back().in_place = {{0, 0}};
    add("state_write", {"state_write start=(0,P,0) | f32[3,P+9,8] f32[3,4,8] -> f32[3,P+9,8] where P in 0..90",
                        "state_write start=(1,P,2) | f32[3,P+9,8] f32[2,4,5] -> f32[3,P+9,8] where P in 0..90",
                        "state_write start=() | f32[] f32[] -> f32[]"});
    kernels.back().in_place = {{0, 0}};
}

}  // namespace cairn::kernels::cuda
