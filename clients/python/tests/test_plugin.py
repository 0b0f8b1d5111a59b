"""Tests of the pytest plugin: what it prints and writes for a failing test."""

import pytest

PLUGIN = ("-p", "kubefake.pytest_plugin")


@pytest.fixture
def failing(pytester):
    pytester.makeini("[pytest]\nkube_flags = --manual-clock 2030-01-01T09:00:00Z\n")
    pytester.makepyfile(
        """
        NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "broken"}}

        def test_passes(kube):
            assert kube.clock.now.year == 2030

        def test_fails(kube):
            kube.store(NODE)
            assert False

        def test_without_server():
            assert False
        """
    )
    return pytester


def test_story_of_a_failing_test(failing):
    result = failing.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(passed=1, failed=2)
    text = result.stdout.str()
    assert text.count("- fakeapi story -") == 1
    assert "store nodes broken" in text


def test_pages_of_stories(failing):
    result = failing.runpytest_subprocess(*PLUGIN, "--kube-stories", "stories")
    pages = list((failing.path / "stories").iterdir())
    assert len(pages) == 1
    assert "test_fails" in pages[0].name
    assert "<title>" in pages[0].read_text()
    result.stdout.fnmatch_lines(["The whole story is in stories*"])
