"""Which object a name stands for, told from source: an answer may only use names that mean the same in its lesson.

Two names are the same object when the same import binds them, or when both are the same literal. Anything else (a
helper that a lesson defines, a value that a cell computes) can't be compared without running it, and counts as another.
"""

import ast
import builtins
import copy
import symtable
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("__")) | {"__import__", "__debug__"}


@dataclass(frozen=True)
class Binding:
    """One place that binds ``name`` at the top level of a module or notebook.

    ``key`` names the object: a dotted path for imports, and for a literal its value as source; None where only running
    the code would tell. ``how`` is the first line of the statement, ``line`` its line (from 1), ``place`` the index of
    the cell.
    """

    name: str
    key: str | None
    how: str
    line: int
    place: int = 0


@dataclass(frozen=True)
class Home:
    """The module that code stands in: its import name, and where names that it imports really come from."""

    module: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)

    def dotted(self, path: str) -> str:
        """The path under which an object is known, its aliases resolved."""
        head, _, tail = path.partition(".")
        parts = [head, *tail.split(".")] if tail else [head]
        for end in range(len(parts), 0, -1):
            start = ".".join(parts[:end])
            if start in self.aliases:
                return ".".join([self.aliases[start], *parts[end:]])
        return path


def is_builtin(name: str) -> bool:
    """Whether Python itself gives the name a meaning everywhere."""
    return name in _BUILTINS


def bindings(
    tree: ast.Module, source: str, home: Home, *, place: int = 0, before: Mapping[str, Binding]
) -> list[Binding]:
    """Every binding of a name by the statements of ``tree``, in order; ``before`` holds those that are in force."""
    known = dict(before)
    found: list[Binding] = []
    lines = source.splitlines()
    for statement in tree.body:
        keys = _keys(statement, home, known)
        how = lines[statement.lineno - 1].strip() if statement.lineno <= len(lines) else ""
        for name in sorted(_bound_names(statement)):
            binding = Binding(name, keys.get(name), how, statement.lineno, place)
            known[name] = binding
            found.append(binding)
    return found


def _keys(statement: ast.stmt, home: Home, known: Mapping[str, Binding]) -> dict[str, str]:
    """The objects that a statement binds, as far as its source tells them."""
    match statement:
        case ast.Import(names=aliases):
            return {
                a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0] for a in aliases
            }
        case ast.ImportFrom(names=aliases):
            origin = _origin(statement, home.module)
            return {a.asname or a.name: home.dotted(f"{origin}.{a.name}") for a in aliases if a.name != "*"}
        case ast.Assign(targets=targets, value=value) if all(isinstance(target, ast.Name) for target in targets):
            key = _value_key(value, known)
            return {target.id: key for target in targets if isinstance(target, ast.Name)} if key else {}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            key = _value_key(value, known)
            return {name: key} if key else {}
    return {}


def _origin(statement: ast.ImportFrom, module: str) -> str:
    """The absolute module that a ``from`` import reads."""
    if not statement.level:
        return statement.module or ""
    package = module.split(".")[: -statement.level]
    return ".".join([*package, *([statement.module] if statement.module else [])])


def _value_key(value: ast.expr, known: Mapping[str, Binding]) -> str | None:
    """What an assigned value is: an immutable literal, or a name with attributes that is itself known."""
    attributes: list[str] = []
    node = value
    while isinstance(node, ast.Attribute):
        attributes.insert(0, node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        start = known.get(node.id)
        return ".".join([start.key, *attributes]) if start and start.key and not start.key.startswith("=") else None
    try:
        constant = ast.literal_eval(value)
        hash(constant)
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return None
    return f"= {constant!r}"


def _bound_names(statement: ast.stmt) -> set[str]:
    """Every name that running the statement can bind or delete at the top level."""
    table = _table(statement)
    names = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    for inner in _inner_tables(table):
        names |= {s.get_name() for s in inner.get_symbols() if s.is_declared_global() and s.is_assigned()}
    return names


def free_names(source: str) -> dict[str, int]:
    """The global names that a definition uses (decorators, defaults, annotations, bases, bodies) and a line of use.

    Lines count from 1 in ``source``. Built-in names are among them; the name that is defined itself is not.
    """
    table = _table(ast.parse(source))
    own = {s.get_name() for s in table.get_symbols() if s.is_assigned()}
    names = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    for inner in _inner_tables(table):
        symbols = [s for s in inner.get_symbols() if s.is_global() and (s.is_referenced() or s.is_assigned())]
        names |= {s.get_name() for s in symbols}
    lines = {node.id: node.lineno for node in reversed(list(ast.walk(ast.parse(source)))) if isinstance(node, ast.Name)}
    return {name: lines.get(name, 1) for name in sorted(names - own)}


class _GeneratorsOnly(ast.NodeTransformer):
    """Every comprehension as a generator expression, which keeps a scope of its own.

    From Python 3.12 on (PEP 709) the other comprehensions are compiled into the scope around them, and their variables
    look as if that scope bound them.
    """

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


def _table(tree: ast.AST) -> symtable.SymbolTable:
    """What the compiler knows of the names in some code, the same in every version of Python."""
    plain = _GeneratorsOnly().visit(copy.deepcopy(tree))
    return symtable.symtable(ast.unparse(ast.fix_missing_locations(plain)), "<code>", "exec")


def _inner_tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inner_tables(child)
