"""The edits that a place of a module allows, each a slip of a kind that people make.

A sign, a comparison or a constant changes, a term, a factor or a transposition is dropped, a name
such as ``log`` becomes its counterpart, branches or arguments change places. What can change no
value is no place: annotations, defaults, messages, guesses of the memory, how much is held at a
time, and flags that let BLAS work in place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

# arguments that change no value, or how long a search goes on
_IDLE = re.compile(
    "(strict|copy|copies|stacklevel|what|entries|restarts|max_steps|check_finite|overwrite_[a-z]+)$"
)
# calls that change no value
_QUIET = re.compile("warn|isinstance|issubclass|cast$|TypeVar|NewType|blocks$")
_SIGNS = {
    "Add": "Sub", "Sub": "Add", "Mult": "Div Add", "Div": "Mult", "Pow": "Mult", "Mod": "FloorDiv",
    "FloorDiv": "Mult", "BitAnd": "BitOr", "BitOr": "BitAnd", "And": "Or", "Or": "And",
    "Lt": "LtE Gt", "LtE": "Lt Gt", "Gt": "GtE Lt", "GtE": "Gt Lt", "Eq": "NotEq", "NotEq": "Eq",
    "Is": "IsNot", "IsNot": "Is", "In": "NotIn", "NotIn": "In",
}  # fmt: skip
_NAMES = {
    "log": "exp", "exp": "log", "sin": "cos", "cos": "sin", "min": "max", "max": "min",
    "minimum": "maximum", "maximum": "minimum", "argmin": "argmax", "argmax": "argmin",
    "floor": "ceil", "ceil": "floor", "tril": "triu", "triu": "tril", "any": "all", "all": "any",
    "log1p": "log", "expm1": "exp", "sum": "mean", "mean": "sum", "prod": "sum", "var": "std",
    "zeros": "ones", "ones": "zeros", "logical_and": "logical_or", "logical_or": "logical_and",
}  # fmt: skip
_UNWRAPPED = {"abs", "sqrt", "log", "exp", "log1p", "expm1", "square", "tanh", "sorted", "reversed"}
_SYMMETRIC = {
    "add", "multiply", "minimum", "maximum", "min", "max", "hypot", "logaddexp", "isclose",
    "allclose", "array_equal", "equal", "not_equal", "logical_and", "logical_or", "result_type",
    "vdot", "vecdot", "array_namespace", "may_share_memory", "broadcast_shapes",
}  # fmt: skip


def options(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in a node's place."""
    others = _others(getattr(node, "op", None))
    match node:
        case ast.BinOp(left, op, right) if not (_is_text(left) or _is_text(right)):
            yield from (ast.BinOp(left, other, right) for other in others)
            yield from [left] * isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow)
            yield from [right] * isinstance(op, ast.Add | ast.Mult)
            yield from [ast.UnaryOp(ast.USub(), node)] * isinstance(op, ast.Mult | ast.Div)
        case ast.AugAssign(target, _, value) if not _is_text(value):
            yield from (ast.AugAssign(target, other, value) for other in others)
        case ast.BoolOp(op, values):
            yield from (ast.BoolOp(other, values) for other in others)
            yield from (ast.BoolOp(op, [*values[:i], *values[i + 1 :]]) for i in range(len(values)))
        case ast.Compare(left, [op], sides):
            yield from (ast.Compare(left, [other], sides) for other in _others(op))
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1)
            if value:  # for the last of a vector, or of two sides alike, is often the first
                yield ast.Constant(value - 1 if isinstance(value, int) else 2.0 * value)
        case ast.Slice(lower, ast.Name() as upper, step):
            yield ast.Slice(lower, ast.BinOp(upper, ast.Sub(), ast.Constant(1)), step)
        case ast.Attribute(value, "T" | "mT"):
            yield value
        case ast.IfExp(test, body, other):
            yield ast.IfExp(test, other, body)
        case ast.If(ast.Name() | ast.Call() | ast.Attribute() as test, body, other):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, other)
        case ast.Call(func, args, named):
            if other := _NAMES.get(name := _name(func)):
                renamed = ast.Name(other) if isinstance(func, ast.Name) else None
                yield ast.Call(renamed or ast.Attribute(func.value, other), args, named)
            if name in _UNWRAPPED and len(args) == 1 and not named:
                yield args[0]
            if len(args) > 1 and type(args[0]) is type(args[1]) and name not in _SYMMETRIC:
                yield ast.Call(func, [args[1], args[0], *args[2:]], named)


def _others(op: Any) -> list[Any]:
    return [getattr(ast, name)() for name in _SIGNS.get(type(op).__name__, "").split()]


def _name(func: ast.expr) -> str:
    return getattr(func, "attr", getattr(func, "id", ""))


def _is_text(node: ast.AST) -> bool:
    """Return whether it is a text or a list, whose sum is none of numbers."""
    listed = isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.Starred)
    node = node.body if isinstance(node, ast.IfExp) else node
    return listed or isinstance(getattr(node, "value", None), str)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a module but for those that change no value."""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.arguments() | ast.FunctionDef("__repr__"):
            return
        case ast.AnnAssign(value=ast.Constant()) | ast.AnnAssign(annotation=ast.Name("TypeAlias")):
            return  # the default of a field, or the name of a type
        case ast.keyword(str(name)) if _IDLE.match(name):
            return
        case ast.If(ast.Name("TYPE_CHECKING")):
            return
        case ast.Call(func) if _QUIET.match(_name(func)) or ast.unparse(func)[:7] == "memory.":
            return
        case ast.Assign([ast.Name(name)], value) if name.isupper():
            powers = [isinstance(getattr(n, "op", 0), ast.Pow) for n in ast.walk(value)]
            if isinstance(value, ast.Constant) or any(powers):
                return  # a bound, or how much is held at a time
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                yield from _walk(child) if isinstance(child, ast.AST) else ()


class _Instead(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


def find(tree: ast.Module) -> list[ast.AST]:
    """Return the nodes of a module that may be edited."""
    idle = set(_open_sides(tree))
    return [node for node in _walk(tree) if any(options(node)) and node not in idle]


def _open_sides(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the 1 of ``reshape(-1, n)``: any length below zero leaves a side open."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _name(call.func) == "reshape":
            sides = [side for arg in call.args for side in getattr(arg, "elts", [arg])]
            yield from (side.operand for side in sides if isinstance(side, ast.UnaryOp))


def apply(tree: ast.Module, old: ast.AST, new: ast.AST) -> str:
    """Return the text of the module with a node in another's place."""
    return ast.unparse(ast.fix_missing_locations(_Instead(old, new).visit(tree)))
