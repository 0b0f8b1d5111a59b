"""The pytest plugin: the fixtures kube and kube_server, and the story of failing tests."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, Generator, Iterator

import pytest

from ._server import Kube, KubeError, Server


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("kube_flags", "flags of fakeapi serve for the server of the session", default="")
    group = parser.getgroup("kubefake")
    group.addoption("--kube-stories", metavar="DIR", help="write the stories of failing tests as pages to DIR")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "kube(*flags): a server of its own for the test, with these flags of fakeapi serve. "
        "Without the marker the fixture kube is a fork of the server of the session.",
    )


@pytest.fixture(scope="session")
def kube_server(pytestconfig: pytest.Config) -> Iterator[Server]:
    """The server of the session, from which the tests fork. A session fixture loads what all tests need."""
    with Server(shlex.split(pytestconfig.getini("kube_flags"))) as server:
        yield server


@pytest.fixture
def kube(request: pytest.FixtureRequest) -> Iterator[Kube]:
    """A Kubernetes API server for one test."""
    marker = request.node.get_closest_marker("kube")
    if marker is not None:
        with Server(marker.args) as server:
            yield server
        return
    with request.getfixturevalue("kube_server").fork() as fork:
        yield fork


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, None]:
    """Attaches the story of its server to the report of a failing test."""
    report = (yield).get_result()
    kube = getattr(item, "funcargs", {}).get("kube")
    if not report.failed or report.when == "teardown" or not isinstance(kube, Kube):
        return
    try:
        story = kube.story()
        directory = item.config.getoption("--kube-stories")
        if directory:
            page = Path(directory) / (re.sub(r"[^\w.-]+", "_", item.nodeid) + ".html")
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(kube.story_page(), encoding="utf-8")
            story += f"\nThe whole story is in {page}\n"
    except (KubeError, OSError) as e:
        story = f"the server has no story: {e}"
    report.sections.append(("fakeapi story", story))
