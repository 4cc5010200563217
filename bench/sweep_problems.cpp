#include "bench/sweep_problems.hpp"

#include "cairn/types.hpp"

#include <array>

namespace cairn::bench {
namespace {

using Sizes = std::vector<int>;

std::string listed(const Sizes& sizes) {
    std::string text;
    for (const int size : sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
    return text;
}
std::string tensor(const std::string& dtype, const Sizes& sizes) { return dtype + "[" + listed(sizes) + "]"; }

Sizes with_one(Sizes sizes, const Sizes& axes) {
    for (const int axis : axes) sizes[static_cast<std::size_t>(static_cast<int>(sizes.size()) + axis)] = 1;
    return sizes;
}

void add_reduction(std::vector<SweepProblem>& all, const std::string& op, const std::string& dtype, const Sizes& shape,
                   const Sizes& axes) {
    const std::string x = tensor(dtype, shape), kept = listed(with_one(shape, axes));
    if (op == "argmax")
        all.push_back({"argmax", "argmax axis=(" + listed(axes) + ") | " + x + " -> i32[" + kept + "]"});
    else if (op == "softmax" || op == "log_softmax")
        all.push_back({op, op + " axis=(" + listed(axes) + ") | " + x + " -> " + x, 16});
    else if (op == "layer_norm" || op == "rms_norm") {
        const std::string size =
            std::to_string(shape[static_cast<std::size_t>(static_cast<int>(shape.size()) + axes[0])]);
        std::string factors = " " + dtype + "[" + size + "]!";
        if (op == "layer_norm") factors += factors;
        all.push_back(
            {op,
             op + (axes[0] == -1 ? "" : " axis=(" + listed(axes) + ")") + " eps=1e-05 | " + x + factors + " -> " + x,
             8});
    } else {
        const bool keeps = op == "mean" || op == "variance";
        all.push_back({op, op + " axes=(" + listed(axes) + ")" + (keeps ? " keepdims=(1)" : "") + " | " + x + " -> " +
                               dtype + "[" + kept + "]"});
    }
}

void add_reductions(std::vector<SweepProblem>& all) {
    const std::vector<Sizes> shapes = {{4096, 768}, {64, 64, 768}, {8, 512, 7, 5}};
    for (const char* op :
         {"sum", "mean", "max_reduce", "variance", "argmax", "softmax", "log_softmax", "layer_norm", "rms_norm"})
        for (const Sizes& shape : shapes)
            for (int axis = 1; axis <= static_cast<int>(shape.size()); ++axis)
                add_reduction(all, op, "f32", shape, {-axis});
    for (const char* op : {"sum", "max_reduce", "argmax", "softmax"}) {
        for (const int size : {2, 3, 7}) {
            add_reduction(all, op, "f32", {100000, size}, {-1});
            add_reduction(all, op, "f32", {1000, size, 100}, {-2});
        }
        add_reduction(all, op, "f32", {1, 1000000}, {-1});
    }
    for (const char* op : {"sum", "mean", "max_reduce"}) {
        add_reduction(all, op, "f32", {8, 512, 7, 5}, {-2, -1});
        add_reduction(all, op, "f32", {64, 32, 48, 32}, {-3, -1});
        add_reduction(all, op, "f32", {64, 32, 48, 32}, {-4, -2});
    }
    for (const char* dtype : {"f16", "bf16"})
        for (const char* op : {"sum", "mean", "max_reduce", "argmax", "softmax", "layer_norm", "rms_norm"})
            for (const int axis : {-1, -2}) add_reduction(all, op, dtype, {4096, 768}, {axis});
    for (const char* dtype : {"f64", "i32", "i64", "i8"})
        for (const char* op : {"sum", "max_reduce", "argmax"})
            for (const int axis : {-1, -2}) add_reduction(all, op, dtype, {4096, 768}, {axis});
    for (const char* op : {"softmax", "layer_norm"}) add_reduction(all, op, "f64", {4096, 768}, {-1});
}

void add_elementwise(std::vector<SweepProblem>& all) {
    constexpr std::array dtypes{DType::f64, DType::f32, DType::f16, DType::bf16,   DType::i64,
                                DType::i32, DType::i8,  DType::u8,  DType::boolean};
    for (const DType from : dtypes)
        for (const DType to : dtypes)
            if (from != to)
                all.push_back({"cast", "cast dtype=(" + std::to_string(static_cast<int>(to)) + ") | " +
                                           std::string(to_string(from)) + "[1024,1024] -> " +
                                           std::string(to_string(to)) + "[1024,1024]"});
    const std::vector<std::pair<const char*, double>> functions = {
        {"exp", 20},  {"log", 30},       {"tanh", 40}, {"erf", 60},  {"sin", 30},  {"cos", 30},
        {"gelu", 50}, {"gelu_tanh", 50}, {"silu", 30}, {"sqrt", 12}, {"floor", 4}, {"neg", 1}};
    for (const std::string dtype : {"f32", "f64", "f16", "bf16"}) {
        const std::string x = dtype + "[1024,1024]", group = "math " + dtype;
        for (const auto& [op, flops] : functions) {
            const std::string name = op;
            const bool is_composite = name.starts_with("gelu") || name == "silu";
            if (dtype == "f64" && is_composite) continue;
            all.push_back({group, name + " | " + x + " -> " + x, flops * (dtype == "f64" ? 2 : 1)});
        }
        all.push_back({group, "pow | " + x + " " + x + " -> " + x, dtype == "f64" ? 120.0 : 60.0});
        for (const char* op : {"add", "div", "max"})
            all.push_back({group, std::string(op) + " | " + x + " " + x + " -> " + x});
        all.push_back({group, "lt | " + x + " " + x + " -> bool[1024,1024]"});
        all.push_back({group, "where | bool[1024,1024] " + x + " " + x + " -> " + x});
        all.push_back({group, "add | " + x + " " + x + ":(0,1) -> " + x});
        all.push_back({group, "add | " + x + " " + x + ":(1,0) -> " + x});
    }
}

void add_movement(std::vector<SweepProblem>& all) {
    const auto add = [&](const char* group, const std::string& problem) { all.push_back({group, problem}); };
    for (const std::string dtype : {"i8", "f16", "f32", "f64"}) {
        add("transpose", "transpose permutation=(-1,-2) | " + dtype + "[768,3072] -> " + dtype + "[3072,768]");
        add("transpose", "transpose permutation=(-1,-2) | " + dtype + "[1000,1000] -> " + dtype + "[1000,1000]");
        for (const char* d : {"64", "8", "4"})
            add("transpose", "transpose permutation=(-4,-2,-3,-1) | " + dtype + "[8,512,12," + d + "] -> " + dtype +
                                 "[8,12,512," + d + "]");
        add("transpose",
            "transpose permutation=(-4,-1,-3,-2) | " + dtype + "[8,56,56,64] -> " + dtype + "[8,64,56,56]");
        add("transpose",
            "transpose permutation=(-4,-1,-3,-2) | " + dtype + "[8,224,224,3] -> " + dtype + "[8,3,224,224]");
        add("concat", "concat axis=(-1) | " + dtype + "[4096,384] " + dtype + "[4096,384] -> " + dtype + "[4096,768]");
        add("concat", "concat axis=(-1) | " + dtype + "[65536,3] " + dtype + "[65536,5] -> " + dtype + "[65536,8]");
        add("pad", "pad axis=(-1) before=(1) after=(1) value=0 | " + dtype + "[4096,768] -> " + dtype + "[4096,770]");
        add("pad",
            "pad axis=(-1) before=(1) after=(1) value=0 | " + dtype + "[8,64,56,56] -> " + dtype + "[8,64,56,58]");
        add("pad",
            "pad axis=(-2) before=(1) after=(1) value=0 | " + dtype + "[8,64,56,56] -> " + dtype + "[8,64,58,56]");
        add("slice",
            "slice axis=(-1) start=(1) stop=(767) step=(1) | " + dtype + "[4096,768] -> " + dtype + "[4096,766]");
        add("slice",
            "slice axis=(-1) start=(0) stop=(768) step=(2) | " + dtype + "[4096,768] -> " + dtype + "[4096,384]");
        add("gather", "gather axis=(-2) | " + dtype + "[30000,768] i32[4096] -> " + dtype + "[4096,768]");
        add("gather", "gather axis=(-1) | " + dtype + "[4096,768] i32[300] -> " + dtype + "[4096,300]");
        add("gather", "gather axis=(-2) | " + dtype + "[64,512,8] i32[512] -> " + dtype + "[64,512,8]");
        add("gather", "take_along_axis axis=(-1) | " + dtype + "[4096,768] i32[4096,64] -> " + dtype + "[4096,64]");
        add("scatter",
            "scatter axis=(-2) | " + dtype + "[4096,768] i32[512] " + dtype + "[512,768] -> " + dtype + "[4096,768]");
        add("scatter",
            "scatter axis=(-1) | " + dtype + "[4096,768] i32[64] " + dtype + "[4096,64] -> " + dtype + "[4096,768]");
        add("window",
            "window axis=(-1) size=(3) stride=(1) dilation=(1) | " + dtype + "[256,4096] -> " + dtype + "[256,4094,3]");
        add("broadcast", "broadcast shape=(4096,768) | " + dtype + "[768] -> " + dtype + "[4096,768]");
        add("broadcast", "broadcast shape=(4096,768) | " + dtype + "[4096,1] -> " + dtype + "[4096,768]");
        add("broadcast", "broadcast shape=(64,4096,8) | " + dtype + "[64,1,8] -> " + dtype + "[64,4096,8]");
    }
    for (const std::string dtype : {"f32", "i32", "i64"}) {
        add("iota", "iota length=(1000000) start=(0) dtype=(" +
                        std::to_string(static_cast<int>(dtype == "f32"   ? DType::f32
                                                        : dtype == "i32" ? DType::i32
                                                                         : DType::i64)) +
                        ") | -> " + dtype + "[1000000]");
        add("scan", "cumsum axis=(-1) | " + dtype + "[4096,768] -> " + dtype + "[4096,768]");
        add("scan", "cumsum axis=(-2) | " + dtype + "[4096,768] -> " + dtype + "[4096,768]");
    }
    add("scan", "argsort axis=(-1) descending=(0) | f32[512,768] -> i32[512,768]");
}

// The windows are views: their strides visit the same rows several times.
void add_pooling(std::vector<SweepProblem>& all) {
    for (const char* op : {"max_reduce", "sum"})
        for (const std::string dtype : {"f32", "f16"}) {
            const std::string name = std::string(op) + " axes=(-1,-2) | " + dtype;
            all.push_back(
                {"pool", name + "[8,64,56,56,2,2]:(802816,12544,224,2,112,1) -> " + dtype + "[8,64,56,56,1,1]"});
            all.push_back(
                {"pool", name + "[8,64,56,56,3,3]:(831744,12996,228,2,114,1) -> " + dtype + "[8,64,56,56,1,1]"});
            all.push_back({"pool", name + "[8,256,1,1,7,7]:(12544,49,7,1,7,1) -> " + dtype + "[8,256,1,1,1,1]"});
        }
}

}  // namespace

std::vector<SweepProblem> sweep_problems() {
    std::vector<SweepProblem> all;
    add_reductions(all);
    add_elementwise(all);
    add_movement(all);
    add_pooling(all);
    return all;
}

}  // namespace cairn::bench
