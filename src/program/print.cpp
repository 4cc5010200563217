#include "graph/types/text_cursor.hpp"
#include "program/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

// The grammar: one item per line, sizes in braces, names in JSON quotes.
//
//     program "gpt2" threads 2 symbols T 2 12, past 0 1023
//     buffer weight "h.0.w" f32[768,768] bytes {2359296} storage -1
//     buffer constant "" f32[]! bytes {4} storage -1 data 0000803f
//     buffer state "step" i64[] bytes {8} storage -1 data 0100000000000000
//     buffer transient "" f32[T,768] bytes {3072*T} storage 2 on cuda
//     bind KERNEL in 0{0} 1{768*T} out 4{0} workspace -1 seconds 0 :: PROBLEM
//     run KERNEL ... seconds 0 names "scores" "layer 3 attention" :: PROBLEM
//     input "ids" 2{0} i32[B,T]
//     output "logits" 9{0} f32[B,50257]
//     state "k" 3 axis 2 before {past} after {T + past} live f32[12,past,64] overwritten 0
//     storage bytes {3072*T} life 0 7 buffers 4 6 below 1 2
//     order 0 2 1
namespace cairn::program {
namespace {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\', out += c;
        else if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            out += c;
    }
    return out + '"';
}

std::string view_text(const View& view) { return fmt::format("{}{{{}}}", view.buffer, cairn::to_string(view.offset)); }

std::string desc_text(TensorDesc desc) { return cairn::to_string(desc); }

void print_buffer(std::string& out, const Buffer& buffer) {
    out += fmt::format("buffer {} {} {} bytes {{{}}} storage {}", to_string(buffer.kind), quoted(buffer.name),
                       desc_text(buffer.desc), cairn::to_string(buffer.bytes), buffer.storage);
    if (buffer.device != Device::cpu) out += fmt::format(" on {}", cairn::to_string(buffer.device));
    if (buffer.kind == BufferKind::constant || !buffer.data.empty()) {
        out += " data ";
        for (const std::byte b : buffer.data) out += fmt::format("{:02x}", static_cast<unsigned>(b));
    }
    out += '\n';
}

void print_instruction(std::string& out, std::string_view section, const Instruction& instruction) {
    out += fmt::format("{} {} in", section, instruction.kernel);
    for (const View& view : instruction.inputs) out += ' ' + view_text(view);
    out += " out";
    for (const View& view : instruction.outputs) out += ' ' + view_text(view);
    out += fmt::format(" workspace {} seconds {}", instruction.workspace, types::number_text(instruction.seconds));
    if (!instruction.names.empty()) out += " names";
    for (const std::string& name : instruction.names) out += ' ' + quoted(name);
    out += fmt::format(" :: {}\n", cairn::to_string(*instruction.problem));
}

}  // namespace

std::string_view to_string(BufferKind kind) noexcept {
    constexpr std::string_view names[] = {"weight", "constant", "bound",     "state",
                                          "input",  "output",   "transient", "workspace"};
    return names[static_cast<std::size_t>(kind)];
}

std::string to_string(const Program& program) {
    std::string out = fmt::format("program {} threads {} symbols", quoted(program.name), program.threads);
    for (const Symbols::Symbol& symbol : program.symbols->list())
        out += fmt::format(" {} {} {},", symbol.name, symbol.low, symbol.high);
    if (out.back() == ',') out.pop_back();
    out += '\n';
    for (const Buffer& buffer : program.buffers) print_buffer(out, buffer);
    for (const Instruction& instruction : program.bind) print_instruction(out, "bind", instruction);
    for (const Instruction& instruction : program.run) print_instruction(out, "run", instruction);
    for (const auto& [section, ports] : {std::pair{"input", &program.inputs}, std::pair{"output", &program.outputs}})
        for (const Port& port : *ports)
            out += fmt::format("{} {} {} {}\n", section, quoted(port.name), view_text(port.view), desc_text(port.desc));
    for (const StatePort& state : program.states)
        out += fmt::format("state {} {} axis {} before {{{}}} after {{{}}} live {} overwritten {}\n",
                           quoted(state.name), state.buffer, state.axis, cairn::to_string(state.before),
                           cairn::to_string(state.after), desc_text(state.live), state.overwritten ? 1 : 0);
    for (const Storage& storage : program.plan.storages)
        out += fmt::format("storage bytes {{{}}} life {} {} buffers {} below {}\n", cairn::to_string(storage.bytes),
                           storage.first, storage.last, fmt::join(storage.buffers, " "), fmt::join(storage.below, " "));
    if (!program.plan.order.empty()) out += fmt::format("order {}\n", fmt::join(program.plan.order, " "));
    return out;
}

}  // namespace cairn::program
