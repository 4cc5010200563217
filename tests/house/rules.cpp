#include "tests/house/rules.hpp"

#include "tests/house/arrows.hpp"
#include "tests/house/source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

namespace cairn::house {
namespace {

constexpr std::size_t max_lines = 600;

// The headers of the C++20 standard library that public headers may include; not <cassert>, <iostream>, <csignal> etc.
const std::set<std::string>& standard_headers() {
    static const std::set<std::string> headers = {"algorithm",
                                                  "any",
                                                  "array",
                                                  "atomic",
                                                  "barrier",
                                                  "bit",
                                                  "bitset",
                                                  "cctype",
                                                  "cerrno",
                                                  "cfloat",
                                                  "charconv",
                                                  "chrono",
                                                  "cinttypes",
                                                  "climits",
                                                  "cmath",
                                                  "compare",
                                                  "complex",
                                                  "concepts",
                                                  "condition_variable",
                                                  "cstddef",
                                                  "cstdint",
                                                  "cstdlib",
                                                  "cstring",
                                                  "deque",
                                                  "exception",
                                                  "execution",
                                                  "filesystem",
                                                  "forward_list",
                                                  "fstream",
                                                  "functional",
                                                  "future",
                                                  "initializer_list",
                                                  "ios",
                                                  "iosfwd",
                                                  "istream",
                                                  "iterator",
                                                  "latch",
                                                  "limits",
                                                  "list",
                                                  "map",
                                                  "memory",
                                                  "memory_resource",
                                                  "mutex",
                                                  "new",
                                                  "numbers",
                                                  "numeric",
                                                  "optional",
                                                  "ostream",
                                                  "queue",
                                                  "random",
                                                  "ranges",
                                                  "ratio",
                                                  "semaphore",
                                                  "set",
                                                  "shared_mutex",
                                                  "source_location",
                                                  "span",
                                                  "sstream",
                                                  "stack",
                                                  "stdexcept",
                                                  "stop_token",
                                                  "streambuf",
                                                  "string",
                                                  "string_view",
                                                  "system_error",
                                                  "thread",
                                                  "tuple",
                                                  "type_traits",
                                                  "typeindex",
                                                  "typeinfo",
                                                  "unordered_map",
                                                  "unordered_set",
                                                  "utility",
                                                  "valarray",
                                                  "variant",
                                                  "vector",
                                                  "version"};
    return headers;
}

bool is_ours(std::string_view path) {
    return is_under(path, "include") || is_under(path, "src") || is_under(path, "kernels");
}

/// True for the rooms of programs, which own their process.
bool is_command(std::string_view path) {
    return is_under(path, "src/apps/cli") || is_under(path, "src/apps/compare") || is_under(path, "src/apps/console");
}

std::string at(const File& file, int line) { return file.path + ":" + std::to_string(line) + ": "; }

const File* find(const Tree& tree, const std::string& path) {
    const auto found = std::find_if(tree.begin(), tree.end(), [&](const File& file) { return file.path == path; });
    return found == tree.end() ? nullptr : &*found;
}

void add_with_includes(const Tree& tree, const std::string& path, std::set<std::string>& reached) {
    const File* file = find(tree, path);
    if (file == nullptr || !reached.insert(path).second) return;
    for (const Include& include : includes_of(file->text))
        if (const std::string target = resolve(tree, include.name, folder_of(path)); !target.empty())
            add_with_includes(tree, target, reached);
}

bool is_member(const std::vector<Token>& tokens, std::size_t i) {
    return i > 0 && (tokens[i - 1].text == "." || tokens[i - 1].text == ">");
}

/// True for a call of a free function: `abort(`, `std::abort(` and `::abort(`; false for a member (`x.abort(`,
/// `X::abort(`) and a declaration (`void abort(`).
bool is_free_call(const std::vector<Token>& tokens, std::size_t i) {
    if (i + 1 >= tokens.size() || tokens[i + 1].text != "(" || is_member(tokens, i)) return false;
    if (i == 0) return true;
    const std::string& before = tokens[i - 1].text;
    if (before == "::") return i < 2 || tokens[i - 2].text == "std" || !is_word(tokens[i - 2].text[0]);
    return !is_word(before[0]) || before == "return" || before == "else" || before == "do";
}

}  // namespace

Faults long_files(const Tree& tree) {
    Faults faults;
    for (const File& file : tree)
        if (const auto count = lines_of(file.text).size(); count > max_lines)
            faults.push_back(file.path + ": " + std::to_string(count) + " lines, more than " +
                             std::to_string(max_lines));
    return faults;
}

Faults foreign_includes_in_public_headers(const Tree& tree) {
    Faults faults;
    for (const File& file : tree) {
        if (!is_under(file.path, "include") || !is_source(file.path)) continue;
        for (const Include& include : includes_of(file.text)) {
            const bool fine =
                include.in_brackets ? standard_headers().contains(include.name) : include.name.starts_with("cairn/");
            if (!fine) faults.push_back(at(file, include.line) + "a public header may not include " + include.name);
        }
    }
    return faults;
}

Faults uninformative_names(const Tree& tree) {
    static const std::set<std::string> empty = {"util",    "utils", "common",  "helper",
                                                "helpers", "core",  "manager", "misc"};
    Faults faults;
    for (const File& file : tree) {
        std::string words = file.path;
        for (char& c : words)
            if (!std::isalnum(static_cast<unsigned char>(c))) c = ' ';
        std::istringstream stream(words);
        for (std::string word; stream >> word;)
            if (empty.contains(word))
                faults.push_back(file.path + ": '" + word + "' says nothing about what is inside");
    }
    return faults;
}

Faults executor_allocations(const Tree& tree) {
    static const std::set<std::string> slow = {"map",
                                               "multimap",
                                               "unordered_map",
                                               "unordered_multimap",
                                               "set",
                                               "multiset",
                                               "unordered_set",
                                               "mutex",
                                               "recursive_mutex",
                                               "shared_mutex",
                                               "timed_mutex",
                                               "lock_guard",
                                               "unique_lock",
                                               "shared_lock",
                                               "scoped_lock",
                                               "condition_variable",
                                               "string",
                                               "basic_string",
                                               "ostringstream",
                                               "stringstream",
                                               "regex"};
    std::set<std::string> reached;
    for (const char* path : {"src/device/cpu/parallel_region.hpp", "src/device/cpu/parallel_region.cpp"})
        add_with_includes(tree, path, reached);
    Faults faults;
    for (const std::string& path : reached) {
        const File& file = *find(tree, path);
        for (const Include& include : includes_of(file.text))
            if (slow.contains(include.name))
                faults.push_back(at(file, include.line) + "the executor reaches <" + include.name + ">");
        const auto tokens = tokens_of(code_of(file.text));
        for (std::size_t i = 2; i < tokens.size(); ++i)
            if (tokens[i - 2].text == "std" && tokens[i - 1].text == "::" && slow.contains(tokens[i].text))
                faults.push_back(at(file, tokens[i].line) + "the executor reaches std::" + tokens[i].text);
    }
    return faults;
}

Faults misplaced_library_includes(const Tree& tree) {
    struct Library {
        std::string_view header;
        std::string_view home;  // a folder or a file
    };
    constexpr std::array<Library, 6> libraries = {{{"sqlite3.h", "src/autotune/database"},
                                                   {"Eigen/", "kernels/cpu/eigen"},
                                                   {"unsupported/Eigen/", "kernels/cpu/eigen"},
                                                   {"utf8proc.h", "src/apps/text"},
                                                   {"toml++/", "src/apps/compare"},
                                                   {"tommath.h", "src/selection/search/natural.cpp"}}};
    Faults faults;
    for (const File& file : tree) {
        if (!is_source(file.path) || is_under(file.path, "tests") || is_under(file.path, "bench")) continue;
        for (const Include& include : includes_of(file.text))
            for (const Library& library : libraries)
                if (include.name.starts_with(library.header) && file.path != library.home &&
                    !is_under(file.path, library.home))
                    faults.push_back(at(file, include.line) + include.name + " belongs to " +
                                     std::string(library.home) + " alone");
    }
    return faults;
}

Faults misplaced_instructions(const Tree& tree) {
    constexpr std::array<std::string_view, 9> prefixes = {"_mm",   "__m128", "__m256",   "__m512", "__builtin_ia32",
                                                          "__AVX", "__AMX",  "__F16C__", "__FMA__"};
    constexpr std::array<std::string_view, 2> homes = {"kernels/cpu/simd/vector/instructions.hpp",
                                                       "kernels/cpu/simd/vector/tile_registers.hpp"};
    Faults faults;
    for (const File& file : tree) {
        if (!is_under(file.path, "kernels") || !is_source(file.path)) continue;
        // Texts of CUDA kernels have their twins in tests/emulated_cuda/device.
        if (std::find(homes.begin(), homes.end(), file.path) != homes.end() || is_under(file.path, "kernels/cuda/text"))
            continue;
        const auto refuse = [&](const std::string& what, int line) {
            faults.push_back(at(file, line) + what + " belongs to " + std::string(homes[0]) + ", with a twin");
        };
        for (const Include& include : includes_of(file.text))
            if (include.name.ends_with("intrin.h")) refuse(include.name, include.line);
        // Blanks the `#` of directives, so that they are checked like code.
        std::string code = code_of(file.text);
        std::replace(code.begin(), code.end(), '#', ' ');
        for (const Token& token : tokens_of(code))
            if (token.text == "asm" || token.text == "__asm__" ||
                std::any_of(prefixes.begin(), prefixes.end(),
                            [&](std::string_view prefix) { return token.text.starts_with(prefix); }))
                refuse(token.text, token.line);
    }
    return faults;
}

Faults skipped_tests(const Tree& tree) {
    Faults faults;
    for (const File& file : tree) {
        if (!is_under(file.path, "tests") || !is_source(file.path)) continue;
        for (const Token& token : tokens_of(code_of(file.text)))
            if (token.text == "GTEST_SKIP") faults.push_back(at(file, token.line) + "a test that may be skipped");
    }
    return faults;
}

Faults host_process_effects(const Tree& tree) {
    static const std::set<std::string> calls = {
        "abort",   "exit",    "_exit",  "_Exit",         "quick_exit", "terminate", "assert",    "printf", "puts",
        "putchar", "vprintf", "getenv", "secure_getenv", "setenv",     "putenv",    "setlocale", "signal", "sigaction",
        "raise",   "atexit",  "system", "fork",          "perror",     "srand",     "rand",      "popen"};
    // Programs request this explicitly: ContextOptions::command_line_defaults().
    const auto may_read_variables = [](const File& file) {
        return file.path == "src/driver/command_line_defaults.cpp";
    };
    static const std::set<std::string> streams = {"cout", "cerr",   "clog",   "wcout",  "wcerr",
                                                  "cin",  "stdout", "stderr", "environ"};
    static const std::set<std::string> headers = {"iostream", "cassert", "assert.h", "syslog.h"};
    Faults faults;
    for (const File& file : tree) {
        if (!is_ours(file.path) || !is_source(file.path) || is_command(file.path)) continue;
        for (const Include& include : includes_of(file.text))
            if (headers.contains(include.name))
                faults.push_back(at(file, include.line) + "<" + include.name + "> has no place here");
        const auto tokens = tokens_of(code_of(file.text));
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const std::string& word = tokens[i].text;
            const bool fmt_print =
                word == "print" && i > 1 && tokens[i - 1].text == "::" && tokens[i - 2].text == "fmt";
            if (word == "getenv" && may_read_variables(file)) continue;
            if ((calls.contains(word) && is_free_call(tokens, i)) ||
                (streams.contains(word) && !is_member(tokens, i)) || fmt_print)
                faults.push_back(at(file, tokens[i].line) + word + ": library code must not affect the host process");
        }
    }
    return faults;
}

Faults missing_declarations(const Tree& tree) {
    // By room: a build file of the same room must list the file, as a whole word (`data.cpp` does not list `a.cpp`).
    std::map<std::string, std::string> build_files;
    for (const File& file : tree)
        if (name_of(file.path) == "CMakeLists.txt") build_files[room_of(file.path)] += "\n" + file.text;
    const auto is_listed = [&](const File& file) {
        const std::string name = name_of(file.path);
        for (const std::string& room : {room_of(file.path), std::string()}) {
            const std::string& text = build_files[room];
            for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
                if (at > 0 && !is_word(text[at - 1])) return true;
        }
        return false;
    };
    Faults faults;
    for (const File& file : tree) {
        if (!is_ours(file.path) || !is_source(file.path)) continue;
        if (file.path.ends_with(".hpp")) {
            const auto lines = lines_of(file.text);
            if (std::find(lines.begin(), lines.end(), "#pragma once") == lines.end())
                faults.push_back(file.path + ": lacks #pragma once");
        } else if (file.path.ends_with(".cpp") && !is_listed(file)) {
            faults.push_back(file.path + ": no build file lists it");
        }
    }
    return faults;
}

}  // namespace cairn::house
