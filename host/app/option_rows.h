/* Rows that stand in both option tables, that of the commands with a row or a problem
 * (settings_table.c) and that of attend: text, limits and help once. Each table has its own struct,
 * with members of these names, and its own AT(member). */
#ifndef HOST_APP_OPTION_ROWS_H
#define HOST_APP_OPTION_ROWS_H

#include "host/app/options.h"

#define OPTION_ROW_CAUSAL(commands_, section_)                                                     \
    {                                                                                              \
        .name = "causal", .type = OPTION_FLAG, .commands = (commands_), .offset = AT(causal),      \
        .section = (section_),                                                                     \
        .help = "hide keys after the query's own, aligned at the bottom right"                     \
    }
#define OPTION_ROW_WINDOW(commands_, section_, standard_)                                          \
    {                                                                                              \
        .name = "window", .type = OPTION_WINDOW, .commands = (commands_), .offset = AT(window),    \
        .section = (section_), .argument = "LEFT,RIGHT", .standard = (standard_),                  \
        .help = "keys visible before and after the query's own; -1 = all"                          \
    }
#define OPTION_ROW_SOFTCAP(commands_, section_, standard_)                                         \
    {                                                                                              \
        .name = "softcap", .type = OPTION_LIMIT, .commands = (commands_), .offset = AT(softcap),   \
        .section = (section_), .argument = "X", .standard = (standard_),                           \
        .help = "bound of the scores: X tanh(score / X)"                                           \
    }
#define OPTION_ROW_ALIBI(commands_, section_)                                                      \
    {                                                                                              \
        .name = "alibi", .type = OPTION_FLAG, .commands = (commands_), .offset = AT(alibi),        \
        .section = (section_), .help = "linear bias by distance, a slope a head"                   \
    }
#define OPTION_ROW_SCALE(commands_, section_)                                                      \
    {                                                                                              \
        .name = "scale", .type = OPTION_FACTOR, .commands = (commands_), .offset = AT(scale),      \
        .section = (section_), .maximum = 1000000,                                                 \
        .because = "scores are f32, and overflow beyond", .argument = "X",                         \
        .standard = "1 / sqrt(head_dim)",                                                          \
        .help = "factor of the scores, not 0, at most 1e6 in size"                                 \
    }
#define OPTION_ROW_PES(commands_, section_)                                                        \
    {                                                                                              \
        .name = "pes", .type = OPTION_COUNT, .commands = (commands_), .offset = AT(pes),           \
        .section = (section_), .words = "auto", .minimum = 1, .argument = "auto|N",                \
        .standard = "auto",                                                                        \
        .help = "processing elements: work-groups, each with a pool of its own. auto: one a core " \
                "on a CPU, two a compute unit elsewhere, as far as their pools can be allocated"   \
    }
#define OPTION_ROW_DEVICE(commands_, section_)                                                     \
    {                                                                                              \
        .name = "device", .type = OPTION_TEXT, .commands = (commands_), .offset = AT(device),      \
        .section = (section_), .argument = "INDEX|cpu|gpu|NAME",                                   \
        .standard = "the first GPU, else the first CPU",                                           \
        .help = "index, type or part of the name; `scratchscope devices` lists them"               \
    }
#define OPTION_ROW_KERNEL(commands_, section_)                                                     \
    {                                                                                              \
        .name = "kernel", .type = OPTION_WORD, .commands = (commands_), .offset = AT(kernel),      \
        .section = (section_), .words = "auto|simd|simt", .argument = "auto|simd|simt",            \
        .standard = "auto",                                                                        \
        .help = "simd: one work-item a PE, for CPUs; simt: cooperating work-items, for GPUs"       \
    }
#define OPTION_ROW_BIND(commands_, section_)                                                       \
    {                                                                                              \
        .name = "bind", .type = OPTION_WORD, .commands = (commands_), .offset = AT(bind),          \
        .section = (section_), .words = "auto|none", .argument = "auto|none", .standard = "auto",  \
        .help = "auto: each worker thread of PoCL stays on a core of its own, where that can be "  \
                "had; POCL_AFFINITY, if set, decides instead"                                      \
    }

#endif
