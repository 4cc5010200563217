#include "tests/house/objects.hpp"

#include "tests/house/source.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

namespace cairn::house {
namespace {

/// The words of a line.
std::vector<std::string> split(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// VEX-encoded although without a leading v: BMI1, BMI2 and the mask instructions of AVX-512.
bool is_vex(std::string_view mnemonic, std::string_view operands) {
    static const std::set<std::string_view> general = {"andn", "bextr", "blsi", "blsmsk", "blsr", "bzhi", "mulx",
                                                       "pdep", "pext",  "rorx", "sarx",   "shlx", "shrx"};
    static const std::set<std::string_view> not_vex = {"verr", "verw", "vmcall", "vmfunc"};
    if (general.contains(mnemonic)) return true;
    if (mnemonic.ends_with('l') || mnemonic.ends_with('q'))
        if (general.contains(mnemonic.substr(0, mnemonic.size() - 1))) return true;
    if (mnemonic.starts_with('v')) return !not_vex.contains(mnemonic);
    return operands.find("%ymm") != std::string_view::npos || operands.find("%zmm") != std::string_view::npos ||
           operands.find("%k") != std::string_view::npos;
}

}  // namespace

Faults exports_besides(const std::string& path, std::string_view nm, std::string_view table) {
    Faults faults;
    int tables = 0;
    for (const std::string& line : lines_of(nm)) {
        const auto words = split(line);
        if (words.size() < 2) continue;
        const char kind = words[1][0];
        if (kind == 'U' || kind == 'w' || kind == 'v') continue;  // references, not definitions
        if (words[0] == table && kind != 'W' && kind != 'V' && kind != 'u')
            ++tables;
        else
            faults.push_back(path + ": exports " + words[0] + " (" + kind + ")");
    }
    if (tables != 1) faults.push_back(path + ": does not export " + std::string(table));
    return faults;
}

Faults comdat_groups(const std::string& path, std::string_view readelf) {
    Faults faults;
    for (const std::string& line : lines_of(readelf))
        if (line.find("COMDAT group") != std::string::npos) faults.push_back(path + ": " + line);
    return faults;
}

Faults initialisers(const std::string& path, std::string_view readelf) {
    Faults faults;
    for (const std::string& line : lines_of(readelf))
        for (const char* section : {" .init_array", " .ctors", " .preinit_array"})
            if (line.find(section) != std::string::npos)
                faults.push_back(path + ": runs code at start (" + section + ")");
    return faults;
}

Faults vex_code(const std::string& path, std::string_view disassembly) {
    Faults faults;
    std::string function;
    std::string last;
    for (const std::string& line : lines_of(disassembly)) {
        if (const auto open = line.find('<'); line.ends_with(">:"))
            function = line.substr(open + 1, line.size() - open - 3);
        const auto tab = line.find(":\t");
        if (tab == std::string::npos) continue;
        const auto words = split(line.substr(tab + 2));
        if (words.empty() || !is_vex(words[0], words.size() > 1 ? std::string_view(words[1]) : std::string_view()))
            continue;
        if (function != last) faults.push_back(path + ": " + words[0] + " in " + function);
        last = function;
    }
    return faults;
}

Faults mutable_globals(const std::string& path, std::string_view symbols) {
    std::set<std::string> writable;
    for (const std::string& line : lines_of(symbols)) {
        const auto words = split(line);
        if (words.size() < 4) continue;
        const std::string& section = words[words.size() - 3];
        const std::string& name = words.back();
        const bool is_variable = line.find(" O ") != std::string::npos || section == "*COM*";
        const bool is_constant = section.starts_with(".data.rel");
        if (!is_variable || is_constant) continue;
        for (const char* kind : {".data", ".bss", ".tdata", ".tbss", "*COM*"})
            if (section.starts_with(kind)) writable.insert(name);
    }
    Faults faults;
    for (const std::string& name : writable) {
        const bool is_guard = name.starts_with("_ZGV");
        const bool is_guarded = name.starts_with("_ZZ") && writable.contains("_ZGV" + name.substr(2));
        const bool is_reference = name.starts_with("DW.ref.");
        if (!is_guard && !is_guarded && !is_reference) faults.push_back(path + ": " + name + " can be written");
    }
    return faults;
}

Faults foreign_exports(const std::string& path, std::string_view nm) {
    Faults faults;
    for (const std::string& line : lines_of(nm)) {
        const auto words = split(line);
        if (words.size() < 2 || words[1] == "U" || words[1] == "w" || words[1] == "A") continue;
        if (words[0].find("5cairn") == std::string::npos || !words[0].starts_with("_Z"))
            faults.push_back(path + ": exports " + words[0]);
    }
    return faults;
}

std::string output_of(const std::string& command) {
    const auto close = [](std::FILE*) {};
    const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
    if (!pipe) throw std::runtime_error("cannot run " + command);
    std::string text;
    std::array<char, 65536> block;
    for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), pipe.get())) > 0;)
        text.append(block.data(), got);
    if (pclose(pipe.get()) != 0) throw std::runtime_error("failed: " + command);
    return text;
}

}  // namespace cairn::house
