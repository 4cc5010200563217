#include "io/weights/shard_index.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "io/json_reader/sax_parser.hpp"
#include "io/mapped_file/file_error.hpp"
#include "io/weights/safetensors_dtype.hpp"

namespace cairn::weights {

namespace {

bool stays_inside(const std::string& name) {
    const std::filesystem::path path(name);
    if (name.empty() || path.is_absolute() || !path.has_filename() || name.find('\0') != std::string::npos ||
        name.find('\\') != std::string::npos) {
        return false;
    }
    return std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".." || part == "."; });
}

class IndexReader final : public json_reader::SaxHandler {
public:
    explicit IndexReader(std::string_view file) : file_(file) {}

    std::map<std::string, std::string> take() {
        if (!seen_.contains(map_key)) throw files::file_error(safetensors_format, file_, "the index has no 'weight_map'");
        return std::move(shards_);
    }

    void begin_object() override {
        if (depth_ >= 2 && in_map())
            throw files::file_error(safetensors_format, file_, "'weight_map': " + files::printable(name_) + " should be a string");
        ++depth_;
    }
    void end_object() override { --depth_; }
    void begin_array() override {
        if (depth_ == 0) throw files::file_error(safetensors_format, file_, "the index should be an object");
        if (in_map()) throw files::file_error(safetensors_format, file_, "'weight_map' should hold strings only");
        ++depth_;
    }
    void end_array() override { --depth_; }

    void key(std::string name) override {
        if (depth_ == 1) {
            top_ = std::move(name);
            if (!seen_.insert(top_).second)
                throw files::file_error(safetensors_format, file_, files::printable(top_) + " comes twice in the index");
        } else if (in_map()) {
            name_ = std::move(name);
            if (!shards_.try_emplace(name_).second)
                throw files::file_error(safetensors_format, file_, "'weight_map': " + files::printable(name_) + " comes twice");
        }
    }

    void value(json_reader::JsonValue value) override {
        if (depth_ == 0) throw files::file_error(safetensors_format, file_, "the index should be an object");
        if (!in_map()) return;
        if (depth_ == 1) throw files::file_error(safetensors_format, file_, "'weight_map' should be an object");
        auto* shard = std::get_if<std::string>(&value);
        if (shard == nullptr)
            throw files::file_error(safetensors_format, file_, "'weight_map': " + files::printable(name_) + " should be a string");
        if (!stays_inside(*shard)) {
            throw files::file_error(safetensors_format, file_,
                             "'weight_map': " + files::printable(name_) + " is in " + files::printable(*shard) +
                                 ", which is not a file inside the folder of the index");
        }
        shards_[name_] = std::move(*shard);
    }

    [[noreturn]] void fault(const std::string& what) override {
        throw files::file_error(safetensors_format, file_, "the index " + what);
    }

private:
    static constexpr std::string_view map_key = "weight_map";
    bool in_map() const { return top_ == map_key; }

    std::string_view file_;
    int depth_ = 0;
    std::string top_, name_;
    std::set<std::string, std::less<>> seen_;
    std::map<std::string, std::string> shards_;
};

}  // namespace

std::map<std::string, std::string> parse_shard_index(std::string_view text, std::string_view file) {
    IndexReader reader(file);
    parse_json_events(text, reader);
    return reader.take();
}

}  // namespace cairn::weights
