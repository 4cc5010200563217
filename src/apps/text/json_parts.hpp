#pragma once

#include "apps/text/tokenizer_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

namespace cairn::inline v0::text {

/// A member of an object. Throws Error (file) if it is missing.
const nlohmann::json& required_member(const nlohmann::json& object, const std::string& key, const std::string& source);

/// The `type` of one part of a tokenizer.json, such as its normalizer; "null" if the part is absent.
std::string part_type(const nlohmann::json& root, const std::string& part, const std::string& source);

/// Throws Error (unsupported) for a part, or a step of it, of a type that is not supported with the file's model.
[[noreturn]] void refuse_type(const std::string& part, const std::string& type, const std::string& source);

/// Throws Error (unsupported), naming the part and its type, unless the type is one of `known`.
void require_type(const nlohmann::json& root, const std::string& part, std::initializer_list<const char*> known,
                  const std::string& source);

/// Calls `read(step, type)` for each step of a part: the part itself, or those of a Sequence under `members`, which may
/// contain sequences. An absent part has none.
void for_steps(const nlohmann::json& root, const std::string& part, const char* members, const std::string& source,
               const std::function<void(const nlohmann::json&, const std::string&)>& read);

/// Reads the members of a tokenizer.json that all kinds of tokenizer share, but for the vocabulary, and applies
/// `config`.
void read_shared_parts(const nlohmann::json& root, const TokenizerConfig& config, const std::string& source,
                       TokenizerParts& parts);

/// True if `token` is in the vocabulary or added to it.
bool knows(const TokenizerParts& parts, const std::string& token);

/// Sets the names of roles without a name to the tokens of `roles` that the vocabulary has.
void name_roles(std::span<const std::pair<const char*, const char*>> roles, TokenizerParts& parts);

/// If no file names the roles, cls_token is the first token before a text, sep_token the last one after it.
void name_template_roles(TokenizerParts& parts);

}  // namespace cairn::inline v0::text
