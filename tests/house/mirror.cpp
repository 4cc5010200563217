#include "tests/house/mirror.hpp"

#include "tests/house/source.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace cairn::house {
namespace {

constexpr std::size_t max_untested_lines = 60;

constexpr CoveredElsewhere exceptions[] = {
    {"src/accuracy/kernel_check/kernel_checker.cpp", "tests/accuracy/kernel_check/check_kernel_test.cpp",
     "wrong kernels of every kind"},
    {"src/accuracy/kernel_check/problem_variations.cpp", "tests/accuracy/kernel_check/check_kernel_test.cpp",
     "counts what a right kernel is tried on"},
    {"src/apps/cli/graphviz_text.cpp", "tests/apps/cli/explain_test.cpp", "what --dot writes, read back"},
    {"src/apps/console/help_format.cpp", "tests/apps/cli/command_test.cpp", "the help of every command"},
    {"src/apps/cli/open_database.cpp", "tests/apps/cli/db_maintenance_test.cpp", "databases, and what `here` keeps"},
    {"src/apps/cli/report_style.cpp", "tests/apps/cli/report_test.cpp", "a style for every class that is drawn"},
    {"src/apps/cli/report_data.cpp", "tests/apps/cli/report_test.cpp", "a page of a run, as the command writes it"},
    {"src/apps/cli/time_chart.cpp", "tests/apps/cli/report_test.cpp", "sums by kernel, and their bars"},
    {"src/apps/cli/alternatives_table.cpp", "tests/apps/cli/report_test.cpp", "what only one of two alternatives has"},
    {"src/apps/compare/graph_model.cpp", "tests/apps/compare/run_compare_test.cpp", "graphs with rows and without"},
    {"src/apps/compare/in_process.cpp", "tests/apps/compare/run_compare_test.cpp", "the embedded models"},
    {"src/apps/compare/library_models.cpp", "tests/apps/compare/run_compare_test.cpp", "the embedded models"},
    {"src/apps/compare/report_cells.cpp", "tests/apps/compare/report_test.cpp", "texts and pages of a report"},
    {"src/apps/compare/report_json.cpp", "tests/apps/compare/report_test.cpp", "reports against their schema"},
    {"src/graph/composites/channel_norms.cpp", "tests/graph/composites/onnx_test.cpp", "cases of the ONNX reference"},
    {"src/graph/composites/convolution.cpp", "tests/graph/composites/onnx_test.cpp", "cases of the ONNX reference"},
    {"src/graph/composites/pooling.cpp", "tests/graph/composites/onnx_test.cpp", "cases of the ONNX reference"},
    {"src/fusion/matcher.cpp", "tests/fusion/propose_test.cpp", "equivalent forms and near misses of every definition"},
    {"src/graph/ir/op_builder.cpp", "tests/errors/op_errors_test.cpp", "each op's wrong operands, by message"},
    {"src/graph/ir/infer_indexing.cpp", "tests/graph/ir/infer_test.cpp", "shapes of the indexing ops"},
    {"src/graph/ir/infer_movement.cpp", "tests/graph/ir/infer_test.cpp", "shapes of the movement ops"},
    {"src/graph/ir/graph_inputs.cpp", "tests/errors/graph_errors_test.cpp", "each leaf's wrong calls, by message"},
    {"src/graph/ir/ops_indexing.cpp", "tests/graph/ir/infer_test.cpp", "axes and shapes as users write them"},
    {"src/graph/ir/ops_movement.cpp", "tests/graph/ir/infer_test.cpp", "axes and shapes as users write them"},
    {"src/graph/ir/json_string.cpp", "tests/graph/ir/valid_names_test.cpp", "good and broken quotes"},
    {"src/graph/ir/inference_context.cpp", "tests/graph/ir/infer_test.cpp", "broadcasting and missing sizes"},
    {"src/graph/interpreter/elementwise.cpp", "tests/graph/interpreter/interpreter_test.cpp",
     "hand-computed values of every op"},
    {"src/graph/interpreter/indexing.cpp", "tests/graph/interpreter/interpreter_test.cpp",
     "hand-computed values of every op"},
    {"src/graph/interpreter/reduction.cpp", "tests/graph/interpreter/interpreter_test.cpp",
     "hand-computed values of every op"},
    {"src/graph/interpreter/scan.cpp", "tests/graph/interpreter/interpreter_test.cpp",
     "hand-computed values of every op"},
    {"src/graph/interpreter/evaluation.cpp", "tests/graph/interpreter/interpreter_test.cpp",
     "values of every dtype go through it"},
    {"src/apps/models/blocks.cpp", "tests/apps/models/gpt2_test.cpp", "logits of the reference model"},
    {"src/apps/models/decoder.cpp", "tests/apps/models/gpt2_test.cpp", "prefill, decode, rows and generation"},
    {"src/apps/models/decoder_graph.cpp", "tests/apps/models/gpt2_test.cpp", "prefill, decode, rows and generation"},
    {"src/apps/models/adapter_bank.cpp", "tests/apps/models/adapter_test.cpp", "adapters of the reference models"},
    {"src/apps/models/adapter_fit.cpp", "tests/apps/models/adapter_test.cpp", "adapters of other models"},
    {"src/apps/models/adapter_merge.cpp", "tests/apps/models/adapter_test.cpp", "merged adapters"},
    {"src/apps/models/gguf_adapter.cpp", "tests/apps/models/lora_adapter_test.cpp", "files of llama.cpp"},
    {"src/apps/models/peft_folder.cpp", "tests/apps/models/lora_adapter_test.cpp", "folders of PEFT"},
    {"src/apps/models/llama_config.cpp", "tests/apps/models/llama_test.cpp", "configurations of the reference models"},
    {"src/apps/models/llama_graph.cpp", "tests/apps/models/llama_test.cpp", "logits of the reference models"},
    {"src/apps/models/llama_weights.cpp", "tests/apps/models/llama_test.cpp", "tensors of the reference models"},
    {"src/apps/models/encoder_graph.cpp", "tests/apps/models/encoder_test.cpp", "outputs of the reference models"},
    {"src/apps/models/encoder_names.cpp", "tests/apps/models/encoder_test.cpp", "tensors of the reference models"},
    {"src/apps/models/encoder_weights.cpp", "tests/apps/models/encoder_test.cpp", "tensors of the reference models"},
    {"src/apps/models/denoiser_blocks.cpp", "tests/apps/models/denoiser_test.cpp", "outputs of the reference models"},
    {"src/apps/models/diffusion_sampler.cpp", "tests/apps/models/noise_schedule_test.cpp", "steps of the reference"},
    {"src/apps/models/dit.cpp", "tests/apps/models/diffusion_config_test.cpp", "configurations, good and wrong"},
    {"src/apps/models/dit_graph.cpp", "tests/apps/models/denoiser_test.cpp", "outputs of the reference models"},
    {"src/apps/models/unet_config.cpp", "tests/apps/models/diffusion_config_test.cpp", "configurations, good and wrong"},
    {"src/apps/models/unet_graph.cpp", "tests/apps/models/denoiser_test.cpp", "outputs of the reference models"},
    {"src/apps/models/unet_layout.cpp", "tests/apps/models/denoiser_test.cpp", "tensors of the reference models"},
    {"src/apps/models/sentence_modules.cpp", "tests/apps/models/encoder_config_test.cpp", "folders with modules.json"},
    {"src/apps/models/gpt2_graph.cpp", "tests/apps/models/gpt2_test.cpp", "logits of the reference model"},
    {"src/device/cuda/bound_launch.cpp", "tests/device/cuda/cuda_commands_test.cpp", "parameters of launches, copies"},
    {"src/device/cuda/cuda_compiler.cpp", "tests/device/cuda/cuda_backend_test.cpp",
     "texts, modules, and texts that fail"},
    {"src/device/cuda/cuda_device.cpp", "tests/device/cuda/cuda_backend_test.cpp",
     "properties, and the host's context"},
    {"src/device/cuda/program_arguments.cpp", "tests/device/cuda/cuda_commands_test.cpp", "symbols and failures"},
    {"src/driver/make_context.cpp", "tests/driver/context_test.cpp", "contexts and options that are refused"},
    {"src/driver/compile.cpp", "tests/driver/random_graphs_test.cpp", "what compiled graphs compute, by every option"},
    {"src/program/parse.cpp", "tests/program/text_test.cpp", "round trips and mutilated texts"},
    {"src/program/print.cpp", "tests/program/text_test.cpp", "round trips"},
    {"src/program/verify.cpp", "tests/driver/seeded_faults_test.cpp", "programs with one fault each"},
    {"src/program/verify_sizes.cpp", "tests/driver/load_test.cpp", "saved programs with wrong sizes"},
    {"src/runtime/compiled_graph_states.cpp", "tests/runtime/states_test.cpp", "reading, setting and zeroing states"},
    {"src/runtime/explain.cpp", "tests/driver/explanation_test.cpp", "instructions, buffers and names of every choice"},
    {"src/runtime/instance.cpp", "tests/runtime/compiled_graph_test.cpp", "runs, and calls that are wrong"},
    {"src/runtime/memory_report.cpp", "tests/program/peak_memory_test.cpp", "what is reported is what runs take"},
    {"src/runtime/program_set.cpp", "tests/runtime/frame_test.cpp", "operands, sizes and workspaces as linked"},
    {"src/runtime/save.cpp", "tests/runtime/compiled_graph_test.cpp", "saved, loaded and damaged files"},
    {"src/runtime/state_slot.cpp", "tests/runtime/states_test.cpp", "contents and lengths of states"},
    {"src/runtime/verify_set.cpp", "tests/driver/load_test.cpp", "files that do not fit"},
    {"src/selection/choose/lock_replay.cpp", "tests/driver/replay_test.cpp", "locks of cut searches, replayed"},
    {"src/rewrite/normal_form/masks.cpp", "tests/rewrite/normal_form/arithmetic_test.cpp",
     "added masks, and masks that add up"},
    {"src/rewrite/simplify/rewriter.cpp", "tests/rewrite/simplify/simplify_test.cpp",
     "fixed points, chases and wrong replacements"},
    {"src/apps/text/json_parts.cpp", "tests/apps/text/load_tokenizer_test.cpp",
     "members, types and roles of tokenizer.json"},
    {"src/apps/text/added_tokens.cpp", "tests/apps/text/byte_level_bpe_test.cpp", "special tokens in the text"},
    {"src/apps/text/bpe_json.cpp", "tests/apps/text/load_tokenizer_test.cpp", "malformed files, by message"},
    {"src/apps/text/byte_level_json.cpp", "tests/apps/text/load_tokenizer_test.cpp", "unsupported steps, by message"},
    {"src/apps/text/character_bpe_json.cpp", "tests/apps/text/load_tokenizer_test.cpp",
     "unsupported steps, by message"},
    {"src/apps/text/character_kinds.cpp", "tests/apps/text/word_length_test.cpp", "runs of characters, by words"},
    {"src/apps/text/word_match.cpp", "tests/apps/text/word_length_test.cpp", "words of random texts"},
    {"src/apps/text/word_rules.cpp", "tests/apps/text/word_length_test.cpp", "names and expressions"},
    {"src/apps/jinja/builtins.cpp", "tests/apps/text/chat_template_test.cpp", "filters and tests, as Jinja2 has them"},
    {"src/apps/jinja/lexer.cpp", "tests/apps/text/chat_template_test.cpp", "white space, strings and faults"},
    {"src/apps/jinja/marked_text.cpp", "tests/apps/text/chat_template_test.cpp", "marks after operations"},
    {"src/apps/jinja/methods.cpp", "tests/apps/text/chat_template_test.cpp", "methods, as Jinja2 has them"},
    {"src/apps/jinja/operators.cpp", "tests/apps/text/chat_template_test.cpp", "operators, as Jinja2 has them"},
    {"src/apps/jinja/parser.cpp", "tests/apps/text/chat_template_test.cpp", "syntax, nested templates and faults"},
    {"src/apps/jinja/render.cpp", "tests/apps/text/chat_template_test.cpp", "conversations, as transformers has them"},
    {"src/apps/jinja/value.cpp", "tests/apps/text/chat_template_test.cpp", "values as text and as JSON"},
    {"src/apps/text/class_defaults.cpp", "tests/apps/text/tokenizer_class_test.cpp",
     "files that versions read differently"},
    {"src/apps/text/template_processor.cpp", "tests/apps/text/byte_level_bpe_test.cpp", "lengths and pairs"},
    {"src/apps/text/post_processor.cpp", "tests/apps/text/transformers5_test.cpp",
     "folders as that library saves them"},
    {"src/apps/text/tokenizer_config.cpp", "tests/apps/text/load_tokenizer_test.cpp", "bad configurations, by message"},
    {"src/apps/text/tokenizer_parts.cpp", "tests/apps/text/tokenizer_class_test.cpp",
     "special and added tokens of folders"},
    {"src/apps/text/unigram_classes.cpp", "tests/apps/text/tokenizer_class_test.cpp",
     "files that versions read differently"},
    {"src/apps/text/pipeline_json.cpp", "tests/apps/text/unigram_json_test.cpp", "unsupported parts, by message"},
    {"src/apps/text/vocabulary_files.cpp", "tests/apps/text/load_tokenizer_test.cpp",
     "bad merges and vocabularies, by message"},
    {"src/apps/text/word_piece_json.cpp", "tests/apps/text/word_piece_test.cpp", "unsupported shapes, by message"},
    {"src/selection/explain/explainer.cpp", "tests/driver/explanation_test.cpp", "what a user reads of every choice"},
    {"src/selection/candidates/match_problems.cpp", "tests/selection/candidates/candidates_test.cpp",
     "problems of matches of every kind"},
    {"src/selection/search/dominance.cpp", "tests/selection/search/presolve_test.cpp",
     "which alternatives stay, and which become one"},
    {"src/autotune/database/check_file.cpp", "tests/autotune/database/timing_file_test.cpp",
     "rows that are none, and those that go"},
    {"src/autotune/database/import_export.cpp", "tests/autotune/database/timing_file_test.cpp",
     "text, copies, unions, differences"},
    {"src/autotune/database/row_json.cpp", "tests/autotune/database/timing_file_test.cpp",
     "text there and back, and wrong text"},
    {"src/autotune/database/row_reader.cpp", "tests/autotune/database/rows_test.cpp", "invalid rows in the file"},
    {"src/autotune/database/row_writer.cpp", "tests/autotune/database/timing_db_test.cpp", "what is found again"},
    {"src/autotune/database/sqlite_file.cpp", "tests/autotune/database/database_test.cpp",
     "locked, full, damaged and deleted files"},
    {"src/graph/types/dim_divide.cpp", "tests/graph/types/dim_test.cpp", "random sizes evaluate as written"},
    {"src/graph/types/dim_minmax.cpp", "tests/graph/types/dim_test.cpp", "random sizes evaluate as written"},
    {"src/graph/types/dim_table.cpp", "tests/graph/types/dim_test.cpp", "threads that intern the same"},
    {"src/graph/types/polynomial.cpp", "tests/graph/types/dim_test.cpp", "laws of rings, and overflow"},
    {"src/graph/types/problem_parse.cpp", "tests/graph/types/problem_text_test.cpp", "round trips and damaged texts"},
    {"src/graph/types/problem_print.cpp", "tests/graph/types/problem_text_test.cpp", "round trips"},
    {"src/graph/types/text_cursor.cpp", "tests/graph/types/problem_text_test.cpp",
     "wrong texts, by message and column"},
    {"src/apps/models/gguf_metadata.cpp", "tests/apps/models/gguf_model_test.cpp", "configurations and vocabularies"},
    {"src/apps/models/gguf_names.cpp", "tests/apps/models/gguf_model_test.cpp",
     "models of one file beside their folders"},
    {"src/io/weights/gguf_header.cpp", "tests/io/weights/gguf_test.cpp",
     "every fault of a file, truncated and mutated"},
    {"src/io/onnx_file/message_reader.cpp", "tests/io/onnx_file/model_reader_test.cpp",
     "wire types other than those of a field"},
    {"src/io/onnx_import/importer.cpp", "tests/io/onnx_import/import_test.cpp", "inputs, functions, graphs, reports"},
    {"src/io/onnx_import/model_weights.cpp", "tests/io/onnx_import/import_test.cpp", "views of a file, and copies"},
    {"src/io/onnx_import/size_names.cpp", "tests/io/onnx_import/import_test.cpp", "names, bounds and multiples"},
    {"src/io/onnx_node/node.cpp", "tests/io/onnx_import/mutated_import_test.cpp", "attributes and inputs of any kind"},
    {"src/io/onnx_node/value.cpp", "tests/io/onnx_import/operators_page_test.cpp", "values of each kind"},
    {"src/io/onnx_operators/", "tests/io/onnx_import/operators_page_test.cpp", "the node cases of every operator"},
    {"src/apps/cli/import_options.cpp", "tests/apps/cli/import_test.cpp", "sizes and values, right and wrong"},
    {"src/apps/cli/run.cpp", "tests/apps/cli/import_test.cpp", "a graph that import wrote"},
    {"src/io/weights/tensor_table.cpp", "tests/io/weights/safetensors_test.cpp",
     "views, copies, released pages, fingerprints"},
    {"src/io/weights/shard_index.cpp", "tests/io/weights/safetensors_test.cpp", "indexes that are wrong"},
};

/// Path of the test of a source: `tests/program/memory_plan/pack_test.cpp` for `src/program/memory_plan/pack.cpp`.
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
        if (is_in_a_room(file.path) && lines_of(file.text).size() > max_untested_lines &&
            !files.contains(mirror_of(file.path)))
            untested.insert(file.path);
    Faults faults;
    for (const CoveredElsewhere& exception : exceptions) {
        if (!files.contains(exception.test))
            faults.push_back(std::string(exception.source) + ": " + std::string(exception.test) + " is not there");
        const auto is_covered = [&](const std::string& path) {
            return exception.source.ends_with('/') ? path.starts_with(exception.source) : path == exception.source;
        };
        if (std::erase_if(untested, is_covered) == 0)
            faults.push_back(std::string(exception.source) + ": needs no exception");
    }
    for (const std::string& path : untested) faults.push_back(path + ": " + mirror_of(path) + " is not there");
    return faults;
}

}  // namespace cairn::house
