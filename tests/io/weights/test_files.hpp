#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::test {

/// A folder of its own for the running test, removed with its contents at the end.
class TempFolder {
public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }
    /// Writes a file and returns its path.
    std::filesystem::path write(std::string_view name, std::string_view bytes) const;

private:
    std::filesystem::path path_;
};

/// The bytes of a safetensors file: the length of `header`, `header`, then `data`.
std::string safetensors_bytes(std::string_view header, std::string_view data);

/// Small files, valid and invalid, as seeds of a fuzzer.
std::vector<std::string> safetensors_seeds();

}  // namespace cairn::test
