"""How findings are told to people: text for a terminal, HTML with a small picture for a notebook."""

from typing import Any

from gradlab.instruments.doctor.picture import as_html
from gradlab.instruments.doctor.story import told
from gradlab.instruments.doctor.text import as_text


class Report:
    """Text and HTML of a list of findings.

    Printed, it is plain text of 80 columns; as the last value of a notebook's cell, a picture. The worst comes
    first, equal findings are told once, and the same findings always read the same.
    """

    findings: Any
    eagerly = False

    def __str__(self) -> str:
        return as_text(told(list(self.findings)), eagerly=self.eagerly)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return as_html(told(list(self.findings)), eagerly=self.eagerly)
