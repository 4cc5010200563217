#pragma once

/// The command `cairn-compare`: implementations of one model on one data set, in turns. It uses the public interface of
/// the library only.
namespace cairn::compare {

/// The body of main(). Exit codes: 0 if there is a report, failed implementations included; 1 if `--compare` found one
/// slower or failed; 2 for an invalid command line or input; 130 after Ctrl-C, with what was measured.
int run_compare(int argc, char** argv);

}  // namespace cairn::compare
