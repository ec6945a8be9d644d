"""Random programs of views, indexing and in-place writes, run by PyBurn and by PyTorch.

    python tests/parity/fuzz_views.py                      the fixed set
    python tests/parity/fuzz_views.py --seed 7 --count 5000

A program is a list of steps that make, look at and write tensors. After every step the two
libraries must hold the same shapes, strides and elements in every tensor made so far, or both must
have refused the step with an exception of the same builtin class. Half of the programs start from
a leaf that wants a gradient, which is compared in the end. A difference prints the program.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import warnings
from typing import Any

import numpy as np

STEPS = 7
LARGEST = 4000
DTYPES = ("float32", "float64", "int64", "int32", "bool", "complex64", "uint8", "float16")


REFUSED = (
    "more than one element of the written-to tensor",
    "as_strided: has a gradient only on a contiguous tensor",
)
"""What PyBurn refuses and says so, where PyTorch goes on; the program ends there."""


STRICTER = (
    "This view is the output of a function that returns multiple views",
    "a view was created in no_grad mode",
    "Subtraction, the `-` operator, with a bool tensor is not supported",
    "Index put requires the source and destination dtypes match",
)
"""What PyTorch refuses and PyBurn computes; the program ends there."""


TURNS = (".t_(", ".squeeze_(", ".unsqueeze_(", ".transpose_(")
"""After these PyBurn's tensor is a view of what it was, which only `_base` shows. PyTorch counts
them as writes, so that it refuses some gradients, and refuses them of leaves of any rank."""

TURNED = ("modified by an inplace operation", "a leaf Variable that requires grad")


class Difference(AssertionError):
    """The two libraries disagree."""


class Refused(Exception):
    """One library does more than the other, as documented."""


class Stop(Exception):
    """There is nothing left to compare."""


class Drawer:
    """Draws steps; a step is text with `L` for the library and `t` for the list of tensors."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def shape(self) -> list[int]:
        sizes = (0, 1, 1, 2, 2, 3, 3, 4, 5) if self.rng.random() < 0.15 else (1, 2, 2, 3, 3, 4, 5)
        return [self.rng.choice(sizes) for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3, 3, 4)))]

    def dim(self, rank: int) -> int:
        return self.rng.randint(-rank - (self.rng.random() < 0.05), max(rank - 1, 0))

    def slice(self, size: int) -> str:
        ends = range(-size - 2, size + 3)
        start = "" if self.rng.random() < 0.4 else str(self.rng.choice(ends))
        stop = "" if self.rng.random() < 0.4 else str(self.rng.choice(ends))
        step = self.rng.choice(
            ("", "", "", ":1", ":2", ":3", ":-1" if self.rng.random() < 0.1 else ":2")
        )
        return f"{start}:{stop}{step}"

    def integer(self, size: int) -> int:
        slack = 1 if self.rng.random() < 0.03 else 0
        return self.rng.randint(-size - slack, max(size - 1 + slack, 0))

    def long(self, size: int, shape: list[int] | None = None) -> str:
        shape = self.rng.choice(([], [1], [2], [3], [2, 1], [2, 3])) if shape is None else shape
        values = np.array(
            [self.integer(size) for _ in range(int(np.prod(shape)))], dtype=np.int64
        ).reshape(shape)
        text = repr(values.tolist())
        if self.rng.random() < 0.3 and len(shape) == 1:
            return text
        kind = self.rng.choice(("int64", "int64", "int32"))
        return f"L.tensor({text}, dtype=L.{kind})"

    def mask(self, shape: list[int]) -> str:
        values = np.array([self.rng.random() < 0.5 for _ in range(int(np.prod(shape)))], dtype=bool)
        text = repr(values.reshape(shape).tolist())
        if 0 in shape:
            return f"L.zeros({shape}, dtype=L.bool)"
        return f"L.tensor({text})"

    def index(self, shape: list[int], *, advanced: bool) -> str:
        parts: list[str] = []
        at = 0
        rest = len(shape)
        ellipsis_left = True
        while at < len(shape) and self.rng.random() < 0.85:
            size, roll = shape[at], self.rng.random()
            if roll < 0.1:
                parts.append("None")
            elif roll < 0.18 and ellipsis_left and at < len(shape):
                skip = self.rng.randint(0, len(shape) - at)
                tail = len(shape) - at - skip
                parts.append("...")
                ellipsis_left = False
                at += skip
                # After an ellipsis every remaining dimension has to be named.
                for size in shape[len(shape) - tail :] if tail else []:
                    parts.append(self.one(size, advanced))
                    at += 1
                break
            elif advanced and roll < 0.26:
                rank = self.rng.randint(1, min(2, rest - at))
                parts.append(self.mask(shape[at : at + rank]))
                at += rank
            elif advanced and roll < 0.29:
                parts.append(self.rng.choice(("True", "False")))
            else:
                parts.append(self.one(size, advanced))
                at += 1
        if not parts:
            return self.rng.choice(("...", "()", "None", ":" if shape else "..."))
        return ", ".join(parts)

    def one(self, size: int, advanced: bool) -> str:
        roll = self.rng.random()
        if advanced and roll < 0.45:
            return self.long(size)
        if roll < 0.7:
            return self.slice(size)
        return str(self.integer(size))

    def view(self, name: str, shape: list[int]) -> str:
        rank, rng = len(shape), self.rng
        numel = int(np.prod(shape))
        kinds = [
            "index",
            "index",
            "transpose",
            "permute",
            "reshape",
            "view",
            "unsqueeze",
            "squeeze",
        ]
        kinds += ["expand", "flatten", "narrow", "select", "diagonal", "unfold", "chunk", "movedim"]
        kinds += ["detach", "T", "split", "unbind", "real", "as_strided", "swapdims", "expand_as"]
        kind = rng.choice(kinds)
        match kind:
            case "index":
                return f"{name}[{self.index(shape, advanced=False)}]"
            case "transpose" | "swapdims":
                return f"{name}.{kind}({self.dim(rank)}, {self.dim(rank)})"
            case "permute":
                order = list(range(rank))
                rng.shuffle(order)
                return f"{name}.permute({order})"
            case "reshape" | "view":
                return f"{name}.{kind}({self.factor(numel)})"
            case "unsqueeze":
                return f"{name}.unsqueeze({rng.randint(-rank - 1, rank)})"
            case "squeeze":
                return f"{name}.squeeze({rng.choice(('', self.dim(rank)))})"
            case "expand":
                sizes = [
                    rng.choice((-1, rng.randint(1, 3))) if n == 1 else rng.choice((n, -1))
                    for n in shape
                ]
                lead = [rng.randint(1, 2)] if rng.random() < 0.4 else []
                return f"{name}.expand({lead + sizes})"
            case "expand_as":
                return f"{name}.expand_as(L.zeros({[2, *shape]}))"
            case "flatten":
                return f"{name}.flatten({self.dim(rank)}, {self.dim(rank)})"
            case "narrow":
                dim = self.dim(rank)
                size = shape[dim] if -rank <= dim < rank else 1
                start = rng.randint(0, size)
                return f"{name}.narrow({dim}, {start}, {rng.randint(0, size - start)})"
            case "select":
                dim = self.dim(rank)
                size = shape[dim] if -rank <= dim < rank else 1
                return f"{name}.select({dim}, {self.integer(size)})"
            case "diagonal":
                return f"{name}.diagonal({rng.randint(-2, 2)}, {self.dim(rank)}, {self.dim(rank)})"
            case "unfold":
                dim = self.dim(rank)
                size = shape[dim] if -rank <= dim < rank else 1
                # Windows that overlap could not be written one after the other.
                width = rng.randint(0, size)
                return f"{name}.unfold({dim}, {width}, {max(width, rng.randint(1, 3))})"
            case "chunk":
                return f"{name}.chunk({rng.randint(1, 3)}, {self.dim(rank)})[-1]"
            case "split":
                return f"{name}.split({rng.randint(1, 3)}, {self.dim(rank)})[0]"
            case "unbind":
                return f"{name}.unbind({self.dim(rank)})[0]"
            case "movedim":
                return f"{name}.movedim({self.dim(rank)}, {self.dim(rank)})"
            case "as_strided":
                if numel == 0:
                    return f"{name}.detach()"
                size = rng.randint(1, 2)
                return f"{name}.as_strided({[size, 1]}, {[1, 1]}, 0)"
            case "T":
                return f"{name}.T" if rank == 2 else f"{name}.detach()"
            case "real":
                return f"{name}.real"
            case _:
                return f"{name}.detach()"

    def factor(self, numel: int) -> list[int]:
        if numel == 0:
            return self.rng.choice(([0], [0, 2], [2, 0]))
        sizes, rest = [], numel
        while rest > 1 and self.rng.random() < 0.8:
            size = self.rng.choice([d for d in range(1, rest + 1) if rest % d == 0])
            sizes.append(size)
            rest //= size
        sizes.append(rest)
        self.rng.shuffle(sizes)
        if self.rng.random() < 0.3:
            sizes[self.rng.randrange(len(sizes))] = -1
        return sizes

    def source(self, shape: list[int], dtype: str) -> str:
        """A tensor that broadcasts to `shape`, or a number."""
        if self.rng.random() < 0.35:
            return str(self.rng.choice((0, 1, 2, 3)))
        sizes = [1 if self.rng.random() < 0.2 else size for size in shape]
        while sizes and self.rng.random() < 0.2:
            sizes.pop(0)
        if self.rng.random() < 0.1:
            sizes.insert(0, 1)
        if self.rng.random() < 0.03:
            sizes.append(2)
        count = int(np.prod(sizes))
        kind = dtype if self.rng.random() < 0.8 else self.rng.choice(DTYPES)
        start = self.rng.randint(1, 5)
        return f"L.arange({start}, {start + count}).reshape({sizes}).to(L.{kind})"

    def write(self, name: str, shape: list[int], dtype: str, result: list[int] | None) -> str:
        rng = self.rng
        kinds = ["setitem", "setitem", "setitem", "add_", "mul_", "sub_", "copy_", "fill_", "zero_"]
        kinds += [
            "masked_fill_",
            "iadd",
            "setmask",
            "clamp_",
            "index_fill_",
            "square_",
            "index_add_",
        ]
        kinds += [
            "scatter_",
            "neg_",
            "relu_",
            "index_copy_",
            "transpose_",
            "unsqueeze_",
            "t_",
            "squeeze_",
        ]
        kind = rng.choice(kinds)
        rank = len(shape)
        if kind == "square_" and dtype == "bool":
            kind = "zero_"
        match kind:
            case "setitem":
                index = self.index(shape, advanced=rng.random() < 0.6)
                part = shape_of_index(shape, index)
                return f"{name}[{index}] = {self.source(part, dtype)}"
            case "setmask":
                return f"{name}[{self.mask(shape)}] = {self.source([], dtype)}"
            case "iadd":
                index = self.index(shape, advanced=rng.random() < 0.5)
                part = shape_of_index(shape, index)
                return (
                    f"{name}[{index}] {rng.choice(('+=', '*=', '-='))} {self.source(part, dtype)}"
                )
            case "add_" | "mul_" | "sub_" | "copy_":
                source = self.source(shape, dtype)
                if kind == "copy_" and not source.startswith("L"):
                    source = f"L.tensor({source})"
                return f"{name}.{kind}({source})"
            case "fill_":
                return f"{name}.fill_({rng.randint(0, 3)})"
            case "masked_fill_":
                return f"{name}.masked_fill_({self.mask(shape)}, {rng.randint(0, 3)})"
            case "clamp_":
                return f"{name}.clamp_(1, 3)"
            case "index_fill_":
                dim = self.dim(rank)
                size = shape[dim] if -rank <= dim < rank else 1
                return f"{name}.index_fill_({dim}, L.tensor({[self.integer(size)]}), 2)"
            case "index_add_" | "index_copy_":
                if rank == 0 or 0 in shape:
                    return f"{name}.zero_()"
                dim = self.dim(rank) % rank
                sizes = [*shape[:dim], 2, *shape[dim + 1 :]]
                at = sorted({self.integer(shape[dim]) % max(shape[dim], 1) for _ in range(2)})
                sizes[dim] = len(at)
                return f"{name}.{kind}({dim}, L.tensor({at}), L.ones({sizes}, dtype=L.{dtype}))"
            case "scatter_":
                if rank == 0 or 0 in shape:
                    return f"{name}.zero_()"
                dim = self.dim(rank) % rank
                sizes = [1] * rank
                return f"{name}.scatter_({dim}, L.zeros({sizes}, dtype=L.int64), 3)"
            case "transpose_":
                return f"{name}.transpose_({self.dim(rank)}, {self.dim(rank)})"
            case "unsqueeze_":
                return f"{name}.unsqueeze_({self.dim(rank)})"
            case _:
                return f"{name}.{kind}()"

    def value(self, name: str, other: str, shape: list[int]) -> str:
        rng = self.rng
        kind = rng.choice(
            ("get", "get", "get", "mul", "clone", "add", "sum", "contiguous", "where")
        )
        match kind:
            case "get":
                return f"{name}[{self.index(shape, advanced=True)}]"
            case "mul":
                return f"{name} * {rng.randint(2, 3)}"
            case "add":
                return f"{name} + {other}"
            case "sum":
                return f"{name}.sum({self.dim(len(shape))})"
            case "where":
                return f"L.where({self.mask(shape)}, {name}, {name})"
            case _:
                return f"{name}.{kind}()"


def shape_of_index(shape: list[int], index: str) -> list[int]:
    """The shape an index picks, by NumPy; a guess suffices, both libraries judge it."""

    class Stand:
        int64, int32, bool = np.int64, np.int32, np.bool_
        tensor = staticmethod(lambda data, dtype=None: np.array(data, dtype=dtype))
        zeros = staticmethod(lambda size, dtype=None: np.zeros(size, dtype=dtype))

    try:
        picked = eval(f"x[{index}]", {"L": Stand, "x": np.empty(shape, dtype=np.int8)})
    except (IndexError, ValueError):
        return []
    return list(picked.shape)


class Machine:
    """One library that runs a program."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.tensors: list[Any] = []

    def run(self, step: str) -> Exception | None:
        try:
            exec(step, {"L": self.library, "t": self.tensors})
        except Exception as fault:
            return fault
        return None


BUILTIN = (IndexError, TypeError, ValueError, NotImplementedError, RuntimeError)


def kind_of(fault: Exception | None) -> type | None:
    if fault is None:
        return None
    return next((kind for kind in BUILTIN if isinstance(fault, kind)), type(fault))


def elements(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().numpy()


def turned(log: list[str]) -> bool:
    """Whether a step has changed a tensor's shape in place."""
    return any(turn in step for turn in TURNS for step in log)


def compare(ours: Machine, theirs: Machine, log: list[str]) -> None:
    for at, (a, b) in enumerate(zip(ours.tensors, theirs.tensors, strict=True)):
        facts = [
            (
                list(x.shape),
                str(x.dtype).split(".")[-1],
                x.requires_grad,
                x.is_leaf,
                x._version > 0 if not x.numel() else x._version,
            )
            for x in (a, b)
        ]
        if facts[0][:4] != facts[1][:4]:
            raise Difference(f"t[{at}]: {facts[0]} against {facts[1]}")
        if not np.array_equal(elements(a), elements(b), equal_nan=a.dtype.is_floating_point):
            raise Difference(f"t[{at}]:\n{elements(a)}\nagainst\n{elements(b)}")
        if not turned(log) and not b.is_leaf and (a._base is None) != (b._base is None):
            raise Difference(f"t[{at}]: base {a._base is not None} against {b._base is not None}")


def program(drawer: Drawer, ours: Machine, theirs: Machine, log: list[str], strict: bool) -> None:
    """Draw and run one program, comparing as it goes."""
    rng = drawer.rng
    tracked = rng.random() < 0.5
    shape = drawer.shape()
    count = int(np.prod(shape))
    dtype = rng.choice(("float32", "float64")) if tracked else rng.choice(DTYPES)
    make = f"L.arange(1, {1 + count}).reshape({shape}).to(L.{dtype})"
    do(ours, theirs, log, f"t.append({make}{'.requires_grad_()' if tracked else ''})", strict)
    if tracked:
        do(ours, theirs, log, "t.append(t[0] * 1)", strict)
    for _ in range(rng.randint(2, STEPS)):
        at = rng.randrange(1 if tracked and rng.random() < 0.95 else 0, len(theirs.tensors))
        tensor, name = theirs.tensors[at], f"t[{at}]"
        shape, dtype = list(tensor.shape), str(tensor.dtype).split(".")[-1]
        if tensor.numel() > LARGEST or tensor.dim() > 6:
            continue
        roll = rng.random()
        if roll < 0.4:
            step = f"t.append({drawer.view(name, shape)})"
        elif roll < 0.8:
            step = drawer.write(name, shape, dtype, None)
        else:
            other = f"t[{rng.randrange(len(theirs.tensors))}]"
            step = f"t.append({drawer.value(name, other, shape)})"
        do(ours, theirs, log, step, strict)
    if tracked:
        finish(ours, theirs, log, strict)


def do(ours: Machine, theirs: Machine, log: list[str], step: str, strict: bool) -> None:
    log.append(step)
    faults = ours.run(step), theirs.run(step)
    if faults[0] and not faults[1] and any(text in str(faults[0]) for text in REFUSED):
        raise Refused
    if faults[1] and not faults[0] and any(text in str(faults[1]) for text in STRICTER):
        raise Refused
    if faults[1] and not faults[0] and turned(log) and any(x in str(faults[1]) for x in TURNED):
        raise Refused
    # PyTorch does not look at indices of which nothing is picked.
    if faults[0] and not faults[1] and "out of bounds" in str(faults[0]):
        if step.startswith("t.append"):
            if theirs.tensors[-1].numel():
                raise Difference(f"{faults[0]!r}\nagainst a result with elements")
        else:
            compare(ours, theirs, log)
        raise Refused
    kinds = tuple(map(kind_of, faults))
    if (kinds[0] is None) != (kinds[1] is None) or (strict and kinds[0] is not kinds[1]):
        raise Difference(f"{faults[0]!r}\nagainst\n{faults[1]!r}")
    if faults[1] is not None:
        log[-1] += f"  # {type(faults[1]).__name__}"
        # PyTorch may have written a part before it noticed.
        if not step.startswith("t.append"):
            raise Stop
    try:
        compare(ours, theirs, log)
    except RuntimeError as fault:
        if any(text in str(fault) for text in STRICTER):
            raise Refused from fault
        raise


def finish(ours: Machine, theirs: Machine, log: list[str], strict: bool) -> None:
    """Every differentiable tensor with its own weights into one number, and back."""
    terms = [
        f"(t[{at}] * L.arange(1, {1 + x.numel()}).reshape({list(x.shape)})).sum().to(L.float64)"
        for at, x in enumerate(theirs.tensors)
        if x.requires_grad and x.dtype.is_floating_point
    ]
    do(ours, theirs, log, f"({' + '.join(terms)}).backward()", strict)
    a, b = ours.tensors[0].grad, theirs.tensors[0].grad
    if (a is None) != (b is None):
        raise Difference(f"t[0].grad: {a} against {b}")
    if b is not None and not np.allclose(elements(a), elements(b), rtol=1e-4, atol=1e-6):
        raise Difference(f"t[0].grad:\n{elements(a)}\nagainst\n{elements(b)}")


def fuzz(seed: int, count: int, *, strict: bool, most: int) -> int:
    """Run programs; the number of differences."""
    ours, theirs = importlib.import_module("pyburn"), importlib.import_module("torch")
    theirs.set_num_threads(1)
    wrong = limits = refused = steps = 0
    for number in range(count):
        log: list[str] = []
        drawer = Drawer(seed * 1_000_003 + number)
        pair = Machine(ours), Machine(theirs)
        try:
            program(drawer, *pair, log, strict)
        except Refused:
            limits += 1
        except Stop:
            pass
        except Difference as difference:
            wrong += 1
            print(f"--- program {number} of seed {seed}", *log, difference, sep="\n")
            if wrong >= most:
                break
        steps += len(log)
        refused += sum("  # " in step for step in log)
    print(
        f"{count} programs, {steps} steps, {refused} refused by both, {limits} programs ended "
        f"where one does more, {wrong} differences"
    )
    return wrong


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--count", type=int, default=1000, help="programs (default 1000)")
    parser.add_argument("--most", type=int, default=5, help="stop after so many differences")
    parser.add_argument("--strict", action="store_true", help="compare the exceptions' classes too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    return int(fuzz(options.seed, options.count, strict=options.strict, most=options.most) > 0)


if __name__ == "__main__":
    sys.exit(main())
