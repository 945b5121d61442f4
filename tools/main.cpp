// restride: the command line. Reads the arguments, calls one command, returns its exit code.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <functional>

#include "commands.hpp"

namespace restride::tools {
namespace {

constexpr const char* examples = R"(Examples:
  restride explain "f32[2,3] -> f32[2,3]{0,1}"
  restride explain "u8[1080,1920,3] -> u8[1080,1920,3]{1,0,2}" --stage asm
  restride run "u8[1080,1920,3] -> u8[1080,1920,3]{1,0,2}" photo.npy -o planes.npy --verify
  restride emit "f32[64,64] -> f32[64,64]{0,1}" --target neon -o kernel.o --header kernel.h
  restride bench "f32[4096,4096] -> f32[4096,4096]{0,1}" "f32[4096] -> f32[4096,4096] dims={0}"
  restride bench --suite dl --json dl.json

Exit codes: 0 done; 1 the result was wrong; 2 refused, with one line on stderr.)";

constexpr const char* problem_help = "what to do, as in \"f32[2,3] -> f32[2,3]{0,1}\"";
constexpr const char* target_help = "the machine to plan for: host, sse2, avx2, avx512, neon, ...";
constexpr const char* backend_help = "auto, interpreter, xbyak or llvm";

ExitCode with_backend(const std::string& name, BackendChoice& backend,
                      const std::function<ExitCode()>& command) {
  if (name != "auto") {
    const Result<BackendChoice> parsed = parse_backend(name);
    if (!parsed) return refuse(parsed.error().message);
    backend = *parsed;
  }
  return command();
}

/// What the arguments are read into; outlives the parse.
struct Commands {
  ExplainRequest explain;
  EmitRequest emit;
  RunRequest run;
  BenchRequest bench;
  std::string backend = "auto", pages;
  bool json = false, verify = false, quick = false, no_peers = false;
};

CLI::App* add_explain(CLI::App& app, Commands& commands) {
  CLI::App* command =
      app.add_subcommand("explain", "Print every stage between a problem and its machine code");
  command->add_option("problem", commands.explain.problem, problem_help)->required();
  command
      ->add_option("--stage", commands.explain.stage, "space, schedule, nest, program, asm or all")
      ->check(CLI::IsMember({"space", "schedule", "nest", "program", "asm", "all"}));
  command->add_option("--target", commands.explain.target, target_help);
  command->add_option("--backend", commands.backend, backend_help);
  command->add_flag("--json", commands.json, "print JSON");
  return command;
}

CLI::App* add_emit(CLI::App& app, Commands& commands) {
  CLI::App* command = app.add_subcommand(
      "emit", "Write a problem's machine code, for any machine, as an object to link");
  EmitRequest& emit = commands.emit;
  command->add_option("problem", emit.problem, problem_help)->required();
  command->add_option("-o,--output", emit.output, "the relocatable object to write")->required();
  command->add_option("--header", emit.header, "the C header to write");
  command->add_option("--target", emit.target, target_help);
  command->add_option("--symbol", emit.symbol,
                      "the name of the function; otherwise that of the object's file");
  return command;
}

CLI::App* add_run(CLI::App& app, Commands& commands) {
  CLI::App* command = app.add_subcommand("run", "Carry a problem out on files");
  command->add_option("problem", commands.run.problem, problem_help)->required();
  command
      ->add_option("inputs", commands.run.inputs,
                   ".npy files, or raw files of exactly the bytes of the sources, in their order")
      ->required();
  command
      ->add_option("-o,--output", commands.run.output,
                   "the .npy file to write; raw bytes if it ends in .bin")
      ->required();
  command->add_option("--backend", commands.backend, backend_help);
  command->add_option("--threads", commands.run.threads, "threads to run on")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--verify", commands.verify,
                    "compare every byte with plain arithmetic before writing");
  return command;
}

CLI::App* add_bench(CLI::App& app, Commands& commands) {
  CLI::App* command = app.add_subcommand(
      "bench", "Time problems and suites against plain copies of the same bytes, and peers");
  BenchRequest& bench = commands.bench;
  command->add_option("problems", bench.problems, problem_help);
  command->add_option("--suite", bench.suites, "a suite: ttc, dl, matrix, ... or a file");
  command->add_option("--filter", bench.filter, "only names and problems that match this regex");
  command->add_option("--json", bench.json, "write the results to this file");
  command->add_option("--csv", bench.csv, "write the results to this file");
  command->add_option("--cliff-map", bench.cliff_map,
                      "time a grid of permutations and write it to this file");
  command->add_option("--target", bench.target, target_help);
  command->add_option("--threads", bench.threads, "threads to run on")->check(CLI::Range(1, 1024));
  command->add_option("--pages", commands.pages, "pages to ask for: 4k or 2m")
      ->check(CLI::IsMember({"4k", "2m"}));
  command
      ->add_option("--offset", bench.offset,
                   "bytes from the begin of a page to source and target; 16 is what malloc leaves")
      ->check(CLI::Range(0, 4095));
  command->add_option("--seconds", bench.seconds, "time for the contest of a case")
      ->check(CLI::Range(0.001, 1000.0));
  command->add_flag("--quick", commands.quick, "a fifth of the time, with more noise");
  command->add_option("--peer", bench.peer_files, "one more peer, a loadable module");
  command->add_flag("--no-peers", commands.no_peers, "time no peers");
  return command;
}

void apply_flags(Commands& commands) {
  if (commands.json) commands.explain.format = ExplainRequest::Format::json;
  if (commands.verify) commands.run.check = RunRequest::Check::verify;
  if (commands.quick) commands.bench.length = BenchRequest::Length::quick;
  if (commands.no_peers) commands.bench.peers = BenchRequest::Peers::none;
  if (commands.pages == "4k") commands.bench.pages = Pages::small;
  if (commands.pages == "2m") commands.bench.pages = Pages::huge;
}

ExitCode dispatch(int argc, char** argv) {
  CLI::App app("Moves arrays between memory layouts with code made for the problem at hand.",
               "restride");
  app.footer(examples);
  app.set_version_flag("--version", "restride " RESTRIDE_VERSION);
  app.require_subcommand(1);
  Commands commands;
  const CLI::App* explain = add_explain(app, commands);
  const CLI::App* emit = add_emit(app, commands);
  const CLI::App* run = add_run(app, commands);
  add_bench(app, commands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {  // --help and --version
    app.exit(answered);
    return ExitCode::success;
  } catch (const CLI::ParseError& error) {
    return refuse(error.what());
  }
  apply_flags(commands);
  if (explain->parsed()) {
    return with_backend(commands.backend, commands.explain.backend,
                        [&] { return explain_command(commands.explain); });
  }
  if (emit->parsed()) return emit_command(commands.emit);
  if (run->parsed()) {
    return with_backend(commands.backend, commands.run.backend,
                        [&] { return run_command(commands.run); });
  }
  return bench_command(commands.bench);
}

}  // namespace
}  // namespace restride::tools

int main(int argc, char** argv) {
  // A file that outgrows its limit is then an error of write(), reported like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return static_cast<int>(restride::tools::dispatch(argc, argv));
}
