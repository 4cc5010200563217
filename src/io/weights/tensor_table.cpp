#include "io/weights/tensor_table.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "cairn/problem.hpp"
#include "io/mapped_file/file_error.hpp"
#include "io/suggest_names/suggest_names.hpp"

namespace cairn::weights {

namespace {

constexpr std::align_val_t copy_alignment{64};

void free_copy(void* copy) { ::operator delete(copy, copy_alignment); }

std::vector<std::string_view> names_of(const std::vector<StoredTensor>& tensors) {
    std::vector<std::string_view> names;
    for (const StoredTensor& tensor : tensors) names.push_back(tensor.name);
    return names;
}

}  // namespace

TensorTable::TensorTable(std::string_view format, std::filesystem::path path,
                         std::vector<std::unique_ptr<files::MappedFile>> files, std::vector<StoredTensor> tensors)
    : format_(format), path_(std::move(path)), files_(std::move(files)), tensors_(std::move(tensors)) {
    std::sort(tensors_.begin(), tensors_.end(),
              [](const StoredTensor& a, const StoredTensor& b) { return a.name < b.name; });
}

const StoredTensor* TensorTable::find(std::string_view name) const noexcept {
    const auto found =
        std::lower_bound(tensors_.begin(), tensors_.end(), name,
                         [](const StoredTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
    return found == tensors_.end() || found->name != name ? nullptr : &*found;
}

std::vector<std::string> TensorTable::nearest(std::string_view name, std::size_t max_count) const {
    const std::vector<std::string_view> names = files::suggest_names(name, names_of(tensors_), max_count);
    return {names.begin(), names.end()};
}

std::span<const std::byte> TensorTable::bytes(const StoredTensor& tensor) const {
    return files_[tensor.file]->bytes().subspan(tensor.begin, tensor.end - tensor.begin);
}

void TensorTable::throw_missing(std::string_view name, bool with_nearest) const {
    const std::string suggestion =
        with_nearest ? ", " + files::suggestion_text(name, names_of(tensors_), "tensors") : "";
    throw files::file_error(format_, path_.string(), "there is no tensor " + files::printable(name) + suggestion);
}

InputView TensorTable::view_of(const StoredTensor& tensor) const {
    if (!tensor.dtype) {
        throw Error(ErrorKind::unsupported, format_,
                    files_[tensor.file]->name() + ": tensor " + files::printable(tensor.name) + " has the dtype " +
                        std::string(tensor.type) + ", which Cairn has no type for");
    }
    const std::span<const std::byte> data = bytes(tensor);
    InputView view;
    view.dtype = *tensor.dtype;
    view.shape = tensor.shape;
    view.data = data.data();
    if (data.empty() || reinterpret_cast<std::uintptr_t>(data.data()) % size_of(view.dtype) == 0) return view;
    void* copy = ::operator new(data.size(), copy_alignment);
    std::memcpy(copy, data.data(), data.size());
    view.data = view.owner = copy;
    view.release = free_copy;
    return view;
}

InputView TensorTable::view(std::string_view name) const {
    const StoredTensor* found = find(name);
    if (found == nullptr) throw_missing(name, true);
    return view_of(*found);
}

WeightSource TensorTable::source(std::shared_ptr<const TensorTable> table) {
    struct BorrowedView {
        std::shared_ptr<const TensorTable> table;
        const files::MappedFile* file;
        std::span<const std::byte> bytes;
    };
    // Binding requests all weights: the names nearest to the first missing one are enough.
    return [table = std::move(table), reported = false](std::string_view name) mutable {
        const StoredTensor* found = table->find(name);
        if (found == nullptr) table->throw_missing(name, !std::exchange(reported, true));
        const files::MappedFile* file = table->files_[found->file].get();
        const auto bytes = table->bytes(*found);
        file->will_need(bytes);
        InputView view = table->view_of(*found);
        if (view.release != nullptr) {
            file->release_pages(bytes);  // a copy was made
            return view;
        }
        view.owner = new BorrowedView{table, file, bytes};
        view.release = [](void* owner) {
            const std::unique_ptr<BorrowedView> lent(static_cast<BorrowedView*>(owner));
            lent->file->release_pages(lent->bytes);
        };
        return view;
    };
}

std::string TensorTable::fingerprint() const {
    constexpr std::size_t sample_bytes = 64, sample_count = 8;
    std::string text;
    const auto number = [&](auto value) { (text += std::to_string(value)) += ' '; };
    for (const auto& file : files_) {
        number(file->bytes().size());
        number(file->modified());
    }
    std::vector<std::vector<std::span<const std::byte>>> parts(files_.size());
    for (const StoredTensor& tensor : tensors_) {
        ((text += tensor.name) += '\n') += tensor.type;
        for (const std::int64_t size : tensor.shape) number(size);
        const std::span<const std::byte> data = bytes(tensor);
        const std::size_t spare = data.size() - std::min(data.size(), sample_bytes);
        for (std::size_t s = 0; s < sample_count && (s == 0 || spare > 0); ++s)
            parts[tensor.file].push_back(
                data.subspan(spare * s / (sample_count - 1), std::min(data.size(), sample_bytes)));
    }
    for (std::size_t s = 0; s < parts.size(); ++s) files_[s]->append(parts[s], text);
    return to_string(digest(text));
}

}  // namespace cairn::weights
