// Times each kernel that accepts a problem as a program would run it: operands not in cache, all threads. Also prints
// the machine's peak and bandwidth.
//
//     build/release/bench/kernels --benchmark_filter=fused
#include "cairn/tuning.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace {

constexpr const char* problems[] = {
    "fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,1,768] f32[1,768,2304]:(0,2304,1)! f32[1,1,2304]:(0,0,1)! -> "
    "f32[1,1,2304] results (4)",
    "fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,1,768] f32[768,2304]@panel32! f32[1,1,2304]:(0,0,1)! -> "
    "f32[1,1,2304] results (4)",
    "fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,17,768] f32[1,768,2304]:(0,2304,1)! f32[1,17,2304]:(0,0,1)! -> "
    "f32[1,17,2304] results (4)",
    "fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,17,768] f32[768,2304]@panel32! f32[1,17,2304]:(0,0,1)! -> "
    "f32[1,17,2304] results (4)",
    "fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,128,768] f32[1,768,3072]:(0,3072,1)! f32[1,128,3072]:(0,0,1)! -> "
    "f32[1,128,3072] results (4)",
    "fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[1,128,768] f32[768,3072]@panel32! f32[1,128,3072]:(0,0,1)! -> "
    "f32[1,128,3072] results (4)",
    "matmul | f32[1,1,768] f32[768,2048]@panel32! -> f32[1,1,2048]",
    "linear_swiglu | f32[1,1,768] f32[768,2048]@panel32! f32[768,2048]@panel32! -> f32[1,1,2048]",
    "matmul | f32[1,128,768] f32[768,2048]@panel32! -> f32[1,128,2048]",
    "linear_swiglu | f32[1,128,768] f32[768,2048]@panel32! f32[768,2048]@panel32! -> f32[1,128,2048]",
    "matmul | f32[1,12,128,64] f32[1,12,64,128] -> f32[1,12,128,128]",
    "matmul | f32[1,12,128,128] f32[1,12,128,64] -> f32[1,12,128,64]",
    "matmul | f32[1000,4,4] f32[1000,4,4] -> f32[1000,4,4]",
    "matmul | f32[512,512] f32[512,512] -> f32[512,512]",
    "matmul | f32[512,512]:(1,512) f32[512,512]:(1,512) -> f32[512,512]",
    "matmul | f32[2,768] f32[768,3072]! -> f32[2,3072]",
    "matmul | f32[1,768] f32[768,50257]:(1,768)! -> f32[1,50257]",
    "matmul | f32[4,768] f32[768,50257]:(1,768)! -> f32[4,50257]",
    "matmul | f32[50257,768]! f32[768,1] -> f32[50257,1]",
    "matmul | f32[1,768] f32[768,50257]@panel32! -> f32[1,50257]",
    "argmax axis=(-1) | f32[1,50257] -> i32[1,1]",
    "linear_argmax | f32[1,768] f32[768,50257]@panel32! -> i32[1,1]",
    "linear_argmax | f32[1,768] f32[768,50257]:(1,768)! -> i32[1,1]",
    "matmul | f32[8,768] f32[768,50257]@panel32! -> f32[8,50257]",
    "argmax axis=(-1) | f32[8,50257] -> i32[8,1]",
    "linear_argmax | f32[8,768] f32[768,50257]@panel32! -> i32[8,1]",
    "matmul | f32[128,768] f32[768,50257]@panel32! -> f32[128,50257]",
    "argmax axis=(-1) | f32[128,50257] -> i32[128,1]",
    "linear_argmax | f32[128,768] f32[768,50257]@panel32! -> i32[128,1]",
    "matmul | f16[128,768] f16[768,768] -> f16[128,768]",
    "matmul | bf16[128,768] bf16[768,768] -> bf16[128,768]",
    "matmul | f16[1,768] f16[768,50257]:(1,768)! -> f16[1,50257]",
    "matmul | f64[256,256] f64[256,256] -> f64[256,256]",
    "matmul | i8[256,256] i8[256,256] -> i8[256,256]",
    "matmul | i32[256,256] i32[256,256] -> i32[256,256]",
    "matmul | i64[256,256] i64[256,256] -> i64[256,256]",
    "softmax axis=(-1) | f32[1536,128] -> f32[1536,128]",
    "layer_norm eps=1e-05 | f32[128,768] f32[768]! f32[768]! -> f32[128,768]",
    "attention causal=(1) scale=0.125 masked_score=-1e+38 | f32[1,12,512,64] f32[1,12,512,64] f32[1,12,512,64] -> "
    "f32[1,12,512,64]",
    "attention causal=(0) scale=0.125 | f32[1,12,512,64] f32[1,12,512,64] f32[1,12,512,64] -> f32[1,12,512,64]",
    "attention causal=(0) scale=0.125 masked_score=-1e+38 | f32[1,12,512,64] f32[1,12,512,64] f32[1,12,512,64] "
    "bool[1,512] -> f32[1,12,512,64]",
    "attention causal=(0) pairs=(1) scale=0.125 masked_score=-1e+38 | f32[1,12,512,64] f32[1,12,512,64] "
    "f32[1,12,512,64] bool[1,1,512,512] -> f32[1,12,512,64]",
    "attention causal=(0) pairs=(1) scale=0.125 | f32[1,12,512,64] f32[1,12,512,64] f32[1,12,512,64] f32[1,12,512,512] "
    "-> f32[1,12,512,64]",
    "softmax axis=(1) | f32[8,128,12,128] -> f32[8,128,12,128]",
    "softmax axis=(0) | f32[128,1536] -> f32[128,1536]",
    "layer_norm axis=(1) eps=1e-05 | f32[4,768,128] f32[768]! f32[768]! -> f32[4,768,128]",
    "layer_norm eps=1e-05 | f32[512,768] f32[768]! f32[768]! -> f32[512,768]",
    "rms_norm axis=(1) eps=1e-05 | f32[1,96,56,56] f32[96]! -> f32[1,96,56,56]",
    "sum axes=(0) | f32[4096,1024] -> f32[1,1024]",
    "sum axes=(-1) | f32[4096,1024] -> f32[4096,1]",
    "max_reduce axes=(1) | f32[8,128,4096] -> f32[8,1,4096]",
    "gelu_tanh | f32[128,3072] -> f32[128,3072]",
    "exp | f32[128,3072] -> f32[128,3072]",
    "add | f32[128,3072] f32[128,3072] -> f32[128,3072]",
    "copy | f32[128,12,64]:(64,8192,1) -> f32[128,12,64]",
};

void time_kernel(benchmark::State& state, const cairn::Context& context, const cairn::Kernel& kernel,
                 const cairn::Problem& problem) {
    for (auto _ : state) state.SetIterationTime(cairn::measure(problem, kernel.id, context).median);
    if (kernel.cost == nullptr) return;
    const cairn::Cost cost = kernel.cost(problem);
    using benchmark::Counter;
    const auto rate = Counter::kIsIterationInvariantRate;
    if (cost.flops > 0) state.counters["flop/s"] = Counter(cost.flops, rate);
    if (cost.bytes > 0) state.counters["byte/s"] = Counter(cost.bytes, rate);
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    const cairn::Context context({.threads = cairn::usable_cpus()});
    const cairn::Calibration machine = cairn::calibrate(context);
    benchmark::AddCustomContext("threads", std::to_string(context.threads()));
    benchmark::AddCustomContext("instructions", to_string(context.features()));
    benchmark::AddCustomContext("peak flop/s", std::to_string(machine.flops));
    benchmark::AddCustomContext("read byte/s", std::to_string(machine.bandwidth));
    for (const char* text : problems) {
        auto symbols = cairn::Symbols::create();
        const cairn::Problem problem = cairn::parse_problem(text, *symbols);
        for (const cairn::Kernel& kernel : context.kernels().kernels) {
            if (kernel.definition != problem.definition || !context.features().includes(kernel.needs) ||
                !kernel.accepts(problem).empty())
                continue;
            benchmark::RegisterBenchmark(
                (kernel.id + " | " + text).c_str(),
                [&context, &kernel, problem](benchmark::State& state) { time_kernel(state, context, kernel, problem); })
                ->UseManualTime()
                ->Iterations(1)
                ->Unit(benchmark::kMicrosecond);
        }
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
