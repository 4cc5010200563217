#include <algorithm>
#include <map>
#include <utility>

#include "cairn/weights.hpp"
#include "io/mapped_file/fault_list.hpp"
#include "io/mapped_file/file_error.hpp"
#include "io/mapped_file/mapped_file.hpp"
#include "io/weights/safetensors_header.hpp"
#include "io/weights/shard_index.hpp"
#include "io/weights/tensor_table.hpp"

namespace cairn::inline v0 {

using files::file_error;
using files::printable;
using weights::safetensors_format;

namespace {

struct Shard {
    std::unique_ptr<files::MappedFile> file;
    weights::SafetensorsHeader header;
};

Shard open_shard(const std::filesystem::path& path) {
    Shard shard;
    shard.file = std::make_unique<files::MappedFile>(path, safetensors_format);
    shard.header = weights::parse_safetensors_header(shard.file->bytes(), shard.file->name());
    return shard;
}

weights::StoredTensor stored(const weights::TensorInfo& tensor, std::size_t shard) {
    return {tensor.name, tensor.dtype->name, tensor.dtype->dtype, tensor.shape, shard, tensor.begin, tensor.end};
}

/// Checks that each name of an index is in the file that it names, and no name in two files. `numbers` are the shards
/// by file name; npos: the file is missing.
void check_shards(const std::vector<Shard>& shards, const std::map<std::string, std::string>& names,
                  const std::map<std::string, std::size_t>& numbers, files::FaultList& faults) {
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
        if (location == found.end() || location->second != number)
            faults.add("the tensor " + printable(name) + " is not in " + printable(shard));
    }
}

}  // namespace

struct Safetensors::State {
    std::shared_ptr<const weights::TensorTable> table;
    std::vector<Tensor> tensors;                                            // sorted by name
    std::vector<std::map<std::string, std::string, std::less<>>> metadata;  // of each file

    void load_file(const std::filesystem::path& path);
    void load_index(const std::filesystem::path& path);
    void take(const std::filesystem::path& path, std::vector<Shard> shards, std::vector<weights::StoredTensor> listed);
};

void Safetensors::State::take(const std::filesystem::path& path, std::vector<Shard> shards,
                              std::vector<weights::StoredTensor> listed) {
    std::vector<std::unique_ptr<files::MappedFile>> files;
    for (Shard& shard : shards) {
        files.push_back(std::move(shard.file));
        metadata.push_back(std::move(shard.header.metadata));
    }
    table = std::make_shared<weights::TensorTable>(safetensors_format, path, std::move(files), std::move(listed));
    for (const weights::StoredTensor& tensor : table->tensors())
        tensors.push_back({tensor.name, std::string(tensor.type), tensor.shape});
}

void Safetensors::State::load_file(const std::filesystem::path& path) {
    std::vector<Shard> shards;
    shards.push_back(open_shard(path));
    std::vector<weights::StoredTensor> listed;
    for (const auto& tensor : shards[0].header.tensors) listed.push_back(stored(tensor, 0));
    take(path, std::move(shards), std::move(listed));
}

void Safetensors::State::load_index(const std::filesystem::path& path) {
    const files::MappedFile file(path, safetensors_format);
    const auto bytes = file.bytes();
    if (bytes.size() > weights::max_header_bytes)
        throw file_error(safetensors_format, file.name(), "the index is longer than 100000000 bytes");
    const auto names =
        weights::parse_shard_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.name());
    std::map<std::string, std::size_t> numbers;
    for (const auto& [name, shard] : names) numbers.try_emplace(shard, 0);
    files::FaultList faults;
    std::vector<Shard> shards;
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
    check_shards(shards, names, numbers, faults);
    faults.throw_if_any(safetensors_format, file.name());
    std::vector<weights::StoredTensor> listed;
    for (std::size_t i = 0; i < shards.size(); ++i)
        for (const auto& tensor : shards[i].header.tensors)
            if (names.contains(tensor.name)) listed.push_back(stored(tensor, i));
    take(path, std::move(shards), std::move(listed));
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
            throw file_error(safetensors_format, path.string(),
                             "the folder has neither model.safetensors nor model.safetensors.index.json");
        }
    }
    if (file.extension() == ".json") {
        state->load_index(file);
    } else {
        state->load_file(file);
    }
    return Safetensors(std::move(state));
}

const Safetensors::State& Safetensors::state() const {
    if (state_ == nullptr) throw Error(ErrorKind::argument, safetensors_format, "the object is moved-from");
    return *state_;
}

const std::filesystem::path& Safetensors::path() const { return state().table->path(); }
const std::vector<Safetensors::Tensor>& Safetensors::tensors() const { return state().tensors; }
bool Safetensors::contains(std::string_view name) const { return state().table->find(name) != nullptr; }
std::vector<std::string> Safetensors::nearest(std::string_view name, std::size_t max_count) const {
    return state().table->nearest(name, max_count);
}
InputView Safetensors::view(std::string_view name) const { return state().table->view(name); }
WeightSource Safetensors::source() const { return weights::TensorTable::source(state().table); }
std::string Safetensors::fingerprint() const { return state().table->fingerprint(); }

std::string Safetensors::metadata(std::string_view key) const {
    for (const auto& metadata : state().metadata)
        if (const auto location = metadata.find(key); location != metadata.end()) return location->second;
    return {};
}

}  // namespace cairn::inline v0
