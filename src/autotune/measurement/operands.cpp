#include "autotune/measurement/operands.hpp"

#include "autotune/measurement/splitmix.hpp"
#include "device/mapped_memory.hpp"
#include "graph/ir/index_limits.hpp"
#include "graph/types/layouts.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace cairn::autotune {
namespace {

std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64 + 64; }

template <typename T, typename F>
void fill(std::byte* data, std::size_t count, const F& value) {
    for (std::size_t i = 0; i < count; ++i) {
        const T element = value(i);
        std::memcpy(data + i * sizeof(T), &element, sizeof(T));
    }
}

/// Upper limits of the integer inputs of a problem: the size of the axis that an input indexes, otherwise a small
/// number.
std::vector<std::int64_t> integer_limits(const Problem& problem, std::span<const Definition> definitions) {
    constexpr std::int64_t small = 8;
    std::vector<std::int64_t> limits(problem.inputs.size(), small);
    const bool has_integers = std::any_of(problem.inputs.begin(), problem.inputs.end(),
                                          [](const TensorDesc& input) { return is_integer(input.dtype); });
    if (!has_integers) return limits;
    try {
        const std::vector<std::optional<std::int64_t>> indexed = ir::index_limits(problem, definitions);
        for (std::size_t i = 0; i < limits.size(); ++i)
            limits[i] = std::max<std::int64_t>(indexed[i].value_or(small), 1);
    } catch (const Error&) {}  // the problem has no definition
    return limits;
}

/// Fills booleans as the masks of padded batches: the last quarter of each row is false, or true in a mask that marks
/// what is hidden.
void fill_booleans(std::byte* data, std::size_t count, const TensorDesc& tensor, bool hides) {
    const std::int64_t length = tensor.shape.empty() ? 1 : tensor.shape.back().constant();
    const std::int64_t stride = tensor.shape.empty() ? 1 : std::max<std::int64_t>(tensor.strides.back().constant(), 1);
    const auto filled = static_cast<std::size_t>(length - length / 4);
    fill<std::uint8_t>(data, count, [&](std::size_t i) {
        const std::size_t position = i / static_cast<std::size_t>(stride) % static_cast<std::size_t>(length);
        return static_cast<std::uint8_t>((position < filled) != hides);
    });
}

/// Fills integers with valid indices, and floating dtypes with the pattern.
void fill_operand(std::byte* data, std::size_t bytes, DType dtype, std::int64_t limit, std::uint64_t seed) {
    const std::size_t count = bytes / size_of(dtype);
    const auto index = [&](std::size_t i) {
        std::uint64_t state = seed + i;
        return static_cast<std::int64_t>(splitmix64(state) % static_cast<std::uint64_t>(limit));
    };
    switch (dtype) {
        case DType::i64: return fill<std::int64_t>(data, count, index);
        case DType::i32:
            return fill<std::int32_t>(data, count, [&](std::size_t i) { return static_cast<std::int32_t>(index(i)); });
        case DType::i8:
            return fill<std::int8_t>(data, count,
                                     [&](std::size_t i) { return static_cast<std::int8_t>(index(i) % 8); });
        case DType::u8:
            return fill<std::uint8_t>(data, count,
                                      [&](std::size_t i) { return static_cast<std::uint8_t>(index(i) % 8); });
        default: return fill_with_pattern(data, bytes);
    }
}

std::size_t bytes_of(const TensorDesc& tensor, const std::vector<Layout>& layouts) {
    if (const Layout* const layout = types::find_layout(layouts, tensor.layout); layout != nullptr)
        return static_cast<std::size_t>(types::bytes_in_layout(*layout, tensor).constant());
    std::int64_t last = 0;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        if (tensor.shape[i].constant() == 0) return 0;
        last += (tensor.shape[i].constant() - 1) * tensor.strides[i].constant();
    }
    return static_cast<std::size_t>(last + 1) * size_of(tensor.dtype);
}

}  // namespace

std::byte* Operands::base(Placement placement) const noexcept {
    switch (placement) {
        case Placement::streamed: return memories_.inputs->streamed().data();
        case Placement::kept: return memories_.inputs->kept().data();
        case Placement::written: return memories_.outputs->written().data();
        case Placement::own: break;
    }
    return own_->data();
}

/// Weights of 8 bits may hold any bytes; other integers may be indices and get memory of their own.
Operands::Placement Operands::placement(const TensorDesc& input, std::size_t bytes) const {
    if (!is_float(input.dtype) && !(input.bound && size_of(input.dtype) == 1 && input.dtype != DType::boolean))
        return Placement::own;
    const auto elements = static_cast<std::size_t>(element_count(input.shape).constant());
    const bool has_gaps = bytes > elements * size_of(input.dtype);
    return input.bound || (has_gaps && bytes > memories_.inputs->private_cache) ? Placement::streamed : Placement::kept;
}

Operands::Operands(const Problem& problem, const Kernel& kernel, const KernelSet& kernels, int threads,
                   OperandMemories memories, bool cold, const FillOptions& filling)
    : memories_(std::move(memories)), cold_(cold), inputs_(problem.inputs.size()) {
    std::size_t used[4] = {};
    const auto allocate = [&](Placement placement, std::size_t bytes) {
        std::size_t& end = used[static_cast<std::size_t>(placement)];
        return std::exchange(end, end + round_up(bytes));
    };
    const auto add = [&](const TensorDesc& desc, Placement placement, std::size_t bytes) {
        Operand& operand = operands_.emplace_back(Operand{placement, allocate(placement, bytes), {}, {}});
        for (const Dim& size : desc.shape) operand.shape.push_back(size.constant());
        for (const Dim& stride : desc.strides) operand.strides.push_back(stride.constant());
    };
    std::vector<std::size_t> bytes;
    for (const TensorDesc& input : problem.inputs) {
        bytes.push_back(bytes_of(input, kernels.layouts));
        add(input, placement(input, bytes.back()), bytes.back());
    }
    for (const TensorDesc& output : problem.outputs) add(output, Placement::written, bytes_of(output, kernels.layouts));
    const std::size_t workspace_bytes =
        kernel.workspace == nullptr ? 0 : static_cast<std::size_t>(kernel.workspace(problem, threads).constant());
    if (memories_.workspace == memories_.outputs) workspace_ = allocate(Placement::written, workspace_bytes);
    for (const Attribute& attribute : problem.attributes)
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value))
            for (const Dim& dim : *list) dims_.push_back(dim.constant());
    if (kernel.prepare != nullptr) prepared_ = kernel.prepare(problem, threads);

    streamed_bytes_ = used[0];
    memories_.inputs->reserve(used[0], used[1], 0, filling);
    memories_.outputs->reserve(0, 0, used[2], filling);
    if (memories_.workspace != memories_.outputs)
        memories_.workspace->reserve(0, 0, round_up(workspace_bytes), filling);
    own_ = memories_.inputs->backend().reserve(used[3], device::MemoryUse::scratch);
    own_->touch(0, used[3]);
    const std::vector<std::int64_t> limits = integer_limits(problem, kernels.definitions);
    const bool hides = problem.attributes.has("hides") && problem.attributes.integer("hides") != 0;
    for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
        const TensorDesc& input = problem.inputs[i];
        if (operands_[i].placement != Placement::own) continue;
        device::MappedMemory mapped(*own_, {operands_[i].offset, bytes[i]}, device::MapAccess::overwrite);
        if (input.dtype == DType::boolean)
            fill_booleans(mapped.row(0), bytes[i], input, hides);
        else
            fill_operand(mapped.row(0), bytes[i], input.dtype, limits[i], i + 1);
        mapped.write_back();
    }
}

std::int64_t Operands::position_count() const noexcept {
    if (!cold_ || streamed_bytes_ == 0) return 1;
    return std::max<std::int64_t>(static_cast<std::int64_t>(memories_.inputs->filled_bytes() / streamed_bytes_), 1);
}

std::int64_t Operands::position() const noexcept {
    if (streamed_bytes_ == 0) return 0;
    const std::size_t first = (memories_.inputs->cursor + streamed_bytes_ - 1) / streamed_bytes_;
    return static_cast<std::int64_t>(first) % position_count();
}

void Operands::advance(std::int64_t calls) const noexcept {
    if (streamed_bytes_ > 0 && cold_)
        memories_.inputs->cursor = static_cast<std::size_t>((position() + calls) % position_count()) * streamed_bytes_;
}

RotatingArgs::RotatingArgs(const Operands& operands)
    : bytes_(operands.streamed_bytes_), position_(operands.position()), position_count_(operands.position_count()) {
    for (const Operands::Operand& operand : operands.operands_) {
        std::byte* data = operands.base(operand.placement) + operand.offset;
        if (operand.placement == Operands::Placement::streamed) streamed_.push_back({data, tensors_.size()});
        tensors_.push_back(
            {data, operand.shape.data(), operand.strides.data(), static_cast<int>(operand.shape.size())});
    }
    args_ = {tensors_.data(), tensors_.data() + operands.inputs_, operands.dims_.data(),
             operands.memories_.workspace->written().data() + operands.workspace_, operands.prepared_.get()};
}

const Args& RotatingArgs::next() noexcept {
    for (const Streamed& streamed : streamed_)
        tensors_[streamed.tensor].data = streamed.base + static_cast<std::size_t>(position_) * bytes_;
    if (++position_ >= position_count_) position_ = 0;
    return args_;
}

}  // namespace cairn::autotune
