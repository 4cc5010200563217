#pragma once

#include "apps/text/template_processor.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace cairn::inline v0::text {

/// The `post_processor` of a tokenizer.json: null and ByteLevel add no tokens, BertProcessing adds `[CLS] A [SEP]`, and
/// TemplateProcessing whatever its templates say, as long as the first text comes once and before the second.
/// Throws Error (unsupported) for any other, Error (file) where it is malformed.
TemplateTokens read_post_processor(const nlohmann::json& root, const std::string& source);

}  // namespace cairn::inline v0::text
