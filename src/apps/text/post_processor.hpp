#pragma once

#include "apps/text/template_processor.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace cairn::inline v0::text {

/// Reads the `post_processor` of a tokenizer.json: null and ByteLevel add no tokens, BertProcessing adds
/// `[CLS] A [SEP]`, RobertaProcessing adds `<s> A </s>` and `<s> A </s></s> B </s>`, and TemplateProcessing adds what
/// its templates list, provided that the first text occurs once and before the second; a Sequence of ByteLevel and one
/// of these adds what that adds. Throws Error (unsupported) for any other one, Error (file) if it is malformed.
TemplateTokens read_post_processor(const nlohmann::json& root, const std::string& source);

}  // namespace cairn::inline v0::text
