#include "tests/kernels/cuda/references.hpp"

#include <gtest/gtest.h>

/// The problems of programs of GPT-2 124M and DistilBERT, each once at few rows. Weights are in plain memory: those of
/// DistilBERT are transposed.
namespace cairn::kernels::cuda {
namespace {

struct ShapeCase {
    std::string problem;
    std::vector<std::int64_t> sizes;
    std::string kernel;
};

const std::string low = "-3.4028235e+38";

const std::vector<ShapeCase> gpt2{
    {"iota length=(T) start=(past) dtype=(5) | -> i32[T] where T in 2..12, past in 0..1023", {5, 77}, "gather.iota"},
    {"embedding | f32[50257,768]! i32[1,T] -> f32[1,T,768] where T in 2..12", {3}, "gather.embedding"},
    {"add_layer_norm eps=1e-05 | f32[1,T,768] f32[1,T,768] -> f32[1,T,768] f32[1,T,768] where T in 2..12",
     {3},
     "norm.add_layer_norm"},
    {"layer_norm eps=1e-05 | f32[1,1,768] f32[768]! f32[768]! -> f32[1,1,768]", {}, "norm.layer_norm"},
    {"layer_norm eps=1e-05 | f32[1,768]:(1,1) f32[768]! f32[768]! -> f32[1,768]", {}, "norm.layer_norm"},
    {"matmul | f32[1,768]:(1,1)! f32[768,2304]! -> f32[1,2304]", {}, "product_rows.matmul"},
    {"fused columns=(0,768,1536) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,1,768] f32[1,768,2304]:(0,2304,1)! "
     "f32[1,1,2304]:(0,0,1)! -> f32[1,1,2304] f32[1,1,12,64]:(1,1,65536,1) f32[1,1,12,64]:(1,1,65536,1) results "
     "(4,4,4)",
     {},
     "product_rows.fused"},
    {"fused columns=(0,768,1536) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,T,768] f32[1,768,2304]:(0,2304,1)! "
     "f32[1,T,2304]:(0,0,1)! -> f32[1,T,2304] f32[1,T,12,64]:(1,64,65536,1) f32[1,T,12,64]:(1,64,65536,1) results "
     "(4,4,4) where T in 13..1024",
     {17},
     "product_tile64.fused"},
    {"attention causal=(1) scale=0.125 masked_score=" + low +
         " | f32[1,12,1,64]:(1,64,64,1) f32[1,12,1 + past,64]:(786432,65536,64,1) f32[1,12,1 + "
         "past,64]:(786432,65536,64,1) -> f32[1,12,1,64] where past in 0..1023",
     {131},
     "attention_query.attention"},
    {"attention causal=(1) scale=0.125 masked_score=" + low +
         " | f32[1,12,T,64]:(1,64,2304,1) f32[1,12,T + past,64]:(786432,65536,64,1) f32[1,12,T + "
         "past,64]:(786432,65536,64,1) -> f32[1,12,T,64]:(1,64,768,1) where T in 13..1024, past in 0..1023",
     {17, 40},
     "attention_tile.attention"},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,1,768]:(1,1,1) f32[1,768,768]:(0,768,1)! "
     "f32[1,1,768]:(0,0,1)! f32[1,1,768] -> f32[1,1,768] results (6)",
     {},
     "product_rows.fused"},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,T,3072] f32[1,3072,768]:(0,768,1)! "
     "f32[1,T,768]:(0,0,1)! f32[1,T,768] -> f32[1,T,768] results (6) where T in 2..12",
     {3},
     "product_rows.fused"},
    {"fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu_tanh(4):f32} | f32[1,1,768] f32[1,768,3072]:(0,3072,1)! "
     "f32[1,1,3072]:(0,0,1)! -> f32[1,1,3072] results (5)",
     {},
     "product_rows.fused"},
    {"matmul | f32[1,768] f32[768,50257]:(1,768)! -> f32[1,50257]", {}, "product_rows.matmul"},
    {"copy | f32[1,12,1,64]:(1,64,64,1) -> f32[1,12,1,64]:(786432,65536,64,1)", {}, "movement.copy"},
};

const std::vector<ShapeCase> distilbert{
    {"embedding | f32[30522,768]! i32[1,S] -> f32[1,S,768] where S in 1..512", {5}, "gather.embedding"},
    {"elementwise {2=add(0,1):f32} | f32[1,S,768] f32[1,S,768]:(0,768,1) -> f32[1,S,768] results (2) where S in 1..512",
     {5},
     "elementwise.elementwise"},
    {"layer_norm eps=1e-12 | f32[1,S,768] f32[768]! f32[768]! -> f32[1,S,768] where S in 1..512",
     {5},
     "norm.layer_norm"},
    {"fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,S,768] f32[1,768,768]:(0,1,768)! f32[1,S,768]:(0,0,1)! -> "
     "f32[1,S,768] results (4) where S in 1..512",
     {9},
     "product_tile64.fused"},
    {"attention causal=(0) scale=0.125 masked_score=" + low +
         " | f32[1,12,S,64]:(1,64,768,1) f32[1,12,S,64]:(1,64,768,1) f32[1,12,S,64]:(1,64,768,1) bool[1,S] -> "
         "f32[1,12,S,64]:(1,64,768,1) where S in 1..512",
     {37},
     "attention_tile.attention"},
    {"add_layer_norm eps=1e-12 | f32[1,S,768] f32[1,S,768] f32[768]! f32[768]! -> f32[1,S,768] f32[1,S,768] where S in "
     "1..512",
     {4},
     "norm.add_layer_norm"},
    {"fused {3=matmul(0,1):f32 4=add(3,2):f32 5=gelu(4):f32} | f32[1,S,768] f32[1,768,3072]:(0,1,768)! "
     "f32[1,S,3072]:(0,0,1)! -> f32[1,S,3072] results (5) where S in 1..512",
     {3},
     "product_tile64.fused"},
    {"fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,S,3072] f32[1,3072,768]:(0,1,3072)! f32[1,S,768]:(0,0,1)! -> "
     "f32[1,S,768] results (4) where S in 1..512",
     {2},
     "product_tile32.fused"},
    {"matmul | f32[1,1,3072] f32[1,3072,768]:(0,1,3072)! -> f32[1,1,768]", {}, "product_rows.matmul"},
    {"fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(3,5):f32} | f32[1,1,768]:(768*S,768,1) f32[1,768,768]:(0,1,768)! "
     "f32[1,1,768]:(0,0,1)! f32[1,1,768]:(768*S,768,1) -> f32[1,1,768] results (6) where S in 1..512",
     {7},
     "product_rows.fused"},
    {"elementwise {3=add(0,2):f32 4=add(1,3):f32} | f32[1,1,768]:(0,0,1)! f32[1,1,768] f32[1,1,768] -> f32[1,1,768] "
     "results (4)",
     {},
     "elementwise.elementwise"},
    {"fused {3=matmul(0,1):f32 4=add(3,2):f32 5=relu(4):f32} | f32[1,768]:(1,1) f32[768,768]:(1,768)! "
     "f32[1,768]:(0,1)! -> f32[1,768] results (5)",
     {},
     "product_rows.fused"},
    {"fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,768] f32[768,2]:(1,768)! f32[1,2]:(0,1)! -> f32[1,2] results "
     "(4)",
     {},
     "product_rows.fused"},
};

std::vector<Numbers> reference(const Problem& problem, const std::vector<Numbers>& inputs) {
    const std::string& name = problem.definition;
    if (name == "matmul" || name == "fused") return product_reference(problem, inputs);
    if (name == "attention") return {attention_reference(problem, inputs)};
    if (name == "layer_norm" || name == "add_layer_norm") return row_reference(problem, inputs, 1);
    if (name == "copy") return {inputs[0]};
    Numbers made;
    const auto count = static_cast<std::size_t>(count_of(problem.outputs[0]));
    for (std::size_t i = 0; i < count; ++i) {
        Number value = 0;
        if (name == "iota")
            value = static_cast<Number>(problem.attributes.dims("start")[0].constant()) + static_cast<Number>(i);
        if (name == "embedding") value = inputs[0][static_cast<std::size_t>(inputs[1][i / 768]) * 768 + i % 768];
        if (name == "elementwise")
            for (const Numbers& input : inputs) value += input[i];
        made.push_back(value);
    }
    return {made};
}

void expect_right(const std::vector<ShapeCase>& shapes) {
    std::vector<std::string> problems;
    std::vector<std::string> kernels;
    for (const ShapeCase& shape : shapes) problems.push_back(shape.problem), kernels.push_back("cuda." + shape.kernel);
    const KernelCases cases(problems, kernels);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Problem problem = cases.at(i, shapes[i].sizes);
        auto inputs = random_inputs(problem, 40 + i);
        if (problem.definition == "embedding")
            for (Number& index : inputs[1]) index = static_cast<Number>(static_cast<int>(index + 100) * 151);
        repeat_elements(problem, inputs);
        const auto wanted = reference(problem, inputs);
        const auto y = cases.run(i, shapes[i].sizes, inputs, {.seed = i});
        double worst = 0;
        for (std::size_t n = 0; n < y.size(); ++n) worst = std::max(worst, error_of(y[n], wanted[n]));
        EXPECT_LE(worst, 1e-6) << problems[i];
    }
}

TEST(CudaModelShapes, Gpt2) { expect_right(gpt2); }
TEST(CudaModelShapes, DistilBert) { expect_right(distilbert); }

}  // namespace
}  // namespace cairn::kernels::cuda
