#include "kernels/cpu/panel/linear_samples.hpp"

#include "kernels/cpu/panel/layout.hpp"

#include <algorithm>
#include <charconv>

namespace cairn::kernels::cpu {
namespace {

std::vector<std::string> samples_by_halves(const ProductForm& form, bool is_biased) {
    const auto sample = [&](const char* gate, const char* x, const char* w, const char* bias, const char* out) {
        return std::string(form.definition) + " gate=(" + gate + ") | " + x + " " + w + (is_biased ? bias : "") +
               " -> " + out;
    };
    return {sample("0", "f32[T,70]", "f32[70,192]@panel32!", " f32[192]!", "f32[T,96] where T in 0..400"),
            sample("1", "f32[T,17]:(300,1)", "f32[17,3200]@panel32!", " f32[3200]!",
                   "f32[T,1600]:(1700,1) where T in 1..20"),
            sample("1", "f32[B,1,33]", "f32[33,64]@panel32!", " f32[64]!", "f32[B,1,32] where B in 1..9"),
            sample("0", "f32[T,1100]:(2048,1)", "f32[1100,256]@panel32!", " f32[256]!", "f32[T,128] where T in 1..40"),
            sample("0", "f32[2,3,1]", "f32[1,128]@panel32!", " f32[128]!", "f32[2,3,64]")};
}

// Coverage: strided outputs, and a vocabulary that ends within a vector.
std::vector<std::string> argmax_samples(bool is_biased) {
    const auto sample = [&](const char* x, const char* w, const char* bias, const char* out) {
        return std::string("linear_argmax | ") + x + " " + w + (is_biased ? bias : "") + " -> " + out;
    };
    return {sample("f32[T,70]", "f32[70,100]@panel32!", " f32[100]!", "i32[T,1] where T in 0..400"),
            sample("f32[T,17]:(300,1)", "f32[17,1605]@panel32!", " f32[1605]!", "i32[T,1]:(3,1) where T in 1..20"),
            sample("f32[B,1,33]", "f32[33,7]@panel32!", " f32[7]!", "i32[B,1,1] where B in 1..9"),
            sample("f32[T,1100]:(2048,1)", "f32[1100,40]@panel32!", " f32[40]!", "i32[T,1] where T in 1..60"),
            sample("f32[2,3,1]", "f32[1,64]@panel32!", " f32[64]!", "i32[2,3,1]:(1,2,1)")};
}

// Coverage: a with contiguous columns and rows, ranks around a vector, columns that end within one, strided rows of b;
// first depths that codes have.
std::vector<std::string> low_rank_samples(bool is_biased) {
    const auto sample = [&](const char* scale, const char* x, const char* operands, const char* bias, const char* out) {
        return std::string("linear_low_rank scale=") + scale + " | " + x + ' ' + operands + (is_biased ? bias : "") +
               " -> " + out;
    };
    return {sample("2", "f32[T,64]", "f32[64,100]@panel32! f32[64,8]:(1,64) f32[8,100]", " f32[100]!",
                   "f32[T,100] where T in 0..400"),
            sample("1", "f32[T,96]:(300,1)", "f32[96,1600]@panel32! f32[96,33] f32[33,1600]:(1610,1)", " f32[1600]!",
                   "f32[T,1600]:(1700,1) where T in 1..20"),
            sample("-0.5", "f32[B,1,32]", "f32[32,7]@panel32! f32[32,1]:(1,40) f32[1,7]", " f32[7]!",
                   "f32[B,1,7] where B in 1..9"),
            sample("1", "f32[T,1056]", "f32[1056,130]@panel32! f32[1056,17] f32[17,130]", " f32[130]!",
                   "f32[T,130] where T in 1..200"),
            sample("3", "f32[2,3,64]", "f32[64,64]@panel32! f32[64,32]:(1,64) f32[32,64]", " f32[64]!", "f32[2,3,64]"),
            sample("2", "f32[T,71]", "f32[71,33]@panel32! f32[71,16]:(1,71) f32[16,33]", " f32[33]!",
                   "f32[T,33] where T in 0..13"),
            sample("1", "f32[T,1030]", "f32[1030,40]@panel32! f32[1030,65] f32[65,40]", " f32[40]!",
                   "f32[T,40] where T in 1..14"),
            sample("1", "f32[2,3,2]", "f32[2,64]@panel32! f32[2,1] f32[1,64]", " f32[64]!", "f32[2,3,64]")};
}

/// The depth of the products of a sample.
std::int64_t depth_of(std::string_view sample) {
    const std::size_t end = sample.find(']', sample.find(" | ")), begin = sample.rfind(',', end) + 1;
    std::int64_t depth = 0;
    std::from_chars(sample.data() + begin, sample.data() + end, depth);
    return depth;
}

}  // namespace

std::vector<std::string> samples_of(const ProductForm& form, int biases) {
    if (form.has_low_rank) return low_rank_samples(biases > 0);
    if (form.gating == Gating::half) return samples_by_halves(form, biases > 0);
    if (form.is_argmax) return argmax_samples(biases > 0);
    const auto sample = [&](const char* x, const std::string& w, const std::string& columns, const char* out) {
        std::string text = std::string(form.definition) + " | " + x + " " + w;
        if (form.gating == Gating::weight) text += " " + w;
        for (int i = 0; i < biases; ++i) text += " f32[" + columns + "]!";
        return text + " -> " + out;
    };
    return {sample("f32[T,70]", "f32[70,100]@panel32!", "100", "f32[T,100] where T in 0..400"),
            sample("f32[T,17]:(300,1)", "f32[17,1600]@panel32!", "1600", "f32[T,1600]:(1700,1) where T in 1..20"),
            sample("f32[B,1,33]", "f32[33,7]@panel32!", "7", "f32[B,1,7] where B in 1..9"),
            sample("f32[T,1030]", "f32[1030,130]@panel32!", "130",
                   form.gating == Gating::none ? "f32[T,130] where T in 1..200" : "f32[T,130] where T in 1..30"),
            sample("f32[T,1024]", "f32[1024,33]@panel32!", "33", "f32[T,33] where T in 1..40"),
            sample("f32[2,3,1]", "f32[1,64]@panel32!", "64", "f32[2,3,64]")};
}

std::vector<std::string> fused_samples() {
    return {
        "fused {3=matmul(0,1):f32 4=add(3,2):f32} | f32[T,70] f32[70,100]@panel32! f32[T,100]:(0,1)! -> f32[T,100] "
        "results (4) where T in 0..400",
        "fused {2=matmul(0,1):f32 3=gelu_tanh(2):f32} | f32[T,17]:(300,1) f32[17,1600]@panel32! -> "
        "f32[T,1600]:(1700,1) "
        "results (3) where T in 1..20",
        "fused {4=matmul(0,1):f32 5=add(4,2):f32 6=gelu(5):f32 7=add(6,3):f32} | f32[B,1,33] f32[33,7]@panel32! "
        "f32[B,1,7]:(0,0,1)! f32[B,1,7] -> f32[B,1,7] results (7) where B in 1..13",
        "fused {4=matmul(0,1):f32 5=add(4,2):f32 6=add(5,3):f32} | f32[T,2100] f32[2100,40]@panel32! f32[T,40]:(0,1)! "
        "f32[T,40]:(50,1) -> f32[T,40] results (6) where T in 1..60",
        "fused {3=matmul(0,1):f32 4=sigmoid(3):f32 5=mul(2,4):f32} | f32[B,T,9]:(2048*T,2048,1) f32[9,40]@panel32! "
        "f32[B,T,40] -> f32[B,T,40] results (5) where B in 1..2, T in 0..20",
        "fused {3=matmul(0,1):f32 4=add(2,3):f32} | f32[2,3,1] f32[1,64]@panel32! f32[2,3,64] -> f32[2,3,64] results "
        "(4)",
        "fused {6=matmul(0,1):f32 7=mul(6,2):f32 8=add(7,3):f32 9=const(0):f32 10=where(4,8,9):f32 11=mul(10,5):f32} | "
        "f32[B,T,20] f32[20,31]@panel32! f32[B,T,31]:(31,0,1) f32[B,T,31]:(T,1,0) bool[B,T,31] f32[B,T,31]:(0,0,0) -> "
        "f32[B,T,31] results (11) where B in 1..3, T in 0..20",
        "fused {3=matmul(0,1):f32 4=sigmoid(3):f32 5=mul(3,4):f32 6=cast(5):f16 7=cast(6):f32 8=add(7,2):f32 "
        "9=cast(8):bf16} | f32[T,40] f32[40,33]@panel32! f32[T,33]:(1,T) -> bf16[T,33] results (9) where T in 1..30",
        "fused {3=matmul(0,1):f32 4=cast(2):f32 5=add(3,4):f32 6=cast(5):f16} | f32[T,9] f32[9,1]@panel32! f16[T,1] -> "
        "f16[T,1] results (6) where T in 1..40",
        "fused {4=matmul(0,1):f32 5=relu(4):f32 6=cast(2):f64 7=cast(5):f64 8=mul(6,7):f64 9=cast(8):f32 "
        "10=silu(9):f32 11=lt(10,3):bool} | f32[T,30] f32[30,70]@panel32! i8[T,70] f32[T,70]:(0,1) -> bool[T,70] "
        "results (11) where T in 1..30",
        "fused {2=matmul(0,1):f32 3=const(-1.5):f32 4=const(1.5):f32 5=max(2,3):f32 6=min(5,4):f32 7=tanh(6):f32} | "
        "f32[T,8] f32[8,0]@panel32! -> f32[T,0] results (7) where T in 0..3",
    };
}

std::vector<std::string> samples_by_columns() {
    return {
        "fused columns=(0,64,128) {3=matmul(0,1):f32 4=add(3,2):f32} | f32[B,T,40] f32[40,192]@panel32! "
        "f32[B,T,192]:(0,0,1)! -> f32[B,T,192] f32[B,T,2,32]:(3840,32,1920,1) f32[B,T,2,32]:(3840,32,1920,1) results "
        "(4,4,4) where B in 0..2, T in 0..60",
        "fused columns=(5,41,0) {3=matmul(0,1):f32 4=relu(3):f32 5=mul(4,2):f32 6=cast(5):f16} | f32[T,17]:(30,1) "
        "f32[17,90]@panel32! f32[T,90] -> f32[T,3,12]:(12,360,1) f16[T,7,7] f32[T,90]:(100,1) results (5,6,3) where T "
        "in 1..30",
        "fused columns=(32) {2=matmul(0,1):f32} | f32[T,9] f32[9,70]@panel32! -> f32[T,2,19]:(19,19*T,1) results (2) "
        "where T in 0..14",
    };
}

std::string stored_as(std::string_view dtype, std::string sample) {
    const std::string packed = "@" + std::string(panel_layout);
    for (std::size_t at = sample.find(packed); at != std::string::npos; at = sample.find(packed, at + packed.size())) {
        const std::size_t begin = sample.rfind(' ', at) + 1, end = sample.find('[', begin);
        sample.replace(begin, end - begin, dtype);
        at = sample.find(packed, begin);
    }
    return sample;
}

std::string in_codes(std::string sample, std::size_t layout) {
    const std::string packed = "@" + std::string(panel_layout) + "!";
    for (std::size_t at = sample.find(packed); at != std::string::npos; at = sample.find(packed)) {
        const std::size_t begin = sample.find('[', sample.rfind(' ', at)) + 1;
        const std::string depth = sample.substr(begin, sample.find(',', begin) - begin);
        const std::string whole = std::to_string((std::stol(depth) + 31) / 32 * 32);
        sample.replace(at, packed.size(), "@" + std::string(code_layouts[layout].name) + "!");
        sample.replace(begin, depth.size(), whole);
        // The first weight gives x its depth.
        if (const std::size_t of_x = sample.find("," + depth + "]"); of_x < begin)
            sample.replace(of_x + 1, depth.size(), whole);
    }
    return sample;
}

std::vector<std::string> in_each_code(const std::vector<std::string>& samples, int most_bits) {
    const std::size_t count = std::min<std::size_t>(samples.size(), 5);
    std::vector<std::string> all;
    for (std::size_t i = 0; i < code_layouts.size(); ++i)
        if (code_layouts[i].format.bits <= most_bits) all.push_back(in_codes(samples[i % count], i));
    return all;
}

std::vector<std::string> in_each_form(std::vector<std::string> samples, std::int64_t least_depth) {
    const std::vector<std::string> codes = in_each_code(samples);
    std::erase_if(samples, [&](const std::string& sample) { return depth_of(sample) < least_depth; });
    const std::size_t count = std::min<std::size_t>(samples.size(), 5);
    for (std::size_t i = 0; i < count; ++i) samples.push_back(stored_as(i % 2 == 0 ? "bf16" : "f16", samples[i]));
    samples.insert(samples.end(), codes.begin(), codes.end());
    return samples;
}

std::int64_t largest_bound(std::string_view sample) {
    std::int64_t largest = 0;
    for (std::size_t at = sample.find(".."); at != sample.npos; at = sample.find("..", at + 2)) {
        std::int64_t bound = 0;
        std::from_chars(sample.data() + at + 2, sample.data() + sample.size(), bound);
        largest = std::max(largest, bound);
    }
    return largest;
}

}  // namespace cairn::kernels::cpu
