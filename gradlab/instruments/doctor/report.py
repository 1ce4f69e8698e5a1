"""How findings are told to people: text for a terminal, HTML with a small picture for a notebook."""

from gradlab.instruments.doctor.finding import Finding


class Report:
    """Text and HTML of a list of findings."""

    findings: list[Finding]

    def __str__(self) -> str:
        return "\n".join(f"{f.status} {f.variable} {f.cause} {f.op} {f.line}: {f.code}" for f in self.findings)
