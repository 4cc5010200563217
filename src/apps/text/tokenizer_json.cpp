#include "apps/text/tokenizer_json.hpp"

#include "apps/text/json_file.hpp"
#include "apps/text/json_parts.hpp"
#include "apps/text/model_json.hpp"

namespace cairn::inline v0::text {

using nlohmann::json;

std::unique_ptr<Tokenizer> read_tokenizer_json(const std::filesystem::path& path, const TokenizerConfig& config) {
    const std::string source = path.string();
    const json root = read_json_object(path);
    const json& model = required_member(root, "model", source);
    if (!model.is_object()) throw_bad_file(source, "expected an object for 'model'");
    std::string type = read_member<std::string>(model, "type", "", source);
    if (type.empty() && model.contains("merges")) type = "BPE";  // left out by early writers
    if (type.empty() && model.contains("unk_id")) type = "Unigram";
    if (type == "BPE") return read_bpe_json(root, config, source);
    if (type == "WordPiece") return read_word_piece_json(root, config, source);
    if (type == "Unigram") return read_unigram_json(root, config, source);
    throw_unsupported_file(
        source, "a model of type " + quoted_name(type) + " is not supported; BPE, WordPiece and Unigram are");
}

}  // namespace cairn::inline v0::text
