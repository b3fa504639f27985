"""The text of Python expressions that consist of constants, as a program would assemble it."""

import ast
import base64
import codecs

from skillpm.audit.checks.encoded import decompress

MAX_FOLDED = 20_000
MAX_DEPTH = 60


class Constants:
    """The texts of the names of a module, and of expressions with these names."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def fold(self, node: ast.expr, depth: int = 0) -> str | None:
        """Return the text of an expression of constants; None if it is not one, or a plain constant."""
        if depth > MAX_DEPTH:
            return None
        match node:
            case ast.Constant(value=str(text)):
                return text[:MAX_FOLDED]
            case ast.Constant(value=bytes(data)):
                return data[:MAX_FOLDED].decode("latin-1")
            case ast.Name(id=name):
                return self.texts.get(name)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                first, second = self.fold(left, depth + 1), self.fold(right, depth + 1)
                return None if first is None or second is None else (first + second)[:MAX_FOLDED]
            case ast.JoinedStr(values=values):
                return self._join("", values, depth)
            case ast.FormattedValue(value=value):
                return self.fold(value, depth + 1)
            case ast.Call():
                return self._fold_path(node, depth)
        return self._fold_operation(node, depth)

    def _fold_operation(self, node: ast.expr, depth: int) -> str | None:
        match node:
            case ast.BinOp(op=ast.Div(), left=left, right=right):
                first, second = self.fold(left, depth + 1), self.fold(right, depth + 1)
                return None if first is None or second is None else f"{first}/{second}"[:MAX_FOLDED]
            case ast.BinOp(op=ast.Mod(), left=left, right=right):
                return self._format(r"%s", left, right.elts if isinstance(right, ast.Tuple) else [right], depth)
            case ast.Subscript(value=value, slice=ast.Slice() as bounds):
                folded, part = self.fold(value, depth + 1), slice_of(bounds)
                return None if folded is None or part is None else folded[part]
        return None

    def _fold_call(self, node: ast.Call, depth: int) -> str | None:
        name = dotted(node.func)
        short = name.rpartition(".")[2]
        arguments = [self.fold(argument, depth + 1) for argument in node.args[:3]]
        inner = self.fold(node.func.value, depth + 1) if isinstance(node.func, ast.Attribute) else None
        match short, node.args:
            case "chr", [ast.Constant(value=int(code))] if 0 < code < 0x110000:  # noqa: PLR2004
                return chr(code)
            case "join", [ast.List(elts=items) | ast.Tuple(elts=items)] if inner is not None:
                return self._join(inner, items, depth)
            case "join", [ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="chr"), ast.List(elts=items)])]:
                codes = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, int)]
                return "".join(chr(code) for code in codes if 0 < code < 0x110000)  # noqa: PLR2004
            case (("bytes" | "bytearray"), [ast.List(elts=items)]):
                codes = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, int)]
                return "".join(chr(code) for code in codes if 0 <= code < 256)  # noqa: PLR2004
            case "replace", [_, _] if inner is not None and arguments[0] and arguments[1] is not None:
                return inner.replace(arguments[0], arguments[1])[:MAX_FOLDED]
            case (("decode" | "encode" | "strip" | "lower"), []) if inner is not None:
                return inner.lower() if short == "lower" else inner
            case "decode", [_] if inner is not None and arguments[0] in {"utf-8", "utf8", "ascii", "latin-1"}:
                return inner
            case "decode", [_, *_] if (
                name == "codecs.decode" and arguments[0] is not None and arguments[-1] in {"rot13", "rot_13"}
            ):
                return codecs.decode(arguments[0], "rot13")
            case (
                (
                    "b64decode"
                    | "urlsafe_b64decode"
                    | "decodebytes"
                    | "unhexlify"
                    | "fromhex"
                    | "decompress"
                    | "b32decode"
                    | "b85decode"
                ),
                [_, *_],
            ):
                return None if arguments[0] is None else _decode(short, arguments[0])
        return None

    def _fold_path(self, node: ast.Call, depth: int) -> str | None:
        """Return the text of a path, or of a template."""
        name = dotted(node.func)
        match name.rpartition(".")[2], node.args:
            case "format", values if isinstance(node.func, ast.Attribute) and not node.keywords:
                return self._format("{}", node.func.value, values, depth)
            case "home", []:
                return "~"
            case (("Path" | "expanduser"), [argument]):
                return self.fold(argument, depth + 1)
            case "join", [_, _, *_] as parts:
                return self._join("/", parts, depth)
        return self._fold_call(node, depth)

    def _format(self, mark: str, template: ast.expr, values: list[ast.expr], depth: int) -> str | None:
        text, parts = self.fold(template, depth + 1), [self.fold(value, depth + 1) for value in values[:20]]
        known = [part for part in parts if part is not None]
        pieces = [] if text is None else text.split(mark)
        if len(known) != len(values) or len(pieces) != len(known) + 1:
            return None
        return "".join(piece + part for piece, part in zip(pieces, [*known, ""], strict=True))[:MAX_FOLDED]

    def _join(self, separator: str, items: list[ast.expr], depth: int) -> str | None:
        texts = [self.fold(item, depth + 1) for item in items[:2_000]]
        known = [text for text in texts if text is not None]
        return separator.join(known)[:MAX_FOLDED] if len(known) == len(texts) else None


def slice_of(node: ast.Slice) -> slice | None:
    """Return a slice whose bounds are all written as numbers."""
    bounds: list[int | None] = []
    for bound in (node.lower, node.upper, node.step):
        match bound:
            case None:
                bounds.append(None)
            case ast.Constant(value=int(number)):
                bounds.append(number)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                bounds.append(-number)
            case _:
                return None
    return None if bounds[2] == 0 else slice(*bounds)


def _decode(name: str, text: str) -> str | None:
    data = text.encode("latin-1", "ignore")
    try:
        match name:
            case "decompress":
                data = decompress(data)
            case "unhexlify" | "fromhex":
                data = bytes.fromhex(text)
            case "b32decode":
                data = base64.b32decode(data)
            case "b85decode":
                data = base64.b85decode(data)
            case _:
                data = base64.urlsafe_b64decode(data.replace(b"+", b"-").replace(b"/", b"_") + b"==")
    except ValueError:
        return None
    return data[:MAX_FOLDED].decode("latin-1")


def dotted(node: ast.expr) -> str:
    """Return a name with its attributes, `os.path.join`; of other expressions only the attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        else:
            node = node.func if isinstance(node, ast.Call) else node.value
    parts.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))
