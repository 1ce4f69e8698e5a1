"""Every sentence that the workbook and the commands say, as templates with named fields."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradlab.exercises.texts import look_up

ENGLISH = {
    # help of the commands
    "help": "A course on the backward pass in TensorFlow: its workbook, and the tools around it.",
    "help_exit": "Exit status: 0 all is well, 1 something is wrong, 2 the arguments can't be used.",
    "help_workbook": "The learner's folder; default: the one you are in, else workbook/ in the course's folder.",
    "help_json": "Print JSON instead of text.",
    "short_lab": "Open JupyterLab in your workbook.",
    "help_lab": "Copy the lessons into your workbook and open JupyterLab there. What is there already stays as it is.",
    "help_more": "Arguments for JupyterLab itself.",
    "help_no_browser": "Don't open a browser; print the address.",
    "help_port": "Port of JupyterLab; the next free one if it is taken.",
    "short_update": "Bring in new versions of the lessons, with a backup.",
    "help_update": (
        "Bring new versions of the lessons into your workbook. Your answers, predictions and own cells are carried "
        "over, and a backup is kept in backups/."
    ),
    "short_reset": "Start one lesson again, with a backup.",
    "help_reset": "Start one lesson again. Your notebook goes to backups/ first; your progress is kept.",
    "help_number": "Number of the lesson, such as 04.",
    "short_progress": "Show how far you are.",
    "help_progress": "Show how far you are: every exercise of the course, and your predictions.",
    "short_build": "Make lessons and solutions from their sources (for authors).",
    "help_build": "Make lessons and solutions from lessons/source/ (for authors). Executes only what has changed.",
    "help_numbers": "Numbers of lessons; all if none is given.",
    "help_build_check": "Write and execute nothing; say what is stale, and the command that mends it.",
    "help_force": "Execute solutions even if nothing has changed.",
    "short_check": "Run a notebook and report its exercises.",
    "help_check": (
        "Run a notebook from top to bottom in a kernel of its own, and report every exercise. The notebook and your "
        "progress stay as they are. Exit status 0 if every exercise is correct and no cell raises."
    ),
    "help_notebook": "The notebook to check.",
    "help_limit": "Seconds that one cell may take.",
    "short_doctor": "Run a script and say what is wrong with its gradients.",
    "help_doctor": (
        "Run a script as Python would, and examine every tf.GradientTape in it: which gradients are None, zero or not "
        "finite, why, and which line to change. The report follows on standard error when the script has ended; "
        "standard output and the exit status are the script's own."
    ),
    "help_script": "The script. What follows it goes to the script.",
    "help_arguments": "The script's own arguments.",
    "help_doctor_json": (
        "The report as JSON, one line, the last on standard error; or as text. It stands before SCRIPT; --json may "
        "also be the last word, and then isn't handed to the script."
    ),
    "not_a_script_mend": "gradlab doctor SCRIPT [ARGS]",
    "short_env": "Check whether this machine is ready.",
    "help_env": "Check whether this machine is ready for the course.",
    "help_deep": "Import TensorFlow too, list its devices and take one gradient (some seconds).",
    # said by every command
    "mend": "next: {mend}",
    "no_sources": "There are no lesson sources in {folder}.",
    "build_done": "built: {built}, up to date: {fresh}, problems: {problems}",
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
    "lab_waiting": "Another gradlab lab ({holder}) has just been started here; waiting for its address.",
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
    # gradlab check
    "no_notebook": "There is no file {path}.",
    "no_file": "{path} is not a file.",
    "unreadable": "{path} can't be read ({reason}).",
    "no_file_mend": "gradlab check NOTEBOOK, such as: gradlab check workbook/00_start.ipynb",
    "no_kernel": "No kernel starts here: {reason}",
    "no_kernel_mend": "gradlab env",
    "cell_slow": "stopped after {limit} s (gradlab check --time-limit gives more)",
    "cell_died": "it ended the kernel: exit(), os._exit, a crash in native code, or no memory left",
    "cell_input": "it waits for input(), and nobody can type here",
    "exercise_slow": (
        "Stopped after {limit} s. Is there a loop in it that never ends? (gradlab check --time-limit gives more.)"
    ),
    "exercise_died": "It ended the kernel: exit(), os._exit, a crash in native code, or no memory left.",
    "exercise_broken": "Cell [{cell}], which defines it, doesn't run: {text}",
    "exercise_silent": "Its check cell gave no verdict: {text}",
    "exercise_no_output": "it printed none",
    "exercise_renamed": "Cell [{cell}] defines {other} in its place. Call the function {name} again.",
    "exercise_gone": (
        "No cell defines it. Copy its cell from {source}, or start the lesson again (yours goes to the backups first): "
        "gradlab reset {number}"
    ),
    "exercise_gone_nowhere": "No cell defines it. Copy the cell that begins with def {name} from the lesson.",
    "remark_twice": "It is defined in cells {numbers}; [{counts}] is the one that was checked.",
    "remark_no_check": (
        "Its check cell is gone; it was checked all the same. Put {name} = check({name}) below cell [{cell}]."
    ),
    "remark_early_check": "Its check, cell [{check}], stands above cell [{cell}], which defines it: move it below.",
    "outcome_correct": "correct",
    "outcome_wrong": "wrong",
    "outcome_not_attempted": "not attempted",
    "outcome_error": "error",
    "report_title": "{notebook}, run from top to bottom:",
    "report_cells": "Cells that did not run to their end:",
    "report_cell": "[{cell}] {begins}",
    "report_line": "[{cell}] line {line}, in: {begins}",
    "report_total": "{correct} of {total} exercises correct",
    # gradlab env
    "env_ready": "ready: this machine can run the course.",
    "env_not_ready": "not ready: something is in the way of the course.",
    "env_python": "{version}; TensorFlow 2.21 runs on 3.11, 3.12 and 3.13",
    "env_python_mend": "install Python 3.13, then make env",
    "env_packages": "packages",
    "env_missing": "{name} is missing",
    "env_version": "{name} is {version}, not {wanted}",
    "env_none": "missing",
    "env_more": "; and {count} more",
    "env_as_locked": "all {count} as in requirements.lock",
    "env_no_lock": "what gradlab needs is there; there is no requirements.lock to compare the versions with",
    "env_processor": "processor",
    "env_intel_mac": "TensorFlow 2.21 has no build for Macs with an Intel processor",
    "env_no_avx": "it lacks AVX, which TensorFlow's builds need",
    "env_other_machine": "use another machine: Linux (x86 with AVX, or arm), Windows, or a Mac with Apple silicon",
    "env_unknown": "unknown",
    "env_kernel": "kernel",
    "env_kernel_here": "python3 is this environment's Python",
    "env_no_kernel": "there is no kernel named python3",
    "env_kernel_elsewhere": "python3 is another Python: {program}",
    "env_quiet": "quiet cells",
    "env_is_quiet": "TensorFlow's log stays out of cell outputs",
    "env_loud": "TensorFlow's log goes into cell outputs",
    "env_workbook": "workbook",
    "env_unwritable": "{folder} can't be written",
    "env_disk": "disk",
    "env_free": "{gigabytes} GB free",
    "env_disk_mend": "make some room: about 1 GB is comfortable",
    "env_memory": "memory",
    "env_total": "{gigabytes} GB",
    "env_memory_mend": "close other programs, and shut down kernels that you don't use: 4 GB is comfortable",
    "env_cores": "cores",
    "env_one_core": "the lessons run, about twice as long as they say",
    "env_browser": "browser",
    "env_system_browser": "the system's",
    "env_no_browser": "none found here",
    "env_gpu": "GPU",
    "env_no_gpu": "none (no lesson needs one)",
    "env_no_tensorflow": "it can't be used: {reason}",
    "env_ended": "its process ended with status {status}",
    "env_wrong_gradient": "the slope of x² at 3 came out as {value}, not 6",
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
