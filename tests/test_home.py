"""Tests use no files of the user who runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kit.home import REAL_CACHE

from skillpm.settings import current_settings


def test_code_in_this_process_has_a_home_of_its_own() -> None:
    assert not (current_settings().cache_dir + os.sep).startswith(REAL_CACHE)
    words = [sys.executable, "-c", "from skillpm.settings import current_settings; print(current_settings().cache_dir)"]
    assert subprocess.check_output(words, text=True).strip() == current_settings().cache_dir


def test_a_test_that_uses_the_cache_of_the_user_fails() -> None:
    with pytest.raises(AssertionError, match="a test uses"):
        Path(REAL_CACHE, "v1/file").write_text("")
