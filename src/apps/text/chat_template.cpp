#include "cairn/text/chat_template.hpp"

#include "apps/jinja/render.hpp"
#include "apps/jinja/time_text.hpp"
#include "apps/text/file_errors.hpp"
#include "apps/text/json_file.hpp"

#include <algorithm>
#include <utility>

namespace cairn::inline v0::text {

struct ChatTemplate::Program {
    std::vector<jinja::Statement> statements;
    std::vector<std::pair<std::string, jinja::Value>> values;  ///< names of the tokenizer's special tokens
};

namespace {

using jinja::Value;

using Values = std::vector<std::pair<std::string, Value>>;

Values special_tokens(const Tokenizer& tokenizer) {
    Values values;
    const SpecialIds& ids = tokenizer.special();
    const std::pair<const char*, std::optional<std::int32_t>> roles[] = {
        {"bos_token", ids.bos}, {"eos_token", ids.eos}, {"unk_token", ids.unk}, {"pad_token", ids.pad}};
    for (const auto& [name, id] : roles)
        if (id) values.emplace_back(name, Value(tokenizer.token(*id)));
    return values;
}

Value message_value(const ChatMessage& message) {
    jinja::Dict dict;
    dict.set("role", Value(message.role, true));
    dict.set("content", Value(message.content, true));
    return Value::dict(std::move(dict));
}

jinja::MarkedText rendered(const std::vector<jinja::Statement>& statements, Values values,
                           std::span<const ChatMessage> messages, const ChatOptions& options) {
    jinja::List list;
    for (const ChatMessage& message : messages) list.push_back(message_value(message));
    values.emplace_back("messages", Value::list(std::move(list)));
    values.emplace_back("add_generation_prompt", Value::Variant(options.add_generation_prompt));
    // transformers passes these, so that a template may ask whether they are none.
    values.emplace_back("tools", Value::Variant(jinja::None{}));
    values.emplace_back("documents", Value::Variant(jinja::None{}));
    for (const auto& [name, flag] : options.flags) values.emplace_back(name, Value::Variant(flag));
    if (options.now)
        values.emplace_back("strftime_now", Value::function([now = *options.now](const jinja::Arguments& arguments) {
                                return Value(jinja::time_text(now, arguments.get(0, "format").text().bytes()));
                            }));
    return jinja::render(statements, values);
}

/// The ranges of marked bytes.
std::vector<TextRange> marked_ranges(const jinja::MarkedText& text) {
    std::vector<TextRange> ranges;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!text.is_marked(at)) continue;
        if (ranges.empty() || ranges.back().end != at) ranges.push_back({at, at});
        ranges.back().end = at + 1;
    }
    return ranges;
}

}  // namespace

ChatTemplate::ChatTemplate(std::string_view jinja, const Tokenizer& tokenizer)
    : program_(std::make_shared<Program>(Program{jinja::parse(jinja), special_tokens(tokenizer)})),
      tokenizer_(&tokenizer) {}

std::string ChatTemplate::text(std::span<const ChatMessage> messages, const ChatOptions& options) const {
    return rendered(program_->statements, program_->values, messages, options).bytes();
}

std::vector<std::int32_t> ChatTemplate::encode(std::span<const ChatMessage> messages,
                                               const ChatOptions& options) const {
    const jinja::MarkedText text = rendered(program_->statements, program_->values, messages, options);
    const std::vector<TextRange> plain = marked_ranges(text);
    EncodeOptions encode{.add_special = false};
    if (!options.parse_special_in_messages) encode.plain = plain;
    return tokenizer_->encode(text.bytes(), encode);
}

std::vector<std::int32_t> ChatTemplate::ends() const {
    std::vector<std::int32_t> ids;
    if (tokenizer_->special().eos) ids.push_back(*tokenizer_->special().eos);
    const ChatMessage messages[] = {{"user", "question"}, {"assistant", "answer"}};
    const jinja::MarkedText text =
        rendered(program_->statements, program_->values, messages, {.add_generation_prompt = false});
    const std::vector<TextRange> marked = marked_ranges(text);
    if (marked.empty()) return ids;
    const std::string behind = text.bytes().substr(marked.back().end);
    for (const std::int32_t id : tokenizer_->encode(behind, {.add_special = false})) {
        // A special token is one that is not found where special tokens are plain text.
        const auto as_plain = tokenizer_->encode(tokenizer_->token(id), {.add_special = false, .parse_special = false});
        if (as_plain == std::vector{id} || behind.find(tokenizer_->token(id)) == behind.npos) continue;
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
        break;
    }
    return ids;
}

ChatTemplate load_chat_template(const std::filesystem::path& folder, const Tokenizer& tokenizer) {
    const auto file = folder / "chat_template.jinja", config = folder / "tokenizer_config.json";
    if (file_exists(file)) return {read_file(file), tokenizer};
    const nlohmann::json json = file_exists(config) ? read_json_object(config) : nlohmann::json::object();
    const auto found = json.find("chat_template");
    if (found == json.end() || found->is_null())
        throw_bad_file(folder.string(), "expected chat_template.jinja, or chat_template in tokenizer_config.json");
    if (found->is_string()) return {found->get<std::string>(), tokenizer};
    if (!found->is_array()) throw_bad_file(config.string(), "expected a string or an array for 'chat_template'");
    for (const nlohmann::json& named : *found) {
        if (!named.is_object()) throw_bad_file(config.string(), "expected objects in 'chat_template'");
        if (read_member<std::string>(named, "name", "", config.string()) == "default")
            return {read_member<std::string>(named, "template", "", config.string()), tokenizer};
    }
    throw_bad_file(config.string(), "none of the templates in 'chat_template' is named 'default'");
}

}  // namespace cairn::inline v0::text
