#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "cairn/weights.hpp"
#include "io/mapped_file/file_error.hpp"
#include "io/weights/safetensors_dtype.hpp"
#include "io/weights/safetensors_header.hpp"

namespace cairn::inline v0 {

using files::file_error;
using files::printable;
using weights::safetensors_format;

namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view what) {
    throw Error(ErrorKind::argument, "write_safetensors", "tensor " + printable(name) + ": " + std::string(what));
}

// The size in bytes of a dense view.
std::uint64_t byte_count(const NamedTensor& tensor) {
    const auto& view = tensor.view;
    if (view.device != Device::cpu) refuse(tensor.name, "its data is not in the memory of the CPU");
    if (!view.strides.empty() && view.strides.size() != view.shape.size())
        refuse(tensor.name, "it has not one stride an axis");
    std::uint64_t count = 1;
    bool dense = true;
    for (std::size_t axis = view.shape.size(); axis-- > 0;) {
        if (view.shape[axis] < 0) refuse(tensor.name, "a size of its shape is negative");
        const bool matters = view.shape[axis] > 1 && !view.strides.empty();
        if (matters && view.strides[axis] != static_cast<std::int64_t>(count)) dense = false;
        if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(view.shape[axis]), &count)) {
            refuse(tensor.name, "the size of its shape overflows");
        }
    }
    if (!dense && count != 0) refuse(tensor.name, "it is not dense; copy it first");
    if (__builtin_mul_overflow(count, std::uint64_t{size_of(view.dtype)}, &count)) {
        refuse(tensor.name, "the size of its shape overflows");
    }
    if (count != 0 && view.data == nullptr) refuse(tensor.name, "it has no data");
    return count;
}

// Indices by decreasing element size, otherwise in the given order: every start is then a multiple of its element size.
std::vector<std::size_t> file_order(const std::vector<NamedTensor>& tensors) {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return size_of(tensors[a].view.dtype) > size_of(tensors[b].view.dtype);
    });
    return order;
}

std::string header_text(const std::vector<NamedTensor>& tensors, const std::vector<std::size_t>& order,
                        const SafetensorsMetadata& metadata, std::size_t alignment) {
    auto header = nlohmann::ordered_json::object();
    if (!metadata.empty()) {
        auto& entries = header["__metadata__"] = nlohmann::ordered_json::object();
        for (const auto& [key, value] : metadata) entries[key] = value;
    }
    std::set<std::string_view> names = {"__metadata__"};
    std::uint64_t offset = 0;
    for (const auto number : order) {
        const auto& [name, view] = tensors[number];
        if (!names.insert(name).second) refuse(name, "the name is taken");
        std::uint64_t end = 0;
        if (__builtin_add_overflow(offset, byte_count(tensors[number]), &end))
            refuse(name, "the size of the file overflows");
        auto& entry = header[name];
        entry["dtype"] = weights::safetensors_name(view.dtype);
        entry["shape"] = view.shape;
        entry["data_offsets"] = {offset, end};
        offset = end;
    }
    std::string text;
    try {
        text = header.dump();
    } catch (const nlohmann::json::exception&) {
        throw Error(ErrorKind::argument, "write_safetensors", "a name or a metadata text is not valid UTF-8");
    }
    // The header follows 8 bytes of length.
    text.append((alignment - (text.size() + sizeof(std::uint64_t)) % alignment) % alignment, ' ');
    if (text.size() > weights::max_header_bytes) {
        throw Error(ErrorKind::argument, "write_safetensors", "the header would be longer than 100000000 bytes");
    }
    return text;
}

/// A file written under a temporary name and renamed once complete. After a fault, nothing of it remains.
class AtomicFileWriter {
public:
    explicit AtomicFileWriter(const std::filesystem::path& path) : path_(path) {
        for (int attempt = 0; attempt < 100 && file_ < 0; ++attempt) {
            partial_ = path;
            partial_ += ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
            constexpr mode_t everybody = 0666;  // less the umask
            file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everybody);
            if (file_ < 0 && errno != EEXIST) break;
        }
        if (file_ < 0) fail("cannot be created");
    }
    ~AtomicFileWriter() {
        if (file_ >= 0) ::close(file_);
        if (!done_) ::unlink(partial_.c_str());
    }
    AtomicFileWriter(const AtomicFileWriter&) = delete;
    AtomicFileWriter& operator=(const AtomicFileWriter&) = delete;

    void write(const void* data, std::uint64_t bytes) {
        const auto* source = static_cast<const std::byte*>(data);
        while (bytes > 0) {
            const std::uint64_t part = std::min<std::uint64_t>(bytes, block_bytes - block_.size());
            block_.insert(block_.end(), source, source + part);
            source += part;
            bytes -= part;
            if (block_.size() == block_bytes) write_block();
        }
    }

    void finish() {
        write_block();
        if (::fsync(file_) != 0) fail("cannot be written");
        if (::close(std::exchange(file_, -1)) != 0) fail("cannot be written");
        if (::rename(partial_.c_str(), path_.c_str()) != 0) fail("cannot be renamed to");
        done_ = true;
    }

private:
    // A file written in large blocks is in huge pages of the page cache, and is mapped with them.
    static constexpr std::size_t block_bytes = std::size_t{8} << 20;

    void write_block() {
        for (std::size_t done = 0; done < block_.size();) {
            const auto written = ::write(file_, block_.data() + done, block_.size() - done);
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail("cannot be written");
            done += static_cast<std::size_t>(written);
        }
        block_.clear();
    }

    [[noreturn]] void fail(std::string_view what) const {
        throw file_error(safetensors_format, path_.string(),
                         std::string(what) + ": " + std::system_category().message(errno));
    }

    std::filesystem::path path_, partial_;
    int file_ = -1;
    bool done_ = false;
    std::vector<std::byte> block_;
};

// Releases every view exactly once, also when an exception is thrown.
struct ReleaseGuard {
    const std::vector<NamedTensor>& tensors;
    ~ReleaseGuard() {
        for (const auto& tensor : tensors) {
            if (tensor.view.release != nullptr) tensor.view.release(tensor.view.owner);
        }
    }
};

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const SafetensorsMetadata& metadata, std::size_t alignment) {
    const ReleaseGuard releases{tensors};
    if (alignment == 0 || alignment % sizeof(std::uint64_t) != 0)
        throw Error(ErrorKind::argument, "write_safetensors", "the alignment must be a multiple of 8");
    const auto order = file_order(tensors);
    const std::string header = header_text(tensors, order, metadata, alignment);
    AtomicFileWriter file(path);
    const std::uint64_t length = header.size();
    file.write(&length, sizeof length);
    file.write(header.data(), header.size());
    for (const auto number : order) file.write(tensors[number].view.data, byte_count(tensors[number]));
    file.finish();
}

}  // namespace cairn::inline v0
