#pragma once

#include "apps/jinja/marked_text.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cairn::jinja {

class Value;

using List = std::vector<Value>;

/// Keys and values in the order of insertion.
struct Dict {
    std::vector<std::pair<std::string, Value>> entries;

    Value* find(const std::string& key);
    void set(const std::string& key, Value value);
};

struct Arguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;

    /// The argument at a position or of a name; undefined if it is not given.
    Value get(std::size_t position, const std::string& name) const;
};

using Function = std::function<Value(const Arguments&)>;

struct Undefined {
    std::string name;  ///< what was looked up, for errors
};
struct None {};

/// A value of a template. Lists and dictionaries are shared, as in Python.
class Value {
public:
    using Variant = std::variant<Undefined, None, bool, std::int64_t, double, MarkedText, std::shared_ptr<List>,
                                 std::shared_ptr<Dict>, std::shared_ptr<Function>>;

    Value() : variant_(Undefined{}) {}
    Value(Variant variant) : variant_(std::move(variant)) {}
    explicit Value(std::string text, bool marked = false) : variant_(MarkedText(std::move(text), marked)) {}
    static Value list(List items) { return Variant(std::make_shared<List>(std::move(items))); }
    static Value dict(Dict dict) { return Variant(std::make_shared<Dict>(std::move(dict))); }
    static Value function(Function function) { return Variant(std::make_shared<Function>(std::move(function))); }

    template <typename T>
    const T* as() const {
        return std::get_if<T>(&variant_);
    }
    List* as_list() const;
    Dict* as_dict() const;
    bool is_undefined() const { return as<Undefined>() != nullptr; }

    bool is_true() const;
    /// "a string", "a list", ..
    const char* kind() const;
    bool operator==(const Value& other) const;

    /// As a template prints it; text within a list is quoted.
    MarkedText text() const;

private:
    Variant variant_;
};

/// The value as JSON, as `tojson` writes it; `indent` below 0: on one line.
MarkedText json_text(const Value& value, int indent, int depth = 0);

}  // namespace cairn::jinja
