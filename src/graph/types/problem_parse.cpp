#include <limits>
#include <string>

#include "cairn/problem.hpp"
#include "graph/types/text_cursor.hpp"

namespace cairn::inline v0 {

namespace {

/// problem := name {attribute} ['{' {step} '}'] '|' {tensor} ['->' {tensor}] ['results' '(' numbers ')'] ['where' range
/// {',' range}]
class ProblemParser {
public:
    ProblemParser(std::string_view text, Symbols& symbols) : text_(text), cursor_(text, "problem"), symbols_(symbols) {}

    Problem parse() {
        read_ranges();
        Problem problem;
        problem.definition = cursor_.name();
        if (problem.definition.empty()) cursor_.fail_expected("the name of an op");
        while (cursor_.peek() != '|' && cursor_.peek() != '{') problem.attributes.push_back(attribute(problem));
        if (cursor_.peek() == '{') read_body(problem);
        cursor_.expect("|");
        read_tensors(problem.inputs);
        if (cursor_.accept("->")) read_tensors(problem.outputs);
        if (cursor_.accept_keyword("results")) problem.results = numbers();
        if (cursor_.accept_keyword("where")) cursor_.seek(end_);
        if (!cursor_.at_end()) cursor_.fail_expected("a tensor, '->', 'results', 'where' or the end of the text");
        check_numbers(problem);
        return problem;
    }

private:
    // Ranges are last in the text, but sizes need them, so they are read first.
    void read_ranges() {
        const auto start = text_.rfind(" where ");
        if (start == std::string_view::npos) return;
        cursor_.seek(start + 1);
        cursor_.expect("where");
        do {
            cursor_.peek();
            const std::size_t position = cursor_.position();
            const auto name = cursor_.name();
            if (name.empty()) cursor_.fail_expected("a symbol");
            if (!cursor_.accept_keyword("in")) cursor_.fail_expected("'in'");
            const auto low = cursor_.integer();
            cursor_.expect("..");
            const auto high = cursor_.integer();
            try {
                symbols_.add(name, low, high);
            } catch (const Error& error) { cursor_.fail(error, position); }
        } while (cursor_.accept(","));
        if (!cursor_.at_end()) cursor_.fail_expected("',' or the end of the text");
        end_ = cursor_.position();
        cursor_.seek(0);
    }

    Attribute attribute(const Problem& problem) {
        cursor_.peek();
        const std::size_t position = cursor_.position();
        Attribute result;
        result.name = cursor_.name();
        if (result.name.empty()) cursor_.fail_expected("an attribute, '{' or '|'");
        if (problem.attributes.has(result.name))
            cursor_.fail("the attribute '" + result.name + "' comes twice", position);
        cursor_.expect("=");
        if (cursor_.peek() == '(') {
            result.value = types::parse_dims(cursor_, symbols_, types::UnknownSymbol::make, "(", ")");
        } else if (cursor_.accept("?")) {
            result.value = std::numeric_limits<double>::quiet_NaN();
        } else {
            result.value = cursor_.number();
        }
        return result;
    }

    void read_body(Problem& problem) {
        body_position_ = cursor_.position();
        cursor_.expect("{");
        while (!cursor_.accept("}")) {
            cursor_.peek();
            const std::size_t position = cursor_.position();
            const auto value = number();
            if (problem.body.empty()) first_step_ = value;
            if (value != first_step_ + static_cast<std::int64_t>(problem.body.size())) {
                cursor_.fail("the values of a body must be numbered one after another", position);
            }
            cursor_.expect("=");
            problem.body.push_back(step());
        }
    }

    Step step() {
        Step result;
        result.op = cursor_.name();
        if (result.op.empty()) cursor_.fail_expected("the name of an op");
        if (result.op == "const") {
            cursor_.expect("(");
            result.number = cursor_.number();
            cursor_.expect(")");
        } else {
            result.operands = numbers();
        }
        cursor_.expect(":");
        cursor_.peek();
        const std::size_t position = cursor_.position();
        const auto name = cursor_.name();
        const auto dtype = parse_dtype(name);
        if (!dtype) cursor_.fail("unknown dtype '" + std::string(name) + "'", position);
        result.dtype = *dtype;
        return result;
    }

    std::vector<int> numbers() {
        std::vector<int> result;
        cursor_.expect("(");
        if (cursor_.accept(")")) return result;
        do { result.push_back(static_cast<int>(number())); } while (cursor_.accept(","));
        if (!cursor_.accept(")")) cursor_.fail_expected("',' or ')'");
        return result;
    }

    std::int64_t number() {
        cursor_.peek();
        const std::size_t position = cursor_.position();
        const auto value = cursor_.integer();
        if (value < 0 || value > std::numeric_limits<int>::max() / 2)
            cursor_.fail("there is no such value number", position);
        return value;
    }

    void read_tensors(std::vector<TensorDesc>& tensors) {
        while (cursor_.peek() != '\0' && cursor_.peek() != '-' && !next_is_keyword()) tensors.push_back(tensor());
    }

    bool next_is_keyword() {
        const std::size_t position = cursor_.position();
        const bool result = cursor_.accept_keyword("results") || cursor_.accept_keyword("where");
        cursor_.seek(position);
        return result;
    }

    TensorDesc tensor() {
        TensorDesc result;
        types::parse_tensor_type(cursor_, symbols_, types::UnknownSymbol::make, result.dtype, result.shape);
        const std::size_t position = cursor_.position();
        if (cursor_.current() == ':') {
            cursor_.expect(":");
            result.strides = types::parse_dims(cursor_, symbols_, types::UnknownSymbol::make, "(", ")");
            check_strides(result, position);
        } else {
            result.strides = strides_of(result.shape, position);
        }
        if (cursor_.current() == '@') {
            cursor_.expect("@");
            if (cursor_.current() != ' ') result.layout = cursor_.name(true);
            if (result.layout.empty()) cursor_.fail("expected the name of a layout");
        }
        if (cursor_.current() == '!') result.bound = cursor_.accept("!");
        const char next = cursor_.current();
        if (next != ' ' && next != '\0') cursor_.fail("expected a space after the tensor");
        return result;
    }

    std::vector<Dim> strides_of(const Shape& shape, std::size_t position) {
        try {
            return dense_strides(shape);
        } catch (const Error& error) { cursor_.fail(error, position); }
    }

    void check_strides(const TensorDesc& tensor, std::size_t position) {
        if (tensor.strides.size() != tensor.shape.size()) {
            cursor_.fail("there are " + std::to_string(tensor.shape.size()) + " axes, but " +
                             std::to_string(tensor.strides.size()) + " strides",
                         position);
        }
        for (const auto& stride : tensor.strides) {
            if (stride.upper_bound() < 0) cursor_.fail("the stride " + to_string(stride) + " is negative", position);
        }
    }

    // Value numbers can be checked only after the inputs are counted.
    void check_numbers(const Problem& problem) {
        const auto inputs = static_cast<std::int64_t>(problem.inputs.size());
        if (!problem.body.empty() && first_step_ != inputs) {
            cursor_.fail("the first value of the body must be " + std::to_string(inputs) + ", the number of inputs",
                         body_position_);
        }
        const auto check = [&](const std::vector<int>& values, std::int64_t limit) {
            for (const int value : values) {
                if (value < limit) continue;
                cursor_.fail("the body has no value " + std::to_string(value) + " at that point", body_position_);
            }
        };
        for (std::size_t i = 0; i < problem.body.size(); ++i) {
            check(problem.body[i].operands, inputs + static_cast<std::int64_t>(i));
        }
        check(problem.results, inputs + static_cast<std::int64_t>(problem.body.size()));
    }

    std::string_view text_;
    types::TextCursor cursor_;
    Symbols& symbols_;
    std::size_t end_ = 0, body_position_ = 0;
    std::int64_t first_step_ = 0;
};

}  // namespace

Problem parse_problem(std::string_view text, Symbols& symbols) { return ProblemParser(text, symbols).parse(); }

TensorDesc parse_tensor_desc(std::string_view text, Symbols& symbols) {
    Problem problem = parse_problem("copy | " + std::string(text), symbols);
    if (problem.inputs.size() != 1 || !problem.outputs.empty())
        throw Error(ErrorKind::argument, "tensor", "expected one tensor in '" + std::string(text) + "'");
    return std::move(problem.inputs[0]);
}

}  // namespace cairn::inline v0
