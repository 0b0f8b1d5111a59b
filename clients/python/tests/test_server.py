"""Tests of the package that need no Kubernetes client."""

import concurrent.futures
import datetime
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import kubefake
import pytest


def get(kube, path):
    return kube._connection("GET", path, {}, None)


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def names(kube):
    return [o["metadata"]["name"] for o in get(kube, CONFIG_MAPS)["items"] if not o["metadata"]["name"].startswith("kube-")]


@pytest.fixture(scope="session", autouse=True)
def world(kube_server):
    kube_server.store(config_map("shared", a="b"))


@pytest.mark.parametrize("n", [1, 2])
def test_each_test_has_a_fork(kube, n):
    assert names(kube) == ["shared"]
    kube.store(config_map("own"))
    assert names(kube) == ["own", "shared"]
    kube.remove(config_map("own"))
    assert names(kube) == ["shared"]


def test_forks_end(kube_server):
    before = len(kube_server.control.list_forks()["forks"])
    with kube_server.fork() as fork:
        with fork.fork() as nested:
            assert names(nested) == ["shared"]
        assert len(kube_server.control.list_forks()["forks"]) == before + 1
        assert os.path.exists(fork.kubeconfig)
    assert len(kube_server.control.list_forks()["forks"]) == before
    assert not os.path.exists(fork.kubeconfig)


def test_lag(kube):
    kube.lag("configmaps", frozen=True)
    kube.store(config_map("new"))
    cached = get(kube, CONFIG_MAPS + "?resourceVersion=0")["items"]
    assert "new" not in [o["metadata"]["name"] for o in cached]
    kube.thaw("configmaps")
    assert kube.lag("configmaps", by=datetime.timedelta(seconds=2))["lags"][0]["by"] == "2s"


def test_faults(kube):
    with kube.inject(verb="list", resource="configmaps", code=429, retry_after="1s") as fault:
        with pytest.raises(kubefake.KubeError, match="Too many requests") as failure:
            names(kube)
        assert failure.value.code == 429
        assert fault.hits == 1
    assert names(kube) == ["shared"]
    two = kube.inject({"resource": "pods", "code": 500}, {"resource": "nodes", "delay": "1s"})
    assert len(two.ids) == 2
    with pytest.raises(kubefake.KubeError, match="unknown field"):
        kube.inject(verbs="list", code=500)


@pytest.mark.kube("--manual-clock", "2030-01-01T09:00:00Z")
def test_clock(kube):
    start = datetime.datetime(2030, 1, 1, 9, tzinfo=datetime.timezone.utc)
    assert kube.clock.now == start
    kube.clock.advance("10m")
    kube.clock.advance(datetime.timedelta(milliseconds=1500))
    assert kube.clock.now == start + datetime.timedelta(minutes=10, milliseconds=1500)


def test_compact(kube):
    old = get(kube, CONFIG_MAPS)["metadata"]["resourceVersion"]
    kube.store(config_map("new"))
    kube.compact(watch_cache=True)
    with pytest.raises(kubefake.KubeError) as failure:
        get(kube, f"{CONFIG_MAPS}?resourceVersion={old}&resourceVersionMatch=Exact")
    assert failure.value.code == 410


def test_snapshot(kube):
    kube.control.snapshot(name="before")
    kube.store(config_map("new"))
    kube.control.restore(name="before")
    assert names(kube) == ["shared"]


def test_story(kube):
    kube.store(config_map("told"))
    assert "store configmaps default/told" in kube.story()
    assert "<title>" in kube.story_page()
    assert kube.control.story()["format"] == 1
    assert kube.writes()[-1]["changes"][0]["name"] == "told"


@pytest.mark.kube("--tls", "--authorization-mode", "RBAC")
def test_users(kube):
    assert kube.url.startswith("https://")
    assert names(kube) == []
    file = kube.kubeconfig_for("alice", ["developers"])
    with open(file) as f:
        alice = kubefake._server._Connection(kube.url, f.read())
    with pytest.raises(kubefake.KubeError, match='User "alice" cannot list') as failure:
        alice("GET", CONFIG_MAPS, {}, None)
    assert failure.value.code == 403


def test_users_need_tls(kube):
    with pytest.raises(kubefake.KubeError, match="TLS"):
        kube.kubeconfig_for("alice")


def test_webhooks(kube):
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
    hook = {
        "name": "deny.example.com",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"service": {"namespace": "shop", "name": "admission"}},
        "rules": rules,
    }
    kube.store(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "shop"},
            "webhooks": [hook],
        }
    )

    class Deny(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            review["response"] = {"uid": review["request"]["uid"], "allowed": False, "status": {"message": "no"}}
            body = json.dumps(review).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    hooks = kube.install_webhooks()
    server = http.server.HTTPServer((hooks.host, hooks.port), Deny)
    server.socket = hooks.ssl_context().wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(kubefake.KubeError, match='webhook "deny.example.com" denied the request: no'):
            kube._connection("POST", CONFIG_MAPS, {}, config_map("denied"))
    finally:
        server.shutdown()
        server.server_close()


def test_server_fails(tmp_path, monkeypatch):
    with pytest.raises(kubefake.KubeError, match="unknown flag: --none"):
        kubefake.Server(["--none"])
    with pytest.raises(kubefake.KubeError, match="No such file"):
        kubefake.Server(binary=str(tmp_path / "none"))
    monkeypatch.delenv("FAKEAPI_BINARY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(kubefake.KubeError, match="FAKEAPI_BINARY"):
        kubefake.find_binary()


def alive(url):
    try:
        urllib.request.urlopen(url + "/version").close()
        return True
    except (urllib.error.URLError, OSError):
        return False


def test_server_close():
    with kubefake.Server() as server:
        assert alive(server.url)
        directory = os.path.dirname(server.kubeconfig)
    assert not alive(server.url)
    assert not os.path.exists(directory)
    server.close()


def test_two_hundred_forks_at_once_leave_nothing():
    server = kubefake.Server()
    started = threading.Barrier(200)

    def use(n):
        with server.fork() as fork:
            started.wait()
            fork.store(config_map(f"own-{n}"))
            assert names(fork) == [f"own-{n}"]
            return fork.url

    with concurrent.futures.ThreadPoolExecutor(200) as threads:
        urls = list(threads.map(use, range(200)))
    assert len(set(urls)) == 200
    assert not any(alive(url) for url in urls)
    assert server.control.list_forks()["forks"] == []
    server.close()
    assert server._process.poll() is not None
    assert not os.path.exists(os.path.dirname(server.kubeconfig))


@pytest.mark.skipif(os.name == "nt", reason="the signal is one of Unix")
def test_server_ends_with_a_killed_parent():
    code = "import kubefake, signal; s = kubefake.Server(); print(s.url, s.kubeconfig, flush=True); signal.pause()"
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    url, kubeconfig = parent.stdout.readline().decode().split()
    directory = os.path.dirname(kubeconfig)
    assert alive(url) and os.path.exists(directory)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    for _ in range(200):
        if not alive(url) and not os.path.exists(directory):
            return
        time.sleep(0.05)
    pytest.fail("the server runs without its parent, or has left files")
