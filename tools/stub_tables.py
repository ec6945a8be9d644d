"""What the stub's generator cannot read anywhere: Rust types as Python's, and precise signatures
where Rust sees no more than a Python object."""

from __future__ import annotations

_INTEGERS = ("i32", "i64", "u32", "u64", "usize", "isize")

ARGUMENTS = {
    "T": "Tensor",
    "PyRef<PyDType>": "dtype",
    "Op": "Operand",
    "Number": "Tensor | Number",
    "Ints": "int | Sequence[int]",
    "Sizes": "int | Sequence[int]",
    "BinsArg": "int | Tensor",
    "Order": "float | str",
    "Hyper": "Tensor | Number",
    "Group": "Slots",
    "[f64;3]": "Sequence[float]",
    "Source": "Generator",
    "DTypeArg": "DTypeLike",
    "DeviceArg": "DeviceLike",
    "str": "str",
    "String": "str",
    "bool": "bool",
    "f64": "float",
    "[u8]": "bytes",
    "Bound<PyAny>": "Any",
    "Py<PyAny>": "Any",
    "Bound<PyTuple>": "Any",
    "Bound<PyList>": "list[Any]",
    "Bound<PyDict>": "dict[Any, Any]",
    **dict.fromkeys(_INTEGERS, "int"),
}
"""Types of arguments."""

RESULTS = {
    "": "None",
    "()": "None",
    "Tensor": "Tensor",
    "PyTensor": "Tensor",
    "Self": "Self",
    "Bound<Self>": "Self",
    "PyDType": "dtype",
    "PyDevice": "device",
    "PyNode": "Node",
    "PyGenerator": "Generator",
    "PySlots": "Slots",
    "RemovableHandle": "RemovableHandle",
    "String": "str",
    "str": "str",
    "bool": "bool",
    "f64": "float",
    "Bound<PyBytes>": "bytes",
    "Bound<PyDict>": "dict[str, Any]",
    "Py<PyDict>": "dict[str, Any]",
    "Bound<PyType>": "type[Self]",
    "Bound<PyAny>": "Any",
    "Py<PyAny>": "Any",
    **dict.fromkeys(_INTEGERS, "int"),
}
"""Types of results."""

IMPORTS = {
    "Any": "typing",
    "Callable": "collections.abc",
    "CapsuleType": "typing_extensions",
    "DTypeLike": "pyburn._dtypes",
    "DeviceLike": "pyburn._dtypes",
    "EllipsisType": "types",
    "Incomplete": "_typeshed",
    "NDArray": "numpy.typing",
    "Number": "pyburn._dtypes",
    "Self": "typing_extensions",
    "Sequence": "collections.abc",
    "Size": "pyburn._size",
    "SupportsIndex": "typing",
    "TypeAlias": "typing",
    "generic": "numpy",
    "memory_format": "pyburn._dtypes",
    "overload": "typing",
}
"""Where names in these tables come from."""

ALIASES = """
Index: TypeAlias = (
    SupportsIndex | slice | EllipsisType | Tensor | NDArray[Any] | Sequence[Any] | None
)
Operand: TypeAlias = Tensor | Number | NDArray[Any] | generic
"""

_ORDER = "memory_format: memory_format | None = None"
_MOVE = f"non_blocking: bool = False, copy: bool = False, *, {_ORDER}"

PRECISE = {
    "Tensor.__new__": """
        def __new__(cls, *data: Any, dtype: DTypeLike | None = None,
            device: DeviceLike | None = None, backend: DeviceLike | None = None,
            requires_grad: bool = False) -> Self: ...
    """,
    "Tensor.shape": """
        @property
        def shape(self) -> Size: ...
    """,
    "Tensor.size": """
        @overload
        def size(self, dim: None = None) -> Size: ...
        @overload
        def size(self, dim: int) -> int: ...
    """,
    "Tensor.stride": """
        @overload
        def stride(self, dim: None = None) -> tuple[int, ...]: ...
        @overload
        def stride(self, dim: int) -> int: ...
    """,
    # Complex numbers are left out, as PyTorch does, so that `float(x.item())` passes.
    "Tensor.item": "def item(self) -> int | float: ...",
    "Tensor.numpy": "def numpy(self, *, force: bool = False) -> NDArray[Any]: ...",
    "Tensor.__array__": """
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    """,
    "Tensor.__int__": "def __int__(self) -> int: ...",
    "Tensor.__complex__": "def __complex__(self) -> complex: ...",
    "Tensor.__getitem__": "def __getitem__(self, index: Index, /) -> Tensor: ...",
    "Tensor.__setitem__": """
        def __setitem__(self, index: Index,
            value: Operand | Sequence[Any], /) -> None: ...
    """,
    "Tensor.__class_getitem__": """
        @classmethod
        def __class_getitem__(cls, item: Any, /) -> type[Self]: ...
    """,
    "Tensor.is_contiguous": f"def is_contiguous(self, {_ORDER}) -> bool: ...",
    "Tensor.contiguous": f"def contiguous(self, *, {_ORDER}) -> Tensor: ...",
    "Tensor.clone": f"def clone(self, *, {_ORDER}) -> Tensor: ...",
    "Tensor.register_hook": """
        def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle: ...
    """,
    "Tensor.register_post_accumulate_grad_hook": """
        def register_post_accumulate_grad_hook(
            self, hook: Callable[[Tensor], None]) -> RemovableHandle: ...
    """,
    "Tensor.backward": """
        def backward(self, gradient: Tensor | None = None, retain_graph: bool | None = None,
            create_graph: bool = False,
            inputs: Tensor | Sequence[Tensor] | None = None) -> None: ...
    """,
    "Tensor.to": f"""
        @overload
        def to(self, dtype: dtype, {_MOVE}) -> Tensor: ...
        @overload
        def to(self, other: Tensor, {_MOVE}) -> Tensor: ...
        @overload
        def to(self, device: DeviceLike | None = None,
            dtype: DTypeLike | None = None, {_MOVE}) -> Tensor: ...
        @overload
        def to(self, dtype: DTypeLike, {_MOVE}) -> Tensor: ...
    """,
    "Tensor.view": """
        @overload
        def view(self, dtype: dtype, /) -> Tensor: ...
        @overload
        def view(self, *, dtype: dtype) -> Tensor: ...
        @overload
        def view(self, *shape: int | Sequence[int]) -> Tensor: ...
    """,
    "Tensor.reshape": "def reshape(self, *shape: int | Sequence[int]) -> Tensor: ...",
    "Tensor.permute": "def permute(self, *dims: int | Sequence[int]) -> Tensor: ...",
    "Tensor.expand": """
        def expand(self, *sizes: int | Sequence[int], implicit: bool = False) -> Tensor: ...
    """,
    "Tensor.__dlpack__": """
        def __dlpack__(self, *, stream: int | None = None,
            max_version: tuple[int, int] | None = None,
            dl_device: tuple[int, int] | None = None,
            copy: bool | None = None) -> CapsuleType: ...
    """,
    "Tensor.__buffer__": "def __buffer__(self, flags: int, /) -> memoryview: ...",
    "Node.next_functions": """
        @property
        def next_functions(self) -> tuple[tuple[Node | None, int], ...]: ...
    """,
    "_register_size": "def _register_size(class_: type[tuple[int, ...]], /) -> None: ...",
    "_record_function": """
        def _record_function(class_: type[Any], context: Any, name: str, inputs: Sequence[Tensor],
            outputs: Sequence[Tensor], differentiable: Sequence[bool],
            saved: Sequence[Tensor | None], /) -> bool: ...
    """,
}
"""Signatures where Rust's types say too little."""

ALWAYS = {"Tensor.__buffer__"}
"""What is there from some version of Python on, and in the stub whichever version writes it."""

FREE = {
    "Tensor.tolist": "lists nested as deep as the tensor has dimensions, or a number",
    "Tensor.__array_interface__": "NumPy's protocol: a dictionary of everything",
}
"""What may give ``Any``, and why."""
