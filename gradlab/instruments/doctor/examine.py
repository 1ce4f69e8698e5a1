"""From what the recorder heard to findings: one for each variable, over all the calls that asked for its gradient."""

from collections.abc import Callable
from typing import Any

from gradlab.instruments.doctor import ground
from gradlab.instruments.doctor.advice import advise
from gradlab.instruments.doctor.captured import captured
from gradlab.instruments.doctor.finding import STATUSES, Cut, Finding
from gradlab.instruments.doctor.flow import Flow, scale_of
from gradlab.instruments.doctor.frames import innermost
from gradlab.instruments.doctor.graph import Graph
from gradlab.instruments.doctor.lost import why_none
from gradlab.instruments.doctor.raised import why_raised, why_raised_in_gradient
from gradlab.instruments.doctor.recording import Recorder
from gradlab.instruments.doctor.records import GradientCall
from gradlab.instruments.doctor.report import Report
from gradlab.instruments.doctor.sick import why_sick
from gradlab.instruments.doctor.strays import strays


class Visit(Report):
    """What was found in a program; `findings` is complete when the `with` block has ended.

    Attributes:
        findings: one `Finding` for each variable whose gradient was asked for, the worst first.
        calls: how many times a tape was asked.
        faults: what went wrong in the doctor itself; empty unless the doctor has an error.
        eagerly: whether compiled functions were run operation by operation to be examined.
    """

    def __init__(self) -> None:
        self._cases: dict[tuple[Any, ...], _Case] = {}
        self._extra: list[Finding] = []
        self._reported: set[int] = set()
        self._seen: dict[tuple[Any, ...], list[Finding]] = {}
        self._strays: dict[int, Finding] = {}
        self._asked: set[int] = set()
        self.calls = 0
        self.faults: list[str] = []
        self.eagerly = False

    @property
    def findings(self) -> list[Finding]:
        """All findings, the worst first."""
        found = [case.finding() for case in self._cases.values()]
        found += [f for number, f in self._strays.items() if number not in self._asked]
        found += self._extra
        return sorted(found, key=lambda f: STATUSES.index(f.status))

    @property
    def ok(self) -> bool:
        """Whether every gradient is there, finite and not zero, and nothing raised."""
        return not self.faults and all(finding.ok for finding in self.findings)


class Diagnosis(Visit):
    """What `diagnose` found."""


class _Case:
    """One variable over all the calls that asked for its gradient."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.counts: dict[str, int] = {}
        self.last = "ok"

    def add(self, finding: Finding) -> None:
        self.counts[finding.status] = self.counts.get(finding.status, 0) + 1
        self.last = finding.status
        if not any(f.status == finding.status for f in self.findings):
            self.findings.append(finding)

    def finding(self) -> Finding:
        """The worst; a zero, or an overflow in 16 bits, that went away by itself is no finding."""
        total = sum(self.counts.values())
        healthy = next((f for f in self.findings if f.ok), None)

        def passing(f: Finding) -> bool:
            return f.status == "zero" or (
                f.status == "nonfinite" and f.cause == "mixed-precision" and self.last == "ok"
            )

        sick = [f for f in self.findings if not f.ok and not (healthy is not None and passing(f))]
        worst = min(sick, key=lambda f: STATUSES.index(f.status)) if sick else healthy or self.findings[0]
        return _with(worst, times=self.counts[worst.status], out_of=total)


def _with(finding: Finding, **changes: Any) -> Finding:
    values = {name: getattr(finding, name) for name in finding.__dataclass_fields__}
    return Finding(**{**values, **changes})


def name_of(source: Any, call: GradientCall, place: int) -> str:
    """A Keras variable's path, a `tf.Variable`'s name without `:0`, a tensor's name in the user's code or its place."""
    path = getattr(source, "path", None)
    if isinstance(path, str) and path:
        return path
    if hasattr(source, "handle"):
        return str(source.name).removesuffix(":0")
    return call.frame_names.get(id(source)) or f"variables[{place}]"


def number_of(source: Any) -> int | None:
    """The number by which the recording knows a variable or a tensor."""
    return ground.tensor_id(getattr(source, "handle", source))


def status_of(result: Any) -> str:
    """`none`, `nonfinite`, `zero` or `ok`."""
    if result is None:
        return "none"
    scale = scale_of(result)
    return "nonfinite" if not scale.finite else "zero" if scale.zero else "ok"


class Examiner:
    """Turns what the recorder hears into findings."""

    def __init__(
        self,
        visit: Visit,
        recorder: Recorder,
        again: Callable[[Any, int], Any] | None = None,
        compiled: Callable[[], list[str] | None] | None = None,
    ) -> None:
        self.visit = visit
        self.recorder = recorder
        self.again = again
        self.compiled = compiled

    def gradient(self, call: GradientCall) -> None:
        """One `tape.gradient` has been answered, or has raised.

        A fault of the doctor's own must not end the program that it watches: it is kept in `visit.faults`.
        """
        try:
            self._gradient(call)
        except Exception as error:
            self.visit.faults.append(f"{type(error).__name__}: {error}")

    def _gradient(self, call: GradientCall) -> None:
        visit = self.visit
        visit.calls += 1
        if call.error is not None:
            visit._reported.add(id(call.error))
            names = [name_of(s, call, i) for i, s in enumerate(call.sources)]
            cut = why_raised_in_gradient(self.recorder, Graph(self.recorder.nodes, call), call)
            visit._extra.append(_finding(_some(names), "raises", cut))
            return
        results = call.results or []
        statuses = [status_of(result) for result in results]
        for source in call.sources:
            number = number_of(source)
            if number is not None:
                visit._asked.add(number)
        key = (
            call.stack,
            call.kind,
            tuple(number_of(s) if hasattr(s, "handle") else i for i, s in enumerate(call.sources)),
            tuple(statuses),
        )
        known = visit._seen.get(key)
        if known is None:
            known = visit._seen[key] = self._examine(call, statuses)
        for place, (source, finding) in enumerate(zip(call.sources, known, strict=True)):
            which = (number_of(source),) if hasattr(source, "handle") else (call.stack[:1], finding.variable, place)
            visit._cases.setdefault(which, _Case()).add(finding)

    def _examine(self, call: GradientCall, statuses: list[str]) -> list[Finding]:
        findings = []
        graph = flow = None
        graph = Graph(self.recorder.nodes, call) if any(s != "ok" for s in statuses) else None
        self.visit.eagerly = self.visit.eagerly or self.recorder.saw_compiled
        told = (
            self.compiled() if self.compiled is not None and self.recorder.saw_compiled and "none" in statuses else None
        )
        if any(s in ("zero", "nonfinite") for s in statuses) and graph is not None:
            numbers = {
                n
                for n, s in zip(map(number_of, call.sources), statuses, strict=True)
                if s in ("zero", "nonfinite") and n is not None
            }
            flow = Flow(graph, call, numbers)
        for place, (source, status) in enumerate(zip(call.sources, statuses, strict=True)):
            name = name_of(source, call, place)
            shape = tuple(getattr(source, "shape", ()) or ())
            if status == "ok" or graph is None:
                findings.append(Finding(name, "ok", shape=shape))
                continue
            cut = self._why(graph, flow, call, source, status)
            if told is not None and status == "none" and told[place] == "zero":
                status = "zero"
                cut.note += "; run eagerly the gradient is None, but the compiled function gives zeros for it"
            findings.append(_finding(name, status, cut, shape))
        if call.tape is not None and call.kind == "gradient":
            self._look_for_strays(call, graph)
        return findings

    def _why(self, graph: Graph, flow: Flow | None, call: GradientCall, source: Any, status: str) -> Cut:
        number = number_of(source)
        cut = None
        if status != "none" and flow is not None and number is not None and not _filled_in(flow, number, status):
            cut = why_sick(graph, flow, number, status)
        if cut is None:
            if status == "nonfinite":
                return Cut(
                    "nan-singular-point",
                    "",
                    innermost(call.stack),
                    "the gradient is not finite; the operation was not found",
                )
            cut = why_none(self.recorder, graph, call, source, number)
        if number is not None and cut.cause in ("unused-variable", "left-tensorflow") and hasattr(source, "handle"):
            cut = self._look_again(graph, call, source, number, cut)
        return cut

    def _look_again(self, graph: Graph, call: GradientCall, source: Any, number: int, cut: Cut) -> Cut:
        """No recorded way: was the value captured earlier, or did it leave TensorFlow?"""
        read = any(number in node.inputs for node in graph.nodes)
        answer = (
            self.again(source, number) if self.again is not None and (read or cut.cause == "left-tensorflow") else None
        )
        if isinstance(answer, Cut):
            return answer
        if not read:
            return captured(self.recorder, graph, number) or cut
        if answer is False:
            cut.also = ()
            if cut.cause == "left-tensorflow":
                return Cut(
                    "unused-variable",
                    "unused",
                    cut.place,
                    "the target stays the same when the variable is moved",
                    path=cut.path,
                )
        return cut

    def _look_for_strays(self, call: GradientCall, graph: Graph | None) -> None:
        listed = {number_of(s) for s in call.sources}
        for number, finding in strays(self.recorder, graph, call, listed):
            self.visit._strays.setdefault(number, finding)

    def raised(self, error: BaseException) -> None:
        """The program raised something that no `tape.gradient` has reported."""
        if isinstance(error, Exception) and id(error) not in self.visit._reported:
            self.visit._extra.append(_finding("", "raises", why_raised(self.recorder, error)))


def _filled_in(flow: Flow, number: int, status: str) -> bool:
    """Whether a zero stands only for a gradient that isn't there (`unconnected_gradients="zero"`)."""
    own = flow.at.get(number)
    return status == "zero" and (own is None or not flow.scale(own).zero)


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def _finding(name: str, status: str, cut: Cut, shape: tuple[int, ...] = ()) -> Finding:
    place = cut.place
    return Finding(
        name,
        status,
        cut.cause,
        cut.op,
        place.file if place else None,
        place.line if place else None,
        place.code if place else "",
        cut.path,
        advise(cut, name or "x"),
        shape,
        cut.also,
        cut.note,
    )
