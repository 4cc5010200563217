#include "io/json_reader/dom_parser.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <utility>
#include <vector>

#include "io/json_reader/quoted_name.hpp"
#include "io/json_reader/sax_parser.hpp"

namespace cairn::json_reader {

namespace {

using nlohmann::json;

class TreeBuilder final : public SaxHandler {
public:
    explicit TreeBuilder(const std::function<void(const std::string&)>& refuse) : refuse_(refuse) {}

    json take() { return std::move(root_); }

    void begin_object() override { open_.push_back(&add(json::object())); }
    void end_object() override { open_.pop_back(); }
    void begin_array() override { open_.push_back(&add(json::array())); }
    void end_array() override { open_.pop_back(); }

    void key(std::string name) override {
        auto& members = open_.back()->get_ref<json::object_t&>();
        const auto [member, is_new] = members.try_emplace(std::move(name));
        if (!is_new) fault("holds the key " + quoted_name(member->first) + " twice in one object");
        member_ = &member->second;
    }

    void value(JsonValue value) override {
        std::visit([&](auto& one) { add(json(std::move(one))); }, value);
    }

    [[noreturn]] void fault(const std::string& what) override {
        refuse_(what);
        throw std::logic_error("refuse must throw");
    }

private:
    json& add(json value) {
        if (open_.empty()) return root_ = std::move(value);
        json& parent = *open_.back();
        if (!parent.is_array()) return *member_ = std::move(value);
        parent.push_back(std::move(value));
        return parent.back();
    }

    const std::function<void(const std::string&)>& refuse_;
    json root_;
    std::vector<json*> open_;  // the innermost last; no element of an array is added while an earlier one is open
    json* member_ = nullptr;   // the member of the innermost object that takes the next value
};

}  // namespace

json parse_json(std::string_view text, const std::function<void(const std::string&)>& refuse) {
    TreeBuilder builder(refuse);
    parse_json_events(text, builder);
    return builder.take();
}

}  // namespace cairn::json_reader
