#include "tests/house/mirror.hpp"

#include "tests/house/source.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace cairn::house {
namespace {

constexpr std::size_t most_untested_lines = 60;

constexpr CoveredElsewhere exceptions[] = {
    {"src/check/guarded_tensor.cpp", "tests/check/check_kernel_test.cpp", "kernels that touch what they may not"},
    {"src/check/variation.cpp", "tests/check/check_kernel_test.cpp", "counts what a right kernel is tried on"},
    {"src/cli/flow_dot.cpp", "tests/cli/explain_test.cpp", "what --dot writes, read back"},
    {"src/cli/help_format.cpp", "tests/cli/command_test.cpp", "the help of every command"},
    {"src/cli/report_style.cpp", "tests/cli/report_test.cpp", "a style for every class that is drawn"},
    {"src/cli/study.cpp", "tests/cli/report_test.cpp", "a page of a run, as the command writes it"},
    {"src/cli/time_chart.cpp", "tests/cli/report_test.cpp", "sums by kernel, and their bars"},
    {"src/cli/ways_table.cpp", "tests/cli/report_test.cpp", "what only one of two ways has"},
    {"src/composites/channel_norms.cpp", "tests/composites/onnx_test.cpp", "cases of the ONNX reference"},
    {"src/composites/convolution.cpp", "tests/composites/onnx_test.cpp", "cases of the ONNX reference"},
    {"src/composites/pooling.cpp", "tests/composites/onnx_test.cpp", "cases of the ONNX reference"},
    {"src/fuse/match.cpp", "tests/fuse/propose_test.cpp", "spellings and near misses of every definition"},
    {"src/ir/call.cpp", "tests/errors/op_errors_test.cpp", "each op's wrong operands, by message"},
    {"src/ir/infer_indexing.cpp", "tests/ir/infer_test.cpp", "shapes of the indexing ops"},
    {"src/ir/infer_movement.cpp", "tests/ir/infer_test.cpp", "shapes of the movement ops"},
    {"src/ir/leaves.cpp", "tests/errors/graph_errors_test.cpp", "each leaf's wrong calls, by message"},
    {"src/ir/ops_indexing.cpp", "tests/ir/infer_test.cpp", "axes and shapes as users write them"},
    {"src/ir/ops_movement.cpp", "tests/ir/infer_test.cpp", "axes and shapes as users write them"},
    {"src/ir/quoted_text.cpp", "tests/ir/names_test.cpp", "good and broken quotes"},
    {"src/ir/shape_rule.cpp", "tests/ir/infer_test.cpp", "broadcasting and missing sizes"},
    {"src/meaning/elementwise.cpp", "tests/meaning/interpret_test.cpp", "hand-computed values of every op"},
    {"src/meaning/indexing.cpp", "tests/meaning/interpret_test.cpp", "hand-computed values of every op"},
    {"src/meaning/reduction.cpp", "tests/meaning/interpret_test.cpp", "hand-computed values of every op"},
    {"src/meaning/scan.cpp", "tests/meaning/interpret_test.cpp", "hand-computed values of every op"},
    {"src/meaning/value.cpp", "tests/meaning/interpret_test.cpp", "values of every dtype go through it"},
    {"src/models/blocks.cpp", "tests/models/gpt2_test.cpp", "logits of the reference model"},
    {"src/models/distilbert_graph.cpp", "tests/models/distilbert_test.cpp", "logits of the reference model"},
    {"src/models/gpt2_graph.cpp", "tests/models/gpt2_test.cpp", "logits of the reference model"},
    {"src/pipeline/compile.cpp", "tests/pipeline/random_graphs_test.cpp",
     "what compiled graphs compute, by every option"},
    {"src/program/parse.cpp", "tests/program/text_test.cpp", "round trips and mutilated texts"},
    {"src/program/print.cpp", "tests/program/text_test.cpp", "round trips"},
    {"src/program/verify.cpp", "tests/pipeline/seeded_faults_test.cpp", "programs with one fault each"},
    {"src/program/verify_sizes.cpp", "tests/pipeline/load_test.cpp", "saved programs with wrong sizes"},
    {"src/runtime/compiled_graph_states.cpp", "tests/runtime/states_test.cpp", "reading, setting and zeroing states"},
    {"src/runtime/explain.cpp", "tests/pipeline/explanation_test.cpp",
     "instructions, buffers and names of every choice"},
    {"src/runtime/instance.cpp", "tests/runtime/compiled_graph_test.cpp", "runs, and calls that are wrong"},
    {"src/runtime/memory_report.cpp", "tests/program/peak_test.cpp", "what is reported is what runs take"},
    {"src/runtime/program_set.cpp", "tests/runtime/frame_test.cpp", "operands, sizes and workspaces as linked"},
    {"src/runtime/save.cpp", "tests/runtime/compiled_graph_test.cpp", "saved, loaded and damaged files"},
    {"src/runtime/state_slot.cpp", "tests/runtime/states_test.cpp", "contents and lengths of states"},
    {"src/runtime/verify_set.cpp", "tests/pipeline/load_test.cpp", "files that do not fit"},
    {"src/select/locked.cpp", "tests/pipeline/replay_test.cpp", "locks of cut searches, replayed"},
    {"src/simplify/rewriter.cpp", "tests/simplify/simplify_test.cpp", "fixed points, chases and wrong replacements"},
    {"src/text/added_tokens.cpp", "tests/text/byte_level_bpe_test.cpp", "special tokens in the text"},
    {"src/text/frame.cpp", "tests/text/byte_level_bpe_test.cpp", "lengths and pairs"},
    {"src/text/post_processor.cpp", "tests/text/transformers5_test.cpp", "folders as that library saves them"},
    {"src/text/tokenizer_config.cpp", "tests/text/load_tokenizer_test.cpp", "bad configurations, by message"},
    {"src/text/tokenizer_json.cpp", "tests/text/load_tokenizer_test.cpp", "malformed files, by message"},
    {"src/text/tokenizer_parts.cpp", "tests/text/tokenizer_class_test.cpp", "special and added tokens of folders"},
    {"src/text/vocabulary_files.cpp", "tests/text/load_tokenizer_test.cpp", "bad merges and vocabularies, by message"},
    {"src/select/reasons.cpp", "tests/pipeline/explanation_test.cpp", "what a user reads of every choice"},
    {"src/select/tile_problems.cpp", "tests/select/candidates_test.cpp",
     "what kernels are asked for tiles of every kind"},
    {"src/search/keep.cpp", "tests/search/reduce_test.cpp", "which alternatives stay, and which become one"},
    {"src/timing/check_file.cpp", "tests/timing/timing_file_test.cpp", "rows that are none, and those that go"},
    {"src/timing/exchange.cpp", "tests/timing/timing_file_test.cpp", "text, copies, unions, differences"},
    {"src/timing/row_line.cpp", "tests/timing/timing_file_test.cpp", "text there and back, and wrong text"},
    {"src/timing/row_reader.cpp", "tests/timing/rows_test.cpp", "nonsense in the file"},
    {"src/timing/row_writer.cpp", "tests/timing/timing_db_test.cpp", "what is found again"},
    {"src/timing/sqlite_file.cpp", "tests/timing/database_test.cpp", "locked, full, damaged and deleted files"},
    {"src/types/dim_divide.cpp", "tests/types/dim_test.cpp", "random sizes evaluate as written"},
    {"src/types/dim_minmax.cpp", "tests/types/dim_test.cpp", "random sizes evaluate as written"},
    {"src/types/dim_table.cpp", "tests/types/dim_test.cpp", "threads that intern the same"},
    {"src/types/polynomial.cpp", "tests/types/dim_test.cpp", "laws of rings, and overflow"},
    {"src/types/problem_parse.cpp", "tests/types/problem_text_test.cpp", "round trips and damaged texts"},
    {"src/types/problem_print.cpp", "tests/types/problem_text_test.cpp", "round trips"},
    {"src/types/text_cursor.cpp", "tests/types/problem_text_test.cpp", "wrong texts, by message and column"},
    {"src/weights/shard_index.cpp", "tests/weights/safetensors_test.cpp", "indexes that are wrong"},
};

/// `tests/plan/pack_test.cpp` of `src/plan/pack.cpp`.
std::string mirror_of(std::string_view source) {
    constexpr std::string_view root = "src", suffix = ".cpp";
    return "tests" + std::string(source.substr(root.size(), source.size() - root.size() - suffix.size())) + "_test.cpp";
}

bool is_in_a_room(std::string_view path) { return is_under(path, "src") && path.ends_with(".cpp"); }

}  // namespace

std::span<const CoveredElsewhere> covered_elsewhere() { return exceptions; }

Faults untested_sources(const Tree& tree, std::span<const CoveredElsewhere> exceptions) {
    std::set<std::string, std::less<>> files, untested;
    for (const File& file : tree) files.insert(file.path);
    for (const File& file : tree)
        if (is_in_a_room(file.path) && lines_of(file.text).size() > most_untested_lines &&
            !files.contains(mirror_of(file.path)))
            untested.insert(file.path);
    Faults faults;
    for (const CoveredElsewhere& exception : exceptions) {
        if (!files.contains(exception.test))
            faults.push_back(std::string(exception.source) + ": " + std::string(exception.test) + " is not there");
        if (const auto it = untested.find(exception.source); it != untested.end())
            untested.erase(it);
        else
            faults.push_back(std::string(exception.source) + ": needs no exception");
    }
    for (const std::string& path : untested) faults.push_back(path + ": " + mirror_of(path) + " is not there");
    return faults;
}

}  // namespace cairn::house
