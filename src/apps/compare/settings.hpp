#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::compare {

/// What the implementations of a comparison do with a row of the data.
enum class Task {
    classify,  ///< a text to a label
    embed,     ///< a text to a vector
    generate,  ///< a text to the tokens that continue it, each the most likely one
    run        ///< the inputs of a graph to its outputs
};
/// `classify`, `embed`, `generate`, `run`.
std::string_view to_string(Task task);
/// The inverse of to_string; nothing for other texts.
std::optional<Task> parse_task(std::string_view text);

/// How an implementation is made.
enum class Kind {
    encoder,  ///< models::Encoder of a folder or a GGUF file
    decoder,  ///< models::Gpt2 or models::Llama of a folder or a GGUF file
    lexicon,  ///< models::Lexicon of a file of words and scores
    graph,    ///< a graph in text form, with its weights
    command   ///< a process that speaks JSON lines
};
std::string_view to_string(Kind kind);
std::optional<Kind> parse_kind(std::string_view text);

/// The data set: a file of JSON objects, one a line.
struct DataSettings {
    std::filesystem::path file;
    std::string text = "text";      ///< member with the text of a row
    std::string label = "label";    ///< member with the expected label; rows may lack it
    std::string inputs = "inputs";  ///< member with the inputs of a row, for Task::run
    std::int64_t limit = 0;         ///< rows that are used, the first ones; 0: all
};

/// What is measured, for all implementations alike.
struct MeasureSettings {
    std::int64_t warm_up = 3;                  ///< requests of each batch size before the first turn
    std::int64_t iterations = 20;              ///< timed requests of each batch size in a turn
    std::int64_t turns = 5;                    ///< in which the implementations alternate
    std::vector<std::int64_t> batch_sizes{1};  ///< rows of a request
    std::int64_t threads = 1;                  ///< of each implementation; in files all usable CPUs by default
    double timeout = 120;                      ///< seconds that a command may take for an answer
    std::int64_t max_length = 0;               ///< tokens of a text that are used; 0: what the model takes
    std::int64_t tokens = 16;                  ///< that Task::generate writes
    double tolerance = 1e-3;                   ///< relative L2 difference up to which vectors agree
};

/// One implementation.
struct ImplementationSettings {
    std::string name;
    Kind kind = Kind::command;
    std::filesystem::path model{};                  ///< folder or file; of a command it only counts in the digest
    std::filesystem::path weights{};                ///< of Kind::graph
    std::vector<std::string> labels{};              ///< of Kind::graph: names of the elements of its output
    bool batched = true;                            ///< Kind::graph: a first axis of rows is added to the inputs
    double negative_below = 0, positive_above = 0;  ///< Kind::lexicon: the thresholds of the mean score
    std::string mode = "off";                       ///< of Cairn's kinds: as `cairn --mode`
    double tolerance = 0;                           ///< of Cairn's kinds; 0: exact
    std::vector<std::string> command{};             ///< program and arguments
    /// New names for labels of its answers, so that they are those of the data.
    std::map<std::string, std::string> rename_labels{};

    bool is_in_process() const { return kind != Kind::command; }
};

/// A comparison, as its file states it. Paths are relative to the folder of that file.
struct Settings {
    std::string title;
    Task task = Task::classify;
    DataSettings data;
    MeasureSettings measure;
    std::vector<ImplementationSettings> implementations;
    std::filesystem::path folder;  ///< in which commands run
};

/// Reads a TOML file. Throws Error(file) for a file that cannot be read, is not TOML, lacks an entry or has a wrong
/// one; the message names file and line, and for an unknown key the nearest known one.
Settings read_settings(const std::filesystem::path& path);

}  // namespace cairn::compare
