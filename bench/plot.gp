# Scratch footprint of a PE over the tile count S, from the CSV that `scratchscope sweep` writes:
#
#     gnuplot -e "input='sweep.csv'; output='sweep.svg'" bench/plot.gp
#
# A line for each policy (for each policy and setting, where the sweep crosses several), both axes
# logarithmic, each pool as a dashed line. A hollow point did not fit: it stands at what it would need.
if (!exists("input") || !exists("output")) {
    printerr "usage: gnuplot -e \"input='sweep.csv'; output='sweep.svg'\" plot.gp"
    exit status 2
}

set datafile separator comma
set datafile columnheaders
set datafile missing NaN # the rows of other series, which smooth would trip over
set terminal svg size 960,600 dynamic enhanced font "sans-serif,14" background "#ffffff"

# A series is a run_name less its tile count: attention/PRESET/POLICY/DTYPE/S:n/OTHER...
head_of(name) = name[1:strstrt(name, "/S:") - 1]
rest_of(tail) = strstrt(tail, "/") ? tail[strstrt(tail, "/"):*] : ""
series_of(name) = head_of(name) . rest_of(name[strlen(head_of(name)) + 4:*])
with_word(list, item) = strstrt(" " . list . " ", " " . item . " ") ? list : list . " " . item

# Every row of a cell says the same of its footprint, so repetitions and aggregates may all be read.
all = ""
fitting = ""
overflowing = ""
policies = ""
pools = ""
stats input using (name = series_of(strcol("run_name")), all = with_word(all, name), \
    over = column("overflow") == 1, fitting = over ? fitting : with_word(fitting, name), \
    overflowing = over ? with_word(overflowing, name) : overflowing, \
    policies = with_word(policies, strcol("policy")), \
    pools = with_word(pools, strcol("pool_bytes")), column("tiles")) nooutput

if (words(all) == 0) {
    printerr "no rows in " . input
    exit status 1
}

# Policies keep their colours and points from plot to plot, unless other settings are crossed as well.
plain = words(all) == words(policies)
position(name) = words((" " . all)[1:strstrt(" " . all . " ", " " . name . " ")]) + 1
policy_style(name) = strstrt(name, "/unscoped/") ? 1 : strstrt(name, "/scoped/") ? 2 : 3
style(name) = plain ? policy_style(name) : position(name)
label(name) = plain ? word(policies, position(name)) : name

tiles_of(name) = series_of(strcol("run_name")) eq name ? column("tiles") : NaN
overflow_at(name) = column("overflow") == 1 ? tiles_of(name) : NaN
fitting_at(name) = column("overflow") == 1 ? NaN : tiles_of(name)

set linetype 1 linecolor rgb "#b5413b"
set linetype 2 linecolor rgb "#2b6ca3"
set linetype 3 linecolor rgb "#3c8d53"
full(name) = int(word("7 5 9 13 11 15", (style(name) - 1) % 6 + 1))
hollow(name) = full(name) - 1

set title "Scratch that one PE needs"
set xlabel "S, key/value tiles walked by one query block"
set ylabel "peak footprint, bytes"
set logscale xy 2
set format x "%.0f"
unit(e) = word("B KiB MiB GiB TiB PiB", e / 10 + 1)
set ytics ()
do for [e = 0:58:2] {
    set ytics add (sprintf("%d %s", 2 ** (e % 10), unit(e)) 2.0 ** e)
}
set xtics STATS_min > 0 ? STATS_min : 1, 2
set grid xtics ytics linecolor rgb "#dddddd" linetype 1
set border 3
set tics nomirror
set key top left reverse Left noenhanced samplen 3
set offsets graph 0.03, graph 0.03, graph 0.05, graph 0.05

pool_lines = words(pools) <= 3 ? words(pools) : 0 # with --pool grow each row has its own
set output output
plot for [i = 1:pool_lines] real(word(pools, i)) with lines linewidth 1.5 dashtype 2 \
        linecolor rgb "#555555" title i == 1 ? "pool" : "", \
    for [name in all] input using (tiles_of(name)):"planned_peak_bytes" smooth unique \
        with lines linewidth 2 linetype style(name) notitle, \
    for [name in fitting] input using (fitting_at(name)):"planned_peak_bytes" \
        with points linetype style(name) pointtype full(name) pointsize 0.8 notitle, \
    for [name in overflowing] input using (overflow_at(name)):"planned_peak_bytes" \
        with points linecolor rgb "#ffffff" pointtype full(name) pointsize 1.1 notitle, \
    for [name in overflowing] input using (overflow_at(name)):"planned_peak_bytes" \
        with points linewidth 2 linetype style(name) pointtype hollow(name) pointsize 1.1 notitle, \
    for [name in all] keyentry with linespoints linewidth 2 linetype style(name) \
        pointtype full(name) pointsize 0.8 title label(name), \
    keyentry with points pointtype 6 linewidth 2 linecolor rgb "#555555" \
        title "does not fit: what it would need"
