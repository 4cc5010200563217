// extract PAGE OUTPUT FUNCTION: writes the snippets of a Markdown page as one C++ function, which calls its argument
// after each snippet. `#line` directives make compiler errors refer to lines of the page.
#include "tests/guide/snippets.hpp"

#include <fstream>

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const std::string page = argv[1];
    std::ofstream out(argv[2]);
    std::string body;
    out << "#include <functional>\n";
    for (const auto& snippet : cairn::guide::snippets_of(cairn::guide::read_page(page))) {
        body += "#line " + std::to_string(snippet.line) + " \"" + page + "\"\n";
        for (const std::string& line : snippet.code) {
            const bool include = line.starts_with("#include");
            if (include) out << line << '\n';
            body += (include ? "" : line) + "\n";
        }
        body += "end_of_snippet();\n";
    }
    out << "void " << argv[3] << "(const std::function<void()>& end_of_snippet) {\n" << body << "}\n";
    return out.flush() ? 0 : 1;
}
