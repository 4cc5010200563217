#include "tests/kernels/simd_case.hpp"

#include "device/cpu/team.hpp"
#include "graph/types/half.hpp"
#include "tests/kernels/emulated_levels.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <thread>

namespace cairn::test {
namespace {

constexpr std::byte untouched{0xA5};

template <typename T>
double read(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
}
template <typename T>
void write(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof value);
}
std::uint16_t read_half(const std::byte* at) {
    std::uint16_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

}  // namespace

Operand::Operand(const TensorDesc& desc) : dtype_(desc.dtype) {
    std::int64_t last = 0;
    for (std::size_t axis = 0; axis < desc.shape.size(); ++axis) {
        shape_.push_back(desc.shape[axis].constant());
        strides_.push_back(desc.strides[axis].constant());
        count_ *= shape_.back();
        last += (shape_.back() - 1) * strides_.back();
    }
    span_ = count_ > 0 ? (last + 1) * static_cast<std::int64_t>(size_of(dtype_)) : 0;
    bytes_ = std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(span_)]);
    std::memset(bytes_.get(), static_cast<int>(untouched), static_cast<std::size_t>(span_));
}

std::int64_t Operand::offset(std::int64_t index) const {
    std::int64_t offset = 0;
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
        offset += index % shape_[axis] * strides_[axis];
        index /= shape_[axis];
    }
    return offset * static_cast<std::int64_t>(size_of(dtype_));
}

double Operand::get(std::int64_t index) const {
    const std::byte* at = bytes_.get() + offset(index);
    switch (dtype_) {
        case DType::f64: return read<double>(at);
        case DType::f32: return read<float>(at);
        case DType::f16: return types::f16_to_f32(read_half(at));
        case DType::bf16: return types::bf16_to_f32(read_half(at));
        case DType::i64: return read<std::int64_t>(at);
        case DType::i32: return read<std::int32_t>(at);
        case DType::i8: return read<std::int8_t>(at);
        default: return read<std::uint8_t>(at);
    }
}

void Operand::set(std::int64_t index, double value) {
    std::byte* at = bytes_.get() + offset(index);
    switch (dtype_) {
        case DType::f64: return write(at, value);
        case DType::f32: return write(at, static_cast<float>(value));
        case DType::f16: return write(at, types::f32_to_f16(static_cast<float>(value)));
        case DType::bf16: return write(at, types::f32_to_bf16(static_cast<float>(value)));
        case DType::i64: return write(at, static_cast<std::int64_t>(value));
        case DType::i32: return write(at, static_cast<std::int32_t>(value));
        case DType::i8: return write(at, static_cast<std::int8_t>(value));
        default: return write(at, static_cast<std::uint8_t>(value));
    }
}

void Operand::fill(std::mt19937& random, double scale) {
    std::normal_distribution<double> normal(0, scale);
    for (std::int64_t i = 0; i < count_; ++i) {
        switch (dtype_) {
            case DType::boolean: set(i, static_cast<double>(random() % 2)); break;
            case DType::u8: set(i, static_cast<double>(random() % 256)); break;
            case DType::i8: set(i, static_cast<double>(random() % 256) - 128); break;
            case DType::i32:
            case DType::i64: set(i, static_cast<double>(random() % 2001) - 1000); break;
            default: set(i, normal(random)); break;
        }
    }
}

std::int64_t Operand::first_touched_gap() const {
    std::vector<bool> is_element(static_cast<std::size_t>(span_), false);
    for (std::int64_t i = 0; i < count_; ++i) {
        for (std::size_t b = 0; b < size_of(dtype_); ++b) is_element[static_cast<std::size_t>(offset(i)) + b] = true;
    }
    for (std::int64_t i = 0; i < span_; ++i) {
        if (!is_element[static_cast<std::size_t>(i)] && bytes_[i] != untouched) return i;
    }
    return -1;
}

bool Operand::same_bits(const Operand& other) const {
    for (std::int64_t i = 0; i < count_; ++i) {
        if (std::memcmp(bytes_.get() + offset(i), other.bytes_.get() + other.offset(i), size_of(dtype_)) != 0)
            return false;
    }
    return count_ == other.count_;
}

Operand Operand::copy() const {
    Operand other = *this;
    other.bytes_ = std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(span_)]);
    if (span_ > 0) std::memcpy(other.bytes_.get(), bytes_.get(), static_cast<std::size_t>(span_));
    return other;
}

SimdCase::SimdCase(Problem made) : problem(std::move(made)) {
    for (const TensorDesc& input : problem.inputs) inputs.emplace_back(input);
    for (const TensorDesc& output : problem.outputs) outputs.emplace_back(output);
}

SimdCase::SimdCase(const std::string& text) : SimdCase(parse_problem(text, *Symbols::create())) {}

std::string SimdCase::run(const Kernel& kernel, int members) {
    if (const Refusal refusal = kernel.accepts(problem); !refusal.empty()) {
        ADD_FAILURE() << kernel.id << " refuses " << to_string(problem) << ": " << refusal;
        return {};
    }
    std::vector<TensorArg> in, out;
    for (Operand& input : inputs) in.push_back(input.arg());
    for (Operand& output : outputs) out.push_back(output.arg());
    std::vector<std::int64_t> dims;
    for (const Attribute& attribute : problem.attributes) {
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value)) {
            for (const Dim& dim : *list) dims.push_back(dim.constant());
        }
    }
    const auto bytes =
        kernel.workspace != nullptr ? static_cast<std::size_t>(kernel.workspace(problem, members).constant()) : 0;
    const std::unique_ptr<std::byte[], void (*)(void*)> workspace(
        static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64)), std::free);
    std::memset(workspace.get(), 0xff, bytes);  // NaN, to reveal reads of uninitialised workspace
    const std::shared_ptr<const void> prepared = kernel.prepare != nullptr ? kernel.prepare(problem, members) : nullptr;
    const Args args{in.data(), out.data(), dims.data(), workspace.get(), prepared.get()};

    device::SpinBudget no_spin(std::chrono::nanoseconds(0), 1);
    device::TeamState state(members, no_spin);
    state.begin();
    std::vector<std::thread> others;
    for (int rank = 1; rank < members; ++rank) {
        others.emplace_back([&, rank] {
            Team team(rank, members, &state);
            kernel.run(args, team);
        });
    }
    Team team(0, members, &state);
    kernel.run(args, team);
    for (std::thread& other : others) other.join();
    return state.failure() != nullptr ? state.failure()->reason : "";
}

std::vector<std::string> level_names() {
    std::vector<std::string> names;
    for (const Level& level : runnable_levels()) names.push_back(level.name);
    return names;
}

const std::vector<Kernel>& kernels_of(const std::string& level) {
    static const std::map<std::string, std::vector<Kernel>> all = [] {
        std::map<std::string, std::vector<Kernel>> made;
        for (const Level& each : runnable_levels()) made[each.name] = kernels_of(each);
        return made;
    }();
    return all.at(level);
}

const Kernel& find(const std::vector<Kernel>& kernels, const std::string& definition) {
    for (const Kernel& kernel : kernels) {
        if (kernel.definition == definition) return kernel;
    }
    throw std::out_of_range("no kernel for " + definition);
}

}  // namespace cairn::test
