#include "test_files.hpp"

#include <unistd.h>

#include <fstream>

namespace cairn::test {

TempFolder::TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cairn_weights_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", name, std::error_code());
    path_ = name;
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempFolder::write(std::string_view name, std::string_view bytes) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
}

std::string safetensors_bytes(std::string_view header, std::string_view data) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>((header.size() >> (8 * i)) & 255);
    return bytes.append(header).append(data);
}

std::vector<std::string> safetensors_seeds() {
    const std::string data(64, '\1');
    return {
        safetensors_bytes("{}", ""),
        safetensors_bytes("{}      ", ""),
        safetensors_bytes(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", data.substr(0, 24)),
        safetensors_bytes(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[],"data_offsets":[0,2]},)"
                          R"("a":{"dtype":"I64","shape":[0,7],"data_offsets":[2,2]}}   )",
                          data.substr(0, 2)),
        safetensors_bytes(
            R"({"f":{"dtype":"F4","shape":[3,2],"data_offsets":[0,3]},"g":{"dtype":"F6_E2M3","shape":[4],)"
            R"("data_offsets":[3,6]},"\u00e9":{"dtype":"BOOL","shape":[1],"data_offsets":[6,7]}})",
            data.substr(0, 7)),
        safetensors_bytes(R"({"a":{"dtype":"F32","shape":[9223372036854775807,4],"data_offsets":[0,0]}})", ""),
        safetensors_bytes(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,1e3]}})", data),
        safetensors_bytes(R"({"__metadata__":{"shape":[0,7]}})", ""),
        safetensors_bytes(R"({"a":[[[[[[{"b":null}]]]]]],"c":true})", ""),
    };
}

}  // namespace cairn::test
