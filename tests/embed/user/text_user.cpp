// Uses the component cairn::text without the rest of the library.
#include <cairn/text/tokenizer.hpp>

int main(int argc, char** argv) {
    if (argc < 2) return 0;
    try {
        return cairn::text::load_tokenizer(argv[1])->encode("hello").empty() ? 1 : 0;
    } catch (const cairn::Error&) { return 2; }
}
