#include "cairn/kernels.hpp"
#include "graph/types/knobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Checks that the workspace of every kernel is bounded by its operands, for all sizes, and that the share of each
// thread is aligned.
namespace cairn::test {
namespace {

/// workspace <= operand_factor * (bytes of inputs and outputs) + threads * bytes_of_member.
constexpr std::int64_t operand_factor = 3, bytes_of_member = 2 << 20;
constexpr std::int64_t large = std::int64_t{1} << 20, max_elements = std::int64_t{1} << 36;

/// States of attention's key splits, which are merged at the end: 32 of up to 48 rows, for all sizes.
std::int64_t bytes_of_parts(const Kernel& kernel) { return kernel.definition == "attention" ? 4 << 20 : 0; }

/// linear_argmax holds 128 bytes for each row and thread: a candidate for the maximum in each lane. That is no more
/// than the operands if rows have at least 32 elements per thread.
bool is_exception(const Kernel& kernel) { return kernel.definition == "linear_argmax"; }

std::int64_t elements(const TensorDesc& tensor) { return element_count(tensor.shape).constant(); }

/// Bytes of all operands; none if there are too many.
std::optional<std::int64_t> bytes_of(const Problem& problem) {
    std::int64_t bytes = 0;
    for (const auto* side : {&problem.inputs, &problem.outputs})
        for (const TensorDesc& tensor : *side) {
            double count = 1;
            for (const Dim& size : tensor.shape) count *= static_cast<double>(size.constant());
            if (count > static_cast<double>(max_elements)) return {};
            bytes += elements(tensor) * static_cast<std::int64_t>(size_of(tensor.dtype));
        }
    return bytes;
}

/// Sizes of symbols: for each subset of them, those large and the others small.
std::vector<std::vector<std::int64_t>> corners(const std::vector<Symbols::Symbol>& symbols) {
    std::vector<std::vector<std::int64_t>> all;
    for (std::size_t subset = 0; subset < std::size_t{1} << symbols.size(); ++subset) {
        std::vector<std::int64_t> sizes;
        for (std::size_t i = 0; i < symbols.size(); ++i)
            sizes.push_back((subset >> i & 1) != 0 ? symbols[i].high
                                                   : std::clamp<std::int64_t>(2, symbols[i].low, symbols[i].high));
        all.push_back(std::move(sizes));
    }
    return all;
}

class Bound {
public:
    explicit Bound(const Kernel& kernel) : kernel_(kernel) {}

    int checked() const { return checked_; }

    /// Checks a Problem that the kernel accepts at the corners of its sizes, first with symbols and then with
    /// constants.
    void check(const std::string& text) {
        const auto symbols = Symbols::create();
        Problem problem;
        try {
            problem = parse_problem(text, *symbols);
        } catch (const Error&) {
            return;  // a stretched number made a size negative, or a stride too large
        }
        if (!kernel_.accepts(problem).empty()) return;
        for (const std::vector<std::int64_t>& sizes : corners(symbols->list())) {
            Problem sized;
            try {
                sized = at_sizes(problem, sizes);
            } catch (const Error& error) {
                ASSERT_TRUE(std::string(error.what()).starts_with("[size] ")) << error.what();
                continue;  // a stride beyond 64 bits
            }
            const std::optional<std::int64_t> bytes = bytes_of(sized);
            if (!bytes) continue;
            const bool is_accepted = kernel_.accepts(sized).empty();
            for (const int threads : {1, 2, 64}) {
                const std::int64_t most = operand_factor * *bytes + threads * bytes_of_member + bytes_of_parts(kernel_);
                expect(kernel_.workspace(problem, threads).evaluate(sizes), most, threads, to_string(sized), text);
                if (is_accepted)
                    expect(kernel_.workspace(sized, threads).constant(), most, threads, to_string(sized), "constants");
            }
            if (is_accepted) expect_aligned_shares(sized);
        }
    }

private:
    /// Shares lie one after another and may hold elements of 8 bytes.
    void expect_aligned_shares(const Problem& sized) {
        const std::int64_t share = kernel_.workspace(sized, 2).constant() - kernel_.workspace(sized, 1).constant();
        if (share % 8 == 0 || faults_ >= 5) return;
        ++faults_;
        ADD_FAILURE() << kernel_.id << " gives each thread " << share << " bytes on " << to_string(sized);
    }

    void expect(std::int64_t workspace, std::int64_t most, int threads, const std::string& at, const std::string& of) {
        ++checked_;
        if (workspace <= most || faults_ >= 5) return;
        ++faults_;
        ADD_FAILURE() << kernel_.id << " takes " << workspace << " bytes with " << threads << " threads, not at most "
                      << most << "\n  on " << at << "\n  of " << of;
    }

    const Kernel& kernel_;
    int checked_ = 0, faults_ = 0;
};

/// Begin and end of the operands in the text of a Problem.
std::pair<std::size_t, std::size_t> operands_in(const std::string& text) {
    const std::size_t begin = text.find(" | ") + 3;
    return {begin, std::min({text.find(" results "), text.find(" where "), text.size()})};
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Calls f(position, length) for each number in the operands that is not part of a name.
template <typename F>
void each_number(const std::string& text, F f) {
    const auto [begin, end] = operands_in(text);
    for (std::size_t at = begin; at < end; ++at) {
        if (!is_digit(text[at])) continue;
        std::size_t length = 1;
        while (at + length < end && is_digit(text[at + length])) ++length;
        if (std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0) f(at, length);
        at += length;
    }
}

/// The sample with symbols up to `large`.
std::string widened(std::string sample) {
    for (std::size_t at = sample.find(".."); at != std::string::npos; at = sample.find("..", at + 2)) {
        const std::size_t end = sample.find_first_not_of("0123456789", at + 2);
        sample.replace(at + 2, (end == std::string::npos ? sample.size() : end) - at - 2, std::to_string(large));
    }
    return sample;
}

/// The sample, and for each number among its sizes the sample with that number multiplied by `factor` everywhere,
/// strides included.
std::vector<std::string> stretched(const std::string& sample) {
    std::vector<std::string> all = {widened(sample)};
    std::set<std::string> numbers;
    each_number(sample, [&](std::size_t at, std::size_t length) { numbers.insert(sample.substr(at, length)); });
    for (const std::string& number : numbers)
        for (const std::int64_t factor : {64, 4096}) {
            if (number == "0" || number == "1" || number.size() > 5) continue;
            std::string text = sample;
            std::vector<std::size_t> positions;
            each_number(sample, [&](std::size_t at, std::size_t length) {
                if (sample.substr(at, length) == number) positions.push_back(at);
            });
            for (std::size_t i = positions.size(); i-- > 0;)
                text.replace(positions[i], number.size(), std::to_string(std::stoll(number) * factor));
            all.push_back(text);
            all.push_back(widened(text));
        }
    return all;
}

TEST(Workspace, OfEveryKernelIsBoundedAtEnlargedSamples) {
    for (const Kernel& listed : cpu_kernels().kernels)
        for (const Kernel& kernel : all_settings(listed)) {
            if (!kernel.workspace || is_exception(kernel)) continue;
            Bound bound(kernel);
            for (const std::string& sample : kernel.samples)
                for (const std::string& text : stretched(sample)) bound.check(text);
            EXPECT_GT(bound.checked(), 0) << kernel.id;
        }
}

/// Windows over an image of any rank: sizes of the last axes.
struct Windows {
    std::vector<std::int64_t> size, kernel, stride, dilation, padding;
};

std::string list(const std::vector<std::int64_t>& numbers) {
    std::string text;
    for (const std::int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
    return text;
}
std::string shape_of(std::int64_t batch, std::int64_t channels, const std::vector<std::int64_t>& size) {
    return "[" + list({batch, channels}) + "," + list(size) + "]";
}
std::vector<std::int64_t> positions(const Windows& w) {
    std::vector<std::int64_t> count;
    for (std::size_t i = 0; i < w.size.size(); ++i)
        count.push_back((w.size[i] + 2 * w.padding[i] - w.dilation[i] * (w.kernel[i] - 1) - 1) / w.stride[i] + 1);
    return count;
}
std::string attributes(const Windows& w) {
    return " kernel=(" + list(w.kernel) + ") padding=(" + list(w.padding) + "," + list(w.padding) + ") stride=(" +
           list(w.stride) + ") dilation=(" + list(w.dilation) + ")";
}

/// Long rows, tall columns, squares; small and large kernels, strides and dilations; padding larger than the image.
std::vector<Windows> windows() {
    std::vector<Windows> all;
    const auto add = [&](const std::vector<std::int64_t>& size, std::int64_t kernel, std::int64_t stride,
                         std::int64_t dilation, std::int64_t padding) {
        const auto each = [&](std::int64_t number, std::int64_t otherwise) {
            std::vector<std::int64_t> numbers;
            for (const std::int64_t axis : size) numbers.push_back(axis > 1 ? number : otherwise);
            return numbers;
        };
        Windows w{size, each(kernel, 1), each(stride, 1), each(dilation, 1), each(padding, 0)};
        const std::vector<std::int64_t> count = positions(w);
        if (std::all_of(count.begin(), count.end(), [](std::int64_t n) { return n > 0; })) all.push_back(w);
    };
    const std::vector<std::vector<std::int64_t>> sizes = {{large},      {1, large},   {large, 1}, {large, 4},
                                                          {4, large},   {1024, 1024}, {16, 16},   {3000},
                                                          {64, 64, 64}, {2, 2, large}};
    for (const auto& size : sizes)
        for (const std::int64_t kernel : {1, 2, 3, 7, 31, 129})
            for (const std::int64_t stride : {1, 2, 16, 64})
                for (const std::int64_t dilation : {1, 2, 24, 1000})
                    for (const bool is_padded : {false, true})
                        add(size, kernel, stride, dilation, is_padded ? dilation * (kernel - 1) / 2 : 0);
    return all;
}

TEST(Workspace, OfWindowsIsBounded) {
    std::vector<std::string> texts;
    for (const Windows& w : windows()) {
        const std::string axes = w.size.size() == 1 ? "(-1)" : w.size.size() == 2 ? "(-2,-1)" : "(-3,-2,-1)";
        for (const std::string dtype : {"f32", "f16", "i8"}) {
            const std::string least = dtype == "i8" ? "-128" : "-inf";
            for (const std::string name : {"image_max", "image_sum"}) {
                const std::string value = name == "image_max" ? least : "0";
                std::vector<std::int64_t> result = positions(w);
                result.insert(result.end(), w.size.size(), 1);
                texts.push_back(name + " axes=" + axes + attributes(w) + " value=" + value + " | " + dtype +
                                shape_of(1, 2, w.size) + " -> " + dtype + shape_of(1, 2, result));
            }
        }
        if (w.size.size() > 2) continue;
        const std::string name = w.size.size() == 1 ? "image_conv1d" : "image_conv2d";
        const bool is_small = w.size.back() < 100;
        for (const std::string dtype : {"f32", "f16"})
            // Channels, channels of a filter, filters.
            for (const auto& [all, each, filters] : {std::array<std::int64_t, 3>{1, 1, 1},
                                                     {1, 1, 8},
                                                     {3, 3, 64},
                                                     {64, 1, 64},
                                                     {is_small ? 4096 : 64, is_small ? 4096 : 64, 4},
                                                     {is_small ? 4096 : 64, is_small ? 4096 : 64, 48},
                                                     {is_small ? 4096 : 64, is_small ? 1024 : 16, 4096}}) {
                const std::string x = dtype + shape_of(1, all, w.size),
                                  filter = dtype + shape_of(filters, each, w.kernel),
                                  y = dtype + shape_of(1, filters, positions(w)),
                                  bias = y + ":(0,1" + (w.size.size() == 1 ? ",0" : ",0,0") + ")";
                texts.push_back(name + attributes(w) + " value=0 | " + x + " " + filter + "! -> " + y);
                texts.push_back("fused" + attributes(w) + " value=0 {3=" + name + "(0,1):" + dtype +
                                " 4=add(3,2):" + dtype + " 5=silu(4):" + dtype + "} | " + x + " " + filter + "! " +
                                bias + "! -> " + y + " results (5)");
            }
    }
    std::map<std::string, int> checked;
    for (const Kernel& kernel : cpu_kernels().kernels) {
        // Levels differ in code, not in workspaces.
        if (!kernel.workspace || !kernel.needs.empty()) continue;
        Bound bound(kernel);
        for (const std::string& text : texts)
            if (text.starts_with(kernel.definition + " ")) bound.check(text);
        checked[kernel.definition] += bound.checked();
    }
    for (const char* const name : {"image_max", "image_sum", "image_conv1d", "image_conv2d", "fused"})
        EXPECT_GT(checked[name], 1000) << name;
}

}  // namespace
}  // namespace cairn::test
