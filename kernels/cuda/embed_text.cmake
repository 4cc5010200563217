# cmake -DOUTPUT=<file.cpp> -DTEXTS=<a.cuh,b.cuh,...> -P embed_text.cmake
#
# Writes a source file that defines kernels::cuda::prelude_text(): the texts in the given order.
string(REPLACE "," ";" TEXTS "${TEXTS}")
set(code "#include \"kernels/cuda/prelude_text.hpp\"\n\nnamespace cairn::kernels::cuda {\n\n")
string(APPEND code "std::string_view prelude_text() {\n    return\n")
foreach(text ${TEXTS})
    file(READ "${text}" content)
    string(APPEND code "R\"cuda(${content})cuda\"\n")
endforeach()
string(APPEND code "        ;\n}\n\n}  // namespace cairn::kernels::cuda\n")
file(WRITE "${OUTPUT}" "${code}")
