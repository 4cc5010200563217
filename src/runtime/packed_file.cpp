#include "runtime/packed_file.hpp"

#include "device/cpu/arena.hpp"

#include <fmt/format.h>

#include <algorithm>

// A safetensors file: each value is bytes under its origin, the weights are named in the metadata.
namespace cairn::inline v0::runtime {
namespace {

constexpr const char* weights_key = "cairn.packed_weights";
constexpr std::int64_t line = device::Arena::alignment;

// Whole cache lines: each value then begins at one, since the first does.
std::int64_t bytes_in_file(const KeptValue& value) { return (value.bytes + line - 1) / line * line; }

}  // namespace

std::vector<std::shared_ptr<const std::byte>> read_packed(const PackedFile& packed, std::span<const KeptValue> wanted) {
    const auto file = std::make_shared<const Safetensors>(Safetensors::open(packed.path));
    const auto refuse = [&](std::string_view why) {
        return Error(ErrorKind::file, "bind", fmt::format("{}: it {}", packed.path.string(), why));
    };
    const std::string weights = file->metadata(weights_key);
    if (weights.empty()) throw refuse("holds no packed weights");
    if (weights != packed.weights) throw refuse("was made from other weights");
    std::vector<std::shared_ptr<const std::byte>> found;
    for (const KeptValue& value : wanted) {
        if (!file->contains(value.origin)) throw refuse("was made for other programs");
        const InputView view = file->view(value.origin);
        // A view that must be released is a copy, made for want of alignment.
        const bool is_copy = view.release != nullptr;
        if (is_copy) view.release(view.owner);
        const bool fits = !is_copy && view.dtype == DType::u8 && view.shape.size() == 1 &&
                          view.shape[0] == bytes_in_file(value) &&
                          (value.bytes == 0 || reinterpret_cast<std::uintptr_t>(view.data) % line == 0);
        if (!fits) throw refuse("has a value of another size, or not where it should be");
        found.emplace_back(file, static_cast<const std::byte*>(view.data));
    }
    return found;
}

void write_packed(const PackedFile& packed, std::span<const KeptValue> values, std::span<const std::byte* const> data) {
    std::vector<NamedTensor> tensors;
    std::vector<std::vector<std::byte>> padded(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        InputView view;
        view.dtype = DType::u8;
        view.shape = {bytes_in_file(values[i])};
        view.data = data[i];
        if (values[i].bytes != bytes_in_file(values[i])) {
            padded[i].resize(static_cast<std::size_t>(bytes_in_file(values[i])));
            std::copy_n(data[i], values[i].bytes, padded[i].begin());
            view.data = padded[i].data();
        }
        tensors.push_back({values[i].origin, view});
    }
    write_safetensors(packed.path, tensors, {{weights_key, packed.weights}}, line);
}

}  // namespace cairn::inline v0::runtime
