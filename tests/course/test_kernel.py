import pytest

from gradlab.course.errors import CourseError
from gradlab.course.kernel import config_path, is_quiet, make_quiet


def test_an_environment_without_a_configuration_is_not_quiet_until_it_is_made_so(tmp_path):
    assert not is_quiet(tmp_path)
    assert make_quiet(tmp_path) == config_path(tmp_path)
    assert is_quiet(tmp_path)


def test_making_it_quiet_twice_changes_nothing(tmp_path):
    make_quiet(tmp_path)
    before = config_path(tmp_path).read_bytes()
    make_quiet(tmp_path)
    assert config_path(tmp_path).read_bytes() == before


@pytest.mark.parametrize(
    "own",
    [
        "c.InteractiveShell.colors = 'nocolor'",
        "c = get_config()\nc.IPKernelApp.capture_fd_output = True\n",
        "# only a note\n",
    ],
)
def test_what_a_user_configured_stays_and_the_line_comes_behind_it(tmp_path, own):
    path = config_path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(own)
    assert not is_quiet(tmp_path)
    make_quiet(tmp_path)
    assert is_quiet(tmp_path)
    assert path.read_text().startswith(own)


def test_a_line_in_a_comment_does_not_count(tmp_path):
    path = config_path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("# c.IPKernelApp.capture_fd_output = False\n")
    assert not is_quiet(tmp_path)


def test_a_broken_configuration_is_left_as_it_was_and_named(tmp_path):
    path = config_path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("if broken(:\n")
    with pytest.raises(CourseError, match=str(path)):
        make_quiet(tmp_path)
    assert path.read_text() == "if broken(:\n"
