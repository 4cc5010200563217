#include "io/onnx_import/report.hpp"

#include "io/mapped_file/file_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace cairn::inline v0::onnx {
namespace {

std::string line_of(const Unsupported& entry) {
    const std::string name = files::printable(entry.node);
    if (entry.op.empty()) return fmt::format("{}: {}", name, entry.reason);
    const std::string times = entry.count > 1 ? fmt::format(" ({} nodes)", entry.count) : "";
    return fmt::format("{}{}-{} {}{}: {}", entry.domain.empty() ? "" : entry.domain + ".", entry.op, entry.opset, name,
                       times, entry.reason);
}

std::string message_of(std::string_view file, const std::vector<Unsupported>& entries) {
    std::string text = fmt::format("{} cannot be imported:", file);
    for (const Unsupported& entry : entries) text += "\n  " + line_of(entry);
    return text;
}

}  // namespace

ImportError::ImportError(std::string_view file, std::vector<Unsupported> unsupported)
    : Error(ErrorKind::unsupported, "onnx", message_of(file, unsupported)), unsupported_(std::move(unsupported)) {}

void Report::add(Unsupported entry) {
    for (Unsupported& known : entries_)
        if (known.op == entry.op && known.domain == entry.domain && known.reason == entry.reason && !entry.op.empty()) {
            ++known.count;
            return;
        }
    entries_.push_back(std::move(entry));
}

}  // namespace cairn::inline v0::onnx
