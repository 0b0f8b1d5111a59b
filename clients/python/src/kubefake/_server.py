"""Servers, and what a test does to them."""

from __future__ import annotations

import base64
import datetime
import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile
import types
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Type, Union

from ._control import Control, Fault, Lags, Revision, Write

Duration = Union[str, datetime.timedelta]


class KubeError(Exception):
    """A request to the control endpoint failed, or the server did not start.

    ``code`` is the HTTP status code, 0 if the server did not start.
    """

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


def find_binary() -> str:
    """Returns the path of the command fakeapi.

    It is FAKEAPI_BINARY, the one that the package carries, or the one in PATH.
    """
    if os.environ.get("FAKEAPI_BINARY"):
        return os.environ["FAKEAPI_BINARY"]
    name = "fakeapi.exe" if os.name == "nt" else "fakeapi"
    carried = Path(__file__).parent / "bin" / name
    found = str(carried) if carried.exists() else shutil.which(name)
    if found is None:
        raise KubeError(
            "there is no command fakeapi: set FAKEAPI_BINARY, or install it with "
            "go install github.com/kubefake/kubefake/cmd/fakeapi@latest and put it in PATH"
        )
    return found


def _duration(value: Optional[Duration]) -> Optional[str]:
    """Returns a duration as the server reads it."""
    if isinstance(value, datetime.timedelta):
        return "%dus" % (value // datetime.timedelta(microseconds=1))
    return value


def _camel(name: str) -> str:
    """Returns user_agent as userAgent."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class _Connection:
    """Sends requests to the control endpoint of the server of a kubeconfig."""

    def __init__(self, url: str, kubeconfig: str) -> None:
        def field(name: str) -> str:
            found = re.search(r"^ +%s: (\".*\")$" % name, kubeconfig, re.MULTILINE)
            return json.loads(found.group(1)) if found else ""

        self._url = url
        self._token = field("token")
        handlers: List[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
        if url.startswith("https:"):
            ca = base64.b64decode(field("certificate-authority-data")).decode()
            handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cadata=ca)))
        self._opener = urllib.request.build_opener(*handlers)

    def __call__(self, method: str, path: str, query: Mapping[str, Any], body: Any) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        if given:
            path += "?" + urllib.parse.urlencode(given, doseq=True)
        return json.loads(self.read(method, path, "application/json", body))

    def read(self, method: str, path: str, accept: str, body: Any = None) -> bytes:
        """Returns the body of the answer to a request."""
        request = urllib.request.Request(self._url + path, method=method, headers={"Accept": accept})
        if self._token:
            request.add_header("Authorization", "Bearer " + self._token)
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        try:
            with self._opener.open(request) as response:
                answer: bytes = response.read()
                return answer
        except urllib.error.HTTPError as e:
            with e:
                text = e.read().decode(errors="replace")
            try:
                text = json.loads(text)["message"]
            except (ValueError, KeyError, TypeError):
                pass
            raise KubeError(text, e.code) from None


class Clock:
    """The clock of a server. The flag --manual-clock stops it."""

    def __init__(self, control: Control) -> None:
        self._control = control

    @property
    def now(self) -> datetime.datetime:
        """The time of the server, in UTC."""
        text = self._control.clock()["now"]
        found = re.match(r"(\d+-\d+-\d+T\d+:\d+:\d+)(\.\d+)?(Z|[+-]\d\d:\d\d)$", text)
        assert found, text
        fraction = (found.group(2) or ".0")[:7].ljust(7, "0")
        zone = "+00:00" if found.group(3) == "Z" else found.group(3)
        return datetime.datetime.fromisoformat(found.group(1) + fraction + zone).astimezone(datetime.timezone.utc)

    def advance(self, by: Duration) -> None:
        """Moves the clock forward, and runs the timers that are due. "10m" is ten minutes."""
        self._control.advance_clock(advance=_duration(by) or "")


class Injection:
    """Injected faults. As a context manager it removes them at its end."""

    def __init__(self, control: Control, ids: Sequence[str]) -> None:
        self._control = control
        self.ids = list(ids)

    @property
    def hits(self) -> int:
        """How many requests, watches and webhook calls the faults have hit."""
        return sum(f["hits"] for f in self._control.list_faults()["faults"] if f["fault"]["id"] in self.ids)

    def remove(self) -> None:
        """Ends the faults and their effects."""
        self._control.remove_faults(id=self.ids)

    def __enter__(self) -> Injection:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Webhooks(NamedTuple):
    """Where and how a test serves webhooks over HTTPS."""

    host: str
    port: int
    cert_file: str
    key_file: str
    ca_bundle: str
    """The CA certificate in PEM, for configurations that are written later."""

    def ssl_context(self) -> ssl.SSLContext:
        """Returns the context for the socket of the webhooks."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert_file, self.key_file)
        return context


class Kube:
    """A server. ``control`` has every request of its control endpoint."""

    url: str
    """The base URL, without a trailing slash."""
    kubeconfig: str
    """The path of a kubeconfig file. Its user is a member of system:masters."""
    control: Control
    clock: Clock

    def __init__(self, url: str, kubeconfig: str, directory: str) -> None:
        self.url = url
        self.kubeconfig = kubeconfig
        self._dir = directory
        self._connection = _Connection(url, Path(kubeconfig).read_text())
        self.control = Control(self._connection)
        self.clock = Clock(self.control)

    def fork(self) -> Fork:
        """Starts a server with the same state, on a port of its own. The two are independent.

        As a context manager the fork ends at its end. It ends with this server at the latest.
        """
        return Fork(self)

    def kubeconfig_for(self, name: str, groups: Sequence[str] = ()) -> str:
        """Returns the path of a kubeconfig file of a user. The server needs the flag --tls."""
        return self._write("kubeconfig", self.control.kubeconfig(name=name, groups=list(groups))["kubeconfig"])

    def store(self, *objects: Mapping[str, Any]) -> Revision:
        """Stores objects with their status, without admission and validation of their spec."""
        return self.control.change_objects(store=[dict(o) for o in objects])

    def remove(self, *objects: Mapping[str, Any]) -> Revision:
        """Removes objects at once, without finalizers.

        Each needs only kind, apiVersion, and the namespace and name in metadata.
        """
        return self.control.change_objects(remove=[dict(o) for o in objects])

    def lag(
        self,
        resource: str = "*",
        *,
        by: Optional[Duration] = None,
        revisions: Optional[int] = None,
        until: Optional[int] = None,
        frozen: Optional[bool] = None,
    ) -> Lags:
        """Delays the watch caches of a resource, such as pods or deployments.apps."""
        return self.control.lag(resource=resource, by=_duration(by), revisions=revisions, until=until, frozen=frozen)

    def freeze(self, resource: str = "*") -> Lags:
        """Stops the watch caches of a resource: reads and watches of them show what they show now."""
        return self.lag(resource, frozen=True)

    def thaw(self, resource: str = "*") -> Lags:
        """Ends the lag of a resource."""
        return self.control.end_lag(resource=resource)

    def inject(self, *faults: Fault, **fields: Any) -> Injection:
        """Injects faults: dictionaries with the fields of fault files, or the fields of one.

        ``kube.inject(verb="update", resource="pods", code=409, times=1)``. Names such as
        user_agent are those of the files, userAgent.
        """
        every: List[Any] = list(faults)
        if fields:
            every.append({_camel(name): _duration(value) for name, value in fields.items()})
        return Injection(self.control, [f["fault"]["id"] for f in self.control.inject_faults(every)["faults"]])

    def compact(self, *, revision: Optional[int] = None, watch_cache: bool = False, watches: bool = False) -> Revision:
        """Removes old versions of objects: older watches and continue tokens get 410.

        :param revision: the oldest revision that can be read afterwards, by default the newest.
        :param watch_cache: also removes what the watch cache of kube-apiserver still serves.
        :param watches: also ends every open watch with 410.
        """
        return self.control.compact(revision=revision, watch_cache=watch_cache, watches=watches)

    def settle(self, *, ahead: Optional[Duration] = None, timeout: Optional[Duration] = None) -> None:
        """Waits until the controllers, the watches and the clients have nothing left to do.

        :param ahead: on a manual clock, moves it to each next time at which a controller has
            something to do, up to that long ahead.
        :param timeout: raises a KubeError afterwards, by default after 30 seconds.
        """
        self.control.settle(ahead=_duration(ahead), timeout=_duration(timeout))

    def install_webhooks(self, *, services: Sequence[str] = (), convert: Sequence[str] = ()) -> Webhooks:
        """Lets the test serve the webhooks of the configurations that the server has.

        :param services: further Services, as namespace/name, for which the certificate is valid.
        :param convert: names of CustomResourceDefinitions that get a conversion webhook.
        """
        w = self.control.install_webhooks(services=list(services), convert=list(convert))
        return Webhooks(
            w["host"], w["port"], self._write("tls.crt", w["certificate"]), self._write("tls.key", w["key"]), w["caBundle"]
        )

    def writes(self) -> List[Write]:
        """Returns the writes in the history, with their writers."""
        return self.control.writes()

    def story(self) -> str:
        """Returns the last events on the server: who wrote what, who had not seen it, what failed."""
        return self._connection.read("GET", "/debug/fakeapi/story", "text/plain").decode()

    def story_page(self) -> str:
        """Returns the whole story as an HTML page."""
        return self._connection.read("GET", "/debug/fakeapi/story", "text/html").decode()

    def _write(self, name: str, text: str) -> str:
        """Writes a file that only the user can read, and returns its path."""
        file, path = tempfile.mkstemp(suffix="-" + name, dir=self._dir)
        with os.fdopen(file, "w", newline="") as f:
            f.write(text)
        return path


class Fork(Kube):
    """A server that began with the state, history, lags and faults of another one."""

    def __init__(self, parent: Kube) -> None:
        self._parent = parent
        fork = parent.control.fork()
        self._id = fork["id"]
        directory = tempfile.mkdtemp(prefix="fork", dir=parent._dir)
        self._dir = directory
        super().__init__(fork["url"], self._write("kubeconfig", fork["kubeconfig"]), directory)

    def close(self) -> None:
        """Ends the fork. Further calls do nothing."""
        if self._id:
            self._parent.control.end_forks(id=[self._id])
            self._id = ""
            shutil.rmtree(self._dir, ignore_errors=True)

    def __enter__(self) -> Fork:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Server(Kube):
    """A process of the command fakeapi. As a context manager it ends at its end.

    :param flags: flags of ``fakeapi serve``, such as ``--tls`` or ``--crds``, ``config/crd``.
    :param binary: the path of the command; by default ``find_binary()``.
    """

    def __init__(self, flags: Sequence[str] = (), *, binary: Optional[str] = None) -> None:
        directory = tempfile.mkdtemp(prefix="fakeapi")
        kubeconfig = os.path.join(directory, "kubeconfig")
        command = [binary or find_binary(), "serve", "--listen", "127.0.0.1:0", "--quiet", "--with-parent"]
        try:
            with open(os.path.join(directory, "stderr"), "w+b") as stderr:
                self._process = subprocess.Popen(
                    [*command, "--delete-at-end", directory, "--kubeconfig", kubeconfig, *flags],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                )
                assert self._process.stdout
                url = self._process.stdout.readline().decode().strip()
                if not url:
                    self._process.wait()
                    stderr.seek(0)
                    raise KubeError(stderr.read().decode(errors="replace").strip() or "fakeapi serve has ended")
        except OSError as e:
            shutil.rmtree(directory, ignore_errors=True)
            raise KubeError(f"{command[0]}: {e.strerror}") from e
        except KubeError:
            if self._process.stdout:
                self._process.stdout.close()
            shutil.rmtree(directory, ignore_errors=True)
            raise
        super().__init__(url, kubeconfig, directory)

    def close(self) -> None:
        """Ends the server and its forks. Further calls do nothing."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        shutil.rmtree(self._dir, ignore_errors=True)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]] = None,
        error: Optional[BaseException] = None,
        trace: Optional[types.TracebackType] = None,
    ) -> None:
        self.close()
