#include "runtime/compiled_graph.hpp"
#include "runtime/digest_line.hpp"
#include "runtime/file_io.hpp"
#include "runtime/kernel_binary_text.hpp"
#include "runtime/lock.hpp"
#include "runtime/verify_set.hpp"

#include <fmt/format.h>

#include <sstream>

// Format of a saved file, as text: a line that identifies the format, the graph's symbols and inputs as a program of
// their own, then each bucket's ranges and program, followed for an inexact one by the exact program and the compared
// values, then the cache key, if any, and a digest of all of it. The machine code of kernels follows, if any, each
// binary with a digest of its own: programs are valid without it.
namespace cairn::inline v0 {
namespace {

constexpr std::string_view magic = "cairn compiled graph 3", cache_key_kind = "for";

/// A part of the file: a headline and the text up to the next headline.
struct Section {
    std::string_view headline, body;
};

std::vector<Section> sections_of(std::string_view text) {
    std::vector<Section> sections;
    std::size_t at = text.find("\n# ");
    while (at != std::string_view::npos) {
        const std::size_t line_end = std::min(text.find('\n', at + 1), text.size());
        const std::size_t next = text.find("\n# ", line_end - 1);
        sections.push_back({text.substr(at + 3, line_end - at - 3),
                            line_end < text.size()
                                ? text.substr(line_end + 1, std::min(next, text.size() - 1) - line_end)
                                : std::string_view{}});
        at = next;
    }
    return sections;
}

runtime::Range parse_range(std::istringstream& words) {
    runtime::Range range;
    if (!(words >> range.symbol >> range.low >> range.high))
        throw Error(ErrorKind::argument, "load", "ill-formed range of a bucket");
    return range;
}

/// `output 0 0.01 0.005`
std::string inexact_text(const std::vector<runtime::InexactValue>& values) {
    std::string text;
    for (const runtime::InexactValue& value : values)
        text += fmt::format("{} {} {} {}\n", value.is_state ? "state" : "output", value.port, value.allowed,
                            value.expected);
    return text;
}

std::vector<runtime::InexactValue> parse_inexact(std::string_view text) {
    std::vector<runtime::InexactValue> values;
    std::istringstream words{std::string(text)};
    for (std::string kind; words >> kind;) {
        runtime::InexactValue& value = values.emplace_back();
        value.is_state = kind == "state";
        if (!(words >> value.port >> value.allowed >> value.expected) || (!value.is_state && kind != "output"))
            throw Error(ErrorKind::argument, "load", "ill-formed value of an inexact program");
    }
    return values;
}

}  // namespace

void CompiledGraph::save(const std::filesystem::path& path) const { runtime::save(*this, "", path); }

void CompiledGraph::write_lock(const std::filesystem::path& path) const {
    const runtime::ProgramSet& set = valid().instance.executable->set;
    if (!set.explainer)
        throw Error(ErrorKind::unsupported, "write_lock",
                    "a loaded graph does not record what it was selected for: compile it");
    runtime::write_file(path, program::to_string(runtime::lock_of(set)), "write_lock");
}

}  // namespace cairn::inline v0

namespace cairn::runtime {

std::string to_string(const ProgramSet& set, const std::vector<bool>& fell_back) {
    program::Program signature;
    signature.name = set.name;
    signature.symbols = set.symbols;
    for (const InputPort& port : set.inputs) {
        signature.buffers.push_back({program::BufferKind::input,
                                     port.name,
                                     port.desc,
                                     element_count(port.desc.shape) * Dim(size_of(port.desc.dtype)),
                                     {},
                                     -1,
                                     port.device});
        signature.inputs.push_back({port.name, {static_cast<int>(signature.buffers.size()) - 1, 0}, port.desc});
    }
    std::string text = fmt::format("{}\n# graph\n{}", magic, program::to_string(signature));
    for (std::size_t b = 0; b < set.buckets.size(); ++b) {
        const BucketProgram& bucket = set.buckets[b];
        const bool is_exact = !bucket.exact || (b < fell_back.size() && fell_back[b]);
        text += "# bucket";
        for (const Range& range : bucket.ranges) text += fmt::format(" {} {} {}", range.symbol, range.low, range.high);
        text += '\n' + program::to_string(is_exact && bucket.exact ? *bucket.exact : bucket.program);
        if (is_exact) continue;
        text += "# exact\n" + program::to_string(*bucket.exact) + "# inexact\n" + inexact_text(bucket.inexact);
    }
    return text;
}

runtime::ProgramSet parse_program_set(std::string_view text) {
    if (!text.starts_with(magic))
        throw Error(ErrorKind::argument, "load", "it is not a compiled graph of this version");
    ProgramSet set;
    for (const Section& section : sections_of(text)) {
        std::istringstream words{std::string(section.headline)};
        std::string kind;
        words >> kind;
        if (kind == "graph") {
            const program::Program signature = program::parse_program(section.body);
            set.name = signature.name;
            set.symbols = signature.symbols;
            for (const program::Port& port : signature.inputs)
                set.inputs.push_back({port, program::device_of(signature, port)});
        } else if (kind == "bucket") {
            BucketProgram bucket;
            while (words >> std::ws && !words.eof()) bucket.ranges.push_back(parse_range(words));
            bucket.program = program::parse_program(section.body);
            set.buckets.push_back(std::move(bucket));
        } else if (kind == cache_key_kind) {
            continue;  // read by cache_key_of()
        } else if (set.buckets.empty()) {
            throw Error(ErrorKind::argument, "load", "a part before the first bucket is of an unknown kind");
        } else if (kind == "exact") {
            set.buckets.back().exact = program::parse_program(section.body);
        } else if (kind == "inexact") {
            set.buckets.back().inexact = parse_inexact(section.body);
        } else {
            throw Error(ErrorKind::argument, "load", fmt::format("there is a part of the unknown kind {}", kind));
        }
    }
    if (set.symbols == nullptr || set.buckets.empty()) throw Error(ErrorKind::argument, "load", "it holds no program");
    if (const std::string fault = verify_set(set); !fault.empty()) throw Error(ErrorKind::argument, "load", fault);
    return set;
}

SavedText parts_of_saved(std::string_view text) {
    const std::size_t end = end_of_digest_line(text);
    return {text.substr(0, end), text.substr(end)};
}

void save(const CompiledGraph& compiled, const std::string& cache_key, const std::filesystem::path& path) {
    std::string text = compiled.program();
    if (!cache_key.empty()) text += fmt::format("# {} {}\n", cache_key_kind, cache_key);
    text = with_digest_line(std::move(text));
    for (const ProgramBinaries::Binary& binary : binaries_of(compiled).used()) text += to_string(*binary);
    write_file(path, text, "save");
}

const ProgramBinaries& binaries_of(const CompiledGraph& compiled) {
    return CompiledGraph::State::of(compiled).instance.executable->set.binaries;
}

std::string_view cache_key_of(std::string_view text) {
    const std::string headline = fmt::format("\n# {} ", cache_key_kind);
    const std::size_t at = text.rfind(headline);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + headline.size();
    return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace cairn::runtime
