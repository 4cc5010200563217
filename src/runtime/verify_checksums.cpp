#include "cairn/compiled_graph.hpp"
#include "program/lock.hpp"
#include "runtime/compiled_graph.hpp"
#include "runtime/digest_line.hpp"
#include "runtime/file_io.hpp"
#include "runtime/kernel_binary_text.hpp"
#include "runtime/packed_file.hpp"

#include <fstream>
#include <system_error>

namespace cairn::inline v0 {
namespace {

constexpr std::size_t head_bytes = 32;  // enough to identify the kind of a file

std::vector<std::string> lock_faults(const std::string& text) {
    try {
        program::parse_lock(text);
        return {};
    } catch (const Error& error) { return {error.what()}; }
}

}  // namespace

std::vector<std::string> verify_checksums(const std::filesystem::path& file) {
    std::string head(head_bytes, '\0');
    std::ifstream stream(file, std::ios::binary);
    std::error_code fault;
    if (!stream.is_open() || !std::filesystem::is_regular_file(file, fault))
        throw Error(ErrorKind::file, "check", "cannot read " + file.string());
    stream.read(head.data(), head_bytes);
    head.resize(static_cast<std::size_t>(stream.gcount()));
    if (head.starts_with("cairn lock")) return lock_faults(runtime::read_file(file, "check", "the lock"));
    if (!head.starts_with("cairn compiled graph")) return runtime::verify_packed(file);
    const std::string text = runtime::read_file(file, "check", "the compiled graph");
    const runtime::SavedText saved = runtime::parts_of_saved(text);
    if (!runtime::has_valid_digest(saved.programs))
        return {file.string() + ": its digest does not fit: it was changed, or its end is missing"};
    if (runtime::parse_kernel_binaries(saved.code).is_damaged)
        return {file.string() + ": machine code in it was changed, or its end is missing: it is compiled again"};
    return {};
}

}  // namespace cairn::inline v0
