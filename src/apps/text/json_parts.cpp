#include "apps/text/json_parts.hpp"

#include "apps/text/json_file.hpp"
#include "apps/text/post_processor.hpp"

namespace cairn::inline v0::text {

using nlohmann::json;

const json& required_member(const json& object, const std::string& key, const std::string& source) {
    const auto found = object.find(key);
    if (found == object.end()) throw_bad_file(source, "expected a member " + quoted_name(key));
    return *found;
}

std::string part_type(const json& root, const std::string& part, const std::string& source) {
    const auto found = root.find(part);
    if (found == root.end() || found->is_null()) return "null";
    return found->is_object() ? read_member<std::string>(*found, "type", "", source) : found->type_name();
}

void refuse_type(const std::string& part, const std::string& type, const std::string& source) {
    throw_unsupported_file(source, "a " + part + " of type " + quoted_name(type) + " is not supported with this model");
}

void require_type(const json& root, const std::string& part, std::initializer_list<const char*> known,
                  const std::string& source) {
    const std::string type = part_type(root, part, source);
    for (const char* name : known)
        if (type == name) return;
    refuse_type(part, type, source);
}

namespace {

using ReadStep = std::function<void(const json&, const std::string&)>;

void for_steps_of(const json& step, const std::string& part, const char* members, const std::string& source,
                  const ReadStep& read) {
    if (!step.is_object()) refuse_type(part, step.type_name(), source);
    const auto type = read_member<std::string>(step, "type", "", source);
    if (type != "Sequence") return read(step, type);
    const json& steps = required_member(step, members, source);
    if (!steps.is_array()) throw_bad_file(source, std::string("expected an array for '") + members + "'");
    for (const json& inner : steps) for_steps_of(inner, part, members, source, read);
}

}  // namespace

void for_steps(const json& root, const std::string& part, const char* members, const std::string& source,
               const ReadStep& read) {
    if (part_type(root, part, source) != "null") for_steps_of(root[part], part, members, source, read);
}

void read_shared_parts(const json& root, const TokenizerConfig& config, const std::string& source,
                       TokenizerParts& parts) {
    parts.source = source;
    if (const auto tokens = root.find("added_tokens"); tokens != root.end() && !tokens->is_null()) {
        if (!tokens->is_array()) throw_bad_file(source, "expected an array for 'added_tokens'");
        for (const json& token : *tokens) {
            if (!token.is_object()) throw_bad_file(source, "expected objects in 'added_tokens'");
            const auto id = read_member<std::int64_t>(token, "id", -1, source);
            parts.added.push_back(read_added_token(token, id, source));
        }
    }
    parts.template_tokens = read_post_processor(root, source);
    apply_config(config, parts);
}

bool knows(const TokenizerParts& parts, const std::string& token) {
    for (const AddedToken& added : parts.added)
        if (added.content == token) return true;
    for (const VocabularyEntry& entry : parts.entries)
        if (entry.token == token) return true;
    return false;
}

void name_roles(std::span<const std::pair<const char*, const char*>> roles, TokenizerParts& parts) {
    for (const auto& [role, token] : roles)
        if (!parts.special_names.contains(role) && knows(parts, token)) parts.special_names[role] = token;
}

void name_template_roles(TokenizerParts& parts) {
    if (!parts.template_tokens.before.empty())
        parts.special_names.try_emplace("cls_token", parts.template_tokens.before.front());
    if (!parts.template_tokens.after.empty())
        parts.special_names.try_emplace("sep_token", parts.template_tokens.after.back());
}

}  // namespace cairn::inline v0::text
