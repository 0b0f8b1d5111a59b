package main

import (
	"encoding/json"
	"net/http"
)

// A workload is an object that several managers write.
type workload struct {
	collection string
	body       object
}

// workloads are objects with the kinds of fields that apply merges in its own ways: maps,
// lists by one key and by several, sets, atomic lists.
var workloads = []workload{
	{"/api/v1/namespaces/{id}/configmaps", object{
		"apiVersion": "v1", "kind": "ConfigMap", "data": object{"a": "1", "b": "2", "c": "3"}, "binaryData": object{"d": "eA=="},
	}},
	{"/apis/apps/v1/namespaces/{id}/deployments", object{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"spec": object{
			"replicas": 1, "minReadySeconds": 5, "selector": object{"matchLabels": object{"app": "a"}},
			"strategy": object{"type": "RollingUpdate", "rollingUpdate": object{"maxSurge": "25%", "maxUnavailable": 1}},
			"template": object{
				"metadata": object{"labels": object{"app": "a", "tier": "web"}, "annotations": object{"x": "y"}},
				"spec": object{
					"containers": list{
						object{"name": "main", "image": "i:1", "env": list{object{"name": "A", "value": "1"}, object{"name": "B", "value": "2"}},
							"ports":     list{object{"containerPort": 80, "name": "http"}, object{"containerPort": 53, "protocol": "UDP"}},
							"resources": object{"limits": object{"cpu": "1", "memory": "64Mi"}, "requests": object{"cpu": "0.5"}}},
						object{"name": "side", "image": "i:2", "args": list{"x", "y"}, "volumeMounts": list{object{"name": "v", "mountPath": "/v"}}},
					},
					"volumes":      list{object{"name": "v", "emptyDir": object{}}, object{"name": "w", "configMap": object{"name": "c"}}},
					"nodeSelector": object{"a": "b"}, "tolerations": list{object{"key": "k", "operator": "Exists"}},
					"imagePullSecrets": list{object{"name": "s"}}, "hostAliases": list{object{"ip": "10.1.1.1", "hostnames": list{"h"}}},
					"terminationGracePeriodSeconds": 5,
				},
			},
		},
	}},
	{"/api/v1/namespaces/{id}/services", object{
		"apiVersion": "v1", "kind": "Service",
		"spec": object{
			"selector": object{"app": "a"}, "type": "ClusterIP", "clusterIP": "None", "externalIPs": list{"192.0.2.1"},
			"ports": list{object{"name": "http", "port": 80, "targetPort": "http"}, object{"name": "dns", "port": 53, "protocol": "UDP"}},
		},
	}},
	{"/api/v1/namespaces/{id}/pods", object{
		"apiVersion": "v1", "kind": "Pod",
		"spec": object{
			"containers":     list{object{"name": "main", "image": "i", "env": list{object{"name": "A", "value": "1"}}, "resources": object{"requests": object{"cpu": "100m"}}}},
			"initContainers": list{object{"name": "init", "image": "i"}}, "nodeSelector": object{"a": "b"}, "activeDeadlineSeconds": 100,
			"tolerations": list{object{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}},
		},
		"status": object{"phase": "Running", "conditions": list{object{"type": "Ready", "status": "True"}}, "podIPs": list{object{"ip": "10.1.1.1"}}},
	}},
	{"/apis/networking.k8s.io/v1/namespaces/{id}/ingresses", object{
		"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
		"spec": object{
			"rules": list{object{"host": "a.example.com", "http": object{"paths": list{object{"path": "/", "pathType": "Prefix", "backend": object{"service": object{"name": "s", "port": object{"number": 80}}}}}}}},
			"tls":   list{object{"hosts": list{"a.example.com"}, "secretName": "t"}},
		},
	}},
	{"/apis/rbac.authorization.k8s.io/v1/namespaces/{id}/roles", object{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
		"rules": list{object{"apiGroups": list{""}, "resources": list{"pods"}, "verbs": list{"get", "list"}}},
	}},
}

// apply returns a story about managers that apply, update and patch the same object.
func apply(r *source) []Step {
	w := pick(r, workloads...)
	path := w.collection + "/x"
	var steps []Step
	for range 5 + r.IntN(10) {
		part := subset(r, w.body).(object)
		part["apiVersion"], part["kind"] = w.body["apiVersion"], w.body["kind"]
		meta := object{"name": "x"}
		if r.chance(3) {
			meta[pick(r, "labels", "annotations")] = object{pick(r, "a", "b"): pick(r, "1", "2")}
		}
		if r.chance(10) {
			meta["finalizers"] = list{"example.com/" + pick(r, "a", "b")}
		}
		if r.chance(12) {
			meta["ownerReferences"] = list{object{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u" + pick(r, "1", "2")}}
		}
		part["metadata"] = meta
		sub := ""
		if r.chance(8) {
			sub = pick(r, "/status", "/scale")
		}
		manager := pick(r, "m1", "m2", "m3")
		switch r.IntN(10) {
		case 0, 1, 2, 3, 4:
			query := "?fieldManager=" + manager + pick(r, "", "", "&force=true", "&force=true", "&dryRun=All", "&fieldValidation=Strict")
			steps = append(steps, patch(path+sub+query, applyPatch, part))
		case 5:
			full := subset(r, w.body).(object)
			for k, v := range w.body {
				if k == "spec" && r.chance(2) {
					full[k] = v
				}
			}
			full["apiVersion"], full["kind"], full["metadata"] = w.body["apiVersion"], w.body["kind"], meta
			if r.chance(2) {
				meta["managedFields"] = pick[any](r, list{}, list{object{}}, nil)
			}
			steps = append(steps, put(path+sub+"?fieldManager="+manager, full))
		case 6:
			steps = append(steps, patch(path+sub+"?fieldManager="+manager, mergePatch, part))
		case 7:
			steps = append(steps, patch(path+sub+"?fieldManager="+manager, strategicPatch, part))
		case 8:
			at := pick(r, "/metadata/labels", "/spec/replicas", "/metadata/managedFields", "/spec/template/spec/containers/0", "/data/a", "/spec/ports/0/port", "/metadata/annotations/a")
			op := object{"op": pick(r, "add", "remove", "replace", "test"), "path": at, "value": pick[any](r, 2, "x", object{"a": "b"}, nil, list{})}
			steps = append(steps, patch(path+"?fieldManager="+manager, jsonPatch, list{op}))
		case 9:
			if r.chance(3) {
				steps = append(steps, Step{Method: http.MethodDelete, Path: path})
			} else {
				steps = append(steps, get(path+sub))
			}
		}
	}
	return append(steps, get(path))
}

// subset returns a random part of a value, with some values changed.
func subset(r *source, v any) any {
	switch t := v.(type) {
	case object:
		out := object{}
		for _, k := range sortedKeys(t) {
			required := k == "name" || k == "selector" || k == "matchLabels"
			if required || !r.chance(4) {
				out[k] = subset(r, t[k])
			}
		}
		return out
	case list:
		out := list{}
		for _, e := range t {
			if !r.chance(4) {
				out = append(out, subset(r, e))
			}
		}
		if len(out) > 1 && r.chance(6) {
			out[0], out[1] = out[1], out[0]
		}
		if len(out) > 0 && r.chance(15) {
			out = append(out, out[0])
		}
		return out
	}
	if r.chance(15) {
		return pick[any](r, "x", 3, "7", nil, true, json.Number("2.5"), object{}, list{})
	}
	return v
}
