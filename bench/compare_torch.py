#!/usr/bin/env python3
"""Attention of this project beside PyTorch's scaled_dot_product_attention on the CPU; see --help.

Both get the same q, k and v, and as many threads as there are PEs. A round times each contestant
once, in reversed order every other round: ours by a process of `scratchscope attend`, whose timed
launch comes after its check and finds everything warm, torch by a call after an untimed one. Both
times are wall clock around one call that is waited for; starting, reading files and compiling stay
outside. A ratio is the median over the rounds of torch's time / ours, with an interval by bootstrap.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

INSTALL = "python3 -m venv ~/torch && ~/torch/bin/pip install numpy torch"
INSTALL_SMALL = INSTALL + " --index-url https://download.pytorch.org/whl/cpu"

EXIT_DISAGREE, EXIT_USAGE, EXIT_PROGRAM, EXIT_INTERRUPTED = 1, 2, 3, 130

BOOTSTRAP_SAMPLES = 2000

# Of the largest result: each side may be off by 5e-5 in f32; p in f16 is off by up to 2e-3 more.
TOLERANCE = {"f32": 1e-4, "f16": 2.1e-3}

EPILOG = f"""
shapes (batch 1; ours in f32, decode in f16):
  square128, square128-causal, square64, square64-causal
             4 heads, 4,096 queries on 4,096 keys, head_dim 128 or 64; goal: >= 1.2 x
  decode     1 query of 32 heads on 16,384 keys of 8, head_dim 128; goal: >= 2 x

For f16 torch runs in f32, bf16 and f16, and with grouped heads in three ways: expanded (k and v
repeated for each query head before the clock starts), enable_gqa, and, without a mask, packed (the
queries of a group as rows of one head). The goal is against the fastest that takes the shapes as
they are; packed, which a caller must rewrite them for, is shown beside it.

It needs numpy and torch, in a virtual environment for example:
  {INSTALL}
or, smaller, from PyTorch's own index without CUDA:
  {INSTALL_SMALL}
and then ~/torch/bin/python bench/compare_torch.py

Exit: 0 done, whether goals are met or not; 1 the results disagree; 2 usage, or torch or numpy is
missing; 3 scratchscope failed; 130 interrupted.
"""


class Failure(Exception):
    """What ends the script: a text for stderr, and the exit code."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    batch: int = 1
    q_heads: int = 4
    kv_heads: int = 4
    seq_q: int = 4096
    seq_kv: int = 4096
    head_dim: int = 128
    dtype: str = "f32"
    causal: bool = False
    goal: float = None  # least torch / ours


SHAPES = [
    Shape("square128", goal=1.2),
    Shape("square128-causal", causal=True, goal=1.2),
    Shape("square64", head_dim=64, goal=1.2),
    Shape("square64-causal", head_dim=64, causal=True, goal=1.2),
    Shape("decode", q_heads=32, kv_heads=8, seq_q=1, seq_kv=16384, dtype="f16", goal=2.0),
]


# Command line -----------------------------------------------------------------------------------


def count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not at least 1")
    return value


def block(text):
    if text == "auto":
        return text
    block_m, _, block_n = text.partition("x")
    return f"{count(block_m)}x{count(block_n)}"


def default_program():
    root = pathlib.Path(__file__).resolve().parent.parent
    build = pathlib.Path(os.environ.get("SCRATCHSCOPE_BUILD_DIR") or root / "build")
    return build / "host" / "app" / "scratchscope"


def make_parser():
    parser = argparse.ArgumentParser(
        prog="compare_torch.py",
        usage="%(prog)s [OPTION...] [-- ATTEND-OPTION...]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Times `scratchscope attend` and PyTorch's scaled_dot_product_attention on the "
        "CPU in turn,\nwith the same tensors, and compares their results.",
        epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("--shape", action="append", choices=[shape.name for shape in SHAPES],
                        help="one of the shapes below; may be repeated (default: all)")
    own = parser.add_argument_group("a shape of your own in their place (what is left out is as "
                                    "in square128)")
    for name in ("batch", "q-heads", "kv-heads", "seq-q", "seq-kv", "head-dim"):
        own.add_argument("--" + name, type=count, metavar="N")
    own.add_argument("--dtype", choices=["f32", "f16"], help="ours")
    own.add_argument("--causal", action="store_true", default=None)
    parser.add_argument("--block", type=block, default="auto", metavar="MxN|auto",
                        help="tile of ours; auto: the fastest that fits the pool, looked for for a "
                        "minute where scratchscope keeps none yet (default: auto)")
    parser.add_argument("--threads", type=count, metavar="N", help="torch's threads and our PEs "
                        "(default: the CPUs that this process may use)")
    parser.add_argument("--rounds", type=count, default=10, metavar="N", help="(default: 10)")
    parser.add_argument("--seed", type=int, default=1, metavar="N",
                        help="of the tensors and the intervals (default: 1)")
    parser.add_argument("--program", type=pathlib.Path, default=default_program(), metavar="FILE",
                        help="(default: build/host/app/scratchscope)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE",
                        help="write every time and figure there as well")
    return parser


def parse(argv):
    parser = make_parser()
    split = argv.index("--") if "--" in argv else len(argv)
    options = parser.parse_args(argv[:split])
    options.attend = argv[split + 1:]
    options.threads = options.threads or len(os.sched_getaffinity(0))
    fields = ("batch", "q_heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "dtype", "causal")
    own = {name: getattr(options, name) for name in fields if getattr(options, name) is not None}
    if own and options.shape:
        parser.error("--shape and a shape of your own exclude each other")
    if own:
        own.setdefault("kv_heads", own.get("q_heads", Shape.kv_heads))
        options.shapes = [Shape("own", **own)]
    else:
        options.shapes = [s for s in SHAPES if not options.shape or s.name in options.shape]
    for shape in options.shapes:
        check_shape(parser, shape)
    return options


def check_shape(parser, shape):
    if shape.q_heads % shape.kv_heads != 0:
        parser.error(f"{shape.kv_heads} key and value heads do not divide {shape.q_heads} heads")
    if shape.causal and shape.seq_q != shape.seq_kv:
        parser.error("--causal takes --seq-q as long as --seq-kv: torch aligns its mask at the "
                     "top left, attend at the bottom right")


def import_torch():
    try:
        import numpy
        import torch
    except ImportError as error:
        raise Failure(EXIT_USAGE, f"{error.name or error}: not to be had from {sys.executable}\n"
                      f"  {INSTALL}\n  (without CUDA: {INSTALL_SMALL})\n"
                      "then run this script with ~/torch/bin/python") from error
    return numpy, torch


# Contestants ------------------------------------------------------------------------------------


class Ours:
    """`scratchscope attend` on files of one folder."""

    name = "ours"

    def __init__(self, numpy, options, shape, tensors, folder):
        self.numpy = numpy
        self.folder = pathlib.Path(folder)
        self.row = None  # of the last run
        self.command = [str(options.program), "attend", "--format", "json"]
        for name, tensor in tensors.items():
            numpy.save(self.folder / f"{name}.npy", tensor)
            self.command += ["--" + name, str(self.folder / f"{name}.npy")]
        self.command += ["--out", str(self.folder / "out.npy"), "--lse",
                         str(self.folder / "lse.npy"), "--dtype", shape.dtype, "--device", "cpu",
                         "--pes", str(options.threads), "--block", options.block]
        self.command += (["--causal"] if shape.causal else []) + options.attend

    def run(self):
        """Seconds of one launch, by the host's clock."""
        try:
            done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Failure(EXIT_USAGE, f"{self.command[0]}: {error.strerror}; build it (./bench/run "
                          "does), or name it with --program") from error
        if done.returncode != 0:
            raise Failure(EXIT_DISAGREE if done.returncode == 1 else EXIT_PROGRAM,
                          f"{' '.join(self.command)}\n{done.stderr}exit code {done.returncode}")
        self.row = json.loads(done.stdout)
        return self.row["host_time"] * 1e-3

    def result(self):
        return self.numpy.load(self.folder / "out.npy")


class Torch:
    """One way to call torch. `fair`: it takes the tensors in the shape that the user has."""

    def __init__(self, torch, shape, way, dtype, tensors):
        self.torch = torch
        self.name = dtype if way is None else f"{dtype} {way}"
        self.fair = way != "packed"
        self.shape = shape
        self.kwargs = {"is_causal": shape.causal}
        kind = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype]
        q, k, v = (torch.from_numpy(tensors[name]).to(kind) for name in "qkv")
        group = shape.q_heads // shape.kv_heads
        if way == "expanded":
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        elif way == "enable_gqa":
            self.kwargs["enable_gqa"] = True
        elif way == "packed":
            q = q.reshape(shape.batch, shape.kv_heads, group * shape.seq_q, shape.head_dim)
        self.tensors = q, k, v
        self.out = None

    def call(self):
        attention = self.torch.nn.functional.scaled_dot_product_attention
        self.out = attention(*self.tensors, **self.kwargs)

    def run(self):
        """Seconds of one call, after one that is not timed."""
        self.call()
        began = time.perf_counter()
        self.call()
        return time.perf_counter() - began

    def result(self):
        shape = self.shape
        out = self.out.reshape(shape.batch, shape.q_heads, shape.seq_q, shape.head_dim)
        return out.float().numpy()


def make_tensors(numpy, shape, seed):
    random = numpy.random.default_rng(seed)
    kind = {"f32": numpy.float32, "f16": numpy.float16}[shape.dtype]
    heads = {"q": shape.q_heads, "k": shape.kv_heads, "v": shape.kv_heads}
    rows = {"q": shape.seq_q, "k": shape.seq_kv, "v": shape.seq_kv}
    return {name: random.standard_normal((shape.batch, heads[name], rows[name], shape.head_dim),
                                         dtype=numpy.float32).astype(kind) for name in "qkv"}


def make_torch(torch, shape, tensors):
    dtypes = ["f32"] if shape.dtype == "f32" else ["f32", "bf16", "f16"]
    ways = [None]
    if shape.q_heads != shape.kv_heads:
        ways = ["expanded", "enable_gqa"] + ([] if shape.causal else ["packed"])
    return [Torch(torch, shape, way, dtype, tensors) for dtype in dtypes for way in ways]


# Figures ----------------------------------------------------------------------------------------


def ratio_of(numpy, theirs, ours, seed):
    """Median of the rounds' ratios, and its interval of 95 %."""
    ratios = numpy.array(theirs) / numpy.array(ours)
    random = numpy.random.default_rng(seed)
    picks = random.integers(len(ratios), size=(BOOTSTRAP_SAMPLES, len(ratios)))
    lower, upper = numpy.quantile(numpy.median(ratios[picks], axis=1), [0.025, 0.975])
    return {"ratio": float(numpy.median(ratios)), "interval": [float(lower), float(upper)]}


def race(contestants, rounds, say):
    """Seconds of each contestant in each round."""
    times = [[] for _ in contestants]
    for turn in range(rounds):
        say(f"round {turn + 1} of {rounds}")
        order = range(len(contestants))
        for i in order if turn % 2 == 0 else reversed(order):
            times[i].append(contestants[i].run())
    return times


def largest_difference(numpy, a, b):
    """The largest float stands for NaN and infinity, which JSON has not."""
    difference = numpy.abs(a.astype(numpy.float64) - b)
    return float(numpy.nan_to_num(difference, nan=sys.float_info.max).max())


def judge(report, shape, torches):
    """The goal is against the fastest call that takes the shapes as they are."""
    fair = [row for row, torch in zip(report["torch"], torches) if torch.fair]
    fastest = min(fair, key=lambda row: row["median_ms"])
    report["fastest"] = fastest["name"]
    report["ratio"] = fastest["ratio"]
    report["goal"] = shape.goal
    report["met"] = None if shape.goal is None else fastest["ratio"] >= shape.goal


def compare(modules, options, shape, folder, say):
    numpy, torch = modules
    tensors = make_tensors(numpy, shape, options.seed)
    ours = Ours(numpy, options, shape, tensors, folder)
    torches = make_torch(torch, shape, tensors)
    say("tuning, compiling and checking")
    ours.run()
    for one in torches:
        one.call()
    expected = torches[0].result()  # in f32
    magnitude = float(numpy.abs(expected).max())
    report = {"name": shape.name, "shape": dataclasses.asdict(shape),
              "tolerance": 1e-6 + TOLERANCE[shape.dtype] * magnitude,
              "max_abs_err": largest_difference(numpy, ours.result(), expected)}
    report["agree"] = report["max_abs_err"] <= report["tolerance"]
    times = race([ours] + torches, options.rounds, say)
    report["ours"] = {"median_ms": float(numpy.median(times[0])) * 1e3, "seconds": times[0],
                      "command": ours.command, "row": ours.row}
    report["torch"] = [
        {"name": one.name, "same_shapes": one.fair, "seconds": seconds,
         "median_ms": float(numpy.median(seconds)) * 1e3,
         "max_abs_err": largest_difference(numpy, ours.result(), one.result()),
         **ratio_of(numpy, seconds, times[0], options.seed)}
        for one, seconds in zip(torches, times[1:])]
    judge(report, shape, torches)
    return report


# Output -----------------------------------------------------------------------------------------


def print_head(context):
    print(f"torch {context['torch']} ({context['torch_cpu']}) and scratchscope on "
          f"{context['device']}: {context['threads']} threads, {context['rounds']} rounds\n")
    print(f"{'shape':<17} {'tile':<9} {'ours, ms':>9}  {'torch':<16} {'ms':>9}  {'torch / ours':<20}  difference")
    print("\u2500" * 100)


def print_shape(report):
    tile = "{block_m} x {block_n}".format(**report["ours"]["row"])
    left = f"{report['name']:<17} {tile:<9} {report['ours']['median_ms']:>9.2f}"
    for row in report["torch"]:
        ratio = f"{row['ratio']:.2f} [{row['interval'][0]:.2f}, {row['interval'][1]:.2f}]"
        mark = "" if row["same_shapes"] else " *"
        print(f"{left}  {row['name'] + mark:<16} {row['median_ms']:>9.2f}  {ratio:<20}  "
              f"{row['max_abs_err']:.1e}", flush=True)
        left = " " * len(left)


def print_summary(reports):
    print()
    for report in reports:
        agree = "agree" if report["agree"] else "DISAGREE"
        print(f"{report['name']}: {report['ratio']:.2f} x, torch's fastest {report['fastest']}"
              + ("" if report["goal"] is None else
                 f"; goal >= {report['goal']:g} x: {'met' if report['met'] else 'not met'}")
              + f"; results {agree}: {report['max_abs_err']:.1e}, tolerance "
              f"{report['tolerance']:.1e}")
    if any(not row["same_shapes"] for report in reports for row in report["torch"]):
        print("* the queries of a group as rows of one head: not the shapes as they are, so not "
              "the goal's")
    print("ms: median of one call, wall clock. torch / ours: median of the rounds' ratios, 95 % "
          "interval.\ndifference: largest, of torch's result from ours.")


def say_on(stderr, shape):
    def say(text):
        if stderr.isatty():
            stderr.write(f"\r\033[K{shape.name}: {text}")
            stderr.flush()
    return say


def context_of(torch, options):
    return {"torch": torch.__version__, "torch_cpu": torch.backends.cpu.get_cpu_capability(),
            "python": sys.version.split()[0], "threads": options.threads,
            "rounds": options.rounds, "seed": options.seed, "device": None}


def write(path, text):
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(EXIT_USAGE, f"{path}: {error.strerror}") from error


def run(options):
    modules = import_torch()
    if options.json:
        write(options.json, "")  # so that a path that does not work ends it before the work
    torch = modules[1]
    torch.set_num_threads(options.threads)
    context = context_of(torch, options)
    reports = []
    for shape in options.shapes:
        say = say_on(sys.stderr, shape)
        with tempfile.TemporaryDirectory(prefix="compare_torch-") as folder, \
                torch.inference_mode():
            report = compare(modules, options, shape, folder, say)
        say("")
        if not reports:
            context["device"] = report["ours"]["row"]["device"]
            print_head(context)
        reports.append(report)
        print_shape(report)
    print_summary(reports)
    if options.json:
        text = json.dumps({"context": context, "shapes": reports}, indent=1, allow_nan=False)
        write(options.json, text + "\n")
    if not all(report["agree"] for report in reports):
        raise Failure(EXIT_DISAGREE, "the results disagree")


def main():
    try:
        run(parse(sys.argv[1:]))
    except Failure as failure:
        print(f"compare_torch.py: error: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        print("compare_torch.py: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
