#include "tests/kernels/cuda/kernel_cases.hpp"

#include "graph/types/convert_floats.hpp"
#include "graph/types/half.hpp"
#include "kernels/cuda/cuda_kernels.hpp"
#include "kernels/cuda/prelude_text.hpp"
#include "kernels/partial_sums.hpp"
#include "tests/emulated_cuda/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace cairn::kernels::cuda {
namespace {

/// Calls a function with a zero of the C++ type of a dtype; false for f16 and bf16, which have none.
template <typename Function>
bool with_element_type(DType dtype, const Function& function) {
    switch (dtype) {
        case DType::f64: function(double()); return true;
        case DType::f32: function(float()); return true;
        case DType::i64: function(std::int64_t()); return true;
        case DType::i32: function(std::int32_t()); return true;
        case DType::i8: function(std::int8_t()); return true;
        case DType::u8:
        case DType::boolean: function(std::uint8_t()); return true;
        default: return false;
    }
}

Number number_at(const std::byte* at, DType dtype) {
    Number number = 0;
    const auto read = [&]<typename T>(T value) {
        std::memcpy(&value, at, sizeof value);
        number = value;
    };
    if (with_element_type(dtype, read)) return number;
    float wide = 0;
    types::convert_floats(reinterpret_cast<std::byte*>(&wide), DType::f32, at, dtype, 1);
    return wide;
}

void put(std::byte* at, DType dtype, Number value) {
    const auto write = [&]<typename T>(T) {
        const T made = static_cast<T>(value);
        std::memcpy(at, &made, sizeof made);
    };
    if (with_element_type(dtype, write)) return;
    const float wide = static_cast<float>(value);
    types::convert_floats(at, dtype, reinterpret_cast<const std::byte*>(&wide), DType::f32, 1);
}

/// Writes the bytes of each operand again, after it has triggered its dependents: `table` has addresses and sizes. A
/// kernel launched as its dependent may access none of them before its dependency wait.
constexpr const char* write_again = R"(
extern "C" __global__ void write_again(long long* table, long long count) {
    dependency_wait();
    trigger_dependents();
    for (long long n = 0; n < count; ++n) {
        volatile unsigned char* data = (unsigned char*)table[2 * n];  // not removed as a store of what is there
        for (long long i = 0; i < table[2 * n + 1]; ++i) data[i] = data[i];
    }
}
)";

/// A tensor in partial sums as a tensor of its parts, along a first axis; others as they are.
TensorDesc stored(const TensorDesc& operand) {
    if (!is_in_partial_sums(operand)) return operand;
    Shape shape = operand.shape;
    shape.insert(shape.begin(), Dim(part_count(operand)));
    return TensorDesc::dense(operand.dtype, shape);
}

/// Memory of a tensor at constant sizes, from an address aligned to 16 bytes plus some elements.
class Memory {
public:
    Memory(const TensorDesc& operand, std::size_t misaligned)
        : tensor_(stored(operand)), element_(size_of(operand.dtype)), begin_(misaligned * element_) {
        std::int64_t last = 0;
        for (std::size_t axis = 0; axis < tensor_.shape.size(); ++axis)
            last += (tensor_.shape[axis].constant() - 1) * tensor_.strides[axis].constant();
        const std::size_t count = count_of(tensor_) == 0 ? 0 : static_cast<std::size_t>(last) + 1;
        bytes_ = count * element_;
        // All bits set are NaN, -1 or, as a boolean, 255.
        storage_.assign((begin_ + bytes_ + 31) / 16, {~std::uint64_t{0}, ~std::uint64_t{0}});
    }
    std::byte* data() { return reinterpret_cast<std::byte*>(storage_.data()) + begin_; }
    std::size_t bytes() const { return bytes_; }
    void fill(const Numbers& values) {
        ASSERT_EQ(static_cast<std::int64_t>(values.size()), count_of(tensor_));
        visit([&](std::size_t i, std::byte* at) { put(at, tensor_.dtype, values[i]); });
    }
    Numbers values() {
        Numbers values(static_cast<std::size_t>(count_of(tensor_)));
        visit([&](std::size_t i, std::byte* at) { values[i] = number_at(at, tensor_.dtype); });
        return values;
    }
    /// Sets all elements to all bits set, after which memory that is not so is a gap that was written.
    void expect_gaps_unchanged() {
        visit([&](std::size_t, std::byte* at) { std::memset(at, 0xff, element_); });
        for (const auto& word : storage_)
            ASSERT_TRUE(word.low == ~std::uint64_t{0} && word.high == word.low) << "a gap of an output is written";
    }

private:
    struct alignas(16) Word {
        std::uint64_t low, high;
    };
    template <typename Work>
    void visit(const Work& work) {
        const auto count = static_cast<std::size_t>(count_of(tensor_));
        for (std::size_t i = 0; i < count; ++i) {
            std::int64_t offset = 0;
            auto rest = static_cast<std::int64_t>(i);
            for (std::size_t axis = tensor_.shape.size(); axis-- > 0;) {
                offset += rest % tensor_.shape[axis].constant() * tensor_.strides[axis].constant();
                rest /= tensor_.shape[axis].constant();
            }
            work(i, data() + static_cast<std::size_t>(offset) * element_);
        }
    }
    TensorDesc tensor_;
    std::size_t element_, begin_, bytes_ = 0;
    std::vector<Word> storage_;
};

}  // namespace

std::int64_t count_of(const TensorDesc& tensor) { return element_count(tensor.shape).constant() * part_count(tensor); }

KernelSet h100_kernels() {
    DeviceRates rates;
    rates.flops = 5e13;
    rates.bandwidth = 3e12;
    rates.launch_seconds = 1e-6;
    rates.link_bandwidth = 5e10;
    rates.link_seconds = 1e-5;
    return cuda_kernels(rates);
}

KernelCases::KernelCases(std::vector<std::string> problems, const std::vector<std::string>& ids) {
    const KernelSet set = h100_kernels();
    std::string text(prelude_text());
    text += write_again;
    std::set<std::string> entries;
    for (const std::string& problem_text : problems) {
        const auto symbols = Symbols::create();
        Case made;
        made.problem = parse_problem(problem_text, *symbols);
        std::string refusals;
        for (const Kernel& kernel : set.kernels) {
            if (kernel.definition != made.problem.definition) continue;
            if (!ids.empty() && !kernel.id.starts_with(ids.at(cases_.size()))) continue;
            if (const Refusal no = kernel.accepts(made.problem); !no.empty()) {
                refusals += "\n" + kernel.id + ": " + no;
                continue;
            }
            made.id = kernel.id;
            made.code = kernel.code(made.problem);
            made.workspace = kernel.workspace;
            break;
        }
        if (made.id.empty()) throw std::runtime_error("no kernel for " + problem_text + refusals);
        if (entries.insert(made.code.entry).second) text += made.code.text;
        cases_.push_back(std::move(made));
    }
    const std::vector<std::string> texts{text};
    module_ = std::make_unique<emulated_cuda::EmulatedModule>(
        emulated_cuda::EmulatedModule::compile(texts, {CAIRN_CXX, CAIRN_SOURCE_DIR}));
}

Problem KernelCases::at(std::size_t i, std::span<const std::int64_t> symbols) const {
    return symbols.empty() ? problem(i) : at_sizes(problem(i), symbols);
}

std::vector<Numbers> KernelCases::run(std::size_t i, std::span<const std::int64_t> symbols,
                                      const std::vector<Numbers>& inputs, const CaseOptions& options) const {
    const Case& chosen = cases_.at(i);
    const Problem problem = at(i, symbols);
    std::vector<std::unique_ptr<Memory>> memories;
    const std::size_t count = problem.inputs.size();
    emulated_cuda::GlobalMemory global;
    for (std::size_t n = 0; n < count; ++n) {
        memories.push_back(std::make_unique<Memory>(problem.inputs[n], options.misaligned));
        memories.back()->fill(inputs.at(n));
    }
    for (const TensorDesc& output : problem.outputs)
        memories.push_back(std::make_unique<Memory>(output, options.misaligned));
    std::vector<void*> data;
    for (const auto& memory : memories) data.push_back(memory->data());
    for (const auto& [input, output] : options.same)
        data[count + static_cast<std::size_t>(output)] = data[static_cast<std::size_t>(input)];
    std::vector<std::int64_t> written_before;  // addresses and sizes
    std::vector<const void*> read_only;
    const auto add = [&](const std::string& name, void* at, std::size_t bytes) {
        global.add(name, at, bytes);
        written_before.push_back(reinterpret_cast<std::intptr_t>(at));
        written_before.push_back(static_cast<std::int64_t>(bytes));
    };
    for (std::size_t n = 0; n < memories.size(); ++n) {
        const bool is_shared = data[n] != memories[n]->data();
        if (is_shared || memories[n]->bytes() == 0) continue;
        bool is_written = n >= count;
        for (const auto& [input, output] : options.same) is_written = is_written || static_cast<int>(n) == input;
        const std::string name = "operand " + std::to_string(n);
        // No kernel of a program writes what is bound.
        if (n < count && problem.inputs[n].bound)
            global.add(name, data[n], memories[n]->bytes(), emulated_cuda::GlobalMemory::read_only);
        else
            add(name, data[n], memories[n]->bytes());
        if (!is_written) read_only.push_back(data[n]);
    }
    const std::int64_t scratch = chosen.workspace ? chosen.workspace(problem, 1).constant() : 0;
    std::vector<double> workspace(static_cast<std::size_t>(scratch + 7) / 8, std::numeric_limits<double>::quiet_NaN());
    if (scratch > 0) add("workspace", workspace.data(), workspace.size() * 8);
    std::vector<std::int64_t> values(symbols.begin(), symbols.end());
    if (!values.empty())
        global.add("symbols", values.data(), values.size() * 8, emulated_cuda::GlobalMemory::read_only);
    ReportedFailure failure;
    global.add("status", &failure, sizeof failure);

    if (!written_before.empty()) {
        global.add("table", written_before.data(), written_before.size() * 8, emulated_cuda::GlobalMemory::read_only);
        void* table = written_before.data();
        auto number = static_cast<std::int64_t>(written_before.size() / 2);
        module_->launch({.entry = "write_again", .arguments = {&table, &number}}, global, options.seed);
        for (const void* operand : read_only) global.protect(operand);
    }
    emulated_cuda::EmulatedLaunch launch;
    launch.entry = chosen.code.entry;
    for (std::size_t axis = 0; axis < chosen.code.grid.size(); ++axis)
        launch.grid.at(axis) = static_cast<unsigned>(chosen.code.grid[axis].evaluate(symbols));
    launch.block[0] = static_cast<unsigned>(chosen.code.block);
    launch.cluster = static_cast<unsigned>(chosen.code.cluster);
    launch.shared_bytes = static_cast<std::size_t>(chosen.code.shared_bytes.evaluate(symbols));
    for (void*& pointer : data) launch.arguments.push_back(&pointer);
    void *work = workspace.data(), *sizes = values.data(), *status = &failure;
    std::uint32_t instruction = 7;
    launch.arguments.insert(launch.arguments.end(), {&work, &sizes, &status, &instruction});
    launch.is_dependent = true;
    module_->launch(launch, global, options.seed);

    if (options.failure != nullptr) *options.failure = failure;
    if (options.failure == nullptr) { EXPECT_EQ(failure.code, 0U); }
    std::vector<Numbers> results;
    for (std::size_t n = count; n < memories.size(); ++n) {
        Memory* memory = memories[n].get();
        for (const auto& [input, output] : options.same)
            if (static_cast<std::size_t>(output) + count == n) memory = memories[static_cast<std::size_t>(input)].get();
        results.push_back(memory->values());
    }
    for (std::size_t n = count; n < memories.size(); ++n) memories[n]->expect_gaps_unchanged();
    return results;
}

std::string with_inputs_in(std::string problem, int first, int last, const std::string& dtype) {
    std::size_t at = problem.find('|');
    for (int input = 0; input <= last; ++input) {
        // Shapes may have spaces too, but no word before a bracket.
        do at = problem.find(' ', at) + 1;
        while (problem.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", at) != problem.find('[', at));
        if (input >= first) problem.replace(at, problem.find('[', at) - at, dtype);
    }
    return problem;
}

Number as_stored(double value, DType dtype) {
    if (dtype == DType::f16) return types::f16_to_f32(types::f64_to_f16(value));
    if (dtype == DType::bf16) return types::bf16_to_f32(types::f64_to_bf16(value));
    return static_cast<float>(value);
}

Numbers random_numbers(const TensorDesc& tensor, std::uint64_t seed) {
    emulated_cuda::Random random(seed);
    Numbers numbers(static_cast<std::size_t>(count_of(tensor)));
    for (Number& number : numbers) {
        if (tensor.dtype == DType::boolean)
            number = random.next() & 1U;
        else if (is_float(tensor.dtype))
            number = as_stored(static_cast<double>(random.next() >> 8) / (1 << 23) - 1, tensor.dtype);
        else
            number = static_cast<Number>(random.below(tensor.dtype == DType::u8 ? 200 : 201)) -
                     (tensor.dtype == DType::u8 ? 0 : 100);
    }
    return numbers;
}

std::vector<Numbers> random_inputs(const Problem& problem, std::uint64_t seed) {
    std::vector<Numbers> inputs;
    for (const TensorDesc& input : problem.inputs) inputs.push_back(random_numbers(input, seed++));
    return inputs;
}

double error_of(const Numbers& y, const Numbers& reference) {
    if (y.size() != reference.size()) return std::numeric_limits<double>::infinity();
    Number squares = 0, differences = 0, worst = 0;
    std::size_t finite = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (!std::isfinite(reference[i]) || !std::isfinite(y[i])) {
            const bool equal = std::isnan(reference[i]) ? std::isnan(y[i]) : y[i] == reference[i];
            if (!equal) return std::numeric_limits<double>::infinity();
            continue;
        }
        ++finite;
        squares += reference[i] * reference[i];
        differences += (y[i] - reference[i]) * (y[i] - reference[i]);
    }
    if (finite == 0 || differences == 0) return 0;
    const Number rms = std::sqrt(squares / static_cast<Number>(finite));
    for (std::size_t i = 0; i < y.size(); ++i)
        if (std::isfinite(reference[i]))
            worst = std::max(worst, std::abs(y[i] - reference[i]) / std::max(std::abs(reference[i]), rms));
    return static_cast<double>(std::max(std::sqrt(differences / squares), worst / 10));
}

}  // namespace cairn::kernels::cuda
