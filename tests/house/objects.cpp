#include "tests/house/objects.hpp"

#include "tests/house/source.hpp"

#include <algorithm>
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

/// True for instructions with VEX or EVEX encoding. Those without a leading v are BMI1, BMI2 and AVX-512 mask
/// instructions.
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

/// Mnemonics that begin with `prefix` are in the levels `from` and above; in none if `from` is empty.
struct Extension {
    std::string_view prefix, from;
};
constexpr Extension extensions[] = {
    // SSE3, SSSE3, SSE4.1, SSE4.2: not in the baseline.
    {"addsub", "avx2"},
    {"hadd", "avx2"},
    {"hsub", "avx2"},
    {"lddqu", "avx2"},
    {"movddup", "avx2"},
    {"movshdup", "avx2"},
    {"movsldup", "avx2"},
    {"pshufb", "avx2"},
    {"phadd", "avx2"},
    {"phsub", "avx2"},
    {"pabs", "avx2"},
    {"palignr", "avx2"},
    {"psign", "avx2"},
    {"pmulhrsw", "avx2"},
    {"pmaddubsw", "avx2"},
    {"pmulld", "avx2"},
    {"pmuldq", "avx2"},
    {"ptest", "avx2"},
    {"round", "avx2"},
    {"pblend", "avx2"},
    {"blend", "avx2"},
    {"pmovsx", "avx2"},
    {"pmovzx", "avx2"},
    {"pmins", "avx2"},
    {"pmaxs", "avx2"},
    {"pinsrd", "avx2"},
    {"pinsrq", "avx2"},
    {"pextrd", "avx2"},
    {"pextrq", "avx2"},
    {"extractps", "avx2"},
    {"insertps", "avx2"},
    {"dpp", "avx2"},
    {"packusdw", "avx2"},
    {"pcmpeqq", "avx2"},
    {"pcmpgtq", "avx2"},
    {"crc32", ""},
    {"popcnt", ""},
    {"lzcnt", ""},
    {"movbe", ""},
    // BMI1, AES, and extensions introduced with or after AVX-512.
    {"andn ", ""},
    {"bls", ""},
    {"bextr", ""},
    {"aes", ""},
    {"vaes", ""},
    {"pclmul", ""},
    {"vpclmul", ""},
    {"gf2p8", ""},
    {"vgf2p8", ""},
    {"sha1", ""},
    {"vpmadd52", ""},
    {"vpdp", "avx512_vnni"},
    {"vdpbf16", ""},
    {"vcvtne", ""},
    {"vpopcnt", ""},
    {"vpermb", ""},
    {"vpermi2b", ""},
    {"vpermt2b", ""},
    {"vpmultishift", ""},
    {"vpcompressb", ""},
    {"vpcompressw", ""},
    {"vpexpandb", ""},
    {"vpexpandw", ""},
    {"vpshld", ""},
    {"vpshrd", ""},
    {"vpshufbitqmb", ""},
    {"vp2intersect", ""},
    {"tile", "amx_bf16"},
    {"tdpbf16ps", "amx_bf16"},
    {"tdpbs", ""},
    {"tdpbu", ""},
    {"tdpfp16", ""},
    {"ldtilecfg", "amx_bf16"},
    {"sttilecfg", ""},
};
/// True if the operands include a vector register that only AVX-512 has, such as %ymm17.
bool names_upper_register(std::string_view operands) {
    for (auto at = operands.find("mm"); at != operands.npos; at = operands.find("mm", at + 2)) {
        int number = 0;
        for (std::size_t i = at + 2; i < operands.size() && operands[i] >= '0' && operands[i] <= '9'; ++i)
            number = 10 * number + operands[i] - '0';
        if (number >= 16) return true;
    }
    return false;
}

}  // namespace

Faults code_above_level(const std::string& path, std::string_view disassembly, std::string_view level) {
    const bool is_avx512 = level == "avx512" || level == "avx512_vnni" || level == "amx_bf16";
    const auto has = [&](std::string_view from) {
        return !from.empty() && (from == level || (from == "avx2" && is_avx512));
    };
    Faults faults;
    std::string function;
    std::set<std::string> reported;
    for (const std::string& line : lines_of(disassembly)) {
        if (const auto open = line.find('<'); line.ends_with(">:"))
            function = line.substr(open + 1, line.size() - open - 3);
        const auto tab = line.find(":\t");
        if (tab == std::string::npos) continue;
        const std::string text = line.substr(tab + 2, line.find('#', tab) - tab - 2) + " ";
        const bool is_wide =
            text.find("%zmm") != text.npos || text.find("%k") != text.npos || names_upper_register(text);
        const bool is_vector = text.starts_with('v') || text.find("%ymm") != text.npos;
        const bool is_extended = std::any_of(std::begin(extensions), std::end(extensions), [&](const Extension& e) {
            return text.starts_with(e.prefix) && !has(e.from);
        });
        if ((is_wide && !is_avx512) || (is_vector && level == "baseline") || is_extended)
            if (reported.insert(function).second)
                faults.push_back(path + ": " + text.substr(0, text.find_first_of(" \t")) + " in " + function);
    }
    return faults;
}

Faults unexpected_exports(const std::string& path, std::string_view nm, std::string_view table) {
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
        if (words[0].find("5cairn2v0") == std::string::npos || !words[0].starts_with("_Z"))
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
