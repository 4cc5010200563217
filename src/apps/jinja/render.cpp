#include "apps/jinja/render.hpp"

#include "apps/jinja/builtins.hpp"
#include "apps/jinja/fault.hpp"
#include "apps/jinja/operators.hpp"

#include <algorithm>
#include <map>

namespace cairn::jinja {

namespace {

using Kind = Expression::Kind;

constexpr int most_nested = 250;              // of nested statements, expressions and macros
constexpr std::size_t most_steps = 4000000;  // statements and expressions

struct Scope {
    Scope* outer;
    std::map<std::string, Value> values{};

    const Value* find(const std::string& name) const {
        for (const Scope* scope = this; scope != nullptr; scope = scope->outer)
            if (const auto found = scope->values.find(name); found != scope->values.end()) return &found->second;
        return nullptr;
    }
};

enum class Flow { normal, leave, next };

class Renderer {
public:
    explicit Renderer(const std::vector<std::pair<std::string, Value>>& values) {
        for (const auto& [name, value] : values) globals_.values[name] = value;
        globals_.values["namespace"] = globals_.values["dict"] = Value::function([](const Arguments& arguments) {
            Dict dict;
            for (const auto& [name, value] : arguments.named) dict.set(name, value);
            return Value::dict(std::move(dict));
        });
        globals_.values["raise_exception"] = Value::function(
            [](const Arguments& arguments) -> Value { fault(arguments.get(0, "message").text().bytes()); });
        globals_.values["range"] = Value::function(range);
    }

    MarkedText run(const std::vector<Statement>& statements) {
        MarkedText out;
        execute(statements, globals_, out);
        return out;
    }

private:
    struct Step {
        Step(Renderer& renderer) : renderer(renderer) {
            if (++renderer.depth_ > most_nested) fault("the template calls itself too often");
            if (++renderer.steps_ > most_steps) fault("the template takes too many steps");
        }
        ~Step() { --renderer.depth_; }
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;
        Renderer& renderer;
    };

    static Value range(const Arguments& arguments) {
        const auto integer = [&](std::size_t position, std::int64_t otherwise) {
            const Value value = arguments.get(position, "");
            const auto* number = value.as<std::int64_t>();
            return number == nullptr ? otherwise : *number;
        };
        const bool has_start = arguments.positional.size() > 1;
        const std::int64_t start = has_start ? integer(0, 0) : 0, stop = integer(has_start ? 1 : 0, 0),
                           by = integer(2, 1);
        if (by == 0) fault("the step of a range is 0");
        List list;
        for (std::int64_t i = start; by > 0 ? i < stop : i > stop;) {
            if (list.size() == 1000000) fault("a range has at most a million numbers");
            list.emplace_back(Value::Variant(i));
            if (__builtin_add_overflow(i, by, &i)) break;
        }
        return Value::list(std::move(list));
    }

    Flow execute(const std::vector<Statement>& statements, Scope& scope, MarkedText& out) {
        for (const Statement& statement : statements)
            if (const Flow flow = execute(statement, scope, out); flow != Flow::normal) return flow;
        return Flow::normal;
    }

    Flow execute(const Statement& statement, Scope& scope, MarkedText& out) {
        const Step step(*this);
        switch (statement.kind) {
            case Statement::Kind::data: out.append(statement.text, false); break;
            case Statement::Kind::output: out.append(evaluate(statement.expressions[0], scope).text()); break;
            case Statement::Kind::branch:
                return execute(
                    evaluate(statement.expressions[0], scope).is_true() ? statement.body : statement.otherwise, scope,
                    out);
            case Statement::Kind::loop: return loop(statement, scope, out);
            case Statement::Kind::set:
                assign(statement.targets, evaluate(statement.expressions[0], scope), scope);
                break;
            case Statement::Kind::set_block: {
                Scope inner{&scope};
                MarkedText text;
                execute(statement.body, inner, text);
                assign(statement.targets, Value::Variant(std::move(text)), scope);
                break;
            }
            case Statement::Kind::macro: scope.values[statement.text] = macro(statement); break;
            case Statement::Kind::group: return execute(statement.body, scope, out);
            case Statement::Kind::leave: return Flow::leave;
            case Statement::Kind::next: return Flow::next;
        }
        if (out.size() > most_bytes) fault("the text is too long");
        return Flow::normal;
    }

    Flow loop(const Statement& statement, Scope& scope, MarkedText& out) {
        List items = items_of(evaluate(statement.expressions[0], scope), "a loop");
        if (statement.expressions.size() > 1)
            std::erase_if(items, [&](const Value& item) {
                Scope inner{&scope};
                assign(statement.targets, item, inner);
                return !evaluate(statement.expressions[1], inner).is_true();
            });
        if (items.empty()) return execute(statement.otherwise, scope, out);
        const auto count = static_cast<std::int64_t>(items.size());
        for (std::int64_t i = 0; i < count; ++i) {
            Scope inner{&scope};
            Dict state;
            state.set("index", Value::Variant(i + 1));
            state.set("index0", Value::Variant(i));
            state.set("revindex", Value::Variant(count - i));
            state.set("revindex0", Value::Variant(count - i - 1));
            state.set("length", Value::Variant(count));
            state.set("first", Value::Variant(i == 0));
            state.set("last", Value::Variant(i + 1 == count));
            const auto at = static_cast<std::size_t>(i);
            if (i > 0) state.set("previtem", items[at - 1]);
            if (i + 1 < count) state.set("nextitem", items[at + 1]);
            inner.values["loop"] = Value::dict(std::move(state));
            assign(statement.targets, items[at], inner);
            if (execute(statement.body, inner, out) == Flow::leave) break;
        }
        return Flow::normal;
    }

    void assign(const std::vector<std::string>& targets, const Value& value, Scope& scope) {
        if (targets.size() == 1) return assign(targets[0], value, scope);
        const List parts = items_of(value, "an assignment to several names");
        if (parts.size() != targets.size())
            fault(std::to_string(parts.size()) + " values for " + std::to_string(targets.size()) + " names");
        for (std::size_t i = 0; i < targets.size(); ++i) assign(targets[i], parts[i], scope);
    }

    static void assign(const std::string& target, const Value& value, Scope& scope) {
        const std::size_t point = target.find('.');
        if (point == target.npos) {
            scope.values[target] = value;
            return;
        }
        const Value* space = scope.find(target.substr(0, point));
        Dict* dict = space == nullptr ? nullptr : space->as_dict();
        if (dict == nullptr) fault("'" + target.substr(0, point) + "' is no namespace");
        dict->set(target.substr(point + 1), value);
    }

    Value macro(const Statement& statement) {
        return Value::function([this, &statement](const Arguments& arguments) {
            Scope inner{&globals_};
            const std::size_t without_default = statement.targets.size() - statement.expressions.size();
            for (std::size_t i = 0; i < statement.targets.size(); ++i) {
                Value given = arguments.get(i, statement.targets[i]);
                if (given.is_undefined() && i >= without_default)
                    given = evaluate(statement.expressions[i - without_default], inner);
                inner.values[statement.targets[i]] = std::move(given);
            }
            MarkedText out;
            execute(statement.body, inner, out);
            return Value(Value::Variant(std::move(out)));
        });
    }

    Value evaluate(const Expression& expression, Scope& scope) {
        const Step step(*this);
        const auto part = [&](std::size_t i) { return evaluate(expression.parts[i], scope); };
        switch (expression.kind) {
            case Kind::constant: return expression.constant;
            case Kind::absent: return {};
            case Kind::name: {
                const Value* found = scope.find(expression.text);
                return found == nullptr ? Value(Value::Variant(Undefined{expression.text})) : *found;
            }
            case Kind::attribute: return attribute(part(0), expression.text);
            case Kind::item: return item_of(part(0), part(1));
            case Kind::slice: return slice_of(part(0), part(1), part(2), part(3));
            case Kind::call: return call(expression, scope);
            case Kind::filter: {
                auto result = apply_filter(expression.text, part(0), arguments(expression, scope));
                if (!result) unsupported("the filter '" + expression.text + "' is not supported", expression.line);
                return *std::move(result);
            }
            case Kind::test: {
                const auto result = apply_test(expression.text, part(0), arguments(expression, scope));
                if (!result) unsupported("the test '" + expression.text + "' is not supported", expression.line);
                return Value::Variant(*result);
            }
            case Kind::unary:
                if (expression.text == "not") return Value::Variant(!part(0).is_true());
                return apply_binary("-", Value::Variant(std::int64_t{0}), part(0));
            case Kind::binary: {
                Value left = part(0);
                if (expression.text == "and") return left.is_true() ? part(1) : left;
                if (expression.text == "or") return left.is_true() ? left : part(1);
                return apply_binary(expression.text, left, part(1));
            }
            case Kind::conditional: return part(1).is_true() ? part(0) : part(2);
            case Kind::list: {
                List list;
                for (std::size_t i = 0; i < expression.parts.size(); ++i) list.push_back(part(i));
                return Value::list(std::move(list));
            }
            case Kind::dict: {
                Dict dict;
                for (std::size_t i = 0; i + 1 < expression.parts.size(); i += 2) {
                    const Value key = part(i);
                    const auto* name = key.as<MarkedText>();
                    if (name == nullptr)
                        unsupported(std::string("a key of a dictionary that is ") + key.kind() + " is not supported",
                                    expression.line);
                    dict.set(name->bytes(), part(i + 1));
                }
                return Value::dict(std::move(dict));
            }
        }
        return {};
    }

    static Value attribute(const Value& object, const std::string& name) {
        if (const auto* undefined = object.as<Undefined>())
            fault("'" + undefined->name + "' is undefined and has no '" + name + "'");
        return item_of(object, Value(name));
    }

    Arguments arguments(const Expression& expression, Scope& scope) {
        Arguments given;
        for (std::size_t i = 1; i < expression.parts.size(); ++i) {
            Value value = evaluate(expression.parts[i], scope);
            if (expression.names[i].empty())
                given.positional.push_back(std::move(value));
            else
                given.named.emplace_back(expression.names[i], std::move(value));
        }
        return given;
    }

    Value call(const Expression& expression, Scope& scope) {
        const Expression& callee = expression.parts[0];
        Value function;
        if (callee.kind == Kind::attribute) {
            const Value object = evaluate(callee.parts[0], scope);
            const Arguments given = arguments(expression, scope);
            if (auto result = apply_method(callee.text, object, given)) return *std::move(result);
            function = attribute(object, callee.text);
            if (function.as<std::shared_ptr<Function>>() == nullptr)
                unsupported("the method '" + callee.text + "' of " + object.kind() + " is not supported",
                            expression.line);
            return (**function.as<std::shared_ptr<Function>>())(given);
        }
        function = evaluate(callee, scope);
        const auto* known = function.as<std::shared_ptr<Function>>();
        if (known == nullptr) unsupported("the function '" + callee.text + "' is not given", expression.line);
        return (**known)(arguments(expression, scope));
    }

    Scope globals_{nullptr};
    int depth_ = 0;
    std::size_t steps_ = 0;
};

}  // namespace

MarkedText render(const std::vector<Statement>& statements, const std::vector<std::pair<std::string, Value>>& values) {
    return Renderer(values).run(statements);
}

}  // namespace cairn::jinja
