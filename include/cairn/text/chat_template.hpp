#pragma once

#include "cairn/text/tokenizer.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0::text {

/// A message of a conversation.
struct ChatMessage {
    std::string role;     ///< `system`, `user` or `assistant`; templates may know others
    std::string content;  ///< UTF-8
};

/// Options of a ChatTemplate.
struct ChatOptions {
    /// The text ends with the beginning of a message of the assistant, which the model continues.
    bool add_generation_prompt = true;
    /// The local time, which some templates write as the date (`strftime_now`). Without it such templates use a date of
    /// their own, or throw.
    std::optional<std::chrono::sys_seconds> now{};
    /// Flags that the template knows by name: `{"enable_thinking", false}` of Qwen 3.
    std::map<std::string, bool> flags{};
    /// Tokens written in messages (`<|im_end|>`) are those tokens, as transformers has it. By default they are plain
    /// characters, so that no message ends early, or speaks for another.
    bool parse_special_in_messages = false;
};

/// The format in which a model reads conversations: a Jinja template, as model folders and GGUF files contain it.
///
///     auto chat = load_chat_template("SmolLM2-135M-Instruct", *tokenizer);
///     auto ids = chat.encode({{{"user", "Hello"}}});
///
/// Knows what templates of language models use: output, `if`, `for`, `set`, `macro`, `break`, `continue`, `generation`,
/// whitespace control as `trim_blocks` and `lstrip_blocks`, namespaces, slices, conditional expressions, the filters
/// default, dictsort, first, indent, int, items, join, last, length, list, lower, map, reject, rejectattr, replace,
/// reverse, safe, select, selectattr, string, title, tojson, trim, unique, upper, and Python's methods of strings,
/// lists and dictionaries in use. Messages have a role and a content; there are no tools and documents. Others are
/// refused by name: those of the syntax when the template is read, unknown filters, functions and methods when they are
/// reached.
class CAIRN_API ChatTemplate {
public:
    /// Reads a template. `bos_token`, `eos_token`, `unk_token` and `pad_token` in it are those of the tokenizer, which
    /// must outlive the template. Throws Error (unsupported), naming the line, for what is not known.
    ChatTemplate(std::string_view jinja, const Tokenizer& tokenizer);

    /// The text of a conversation. Throws Error (argument) with the message of the template's `raise_exception`, for
    /// instance if roles do not alternate, or for a template that takes more than 4 million steps; unsupported as
    /// above.
    std::string text(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

    /// The ids of a conversation, without those that `EncodeOptions::add_special` would add: the template writes them.
    /// Throws as `text`.
    std::vector<std::int32_t> encode(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;

    /// The ids that end a message of the assistant: the `eos` of the tokenizer, and the first special token that the
    /// template writes behind such a message (`<|im_end|>`), if it does.
    std::vector<std::int32_t> ends() const;

private:
    struct Program;

    std::shared_ptr<const Program> program_;
    const Tokenizer* tokenizer_;
};

/// The template of a Hugging Face model folder: chat_template.jinja, or else `chat_template` of tokenizer_config.json,
/// of several the one named `default`. Throws Error: `file` if there is none or a file is malformed, and what
/// ChatTemplate throws.
CAIRN_API ChatTemplate load_chat_template(const std::filesystem::path& folder, const Tokenizer& tokenizer);

}  // namespace cairn::inline v0::text
