#!/usr/bin/env python3
"""Writes ../columns.json: the table columns of the built-in kinds, asked of a running kube-apiserver.

    python3 columns.py URL TOKEN v1.36.3

The server runs with --runtime-config=api/all=true --feature-gates=AllAlpha=true,AllBeta=true. An empty list tells
its columns too. A description that begins with @ names one of "texts".
"""
import json, os, ssl, sys, urllib.request

base, token, release = sys.argv[1:]
context = ssl._create_unverified_context()
table = "application/json;as=Table;v=v1;g=meta.k8s.io"


def ask(path, accept="application/json", method="GET", body=None):
    headers = {"Authorization": "Bearer " + token, "Accept": accept, "Content-Type": "application/json"}
    r = urllib.request.Request(base + path, body and json.dumps(body).encode(), headers, method=method)
    return json.load(urllib.request.urlopen(r, context=context))


def add(kind, columns):
    for c in columns:
        if c["name"] in ("Name", "Age") and len(c["description"]) > 100:
            at = c["name"].lower()
            assert texts.setdefault(at, c["description"]) == c["description"]
            c["description"] = "@" + at
    assert kinds.setdefault(kind, columns) == columns, kind


paths = [("", "/api/v1")]
for g in ask("/apis")["groups"]:
    paths += [(g["name"], "/apis/" + v["groupVersion"]) for v in g["versions"]]
kinds, texts = {}, {}
for group, path in paths:
    if group.endswith(".example.com"):
        continue
    for r in ask(path)["resources"]:
        if "/" in r["name"] or "list" not in r["verbs"]:
            continue
        columns = ask(path + "/" + r["name"] + "?limit=1", table)["columnDefinitions"]
        if [c["name"] for c in columns] != ["Name", "Created At"]:  # the default of package table
            add((group + "/" if group else "") + r["kind"], columns)

# A Scale has no list.
controllers = "/api/v1/namespaces/default/replicationcontrollers"
template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
ask(controllers, method="POST", body={"metadata": {"name": "columns"}, "spec": {"selector": {"a": "b"}, "template": template}})
add("autoscaling/Scale", ask(controllers + "/columns/scale", table)["columnDefinitions"])
ask(controllers + "/columns", method="DELETE")

out = {
    "generated": "by gen/columns.py of kube-apiserver " + release + "; DO NOT EDIT",
    "texts": texts,
    "kinds": dict(sorted(kinds.items())),
}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "columns.json"), "w") as f:
    lines = ['{', '"generated": %s,' % json.dumps(out["generated"]), '"texts": %s,' % json.dumps(texts), '"kinds": {']
    rows = []
    for k, columns in out["kinds"].items():
        cells = [json.dumps({n: v for n, v in c.items() if v not in ("", 0)}, ensure_ascii=False) for c in columns]
        rows.append(json.dumps(k) + ": [\n  " + ",\n  ".join(cells) + "]")
    f.write("\n".join(lines) + "\n" + ",\n".join(rows) + "\n}}\n")
