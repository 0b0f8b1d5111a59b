package main

import (
	"fmt"
	"net/http"
)

// watches returns a story about a few writes and of watches that start at different versions and in
// different forms. Each watch ends after a second; its events are compared.
func watches(r *source) []Step {
	type kind struct {
		path string
		body func(i int) object
	}
	k := pick(r, kind{"/api/v1/namespaces/{id}/configmaps", func(i int) object {
		return object{"apiVersion": "v1", "kind": "ConfigMap", "data": object{"n": fmt.Sprint(i)}}
	}}, kind{"/api/v1/namespaces/{id}/pods", func(i int) object {
		return object{"apiVersion": "v1", "kind": "Pod", "spec": object{"containers": list{object{"name": "c", "image": fmt.Sprint("i:", i)}}}}
	}}, kind{"/apis/apps/v1/namespaces/{id}/deployments", func(i int) object {
		labels := object{"app": "a"}
		return object{"apiVersion": "apps/v1", "kind": "Deployment", "spec": object{"replicas": i, "selector": object{"matchLabels": labels},
			"template": object{"metadata": object{"labels": labels}, "spec": object{"containers": list{object{"name": "c", "image": "i"}}}}}}
	}})
	var steps []Step
	for i := range 3 + r.IntN(5) {
		name := pick(r, "a", "b", "c")
		o := k.body(i)
		o["metadata"] = object{"name": name, "labels": object{"l": pick(r, "1", "2")}}
		switch r.IntN(5) {
		case 0, 1, 2:
			steps = append(steps, post(k.path, o))
		case 3:
			steps = append(steps, patch(k.path+"/"+name, mergePatch, object{"metadata": object{"labels": object{"l": pick(r, "1", "2", "3")}}}))
		case 4:
			steps = append(steps, Step{Method: http.MethodDelete, Path: k.path + "/" + name + "?gracePeriodSeconds=0"})
		}
	}
	for range 2 + r.IntN(3) {
		query := "?watch=" + pick(r, "true", "1", "true") + "&timeoutSeconds=1"
		if r.chance(4) {
			query = "?watch=true&timeoutSeconds=1"
		}
		switch r.IntN(5) {
		case 0:
			query += "&resourceVersion={rv " + k.path + "/" + pick(r, "a", "b", "c") + "}"
		case 1:
			query += "&resourceVersion=" + pick(r, "0", "", "x", "-1")
		}
		if r.chance(3) {
			query += "&" + pick(r, "labelSelector=l%3D1", "labelSelector=l%21%3D2", "fieldSelector=metadata.name%3Da", "fieldSelector=spec.nodeName%3D", "fieldSelector=unknown%3Da", "labelSelector=%3D")
		}
		if r.chance(3) {
			query += "&allowWatchBookmarks=" + pick(r, "true", "false", "x")
		}
		if r.chance(3) {
			query += "&sendInitialEvents=" + pick(r, "true", "false", "x") + pick(r, "", "&resourceVersionMatch=NotOlderThan", "&resourceVersionMatch=Exact")
		}
		if r.chance(12) {
			query += "&" + pick(r, "limit=1", "continue=x", "resourceVersionMatch=NotOlderThan", "timeoutSeconds=x", "timeoutSeconds=-1", "pretty=true", "unknown=1")
		}
		path := k.path
		if r.chance(5) {
			path += "/" + pick(r, "a", "b")
		}
		if r.chance(12) {
			path = "/api/v1/watch/namespaces/{id}/configmaps" + pick(r, "", "/a")
		}
		s := get(path + query)
		if r.chance(3) {
			s = s.with("Accept", pick(r, "application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "application/yaml", "text/plain",
				"application/json;as=Table;g=meta.k8s.io;v=v1beta1", "application/json;stream=watch", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"))
		}
		steps = append(steps, s)
	}
	return steps
}
