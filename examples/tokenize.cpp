// Converts text to token ids and back with the tokenizer of a Hugging Face model folder. Input and output have one JSON
// value per line:
//
//     echo '"Hello, world"' | tokenize --tokenizer tests/data/gpt2 --input -
//     [15496,11,995]
//     echo '[15496,11,995]' | tokenize --tokenizer tests/data/gpt2 --input - --decode
//     "Hello, world"

#include "cairn/context.hpp"
#include "cairn/text/tokenizer.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

struct Options {
    std::string tokenizer;
    std::string input;
    bool decode = false;
    bool no_special = false;
};

json convert(const cairn::text::Tokenizer& tokenizer, const Options& options, const json& value) {
    if (options.decode) return tokenizer.decode(value.get<std::vector<std::int32_t>>());
    return tokenizer.encode(value.get_ref<const std::string&>(),
                            {.add_special = !options.no_special, .parse_special = !options.no_special});
}

bool is_id(const json& value) { return value.is_number_integer() && value == value.get<std::int32_t>(); }

bool is_expected(const Options& options, const json& value) {
    if (!options.decode) return value.is_string();
    return value.is_array() && std::all_of(value.begin(), value.end(), is_id);
}

void run(const Options& options) {
    const auto tokenizer = cairn::text::load_tokenizer(options.tokenizer);
    std::ifstream file;
    if (options.input != "-") {
        file.open(options.input);
        if (!file) throw std::runtime_error("the input cannot be read (" + options.input + ")");
    }
    std::istream& lines = options.input == "-" ? std::cin : file;
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
        const json value = json::parse(line, nullptr, /*allow_exceptions=*/false);
        if (!is_expected(options, value))
            throw std::runtime_error("expected " +
                                     std::string(options.decode ? "a JSON array of ids" : "a JSON string") + " (" +
                                     options.input + ":" + std::to_string(number) + ")");
        // Decoded bytes that are not UTF-8 are written as U+FFFD, since JSON cannot represent them.
        std::cout << convert(*tokenizer, options, value).dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
    }
    if (lines.bad()) throw std::runtime_error("the input cannot be read (" + options.input + ")");
    if (!std::cout.flush()) throw std::runtime_error("the output cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Turns text into token ids, one JSON value a line");
    app.set_version_flag("--version", app.get_description() + ", Cairn " + std::string(cairn::version()));
    app.add_option("--tokenizer", options.tokenizer, "folder of the tokenizer's files")->required();
    app.add_option("--input", options.input, "file of JSON strings, one a line; - is standard input")->required();
    app.add_flag("--decode", options.decode, "the inverse: arrays of ids in, strings out");
    app.add_flag("--no-special", options.no_special,
                 "add no special tokens, and read those written in the text as plain characters")
        ->excludes("--decode");
    try {
        app.parse(argc, argv);
        run(options);
    } catch (const CLI::Success& help) { return app.exit(help); } catch (const std::exception& error) {
        std::string message = error.what();
        std::replace(message.begin(), message.end(), '\n', ' ');
        std::cerr << "tokenize: " << message << '\n';
        return 2;
    }
}
