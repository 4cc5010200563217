#include "bench/golden_outputs.hpp"

#include "cairn/error.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace bench {
namespace {

using nlohmann::json;

template <typename Take>
auto read(const std::filesystem::path& file, const Take& take) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw cairn::Error(cairn::ErrorKind::file, "model_bench", "cannot read " + file.string());
    try {
        return take(json::parse(stream));
    } catch (const json::exception& fault) {
        throw cairn::Error(cairn::ErrorKind::file, "model_bench", file.string() + ": " + fault.what());
    }
}

}  // namespace

std::vector<GoldenText> golden_texts(const std::filesystem::path& file) {
    return read(file, [&](const json& all) {
        std::vector<GoldenText> texts;
        if (all.contains("gpt2")) {
            const json& full = all.at("gpt2");
            GoldenText& text = texts.emplace_back();
            full.at("input_ids").get_to(text.ids);
            for (std::size_t i = 0; i < full.at("positions").size(); ++i)
                text.logits.emplace_back(full.at("positions")[i], full.at("last_logits_at_positions").at(i));
            return texts;
        }
        if (all.at("cases").empty())
            throw cairn::Error(cairn::ErrorKind::file, "model_bench", file.string() + ": it has no texts");
        for (const json& each : all.at("cases")) {
            GoldenText& text = texts.emplace_back();
            each.at("ids").get_to(text.ids);
            for (const json& logit : each.at("last_logits")) text.logits.emplace_back(text.logits.size(), logit);
        }
        return texts;
    });
}

GoldenSentences golden_sentences(const std::filesystem::path& file) {
    return read(file, [](const json& all) {
        GoldenSentences sentences;
        const auto add = [&](const json& ids, const json& mask, const json& logits) {
            std::vector<std::int32_t>& row = sentences.ids.emplace_back();
            for (std::size_t i = 0; i < ids.size(); ++i)
                if (mask.at(i).get<int>() != 0) row.push_back(ids[i]);
            sentences.logits.push_back(logits.get<std::vector<double>>());
        };
        if (all.contains("distilbert")) {
            const json& full = all.at("distilbert");
            for (std::size_t i = 0; i < full.at("input_ids").size(); ++i)
                add(full.at("input_ids")[i], full.at("attention_mask").at(i), full.at("logits").at(i));
        } else {
            for (const json& each : all.at("cases")) add(each.at("ids"), each.at("attention_mask"), each.at("logits"));
        }
        return sentences;
    });
}

void RelativeError::add(double got, double expected) {
    difference_ += (got - expected) * (got - expected);
    size_ += expected * expected;
}

double RelativeError::relative() const { return std::sqrt(difference_ / size_); }

}  // namespace bench
