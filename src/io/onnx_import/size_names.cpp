#include "io/onnx_import/size_names.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cairn::inline v0::onnx {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

Dim SizeNames::size(const std::string& name) {
    declared_.insert(name);
    return find(name);
}

Dim SizeNames::find(const std::string& name) {
    if (const auto it = sizes_.find(name); it != sizes_.end()) return it->second;
    if (const auto equal = options_.equal_sizes.find(name); equal != options_.equal_sizes.end()) {
        if (options_.equal_sizes.contains(equal->second) || options_.sizes.contains(name))
            throw Error(ErrorKind::argument, "onnx",
                        fmt::format("the size '{}' is '{}', and has bounds of its own or that one equals another", name,
                                    equal->second));
        const Dim other = find(equal->second);
        return sizes_.emplace(name, other).first->second;
    }
    const auto given = options_.sizes.find(name);
    const SizeBounds bounds = given != options_.sizes.end() ? given->second : options_.other_sizes;
    const std::int64_t multiple = bounds.multiple;
    const std::int64_t low = multiple > 0 ? (bounds.low + multiple - 1) / multiple : 0;
    const std::int64_t high = multiple > 0 ? bounds.high / multiple : -1;
    if (bounds.low < 0 || low > high)
        throw Error(ErrorKind::argument, "onnx",
                    fmt::format("the size '{}' cannot be a multiple of {} from {} to {}", name, multiple, bounds.low,
                                bounds.high));
    const Dim quotient = low == high ? Dim(low) : graph_.symbol(symbol_for(name, multiple), low, high);
    return sizes_.emplace(name, multiple * quotient).first->second;
}

std::string SizeNames::symbol_for(std::string_view name, std::int64_t multiple) {
    std::string symbol;
    for (const char c : name) symbol += is_word(c) || (c >= '0' && c <= '9') ? c : '_';
    if (symbol.empty() || !is_word(symbol[0])) symbol = "n" + symbol;
    if (multiple != 1) symbol += fmt::format("_by_{}", multiple);
    // The names of functions of sizes.
    for (const std::string_view reserved : {"floordiv", "ceildiv", "mod", "min", "max"})
        if (symbol == reserved) symbol += "_";
    while (!taken_.insert(symbol).second) symbol += "_";
    symbols_.emplace(name, symbol);
    return symbol;
}

void SizeNames::check_all_used() const {
    std::set<std::string> named;
    for (const auto& [name, bounds] : options_.sizes) named.insert(name);
    for (const auto& [name, other] : options_.equal_sizes) named.insert({name, other});
    for (const std::string& name : named)
        if (!declared_.contains(name))
            throw Error(ErrorKind::argument, "onnx",
                        fmt::format("the inputs have no size '{}'; {}", name,
                                    sizes_.empty() ? std::string("all their sizes are numbers")
                                                   : fmt::format("they have '{}'", fmt::join(declared_, "', '"))));
}

std::map<std::string, std::string> SizeNames::symbol_names() const {
    std::map<std::string, std::string> names;
    for (const auto& [name, symbol] : symbols_)
        if (name != symbol) names.emplace(symbol, name);
    return names;
}

}  // namespace cairn::inline v0::onnx
