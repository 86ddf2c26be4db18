# Tests of this folder.

scratchscope_test(bench.cells unit bench/test_cells.c bench)
scratchscope_test(unit.pairs unit bench/test_pairs.c bench)
scratchscope_test(unit.profile unit bench/test_profile.c bench m)
scratchscope_test(unit.clocks unit bench/test_clocks.c fake_opencl bench)
scratchscope_test(unit.tune_space unit bench/test_tune_space.c bench m)
scratchscope_test(unit.roofline unit bench/test_roofline.c bench m)
scratchscope_test(unit.gbench unit bench/test_gbench.c bench)
scratchscope_test(unit.gbench_flags unit bench/test_gbench_flags.c bench)
scratchscope_test(unit.gbench_failures unit bench/test_gbench_failures.c bench)

# Google Benchmark reads its flags from the environment as well; ours must not care.
foreach(subject gbench gbench_failures)
    add_test(NAME unit.${subject}_environment COMMAND test_unit_${subject})
    set_tests_properties(unit.${subject}_environment PROPERTIES LABELS unit TIMEOUT 600 ENVIRONMENT
        "BENCHMARK_OUT=/dev/null/out;BENCHMARK_OUT_FORMAT=none;BENCHMARK_FORMAT=none;\
BENCHMARK_LIST_TESTS=1;BENCHMARK_FILTER=nothing;BENCHMARK_REPETITIONS=7;BENCHMARK_MIN_TIME=3x;\
BENCHMARK_MIN_WARMUP_TIME=3;BENCHMARK_DRY_RUN=1;BENCHMARK_REPORT_AGGREGATES_ONLY=1;\
BENCHMARK_CONTEXT=a=b;BENCHMARK_TIME_UNIT=s;BENCHMARK_COLOR=;V=3")
endforeach()

# The table of arena_bench: every row, a single repetition, the filter, and the flags it refuses.
add_dependencies(tests_unit arena_bench)
function(arena_bench_test name expected)
    add_test(NAME unit.arena_bench.${name} COMMAND arena_bench ${ARGN})
    set_tests_properties(unit.arena_bench.${name} PROPERTIES LABELS unit TIMEOUT 600
                         PASS_REGULAR_EXPRESSION "${expected}")
endfunction()
set(row " +[0-9]+\\.[0-9]+ +[0-9,]+ +[0-9.]+ [nu]?m?s +[0-9.]+ % +[-+]")
arena_bench_test(rows "arena/push${row}.*\narena/begin_end${row}.*\nscratch/begin_alloc_end${row}"
                 --benchmark_min_time=2x --benchmark_repetitions=3)
arena_bench_test(replay "footprint/cap16/nested/tile +[0-9.]+ +1,000,000 .* - +[+][0-9]+ KiB"
                 --benchmark_filter=footprint --benchmark_dry_run)
arena_bench_test(filter "error: --benchmark_filter: no benchmark has such a name"
                 --benchmark_filter=nothing)
arena_bench_test(refuses "error: --benchmark_format: not taken here: use --format"
                 --benchmark_format=json)
add_test(NAME unit.arena_bench.exit COMMAND arena_bench --benchmark_dry_run)
set_tests_properties(unit.arena_bench.exit PROPERTIES LABELS unit TIMEOUT 600)
