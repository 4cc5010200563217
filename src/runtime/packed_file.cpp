#include "runtime/packed_file.hpp"

#include "runtime/packed_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

// Format: a safetensors file. Each value is a tensor of bytes named by its origin. The metadata identify the weights
// and hold the index.
namespace cairn::runtime {
namespace {

constexpr const char *weights_key = "cairn.packed_weights", *index_key = "cairn.packed_index";
constexpr std::int64_t line = device::Memory::alignment;
// Values up to this size are checked whenever the file is opened: they take few pages, which the run reads anyway.
constexpr std::uint64_t small_value_bytes = std::uint64_t{64} << 10;

// Size in whole cache lines: each value then begins at one, since the first does.
std::int64_t bytes_in_file(const PackedValue& value) { return (value.bytes + line - 1) / line * line; }

[[noreturn]] void refuse_packed(const std::filesystem::path& path, std::string_view why) {
    throw Error(ErrorKind::file, "bind", fmt::format("{}: it {}", path.string(), why));
}

/// An open file with a verified index.
class OpenPacked {
public:
    /// Throws Error(file) if the header or index is damaged, or if the file was made from weights other than
    /// `wanted_weights` (if given).
    OpenPacked(const std::filesystem::path& path, const std::optional<std::string>& wanted_weights)
        : path_(path), file_(std::make_shared<const Safetensors>(Safetensors::open(path))) {
        const std::string weights = file_->metadata(weights_key), index = file_->metadata(index_key);
        if (weights.empty()) refuse_packed(path_, "holds no packed weights");
        if (wanted_weights && weights != *wanted_weights) refuse_packed(path_, "was made from other weights");
        if (index.empty()) refuse_packed(path_, "has no checksums");
        try {
            index_ = parse_packed_index(index, weights);
        } catch (const Error& error) {
            refuse_packed(path_, std::string_view(error.what()).substr(std::string_view("[packed] ").size()));
        }
        find_values();
    }

    /// Checks the values of at most `most` bytes. Returns a sentence for each run of changed blocks.
    std::vector<std::string> changed(std::uint64_t most, device::HostThreads* threads) const {
        std::vector<ChecksumBlock> blocks;
        std::vector<const std::string*> names;
        for (const auto& [name, value] : index_.values) {
            if (value.bytes > most) continue;
            add_blocks({data_.at(name), value.bytes}, value, blocks);
            names.resize(blocks.size(), &name);
        }
        const std::vector<std::uint64_t> checksums = checksums_of(blocks, threads);
        std::vector<std::string> faults;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const bool is_reported = b > 0 && names[b] == names[b - 1] && checksums[b - 1] != blocks[b - 1].sum;
            if (checksums[b] != blocks[b].sum && !is_reported)
                faults.push_back(
                    fmt::format("value {}: bytes {} to {} of the file's data have changed", *names[b],
                                blocks[b].bytes.data() - base_,
                                blocks[b].bytes.data() - base_ + static_cast<std::ptrdiff_t>(blocks[b].bytes.size())));
        }
        return faults;
    }

    std::shared_ptr<const std::byte> find(const PackedValue& wanted) const {
        const auto value = index_.values.find(wanted.origin);
        if (value == index_.values.end()) refuse_packed(path_, "was made for other programs");
        const std::byte* const data = data_.at(wanted.origin);
        const bool is_aligned = reinterpret_cast<std::uintptr_t>(data) % line == 0;
        if (value->second.bytes != static_cast<std::uint64_t>(bytes_in_file(wanted)) ||
            (wanted.bytes != 0 && !is_aligned))
            refuse_packed(path_, "has a value of another size, or not where it should be");
        return {file_, data};
    }

private:
    /// Finds the addresses of the values and checks them against the index.
    void find_values() {
        for (const Safetensors::Tensor& tensor : file_->tensors()) {
            const InputView view = file_->view(tensor.name);
            // A view with a release callback is a copy, made because the data is not aligned.
            const bool is_copy = view.release != nullptr;
            if (is_copy) view.release(view.owner);
            if (is_copy || view.dtype != DType::u8 || view.shape.size() != 1)
                refuse_packed(path_, "holds other tensors than packed weights");
            const auto* const data = static_cast<const std::byte*>(view.data);
            data_[tensor.name] = data;
            const auto value = index_.values.find(tensor.name);
            if (value == index_.values.end() || value->second.bytes != static_cast<std::uint64_t>(view.shape[0]))
                refuse_packed(path_, "is damaged: its index has other values");
            if (value->second.offset == 0 && value->second.bytes > 0) base_ = data;
        }
        const bool is_whole = std::all_of(index_.values.begin(), index_.values.end(), [&](const auto& value) {
            const auto data = data_.find(value.first);
            return data != data_.end() &&
                   (value.second.bytes == 0 ||
                    (base_ != nullptr && data->second == base_ + static_cast<std::ptrdiff_t>(value.second.offset)));
        });
        if (!is_whole || data_.size() != index_.values.size())
            refuse_packed(path_, "is damaged: its index has other values");
    }

    const std::filesystem::path path_;
    const std::shared_ptr<const Safetensors> file_;
    PackedIndex index_;
    std::map<std::string, const std::byte*, std::less<>> data_;  // by name
    const std::byte* base_ = nullptr;                            // start of the file's data
};

}  // namespace

std::vector<std::shared_ptr<const std::byte>> read_packed(const PackedFile& packed, std::span<const PackedValue> wanted,
                                                          device::HostThreads& threads) {
    const OpenPacked file(packed.path, packed.weights);
    std::vector<std::shared_ptr<const std::byte>> found;
    for (const PackedValue& value : wanted) found.push_back(file.find(value));
    const std::vector<std::string> faults = packed.check_all
                                                ? file.changed(std::numeric_limits<std::uint64_t>::max(), &threads)
                                                : file.changed(small_value_bytes, nullptr);
    if (!faults.empty()) refuse_packed(packed.path, "is damaged: " + faults.front());
    return found;
}

void write_packed(const PackedFile& packed, std::span<const PackedValue> values, std::span<const std::byte* const> data,
                  device::HostThreads& threads) {
    std::vector<NamedTensor> tensors;
    std::vector<std::vector<std::byte>> padded(values.size());
    PackedIndex index;
    std::vector<ChecksumBlock> blocks;
    std::uint64_t offset = 0;
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
        const auto bytes = static_cast<std::uint64_t>(view.shape[0]);
        const PackedIndex::Value& value = index.values[values[i].origin] = {offset, bytes, {}};
        add_blocks({static_cast<const std::byte*>(view.data), bytes}, value, blocks);
        offset += bytes;
        tensors.push_back({values[i].origin, view});
    }
    const std::vector<std::uint64_t> checksums = checksums_of(blocks, &threads);
    auto sum = checksums.begin();
    for (const PackedValue& kept : values) {
        PackedIndex::Value& value = index.values[kept.origin];
        const auto count = static_cast<std::ptrdiff_t>((value.bytes + checksum_block_bytes - 1) / checksum_block_bytes);
        value.checksums.assign(sum, sum + count);
        sum += count;
    }
    write_safetensors(packed.path, tensors,
                      {{weights_key, packed.weights}, {index_key, to_string(index, packed.weights)}}, line);
}

std::vector<std::string> verify_packed(const std::filesystem::path& file) {
    try {
        return OpenPacked(file, std::nullopt).changed(std::numeric_limits<std::uint64_t>::max(), nullptr);
    } catch (const Error& error) { return {error.what()}; }
}

}  // namespace cairn::runtime
