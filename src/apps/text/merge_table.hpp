#pragma once

#include "apps/text/bpe_merge.hpp"
#include "apps/text/tokenizer_parts.hpp"

namespace cairn::inline v0::text {

/// The merges of BPE by ids. Throws Error (file) for a repeated merge, or a merge of unknown tokens.
MergeTable merge_table(const BpeParts& parts, const Vocabulary& vocabulary);

}  // namespace cairn::inline v0::text
