#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "cairn/problem.hpp"
#include "cairn/weights.hpp"
#include "io/weights/file_error.hpp"
#include "io/weights/mapped_file.hpp"
#include "io/weights/safetensors_header.hpp"
#include "io/weights/shard_index.hpp"
#include "io/weights/suggest_names.hpp"

namespace cairn::inline v0 {

using weights::file_error;
using weights::printable;

namespace {

struct Shard {
    std::unique_ptr<weights::MappedFile> file;
    weights::SafetensorsHeader header;
};

struct TensorLocation {
    std::size_t shard = 0;
    const weights::TensorInfo* tensor = nullptr;
};

Shard open_shard(const std::filesystem::path& path) {
    Shard shard;
    shard.file = std::make_unique<weights::MappedFile>(path);
    shard.header = weights::parse_safetensors_header(shard.file->bytes(), shard.file->name());
    return shard;
}

// Collects faults of one kind and reports all of them in one message.
class ErrorList {
public:
    void add(std::string fault) {
        constexpr std::size_t max_shown = 20;
        if (++count_ <= max_shown) text_ += (text_.empty() ? "" : "; ") + std::move(fault);
    }
    void throw_if_any(std::string_view file) const {
        constexpr std::size_t max_shown = 20;
        if (count_ == 0) return;
        const auto more = count_ > max_shown ? "; and " + std::to_string(count_ - max_shown) + " more" : "";
        throw file_error(file, text_ + more);
    }

private:
    std::string text_;
    std::size_t count_ = 0;
};

}  // namespace

struct Safetensors::State {
    std::filesystem::path path;  // the file or index
    std::vector<Shard> shards;
    std::vector<Tensor> tensors;            // sorted by name
    std::vector<TensorLocation> locations;  // of each of `tensors`

    void add(const weights::TensorInfo& tensor, std::size_t shard) {
        tensors.push_back({tensor.name, std::string(tensor.dtype->name), tensor.shape});
        locations.push_back({shard, &tensor});
    }

    void load_file(const std::filesystem::path& path);
    void load_index(const std::filesystem::path& path);
    void check_shards(const std::map<std::string, std::string>& names,
                      const std::map<std::string, std::size_t>& numbers, ErrorList& faults) const;
    const TensorLocation* find(std::string_view name) const noexcept;
    [[noreturn]] void throw_missing(std::string_view name, bool with_nearest) const;
    std::span<const std::byte> bytes(const TensorLocation& location) const {
        return shards[location.shard].file->bytes().subspan(location.tensor->begin,
                                                            location.tensor->end - location.tensor->begin);
    }
};

void Safetensors::State::load_file(const std::filesystem::path& path) {
    shards.push_back(open_shard(path));
    std::vector<const weights::TensorInfo*> sorted;
    for (const auto& tensor : shards[0].header.tensors) sorted.push_back(&tensor);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    for (const auto* tensor : sorted) add(*tensor, 0);
}

void Safetensors::State::load_index(const std::filesystem::path& path) {
    const weights::MappedFile file(path);
    const auto bytes = file.bytes();
    if (bytes.size() > weights::max_header_bytes)
        throw file_error(file.name(), "the index is longer than 100000000 bytes");
    const auto names =
        weights::parse_shard_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.name());
    std::map<std::string, std::size_t> numbers;
    for (const auto& [name, shard] : names) numbers.try_emplace(shard, 0);
    ErrorList faults;
    for (auto& [name, number] : numbers) {
        const auto location = path.parent_path() / name;
        std::error_code ignored;
        if (!std::filesystem::exists(location, ignored)) {
            faults.add("the file " + printable(name) + " is missing");
            number = std::string::npos;
            continue;
        }
        number = shards.size();
        shards.push_back(open_shard(location));
    }
    check_shards(names, numbers, faults);
    faults.throw_if_any(file.name());
    std::map<std::string_view, TensorLocation> all;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        for (const auto& tensor : shards[i].header.tensors) all[tensor.name] = {i, &tensor};
    }
    for (const auto& [name, shard] : names) add(*all.at(name).tensor, all.at(name).shard);
}

// Checks that each name of the index is in the file that it names, and no name in two files.
void Safetensors::State::check_shards(const std::map<std::string, std::string>& names,
                                      const std::map<std::string, std::size_t>& numbers, ErrorList& faults) const {
    std::map<std::string_view, std::size_t> found;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        for (const auto& tensor : shards[i].header.tensors) {
            const auto [location, is_new] = found.try_emplace(tensor.name, i);
            if (is_new) continue;
            faults.add("the tensor " + printable(tensor.name) + " is in both " +
                       printable(shards[location->second].file->name()) + " and " + printable(shards[i].file->name()));
        }
    }
    for (const auto& [name, shard] : names) {
        const auto number = numbers.at(shard);
        if (number == std::string::npos) continue;
        const auto location = found.find(name);
        if (location == found.end() || location->second != number) {
            faults.add("the tensor " + printable(name) + " is not in " + printable(shard));
        }
    }
}

const TensorLocation* Safetensors::State::find(std::string_view name) const noexcept {
    const auto location =
        std::lower_bound(tensors.begin(), tensors.end(), name,
                         [](const Tensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
    if (location == tensors.end() || location->name != name) return nullptr;
    return &locations[static_cast<std::size_t>(location - tensors.begin())];
}

void Safetensors::State::throw_missing(std::string_view name, bool with_nearest) const {
    std::vector<std::string_view> names;
    for (const Tensor& tensor : tensors) names.push_back(tensor.name);
    const std::string suggestion = with_nearest ? ", " + weights::suggestion_text(name, names, "tensors") : "";
    throw file_error(path.string(), "there is no tensor " + printable(name) + suggestion);
}

Safetensors::Safetensors(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Safetensors::Safetensors(Safetensors&&) noexcept = default;
Safetensors& Safetensors::operator=(Safetensors&&) noexcept = default;
Safetensors::~Safetensors() = default;

Safetensors Safetensors::open(const std::filesystem::path& path) {
    auto state = std::make_shared<State>();
    std::error_code ignored;
    auto file = path;
    if (std::filesystem::is_directory(path, ignored)) {
        file = path / "model.safetensors";
        if (!std::filesystem::exists(file, ignored)) file = path / "model.safetensors.index.json";
        if (!std::filesystem::exists(file, ignored)) {
            throw file_error(path.string(),
                             "the folder has neither model.safetensors nor model.safetensors.index.json");
        }
    }
    state->path = file;
    if (file.extension() == ".json") {
        state->load_index(file);
    } else {
        state->load_file(file);
    }
    return Safetensors(std::move(state));
}

const Safetensors::State& Safetensors::state() const {
    if (state_ == nullptr) throw Error(ErrorKind::argument, "safetensors", "the object is moved-from");
    return *state_;
}

const std::filesystem::path& Safetensors::path() const { return state().path; }

const std::vector<Safetensors::Tensor>& Safetensors::tensors() const { return state().tensors; }

bool Safetensors::contains(std::string_view name) const { return state().find(name) != nullptr; }

std::vector<std::string> Safetensors::nearest(std::string_view name, std::size_t max_count) const {
    std::vector<std::string_view> names;
    for (const Tensor& tensor : state().tensors) names.push_back(tensor.name);
    const std::vector<std::string_view> nearest = weights::suggest_names(name, names, max_count);
    return {nearest.begin(), nearest.end()};
}

std::string Safetensors::metadata(std::string_view key) const {
    for (const auto& shard : state().shards) {
        const auto& metadata = shard.header.metadata;
        if (const auto location = metadata.find(key); location != metadata.end()) return location->second;
    }
    return {};
}

namespace {

constexpr std::align_val_t copy_alignment{64};

void free_copy(void* copy) { ::operator delete(copy, copy_alignment); }

InputView view_of(const weights::TensorInfo& tensor, std::span<const std::byte> bytes, std::string_view file) {
    if (!tensor.dtype->dtype) {
        throw Error(ErrorKind::unsupported, "safetensors",
                    std::string(file) + ": tensor " + printable(tensor.name) + " has the dtype " +
                        std::string(tensor.dtype->name) + ", which Cairn has no type for");
    }
    InputView view;
    view.dtype = *tensor.dtype->dtype;
    view.shape = tensor.shape;
    view.data = bytes.data();
    if (bytes.empty() || reinterpret_cast<std::uintptr_t>(bytes.data()) % size_of(view.dtype) == 0) return view;
    void* copy = ::operator new(bytes.size(), copy_alignment);
    std::memcpy(copy, bytes.data(), bytes.size());
    view.data = view.owner = copy;
    view.release = free_copy;
    return view;
}

}  // namespace

InputView Safetensors::view(std::string_view name) const {
    const TensorLocation* found = state().find(name);
    if (found == nullptr) state().throw_missing(name, true);
    const TensorLocation& location = *found;
    return view_of(*location.tensor, state().bytes(location), state().shards[location.shard].file->name());
}

WeightSource Safetensors::source() const {
    struct BorrowedView {
        std::shared_ptr<const State> state;
        const weights::MappedFile* file;
        std::span<const std::byte> bytes;
    };
    static_cast<void>(state());
    // Binding requests all weights: the names nearest to the first missing one are enough.
    return [state = state_, reported = false](std::string_view name) mutable {
        const TensorLocation* found = state->find(name);
        if (found == nullptr) state->throw_missing(name, !std::exchange(reported, true));
        const TensorLocation& location = *found;
        const auto* file = state->shards[location.shard].file.get();
        const auto bytes = state->bytes(location);
        file->will_need(bytes);
        InputView view = view_of(*location.tensor, bytes, file->name());
        if (view.release != nullptr) {
            file->release_pages(bytes);  // a copy was made
            return view;
        }
        view.owner = new BorrowedView{state, file, bytes};
        view.release = [](void* owner) {
            const std::unique_ptr<BorrowedView> lent(static_cast<BorrowedView*>(owner));
            lent->file->release_pages(lent->bytes);
        };
        return view;
    };
}

std::string Safetensors::fingerprint() const {
    constexpr std::size_t sample_bytes = 64, sample_count = 8;
    std::string text;
    const auto number = [&](auto value) { (text += std::to_string(value)) += ' '; };
    for (const Shard& shard : state().shards) {
        number(shard.file->bytes().size());
        number(shard.file->modified());
    }
    std::vector<std::vector<std::span<const std::byte>>> parts(state().shards.size());
    for (std::size_t i = 0; i < state().tensors.size(); ++i) {
        const Tensor& tensor = state().tensors[i];
        ((text += tensor.name) += '\n') += tensor.dtype;
        for (const std::int64_t size : tensor.shape) number(size);
        const std::span<const std::byte> bytes = state().bytes(state().locations[i]);
        const std::size_t spare = bytes.size() - std::min(bytes.size(), sample_bytes);
        for (std::size_t s = 0; s < sample_count && (s == 0 || spare > 0); ++s)
            parts[state().locations[i].shard].push_back(
                bytes.subspan(spare * s / (sample_count - 1), std::min(bytes.size(), sample_bytes)));
    }
    for (std::size_t s = 0; s < parts.size(); ++s) state().shards[s].file->append(parts[s], text);
    return to_string(digest(text));
}

}  // namespace cairn::inline v0
