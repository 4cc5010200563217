#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::test {

/// Writes the bytes of a GGUF file, right or wrong.
class GgufBytes {
public:
    std::uint32_t version = 3;
    std::uint64_t extra_keys = 0, extra_tensors = 0;  ///< that the head counts beside those written

    template <typename T>
    static std::string raw(T value) {
        return {reinterpret_cast<const char*>(&value), sizeof value};
    }
    static std::string string(std::string_view text) { return raw<std::uint64_t>(text.size()) + std::string(text); }

    /// A key, the number of its type and the bytes of its value.
    GgufBytes& key(std::string_view name, std::uint32_t type, const std::string& value) {
        keys_.push_back(string(name) + raw(type) + value);
        return *this;
    }
    GgufBytes& text(std::string_view name, std::string_view value) { return key(name, 8, string(value)); }
    GgufBytes& u32(std::string_view name, std::uint32_t value) { return key(name, 4, raw(value)); }
    GgufBytes& u16(std::string_view name, std::uint16_t value) { return key(name, 2, raw(value)); }
    /// An array of `count` elements of a type.
    GgufBytes& array(std::string_view name, std::uint32_t type, std::uint64_t count, const std::string& elements) {
        return key(name, 9, raw(type) + raw(count) + elements);
    }
    /// A tensor with its sizes in the order of the file, the contiguous axis first.
    GgufBytes& tensor(std::string_view name, const std::vector<std::uint64_t>& sizes, std::uint32_t type,
                      std::uint64_t offset) {
        std::string text = string(name) + raw(static_cast<std::uint32_t>(sizes.size()));
        for (const std::uint64_t size : sizes) text += raw(size);
        tensors_.push_back(text + raw(type) + raw(offset));
        return *this;
    }
    /// The file, with `data` after the next multiple of `alignment`.
    std::string bytes(std::string_view data = "", std::size_t alignment = 32) const {
        std::string text = "GGUF" + raw(version) + raw<std::uint64_t>(tensors_.size() + extra_tensors) +
                           raw<std::uint64_t>(keys_.size() + extra_keys);
        for (const std::string& key : keys_) text += key;
        for (const std::string& tensor : tensors_) text += tensor;
        if (!data.empty()) text.append((alignment - text.size() % alignment) % alignment, '\0');
        return text + std::string(data);
    }

private:
    std::vector<std::string> keys_, tensors_;
};

}  // namespace cairn::test
