// Writes text with a Llama or a relative (Mistral, SmolLM, Qwen 2 and 3, Gemma 3), or talks with it: from a model
// folder in Hugging Face's layout, or a .gguf file.
//
//     llama --model SmolLM2-135M-Instruct.Q4_1.gguf --user "What is a cairn?" --greedy
//     llama --model DIR --system "You are terse." --chat
//     llama --model DIR --prompt "Once upon a time" --tokens 100 --temperature 0.8 --top-k 40 --speed
//     llama --model DIR --explain

#include "cairn/models/llama.hpp"
#include "cairn/text/chat_template.hpp"
#include "cairn/text/stream_decoder.hpp"
#include "examples/logit_output.hpp"
#include "examples/sampling_options.hpp"
#include "examples/support.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

namespace {

using cairn::models::Llama;
using cairn::text::ChatMessage;
using Ids = std::vector<std::int32_t>;

struct Options {
    support::Options support;
    sampling::Options sampling;
    std::string model, prompt, system;
    std::vector<std::string> user;
    std::int64_t tokens = 256, capacity = 2048;
    bool chat = false, print_ids = false, speed = false, no_thinking = false;
};

void add_options(CLI::App& app, Options& options) {
    app.add_option("--model", options.model,
                   "folder with config.json, model.safetensors and tokenizer files, or a .gguf file")
        ->required();
    app.add_option("--prompt", options.prompt, "text to continue, without a chat template");
    app.add_option("--system", options.system, "message of the system, before the conversation");
    app.add_option("--user", options.user, "messages of the user; the model answers each")->allow_extra_args(false);
    app.add_flag("--chat", options.chat, "the lines of standard input are messages of the user, after those of --user");
    app.add_flag("--no-thinking", options.no_thinking, "for templates with the flag enable_thinking: answer at once");
    app.add_option("--tokens", options.tokens, "most tokens of an answer")->check(support::at_least(1));
    app.add_option("--capacity", options.capacity, "most tokens of the conversation; at most the model's positions")
        ->check(support::at_least(1));
    sampling::add_options(app, options.sampling);
    app.add_flag("--print-ids", options.print_ids, "print the new token ids behind each answer");
    app.add_flag("--speed", options.speed, "print tokens and seconds to standard error");
    support::add_options(app, options.support);
}

cairn::models::DecoderOptions decoder_options(const Options& options, const cairn::models::LlamaConfig& config) {
    return {.capacity = std::min(options.capacity, config.positions)};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A text that grows: what the model has in its cache.
class Writer {
public:
    Writer(Llama& model, const cairn::text::Tokenizer& tokenizer, const Options& options)
        : model_(model), tokenizer_(tokenizer), options_(options), sampler_(sampling::sampler(options.sampling)) {}

    /// Continues `text` up to one of `ends`, and prints the new tokens. Returns their text.
    std::string answer(const Ids& text, const Ids& ends) {
        const auto room = model_.capacity() - static_cast<std::int64_t>(text.size());
        if (text.empty() || room < 1)
            throw cairn::Error(cairn::ErrorKind::argument, "llama",
                               std::to_string(text.size()) + " tokens of text leave no room for an answer in " +
                                   std::to_string(model_.capacity()) + ": raise --capacity");
        // What the last answer left in the cache is read again only from where the texts differ.
        const auto known = std::mismatch(cached_.begin(), cached_.end(), text.begin(), text.end() - 1).first;
        cached_.erase(known, cached_.end());
        const std::size_t read = text.size() - cached_.size();
        model_.rewind(static_cast<std::int64_t>(cached_.size()));
        const auto started = std::chrono::steady_clock::now();
        std::span<const float> logits = forward(std::span(text).subspan(cached_.size()));
        const double read_seconds = seconds_since(started);
        Ids answer;
        cairn::text::StreamDecoder stream(tokenizer_);
        std::string written;
        const auto print = [&](const std::string& piece) {
            std::cout << piece << std::flush;
            written += piece;
        };
        for (std::int64_t i = 0; i < std::min(options_.tokens, room); ++i) {
            if (i > 0) logits = forward({&answer.back(), 1});
            const std::int32_t next = sampler_.sample(logits, cached_);
            if (!options_.sampling.ignore_eos && std::ranges::find(ends, next) != ends.end()) break;
            answer.push_back(next);
            print(stream.push(next));
        }
        print(stream.finish());
        std::cout << '\n';
        if (options_.print_ids) {
            std::cout << "ids:";
            for (const std::int32_t id : answer) std::cout << ' ' << id;
            std::cout << '\n';
        }
        if (options_.speed) {
            const double all = seconds_since(started), rest = std::max(all - read_seconds, 1e-9);
            std::fprintf(stderr, "%zu tokens read in %.3f s (%.1f/s), %zu written in %.3f s (%.1f/s)\n", read,
                         read_seconds, static_cast<double>(read) / read_seconds, answer.size(), rest,
                         static_cast<double>(answer.size()) / rest);
        }
        return written;
    }

private:
    std::span<const float> forward(std::span<const std::int32_t> ids) {
        const std::span<const float> logits = model_.forward(ids);
        logit_output::check_finite("llama", logits);
        cached_.insert(cached_.end(), ids.begin(), ids.end());
        return logits;
    }

    Llama& model_;
    const cairn::text::Tokenizer& tokenizer_;
    const Options& options_;
    cairn::text::Sampler sampler_;
    Ids cached_;
};

void converse(Writer& writer, const cairn::text::ChatTemplate& chat, const Options& options) {
    std::vector<ChatMessage> messages;
    if (!options.system.empty()) messages.push_back({"system", options.system});
    cairn::text::ChatOptions format{.now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())};
    if (options.no_thinking) format.flags["enable_thinking"] = false;
    const Ids ends = chat.ends();
    const auto reply = [&](const std::string& text) {
        messages.push_back({"user", text});
        messages.push_back({"assistant", writer.answer(chat.encode(messages, format), ends)});
    };
    for (const std::string& text : options.user) reply(text);
    for (std::string line; options.chat && std::getline(std::cin, line);) reply(line);
}

void check_options(const CLI::App& app, const Options& options) {
    support::refuse_without_effect(app, options.support);
    sampling::refuse_without_effect(app, options.sampling);
    const bool speaks = options.chat || !options.user.empty();
    const bool only_explains = support::explains_selection(options.support) || !options.support.save_graph.empty();
    if (!options.prompt.empty())
        support::refuse_given(app, {"--system", "--user", "--chat", "--no-thinking"},
                              "--prompt is continued without a chat template");
    if (only_explains) {
        support::refuse_given(app, {"--prompt", "--system", "--user", "--chat", "--tokens", "--print-ids", "--speed"},
                              "--explain, --why-not and --save-graph write no text");
        sampling::refuse_given(app, "--explain, --why-not and --save-graph write no text");
    } else if (options.prompt.empty() && !speaks) {
        throw cairn::Error(cairn::ErrorKind::argument, "llama", "give --prompt, --user or --chat");
    }
}

void run(const Options& options) {
    const auto config = cairn::models::LlamaConfig::of_model(options.model);
    const cairn::models::DecoderOptions decoder = decoder_options(options, config);
    const auto graph = [&] {
        return cairn::models::llama_graph(config, cairn::models::llama_weights(config, options.model), decoder);
    };
    if (!options.support.save_graph.empty()) return support::save_graph(options.support.save_graph, graph());
    const auto tokenizer = cairn::models::model_tokenizer(options.model);
    std::optional<cairn::text::ChatTemplate> chat;
    if (options.prompt.empty() && !support::explains_selection(options.support))
        chat.emplace(cairn::models::model_chat_template(options.model, *tokenizer));
    const cairn::Context context = support::make_context(options.support);
    support::ProgressDisplay display(options.support.no_progress);
    Llama model = Llama::load(options.model, context, decoder, support::compile_options(options.support, display),
                              support::cache_folder(options.support));
    display.finish();
    if (support::explains_selection(options.support))
        return support::print_explanation(options.support, model.compiled(), graph());
    Writer writer(model, *tokenizer, options);
    if (chat) return converse(writer, *chat, options);
    Ids ends;
    if (tokenizer->special().eos) ends.push_back(*tokenizer->special().eos);
    std::cout << options.prompt;
    writer.answer(tokenizer->encode(options.prompt), ends);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Writes text with a Llama, or talks with it");
    support::add_version_and_defaults(app);
    add_options(app, options);
    return support::guarded(app, argc, argv, [&] {
        check_options(app, options);
        run(options);
    });
}
