"""`--where`: a small, safe expression over the fields of a case.

It supports Python's comparisons, `in`, `and`, `or`, `not` and `len`, literals, and paths such as
`metadata.criticality` or `turns.tool_calls.name` (a path through a list gives the list of all
values). The expression is parsed and walked, never evaluated. A missing value is `None`, and a
comparison of incomparable values is false.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Sized
from functools import cache
from typing import Any, TypeAlias, cast

import msgspec
from msgspec import inspect

from carob.errors import UsageError
from carob.schema import Case, Lineage
from carob.text.spelling import did_you_mean

Value: TypeAlias = object
ValueReader: TypeAlias = Callable[[Case], Value]
ComparisonOperator: TypeAlias = Callable[[Any, Any], bool]

_LIMIT = 2_000
_WORDS = {"true": True, "false": False, "null": None}
_COMPARISONS: dict[type[ast.cmpop], ComparisonOperator] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
}
_FIELDS = [name for name in Case.__struct_encode_fields__ if name != "origin"] + ["lineage"]


def compile_where(text: str) -> Callable[[Case], bool]:
    """Compile an expression to a filter; raises `UsageError` if it is invalid."""
    # Only the nodes that `_compile_node` names are accepted, so an expression from a config or a
    # pull request cannot call anything. `eval` without builtins would not be safe: every object
    # leads to `__class__` and from there to all loaded classes.
    try:
        if len(text) > _LIMIT:
            raise UsageError(f"expression exceeds {_LIMIT} characters")
        read = _compile_node(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise UsageError(f"invalid expression {text[:80]!r}: {reason}", hint=_EXAMPLE) from error
    return lambda case: bool(read(case))


_EXAMPLE = """example: metadata.criticality == "high" and "edge-case" in tags"""


def _compile_node(node: ast.expr) -> ValueReader:
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return lambda _: value
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return _compile_path(node)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            read = _compile_node(operand)
            return lambda case: not read(case)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return lambda _: -number
        case ast.BoolOp(op=op, values=values):
            return _compile_combination(all if isinstance(op, ast.And) else any, values)
        case ast.Compare():
            return _compile_comparison(node)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            readers = [_compile_node(element) for element in elements]
            return lambda case: [read(case) for read in readers]
        case ast.Call(func=ast.Name(id="len"), args=[argument], keywords=[]):
            read = _compile_node(argument)
            return lambda case: _length(read(case))
        case _:
            raise _error_for(node)


def _error_for(node: ast.expr) -> UsageError:
    return UsageError(
        f"unsupported expression `{ast.unparse(node)[:60]}`",
        hint=f"supported: paths, literals, comparisons, in, and, or, not, len; {_EXAMPLE}",
    )


def _compile_combination(
    check: Callable[[Iterable[Value]], bool], nodes: list[ast.expr]
) -> ValueReader:
    readers = [_compile_node(node) for node in nodes]
    return lambda case: check(read(case) for read in readers)


def _compile_comparison(node: ast.Compare) -> ValueReader:
    if any(type(op) not in _COMPARISONS for op in node.ops):
        raise _error_for(node)
    if any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
        _refuse_lists([node.left, *node.comparators])
    first = _compile_node(node.left)
    pairs = zip(node.ops, node.comparators, strict=True)
    steps = [(_COMPARISONS[type(op)], _compile_node(side)) for op, side in pairs]

    def read(case: Case) -> bool:
        left = first(case)
        for holds, reader in steps:
            right = reader(case)
            if not _holds(holds, left, right):
                return False
            left = right
        return True

    return read


def _refuse_lists(sides: Iterable[ast.expr]) -> None:
    """Refuse to order a field that is a list: `turns > 3` would select nothing, and its opposite
    everything."""
    for side in sides:
        if isinstance(side, ast.Name | ast.Attribute | ast.Subscript):
            names = _split_path(side)
            if not _is_word(names) and _check_path(names):
                path = ".".join(names)
                hint = f"did you mean len({path})?"
                raise UsageError(f"cannot order `{path}`, which is a list", hint=hint)


def _is_word(names: list[str]) -> bool:
    return len(names) == 1 and names[0] in _WORDS


def _holds(holds: ComparisonOperator, left: Value, right: Value) -> bool:
    try:
        return holds(left, right)
    except TypeError:
        return False  # for example `3 < "a"` or `x in None`


def _length(value: Value) -> int | None:
    return len(value) if isinstance(value, Sized) else None


def _compile_path(node: ast.expr) -> ValueReader:
    names = _split_path(node)
    if _is_word(names):
        word = _WORDS[names[0]]
        return lambda _: word
    _check_path(names)

    def read(case: Case) -> Value:
        value: Value = case
        for name in names:
            value = _member(value, name)
        return value

    return read


def _split_path(node: ast.expr) -> list[str]:
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=inner, attr=name):
            return [*_split_path(inner), name]
        case ast.Subscript(value=inner, slice=ast.Constant(value=str() as name)):
            return [*_split_path(inner), name]
        case _:
            raise _error_for(node)


def _check_path(names: list[str]) -> bool:
    """Reject names that no case can have; free JSON, such as metadata, may have any. Returns
    whether the values are known to be lists."""
    declared: inspect.Type = inspect.type_info(Case)
    if names[0] == "lineage":
        declared, names = inspect.type_info(Lineage), names[1:]
    is_list = False
    for name in names:
        declared = _element_type(declared)
        if not isinstance(declared, inspect.StructType):
            return is_list
        fields = {
            field.encode_name: field.type
            for field in declared.fields
            if field.encode_name != "origin"
        }
        if name not in fields:
            raise _unknown_field(name, list(fields) if declared.cls is not Case else _FIELDS)
        declared = fields[name]
        is_list = is_list or _is_list(declared)
    return is_list


def _is_list(declared: inspect.Type) -> bool:
    types = declared.types if isinstance(declared, inspect.UnionType) else (declared,)
    return any(isinstance(each, inspect.VarTupleType | inspect.ListType) for each in types)


def _unknown_field(name: str, fields: list[str]) -> UsageError:
    hints = (did_you_mean(name, fields), f"expected one of: {', '.join(fields)}")
    return UsageError(f"unknown field {name!r}", hint=" ".join(filter(None, hints)))


def _element_type(declared: inspect.Type) -> inspect.Type:
    if isinstance(declared, inspect.UnionType):
        declared = next(t for t in declared.types if not isinstance(t, inspect.NoneType))
    if isinstance(declared, inspect.VarTupleType | inspect.ListType):
        return _element_type(declared.item_type)
    return declared


def _member(value: Value, name: str) -> Value:
    if isinstance(value, msgspec.Struct):
        return getattr(value, _attribute(type(value), name), None)
    if isinstance(value, dict):
        return cast("dict[str, Value]", value).get(name)
    if isinstance(value, list | tuple):
        return _flatten(_member(element, name) for element in cast("list[Value]", value))
    return None


@cache
def _attribute(kind: type[msgspec.Struct], name: str) -> str:
    """The Python name of a field that is written by its JSON name."""
    names = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    return names.get(name, name)


def _flatten(values: Iterable[Value]) -> list[Value]:
    flat: list[Value] = []
    for value in values:
        if isinstance(value, list | tuple):
            flat.extend(cast("list[Value]", value))
        else:
            flat.append(value)
    return flat
