/* Implementation of gbench.h; the one C++ file of the project.
 *
 * Google Benchmark sees index numbers for names, never ours: a row's name then needs no parsing,
 * whatever it holds, and the suffixes that the library appends cannot mix with it. The filter is
 * applied to our names before a benchmark is handed over. The library gets a full set of known good
 * flags before each run, which also overrides what the environment (BENCHMARK_OUT,
 * BENCHMARK_FORMAT ...) put into it before main().
 *
 * Library builds with checks on abort the process on a body that leaves its loop early, on time
 * that was never set, and on aggregates over a first repetition that failed. The code below turns
 * each into a failed run.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A C header: its names are not mangled, and a function may be called like a struct.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "host/base/status.h"
}
#pragma GCC diagnostic pop
#include "bench/gbench.h"
#include "bench/gbench_flags.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <string>
#include <vector>

#ifndef GBENCH_LIBRARY_VERSION
#define GBENCH_LIBRARY_VERSION ""
#endif

namespace
{

constexpr double DEFAULT_MIN_TIME_S = 0.5;

struct registration {
    std::string name;
    gbench_body *body;
    void *context;
    gbench_options options;
    bool failed;         // a repetition of this run called gbench_skip ...
    std::string message; // ... with this reason
};

std::vector<registration> &registry()
{
    static std::vector<registration> all;
    return all;
}

bool running = false; // between the start and the end of gbench_run_registered

} // namespace

struct gbench_state {
    benchmark::State &google;
    registration &owner;
    uint64_t begun; // iterations begun
    uint64_t timed; // iterations whose time was set
    bool finished;  // gbench_keep_running said no
    bool skipped;
};

namespace
{

// What differs between releases: overloads pick by the members that a Run has. The int argument
// makes the first of two that fit the better match.

template <class Run>
auto run_failed(const Run &run, int) -> decltype(static_cast<bool>(run.error_occurred))
{
    return run.error_occurred;
}

template <class Run>
auto run_failed(const Run &run, long) -> decltype(static_cast<bool>(run.skipped))
{
    return static_cast<bool>(run.skipped);
}

template <class Run> auto run_message(const Run &run, int) -> decltype((run.error_message))
{
    return run.error_message;
}

template <class Run> auto run_message(const Run &run, long) -> decltype((run.skip_message))
{
    return run.skip_message;
}

// Releases that say `skipped` want a unit behind the time.
template <class Run>
auto seconds_suffix(int) -> decltype(static_cast<void>(&Run::skipped), std::string())
{
    return "s";
}

template <class Run> std::string seconds_suffix(long)
{
    return "";
}

// Silences the C++ streams in its scope, and no others: bodies and drivers keep theirs.
class muted
{
  public:
    muted() : out(std::cout.rdbuf(nullptr)), err(std::cerr.rdbuf(nullptr))
    {
    }
    ~muted()
    {
        std::cout.rdbuf(out);
        std::cerr.rdbuf(err);
    }
    muted(const muted &) = delete;
    muted &operator=(const muted &) = delete;

  private:
    std::streambuf *out;
    std::streambuf *err;
};

class run_guard
{
  public:
    run_guard()
    {
        running = true;
    }
    ~run_guard()
    {
        running = false;
        benchmark::ClearRegisteredBenchmarks();
    }
    run_guard(const run_guard &) = delete;
    run_guard &operator=(const run_guard &) = delete;
};

const char *yes_no(bool value)
{
    return value ? "true" : "false";
}

std::vector<std::string> library_arguments(const gbench_flags &values)
{
    char warmup[64];
    std::snprintf(warmup, sizeof warmup, "%.17g", values.dry_run ? 0.0 : values.warmup_s);
    const std::string unit = seconds_suffix<benchmark::BenchmarkReporter::Run>(0);
    return {
        "--benchmark_list_tests=false",
        "--benchmark_filter=",
        "--benchmark_min_time=1" + unit, // each benchmark says its own
        std::string("--benchmark_min_warmup_time=") + warmup,
        "--benchmark_repetitions=1",
        std::string("--benchmark_enable_random_interleaving=") + yes_no(values.random_interleaving),
        std::string("--benchmark_report_aggregates_only=") + yes_no(values.aggregates_only),
        "--benchmark_display_aggregates_only=false",
        "--benchmark_dry_run=false",
        "--benchmark_format=console",
        "--benchmark_out=",
        "--benchmark_out_format=json",
        "--benchmark_color=false",
        "--benchmark_counters_tabular=false",
        "--benchmark_perf_counters=",
        "--benchmark_time_unit=ns",
        "--v=0",
    };
}

// The library reads the machine (and may complain of it) once, at its first use.
void prepare_library()
{
    static char program[] = "scratchscope"; // kept by the library
    std::vector<std::string> arguments = library_arguments(*gbench_flags_given());
    std::vector<char *> argv = {program};
    for (std::string &argument : arguments) {
        argv.push_back(&argument[0]);
    }
    int argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    const muted silence;
    benchmark::Initialize(&argc, argv.data());
    (void)benchmark::CPUInfo::Get();
}

// What a body may leave undone and the library would abort on.
void settle(gbench_state &state)
{
    if (state.skipped) {
        return;
    }
    if (!state.finished) {
        gbench_skip(&state, "the benchmark left its loop before gbench_keep_running said so");
    } else if (state.owner.options.manual_time && state.timed != state.begun) {
        gbench_skip(&state, "the benchmark did not set the time of each iteration once");
    }
}

// A repetition after a failed one fails at once: the library cannot aggregate over repetitions of
// which the first one failed, and there is nothing to learn from the others.
void run_body(benchmark::State &google, registration &owner)
{
    gbench_state state = {google, owner, 0, 0, false, false};
    if (owner.failed) {
        const std::string message = owner.message;
        gbench_skip(&state, message.c_str());
        return;
    }
    owner.body(&state, owner.context);
    settle(state);
}

void hand_to_library(size_t index)
{
    const gbench_flags &values = *gbench_flags_given();
    registration &entry = registry()[index];
    gbench_options options = entry.options;
    if (options.repetitions == 0) {
        options.repetitions = values.repetitions != 0 ? values.repetitions : 1;
    }
    if (options.iterations == 0 && options.min_time_s == 0) {
        options.iterations = values.iterations;
        options.min_time_s = values.min_time_s != 0 ? values.min_time_s : DEFAULT_MIN_TIME_S;
    }
    if (values.dry_run) {
        options.repetitions = 1;
        options.iterations = 1;
    }
    auto *family = benchmark::RegisterBenchmark(
        std::to_string(index).c_str(),
        [&entry](benchmark::State &google) { run_body(google, entry); });
    family->Unit(benchmark::kNanosecond)->Repetitions(static_cast<int>(options.repetitions));
    if (options.manual_time) {
        family->UseManualTime();
    } else {
        family->UseRealTime();
    }
    if (options.iterations != 0) {
        family->Iterations(static_cast<benchmark::IterationCount>(options.iterations));
    } else {
        family->MinTime(std::max(options.min_time_s, 1e-9)); // below 1e-15 it would count as unset
    }
}

class row_reporter : public benchmark::BenchmarkReporter
{
  public:
    row_reporter(gbench_on_run *callback, void *callback_user)
        : silence(nullptr), on_run(callback), user(callback_user)
    {
        SetOutputStream(&silence);
        SetErrorStream(&silence);
    }

    bool ReportContext(const Context & /*context*/) override
    {
        return true;
    }

    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (const Run &run : runs) {
            report(run);
        }
    }

  private:
    void report(const Run &run) const;

    std::ostream silence;
    gbench_on_run *on_run;
    void *user;
};

void fill_times(const benchmark::BenchmarkReporter::Run &run, gbench_run &row)
{
    if (row.failed) {
        row.iterations = 0;
        row.real_time_ns = std::numeric_limits<double>::quiet_NaN();
        row.cpu_time_ns = row.real_time_ns;
    } else if (row.type == GBENCH_AGGREGATE && run.aggregate_unit == benchmark::kPercentage) {
        row.real_time_ns = run.real_accumulated_time;
        row.cpu_time_ns = run.cpu_accumulated_time;
    } else {
        row.real_time_ns = run.GetAdjustedRealTime();
        row.cpu_time_ns = run.GetAdjustedCPUTime();
    }
}

void fill_counters(const benchmark::UserCounters &counters, gbench_run &row)
{
    for (const auto &counter : counters) {
        if (row.counter_count < GBENCH_MAX_COUNTERS) {
            row.counters[row.counter_count++] = {counter.first.c_str(), counter.second.value};
        }
    }
}

void row_reporter::report(const Run &run) const
{
    const registration &entry = registry()[std::stoul(run.run_name.function_name)];
    const bool aggregate = run.run_type == Run::RT_Aggregate;
    const std::string name = aggregate ? entry.name + "_" + run.aggregate_name : entry.name;
    gbench_run row = {};
    row.name = name.c_str();
    row.run_name = entry.name.c_str();
    row.type = aggregate ? GBENCH_AGGREGATE : GBENCH_ITERATION;
    row.aggregate_name = aggregate ? run.aggregate_name.c_str() : "";
    row.repetitions = static_cast<size_t>(run.repetitions);
    row.repetition_index = aggregate ? 0 : static_cast<size_t>(run.repetition_index);
    row.threads = static_cast<size_t>(run.threads);
    row.iterations = static_cast<uint64_t>(run.iterations);
    row.failed = run_failed(run, 0);
    row.message = row.failed ? run_message(run, 0).c_str() : "";
    fill_times(run, row);
    fill_counters(run.counters, row);
    on_run(&row, user);
}

size_t run_matching(gbench_on_run *on_run, void *user)
{
    const run_guard guard;
    size_t matching = 0;
    prepare_library();
    for (size_t i = 0; i < registry().size(); i++) {
        registration &entry = registry()[i];
        entry.failed = false;
        if (gbench_filter_matches(entry.name.c_str())) {
            hand_to_library(i);
            matching++;
        }
    }
    if (matching > 0) {
        row_reporter reporter(on_run, user);
        benchmark::RunSpecifiedBenchmarks(&reporter, std::string("."));
    }
    return matching;
}

enum status out_of_memory(const char *what)
{
    return STATUS_FAIL(STATUS_NO_MEMORY, what, "the host has no memory left");
}

bool options_are_valid(const gbench_options &options)
{
    return options.repetitions <= INT_MAX && options.iterations <= uint64_t{INT64_MAX} &&
           std::isfinite(options.min_time_s) && options.min_time_s >= 0;
}

} // namespace

enum status gbench_register(const char *name, gbench_body *body, void *context,
                            const struct gbench_options *options)
{
    const gbench_options used = options != nullptr ? *options : gbench_options{};
    if (running || name == nullptr || body == nullptr) {
        return STATUS_FAIL(STATUS_MISUSE, "gbench_register", "%s",
                           running ? "benchmarks are running" : "a name or a body is missing");
    }
    if (!options_are_valid(used)) {
        return STATUS_FAIL(STATUS_BAD_INPUT, name,
                           "repetitions (%zu), min time (%g s) or iterations (%llu) out of range",
                           used.repetitions, used.min_time_s,
                           static_cast<unsigned long long>(used.iterations));
    }
    try {
        registry().push_back({name, body, context, used, false, ""});
    } catch (const std::exception &) {
        return out_of_memory("gbench_register");
    }
    return STATUS_OK;
}

enum status gbench_run_registered(gbench_on_run *on_run, void *user, size_t *count)
{
    if (count != nullptr) {
        *count = 0;
    }
    if (running || on_run == nullptr || count == nullptr) {
        return STATUS_FAIL(STATUS_MISUSE, "gbench_run_registered", "%s",
                           running ? "benchmarks are running" : "no callback or no count");
    }
    try {
        *count = run_matching(on_run, user);
    } catch (const std::bad_alloc &) {
        return out_of_memory("gbench_run_registered");
    } catch (const std::exception &failure) {
        return STATUS_FAIL(STATUS_MISUSE, "Google Benchmark", "%s", failure.what());
    }
    return STATUS_OK;
}

void gbench_clear(void)
{
    if (!running) {
        registry().clear();
    }
}

bool gbench_keep_running(struct gbench_state *state)
{
    if (state->finished) {
        return false;
    }
    if (state->google.KeepRunning()) {
        state->begun++;
        return true;
    }
    state->finished = true;
    return false;
}

void gbench_set_iteration_seconds(struct gbench_state *state, double seconds)
{
    if (!std::isfinite(seconds) || !(seconds > 0)) {
        gbench_skip(state, "the time of an iteration is not above 0 and finite");
        return;
    }
    state->google.SetIterationTime(seconds);
    state->timed++;
}

void gbench_counter(struct gbench_state *state, const char *name, double value)
{
    try {
        benchmark::UserCounters &counters = state->google.counters;
        if (counters.size() >= GBENCH_MAX_COUNTERS && counters.count(name) == 0) {
            gbench_skip(state, "more counters than GBENCH_MAX_COUNTERS");
            return;
        }
        counters[name] = benchmark::Counter(value);
    } catch (const std::exception &) {
        gbench_skip(state, "no memory left for a counter");
    }
}

// The library wants the same number of iterations in all repetitions, failed ones too; it counts
// none in a loop that never began.
void gbench_skip(struct gbench_state *state, const char *message)
{
    const char *text = message != nullptr ? message : "";
    try {
        if (state->begun == 0 && !state->finished && !state->skipped) {
            (void)state->google.KeepRunning();
        }
        state->google.SkipWithError(text);
        if (!state->skipped) {
            state->owner.message = text;
        }
    } catch (const std::exception &) {
        state->owner.message.clear();
    }
    state->skipped = true;
    state->owner.failed = true;
}

uint64_t gbench_iterations(const struct gbench_state *state)
{
    const bool under_way = state->begun > 0 && !state->finished;
    return under_way ? state->begun - 1 : state->begun;
}

void gbench_keep(const void *value)
{
    const void *kept = value;
    benchmark::DoNotOptimize(kept);
    benchmark::ClobberMemory();
}

const char *gbench_version(void)
{
    return GBENCH_LIBRARY_VERSION;
}
