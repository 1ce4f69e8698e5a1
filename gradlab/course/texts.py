"""Every sentence that the workbook and the commands say, as templates with named fields."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradlab.exercises.texts import look_up

ENGLISH = {
    # where the course and the workbook are
    "no_lessons": "There are no lessons beside this gradlab (looked in {folder}).",
    "no_lessons_mend": (
        "get the whole course (git clone), and install gradlab from there: make lab; in the course's own "
        "repository the lessons are built with: gradlab build"
    ),
    "no_workbook": "There is no workbook in {folder}.",
    "no_workbook_mend": "gradlab lab makes one; if yours is elsewhere, add --workbook DIR, or cd into it",
    "workbook_in_course": "{folder} belongs to the course itself; a workbook there would change the course.",
    "workbook_is_file": "{folder} is a file, not a folder.",
    "elsewhere_mend": "gradlab lab --workbook {elsewhere}",
    "unknown_lesson": "There is no lesson {given}. The lessons are: {numbers}.",
    "unknown_lesson_mend": "gradlab reset {example}",
    # files that can't be used
    "folder_in_way": "{path} is a folder, where the lesson's notebook should be.",
    "move_mend": "mv {path} {other}, then {command}",
    "broken_link": "{path} is a link to {target}, which isn't there.",
    "broken_link_mend": "bring {target} back, or rm {path}; then {command}",
    "read_only": "{path} is read-only, so it was left as it is.",
    "read_only_mend": "chmod u+w {path}, then {command}",
    "damaged_mend": (
        "your backups are in {backups}; to start this lesson again: gradlab reset {number} (the damaged file goes to "
        "the backups first)"
    ),
    "damaged_nowhere_mend": "restore it from a copy, or fetch the lesson again",
    "full": "The disk is full: {path} could not be written. It is as it was before.",
    "full_mend": "make some room, then {command}",
    "forbidden": "{path} can't be written ({reason}). It is as it was before.",
    "forbidden_mend": "make it writable (ls -ld {folder}), or keep your workbook elsewhere: {elsewhere}",
    "unwritten": "{path} can't be used ({reason}). It is as it was before.",
    "unwritten_mend": "look at it (ls -ld {path}), then {command}",
    "busy": "Another gradlab command ({holder}) is at work in {folder}.",
    "busy_mend": "wait for it to end, then {command}",
    "kept_changing": "{path} kept changing while it was brought up to date, so it was left as it is.",
    "kept_changing_mend": "close it in JupyterLab, then gradlab update",
    # gradlab lab
    "handed_out": "New in your workbook: {names}",
    "lab_where": "Your workbook: {folder}",
    "lab_root": "You are root: JupyterLab is started with --allow-root.",
    "lab_newer": "The course has a newer version of {names}. Bring it in with: gradlab update",
    "lab_running": "JupyterLab already runs in this workbook: {address}",
    "lab_opened": "No second one is started: two would save over each other. Opened that one in your browser.",
    "lab_not_opened": "No second one is started: two would save over each other. Open the address above.",
    "lab_silent": "Another gradlab lab ({holder}) holds {folder}, and its JupyterLab doesn't answer.",
    "lab_silent_mend": "wait a moment and try again, or end it (Ctrl-C in its terminal; kill {pid}); then gradlab lab",
    # gradlab update
    "up_to_date": "Your workbook is up to date.",
    "updated_new": "{name}: new in your workbook",
    "updated_replaced": "{name}: new version (you had changed nothing)",
    "updated_carried": "{name}: new version, with your work in it. Backup: {backup}",
    "update_reload": (
        "JupyterLab is running: for each notebook above that is open, choose File > Reload Notebook from Disk."
    ),
    "carried_answers": "your answers: {names}",
    "carried_predictions": "your predictions: {names}",
    "carried_twice": "{name} was defined {count} times: the last one is in the exercise cell, the others above it",
    "carried_task_renewed": "the task of {name} is worded anew; your code under it is unchanged",
    "carried_task_changed": "the task of {name} has changed; its new text is in the course's own copy of the lesson",
    "carried_signature": "{name} is now to be written as {header}",
    "carried_orphan": "your answer to {name} is kept as a cell of your own: the lesson has no such exercise any more",
    "carried_cells": "cells of your own kept: {count}",
    "carried_edit": "your version of a cell kept: {begins}",
    "carried_old_edit": "a cell that you edited is new in the course; your version is kept as text: {begins}",
    "no_base": "the copy of what you were given is missing, so old cells of the course are kept as if they were yours",
    "your_version": "*Your version of a cell that the course has changed since:*",
    "left_behind": "{name} is not part of the course any more; your file stays as it is",
    # gradlab reset
    "reset_done": "{name} is as it was handed out. Yours went to {backup}",
    "reset_undo": "To have it back: cp {backup} {path}",
    "reset_same": "{name} is as it was handed out already.",
    "reset_new": "{name} was missing and has been handed out again.",
    "reset_reload": "JupyterLab is running: if the notebook is open, choose File > Reload Notebook from Disk.",
}


def say(key: str, **fields: Any) -> str:
    """The sentence for a key, with its fields filled in."""
    return str(look_up(f"course.{key}", ENGLISH[key])).format(**fields)


@dataclass(frozen=True)
class Note:
    """Something to tell the learner: the key of a sentence, and its fields."""

    key: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return say(self.key, **self.fields)


def note(key: str, **fields: Any) -> Note:
    """A note with the sentence ``key``."""
    return Note(key, fields)


def shown(path: Path) -> str:
    """A path as one would type it: relative where that is shorter to read, quoted where the shell needs it."""
    try:
        relative = path.relative_to(Path.cwd())
    except (ValueError, OSError):
        relative = path
    return shlex.quote(os.fspath(relative))
