#include "program/lock.hpp"

#include "cairn/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sha2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace cairn::inline v0::program {
namespace {

constexpr std::string_view first_line = "cairn lock 1\n", digest_word = "sha256 ";

std::string sha256_of(std::string_view text) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> hex{};
    SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), hex.data());
    return hex.data();
}

/// Words with single spaces between them.
class Words {
public:
    explicit Words(std::string_view line) : rest_(line) {}
    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }
    std::string_view next() {
        const std::size_t end = std::min(rest_.find(' '), rest_.size());
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        return word;
    }
    template <typename T>
    std::optional<T> number() {
        const std::string_view word = next();
        T value{};
        const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (fault != std::errc() || end != word.data() + word.size()) return std::nullopt;
        return value;
    }

private:
    std::string_view rest_;
};

bool read_split(Words words, Lock& lock) {
    std::vector<std::int64_t>& ends = lock.ends[std::string(words.next())];
    while (!words.at_end()) {
        const std::optional<std::int64_t> end = words.number<std::int64_t>();
        if (!end || (!ends.empty() && *end <= ends.back())) return false;
        ends.push_back(*end);
    }
    return !ends.empty();
}

bool read_call(Words words, Lock& lock) {
    const auto is_amount = [](const std::optional<double>& amount) { return amount && *amount >= 0 && *amount < 1e18; };
    const std::optional<double> seconds = words.number<double>(), error = words.number<double>();
    const std::string kernel(words.next());
    if (!is_amount(seconds) || !is_amount(error) || kernel.empty() || words.at_end()) return false;
    lock.calls[std::string(words.rest())].push_back({kernel, *seconds, *error});
    return true;
}

}  // namespace

const Lock::Call* Lock::find(std::string_view problem, std::string_view kernel) const {
    const auto it = calls.find(problem);
    if (it == calls.end()) return nullptr;
    for (const Call& call : it->second)
        if (call.kernel == kernel) return &call;
    return nullptr;
}

void Lock::add(const Program& program) {
    for (const auto* section : {&program.bind, &program.run})
        for (const Instruction& instruction : *section) {
            const Problem& chosen_for = instruction.asked != nullptr ? *instruction.asked : *instruction.problem;
            const std::string problem = cairn::to_string(chosen_for);
            if (find(problem, instruction.kernel) == nullptr)
                calls[problem].push_back({instruction.kernel, instruction.seconds, instruction.error});
        }
}

std::string to_string(const Lock& lock) {
    std::string text(first_line);
    for (const auto& [symbol, ends] : lock.ends) text += fmt::format("split {} {}\n", symbol, fmt::join(ends, " "));
    for (const auto& [problem, calls] : lock.calls)
        for (const Lock::Call& call : calls)
            text += fmt::format("call {} {} {} {}\n", call.seconds, call.error, call.kernel, problem);
    return text + std::string(digest_word) + sha256_of(text) + '\n';
}

Lock parse_lock(std::string_view text) {
    const auto fail = [](std::string why) -> Error { return {ErrorKind::argument, "lock", std::move(why)}; };
    if (!text.starts_with(first_line)) throw fail("it does not begin as a lock of this version");
    const std::size_t last = text.rfind(digest_word);
    if (last == text.npos || text[last - 1] != '\n' ||
        text.substr(last) != std::string(digest_word) + sha256_of(text.substr(0, last)) + '\n')
        throw fail(
            "it was changed, or its end is missing: the digest in its last line is not that of the lines before");
    Lock lock;
    int number = 1;
    for (std::size_t from = first_line.size(); from < last; ++number) {
        const std::string_view line = text.substr(from, text.find('\n', from) - from);
        from += line.size() + 1;
        Words words(line);
        const std::string_view kind = words.next();
        if (!(kind == "split" && read_split(words, lock)) && !(kind == "call" && read_call(words, lock)))
            throw fail(fmt::format("line {} is none: {}", number + 1, line));
    }
    return lock;
}

}  // namespace cairn::inline v0::program
