#include "kernels/cuda/generate/pointwise_text.hpp"

#include "kernels/cuda/generate/kernel_source.hpp"
#include "kernels/cuda/generate/size_text.hpp"

#include <fmt/format.h>

#include <limits>

namespace cairn::kernels::cuda {
namespace {

/// Prints one kernel.
class PointwisePrinter {
public:
    PointwisePrinter(const Problem& problem, const Pointwise& kernel) : problem_(problem), kernel_(kernel) {
        std::int64_t largest = kernel.count.upper_bound();
        for (const auto* side : {&kernel.inputs, &kernel.outputs})
            for (const PointwiseOperand& operand : *side) largest = std::max(largest, operand.axes.largest_offset());
        // With room for the elements of a block beyond the last.
        index_ = largest < std::numeric_limits<std::int32_t>::max() ? "u32" : "i64";
    }

    std::string text(const std::string& entry) {
        std::string text = kernel_begin(problem_, entry, pointwise_threads);
        text += fmt::format("    const {0} count = {0}({1});\n", index_, size_text(kernel_.count));
        text += fmt::format("    const {0} first = {0}(blockIdx.x) * {1};\n    if (first >= count) return;\n", index_,
                            pointwise_threads * pointwise_elements);
        text += pointers() + compute();
        if (has_runs())
            text += runs();
        else
            text += fmt::format("    const {0} start = first + threadIdx.x, step = {1};\n", index_, pointwise_threads);
        return text + elements() + "}\n";
    }

private:
    std::string element_type(DType dtype) const {
        return std::string(kernel_.moves_bits ? memory_type(dtype) : register_type(dtype));
    }
    std::string value_of(DType dtype, const std::string& element) const {
        return kernel_.moves_bits ? element : loaded(dtype, element);
    }
    std::string element_of(DType dtype, const std::string& value) const {
        return kernel_.moves_bits ? value : stored(dtype, value);
    }

    std::string pointers() const {
        std::string text;
        const auto add = [&](const std::vector<PointwiseOperand>& side, char name) {
            for (std::size_t i = 0; i < side.size(); ++i)
                text += fmt::format("    {0}* const {1}{2} = ({0}*){3} + {4};\n", memory_type(side[i].dtype), name, i,
                                    side[i].pointer, size_text(side[i].begin));
        };
        add(kernel_.inputs, 'x');
        add(kernel_.outputs, 'y');
        return text;
    }

    // The body as a function of one element.
    std::string compute() const {
        std::string text = "    const auto compute = [&](";
        for (std::size_t i = 0; i < kernel_.inputs.size(); ++i)
            text += fmt::format("{} v{}, ", element_type(kernel_.inputs[i].dtype), i);
        for (std::size_t i = 0; i < kernel_.outputs.size(); ++i)
            text += fmt::format("{}{}& r{}", i == 0 ? "" : ", ", element_type(kernel_.outputs[i].dtype), i);
        text += ") {\n" + body_text(kernel_.body, "        ");
        for (std::size_t i = 0; i < kernel_.outputs.size(); ++i)
            text += fmt::format("        r{} = v{};\n", i, kernel_.body.results[i]);
        return text + "    };\n";
    }

    // Single elements, from `start` in steps of `step`. All inputs of an element are read before an output is written.
    std::string elements() const {
        std::string text = fmt::format("    for (int e = 0; e < {}; ++e) {{\n", pointwise_elements);
        text += fmt::format("        const {0} i = start + {0}(e) * step;\n        if (i >= count) break;\n", index_);
        std::string arguments;
        for (std::size_t i = 0; i < kernel_.inputs.size(); ++i) {
            const PointwiseOperand& input = kernel_.inputs[i];
            arguments += value_of(input.dtype, element(i, input.axes.offset("i", index_))) + ", ";
        }
        for (std::size_t i = 0; i < kernel_.outputs.size(); ++i) {
            text += fmt::format("        {} r{};\n", element_type(kernel_.outputs[i].dtype), i);
            arguments += fmt::format("{}r{}", i == 0 ? "" : ", ", i);
        }
        text += "        compute(" + arguments + ");\n";
        for (std::size_t i = 0; i < kernel_.outputs.size(); ++i)
            text += fmt::format("        y{}[{}] = {};\n", i, kernel_.outputs[i].axes.offset("i", index_),
                                element_of(kernel_.outputs[i].dtype, fmt::format("r{}", i)));
        return text + "    }\n";
    }

    // The element of an input at an offset.
    std::string element(std::size_t input, const std::string& offset) const {
        const std::int64_t parts = kernel_.inputs[input].parts;
        return parts == 1 ? fmt::format("x{}[{}]", input, offset)
                          : fmt::format("sum_of_parts<{}>(&x{}[{}], count)", parts, input, offset);
    }

    bool is_wide(const PointwiseOperand& operand) const {
        return size_of(operand.dtype) == 4 && operand.axes.run_of_four() == AxisList::Run::contiguous &&
               (operand.parts == 1 || is_multiple(kernel_.count, 4));
    }

    /// True if 16 bytes of an operand can be moved at once and all operands go on for four elements.
    bool has_runs() const {
        bool any = false;
        for (const auto* side : {&kernel_.inputs, &kernel_.outputs}) {
            for (const PointwiseOperand& operand : *side) {
                if (operand.axes.run_of_four() == AxisList::Run::other) return false;
                any = any || is_wide(operand);
            }
        }
        return any;
    }

    // Four elements at once if the addresses are aligned; otherwise, and at the end, single elements follow.
    std::string runs() const {
        std::string text = "    const bool aligned = true";
        const auto add_check = [&](const std::vector<PointwiseOperand>& side, char name) {
            for (std::size_t i = 0; i < side.size(); ++i)
                if (is_wide(side[i])) text += fmt::format(" && is_aligned({}{})", name, i);
        };
        add_check(kernel_.inputs, 'x');
        add_check(kernel_.outputs, 'y');
        text += fmt::format(
            ";\n    const {0} start = first + threadIdx.x * (aligned ? 4u : 1u), step = aligned ? 1 : {1};\n", index_,
            pointwise_threads);
        text += "    if (aligned && start + 4 <= count) {\n";
        for (std::size_t i = 0; i < kernel_.inputs.size(); ++i) text += load_run(i);
        std::string arguments;
        for (std::size_t i = 0; i < kernel_.inputs.size(); ++i) arguments += fmt::format("a{}[e], ", i);
        for (std::size_t i = 0; i < kernel_.outputs.size(); ++i) {
            text += fmt::format("        {} b{}[4];\n", element_type(kernel_.outputs[i].dtype), i);
            arguments += fmt::format("{}b{}[e]", i == 0 ? "" : ", ", i);
        }
        text += "        for (int e = 0; e < 4; ++e) compute(" + arguments + ");\n";
        for (std::size_t i = 0; i < kernel_.outputs.size(); ++i) text += store_run(i);
        return text + "        return;\n    }\n";
    }

    std::string load_run(std::size_t i) const {
        const PointwiseOperand& input = kernel_.inputs[i];
        const std::string type = element_type(input.dtype), offset = input.axes.offset("start", index_);
        if (is_wide(input)) {
            const bool is_real = input.dtype == DType::f32;
            const char* convert = is_real ? "__uint_as_float" : "i32";
            const std::string load =
                input.parts == 1 ? fmt::format("load_16_bytes(x{} + {})", i, offset)
                                 : fmt::format("sum_of_wide_parts<{}>(x{} + {}, count)", input.parts, i, offset);
            return fmt::format(
                "        const uint4 w{0} = {1};\n"
                "        const {2} a{0}[4] = {{{3}(w{0}.x), {3}(w{0}.y), {3}(w{0}.z), {3}(w{0}.w)}};\n",
                i, load, type, convert);
        }
        const bool is_repeated = input.axes.run_of_four() == AxisList::Run::repeated;
        std::string values;
        for (int e = 0; e < 4; ++e)
            values += fmt::format("{}{}", e == 0 ? "" : ", ",
                                  value_of(input.dtype, element(i, fmt::format("o{} + {}", i, is_repeated ? 0 : e))));
        return fmt::format("        const {0} o{1} = {2};\n        const {3} a{1}[4] = {{{4}}};\n", index_, i, offset,
                           type, values);
    }

    std::string store_run(std::size_t i) const {
        const PointwiseOperand& output = kernel_.outputs[i];
        const std::string offset = output.axes.offset("start", index_);
        if (is_wide(output)) {
            const char* convert = output.dtype == DType::f32 ? "__float_as_uint" : "u32";
            return fmt::format(
                "        *(uint4*)(y{0} + {1}) = make_uint4({2}(b{0}[0]), {2}(b{0}[1]), {2}(b{0}[2]), {2}(b{0}[3]));\n",
                i, offset, convert);
        }
        return fmt::format("        for (int e = 0; e < 4; ++e) y{0}[{1} + e] = {2};\n", i, offset,
                           element_of(output.dtype, fmt::format("b{}[e]", i)));
    }

    const Problem& problem_;
    const Pointwise& kernel_;
    std::string index_;  ///< type of indices and offsets
};

}  // namespace

KernelCode pointwise_code(const Problem& problem, std::string_view family, const Pointwise& kernel) {
    KernelCode code;
    code.entry = entry_of(family, problem);
    code.text = PointwisePrinter(problem, kernel).text(code.entry);
    code.grid = {blocks_for(kernel.count, pointwise_threads * pointwise_elements)};
    code.block = pointwise_threads;
    return code;
}

}  // namespace cairn::kernels::cuda
