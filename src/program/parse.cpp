#include "program/program.hpp"

#include "graph/types/text_cursor.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <unordered_map>

namespace cairn::program {
namespace {

/// Cache of parsed sizes, descriptions and problems, keyed by their text: layers are alike, so most texts occur many
/// times. Keys are views of the program's text.
class ParseCache {
public:
    explicit ParseCache(Symbols& symbols) : symbols_(symbols) {}

    const Dim& size(std::string_view text) {
        return known(sizes_, text, [&] { return symbols_.parse(text); });
    }
    const TensorDesc& desc(std::string_view text) {
        return known(descs_, text, [&] { return parse_tensor_desc(text, symbols_); });
    }
    const std::shared_ptr<const Problem>& problem(std::string_view text) {
        return known(problems_, text, [&] { return std::make_shared<const Problem>(parse_problem(text, symbols_)); });
    }

private:
    template <typename T, typename F>
    static const T& known(std::unordered_map<std::string_view, T>& all, std::string_view text, const F& parse) {
        const auto it = all.find(text);
        return it != all.end() ? it->second : all.emplace(text, parse()).first->second;
    }

    Symbols& symbols_;
    std::unordered_map<std::string_view, Dim> sizes_;
    std::unordered_map<std::string_view, TensorDesc> descs_;
    std::unordered_map<std::string_view, std::shared_ptr<const Problem>> problems_;
};

/// Parses one line of the grammar in print.cpp.
class LineReader {
public:
    LineReader(std::string_view line, int number, ParseCache& meanings)
        : rest_(line), number_(number), cache_(meanings) {}

    [[noreturn]] void fail(std::string_view what) const {
        throw Error(ErrorKind::argument, "program",
                    fmt::format("line {}: {} at '{}'", number_, what, rest_.substr(0, 40)));
    }

    std::string_view word() {
        skip();
        const std::size_t end = std::min(rest_.find(' '), rest_.size());
        if (end == 0) fail("a word is missing");
        const std::string_view found = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return found;
    }

    void expect(std::string_view expected) {
        skip();
        const std::string_view found = rest_.substr(0, std::min(rest_.find(' '), rest_.size()));
        if (found != expected) fail(fmt::format("expected '{}'", expected));
        rest_.remove_prefix(expected.size());
    }

    bool next_is(std::string_view expected) {
        skip();
        return rest_.substr(0, std::min(rest_.find(' '), rest_.size())) == expected;
    }

    bool at_end() {
        skip();
        return rest_.empty();
    }

    template <typename T>
    T number() {
        skip();
        T value{};
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc{}) fail("expected a number");
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }

    std::string quoted() {
        skip();
        if (rest_.empty() || rest_[0] != '"') fail("expected a quoted name");
        std::string out;
        for (std::size_t i = 1; i < rest_.size(); ++i) {
            if (rest_[i] == '"') {
                rest_.remove_prefix(i + 1);
                return out;
            }
            if (rest_[i] != '\\') {
                out += rest_[i];
            } else if (i + 1 < rest_.size() && rest_[i + 1] == 'u' && i + 5 < rest_.size()) {
                unsigned code = 0;
                if (std::from_chars(rest_.data() + i + 2, rest_.data() + i + 6, code, 16).ptr != rest_.data() + i + 6 ||
                    code > 0x7f)
                    fail("ill-formed escape");
                out += static_cast<char>(code);
                i += 5;
            } else if (i + 1 < rest_.size()) {
                out += rest_[++i];
            }
        }
        fail("a quoted name does not end");
    }

    Dim braced() {
        skip();
        const std::size_t end = rest_.find('}');
        if (rest_.empty() || rest_[0] != '{' || end == std::string_view::npos) fail("expected a size in braces");
        const std::string_view text = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return cache_.size(text);
    }

    View view() {
        const int buffer = number<int>();
        return {buffer, braced()};
    }

    /// A tensor description ends at the next blank outside brackets.
    TensorDesc desc() {
        skip();
        int depth = 0;
        std::size_t end = 0;
        for (; end < rest_.size() && (depth > 0 || rest_[end] != ' '); ++end) {
            if (rest_[end] == '[' || rest_[end] == '(') ++depth;
            if (rest_[end] == ']' || rest_[end] == ')') --depth;
        }
        const std::string_view text = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return cache_.desc(text);
    }

    std::vector<int> numbers_until(std::string_view stop) {
        std::vector<int> found;
        while (!at_end() && !next_is(stop)) found.push_back(number<int>());
        return found;
    }

    std::vector<std::byte> hex() {
        const std::string_view text = at_end() ? std::string_view{} : word();
        if (text.size() % 2 != 0) fail("odd number of hexadecimal digits");
        std::vector<std::byte> bytes(text.size() / 2);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            unsigned value = 0;
            if (std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, value, 16).ptr != text.data() + 2 * i + 2)
                fail("expected hexadecimal digits");
            bytes[i] = static_cast<std::byte>(value);
        }
        return bytes;
    }

    /// Parses the rest of the line.
    std::shared_ptr<const Problem> problem() {
        skip();
        return cache_.problem(std::exchange(rest_, {}));
    }

private:
    void skip() {
        while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
    }

    std::string_view rest_;
    int number_;
    ParseCache& cache_;
};

void read_header(LineReader& line, Program& program) {
    program.name = line.quoted();
    line.expect("threads");
    program.threads = line.number<int>();
    line.expect("symbols");
    while (!line.at_end()) {
        const std::string_view name = line.word();
        const auto low = line.number<std::int64_t>();
        const auto high = line.number<std::int64_t>();
        program.symbols->add(name, low, high);
        if (!line.at_end()) line.expect(",");
    }
}

Buffer read_buffer(LineReader& line) {
    Buffer buffer;
    const std::string_view kind = line.word();
    bool known = false;
    for (int k = 0; k <= static_cast<int>(BufferKind::workspace); ++k)
        if (to_string(static_cast<BufferKind>(k)) == kind) buffer.kind = static_cast<BufferKind>(k), known = true;
    if (!known) line.fail("unknown kind of buffer");
    buffer.name = line.quoted();
    buffer.desc = line.desc();
    line.expect("bytes");
    buffer.bytes = line.braced();
    line.expect("storage");
    buffer.storage = line.number<int>();
    if (line.next_is("on")) {
        line.expect("on");
        const std::optional<Device> device = parse_device(line.word());
        if (!device) line.fail("unknown device");
        buffer.device = *device;
    }
    if (buffer.kind == BufferKind::constant || (buffer.kind == BufferKind::state && line.next_is("data"))) {
        line.expect("data");
        buffer.data = line.hex();
    }
    return buffer;
}

Instruction read_instruction(LineReader& line) {
    Instruction instruction;
    instruction.kernel = line.word();
    line.expect("in");
    while (!line.next_is("out")) instruction.inputs.push_back(line.view());
    line.expect("out");
    while (!line.next_is("workspace")) instruction.outputs.push_back(line.view());
    line.expect("workspace");
    instruction.workspace = line.number<int>();
    line.expect("seconds");
    instruction.seconds = line.number<double>();
    if (line.next_is("names")) {
        line.expect("names");
        while (!line.next_is("::")) instruction.names.push_back(line.quoted());
    }
    line.expect("::");
    instruction.problem = line.problem();
    return instruction;
}

Storage read_storage(LineReader& line) {
    Storage storage;
    line.expect("bytes");
    storage.bytes = line.braced();
    line.expect("life");
    storage.first = line.number<int>();
    storage.last = line.number<int>();
    line.expect("buffers");
    storage.buffers = line.numbers_until("below");
    line.expect("below");
    storage.below = line.numbers_until("");
    return storage;
}

void read_line(LineReader& line, Program& program) {
    const std::string_view keyword = line.word();
    if (keyword == "buffer")
        program.buffers.push_back(read_buffer(line));
    else if (keyword == "bind")
        program.bind.push_back(read_instruction(line));
    else if (keyword == "run")
        program.run.push_back(read_instruction(line));
    else if (keyword == "input" || keyword == "output") {
        Port port;
        port.name = line.quoted();
        port.view = line.view();
        port.desc = line.desc();
        (keyword == "input" ? program.inputs : program.outputs).push_back(std::move(port));
    } else if (keyword == "state") {
        StatePort state;
        state.name = line.quoted();
        state.buffer = line.number<int>();
        line.expect("axis");
        state.axis = line.number<int>();
        line.expect("before");
        state.before = line.braced();
        line.expect("after");
        state.after = line.braced();
        line.expect("live");
        state.live = line.desc();
        line.expect("overwritten");
        state.overwritten = line.number<int>() != 0;
        program.states.push_back(std::move(state));
    } else if (keyword == "storage")
        program.plan.storages.push_back(read_storage(line));
    else if (keyword == "order")
        program.plan.order = line.numbers_until("");
    else
        line.fail(fmt::format("unknown item '{}'", keyword));
}

}  // namespace

Program parse_program(std::string_view text) {
    Program program;
    program.symbols = Symbols::create();
    ParseCache meanings(*program.symbols);
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        LineReader line(text.substr(0, end), ++number, meanings);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (number == 1) {
            line.expect("program");
            read_header(line, program);
        } else {
            read_line(line, program);
        }
        if (!line.at_end()) line.fail("unexpected text");
    }
    if (number == 0) throw Error(ErrorKind::argument, "program", "line 1: the text is empty");
    if (const std::string fault = verify(program); !fault.empty()) throw Error(ErrorKind::argument, "program", fault);
    return program;
}

}  // namespace cairn::program
