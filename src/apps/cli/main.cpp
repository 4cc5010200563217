#include "apps/cli/command.hpp"

int main(int argc, char** argv) { return cairn::cli::run_command(argc, argv); }
