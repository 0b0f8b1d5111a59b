package main

import "net/http"

// oddRequests returns a story about requests that are wrong, or unusual, in several ways.
func oddRequests(r *source) []Step {
	configMap := object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "a"}, "data": object{"k": "v"}}
	pod := object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "a"}, "spec": object{"containers": list{object{"name": "c", "image": "i"}}}}
	lease := object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": object{"name": "a"}, "spec": object{}}
	steps := []Step{
		post("/api/v1/namespaces/{id}/configmaps", configMap),
		post("/api/v1/namespaces/{id}/pods", pod),
	}
	paths := []string{
		"/api/v1/namespaces/{id}/configmaps", "/api/v1/namespaces/{id}/configmaps/a", "/api/v1/namespaces/{id}/configmaps/missing",
		"/api/v1/namespaces/{id}/pods", "/api/v1/namespaces/{id}/pods/a", "/api/v1/namespaces/{id}/pods/a/status", "/api/v1/namespaces/{id}/pods/a/log",
		"/api/v1/namespaces/{id}/pods/a/eviction", "/api/v1/namespaces/{id}/pods/a/binding", "/api/v1/namespaces/{id}/pods/a/ephemeralcontainers", "/api/v1/namespaces/{id}/pods/a/resize",
		"/api/v1/namespaces/{id}/pods/a/unknown", "/api/v1/namespaces/{id}/pods/a/exec", "/api/v1/namespaces/{id}/pods/a/proxy", "/api/v1/namespaces/{id}/pods/a/attach",
		"/api/v1/namespaces/{id}/pods/missing/log", "/api/v1/namespaces/{id}/services/a/proxy/x", "/api/v1/nodes/missing/proxy",
		"/api/v1/namespaces/{id}", "/api/v1/namespaces/{id}/finalize", "/api/v1/namespaces/{id}/status", "/api/v1/namespaces/{id}/unknown", "/api/v1/unknown",
		"/apis/coordination.k8s.io/v1/namespaces/{id}/leases", "/apis/coordination.k8s.io/v1/namespaces/{id}/leases/a",
		"/apis/apps/v1/namespaces/{id}/deployments/a/scale", "/apis/apps/v1/namespaces/{id}/replicasets", "/apis/batch/v1/namespaces/{id}/jobs",
		"/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/apis/unknown", "/apis/unknown/v1", "/apis/apps/v9", "/api/v2", "/healthz", "/livez/ping", "/readyz/unknown",
		"/", "/unknown", "/api/", "/apis/", "/api/v1/", "/apis/apps/", "/apis/apps/v1/", "//api/v1", "/api/v1/namespaces/{id}/configmaps/", "/api//v1", "/.well-known/openid-configuration",
		"/api/v1/configmaps/a", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/missing", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"/apis/authentication.k8s.io/v1/tokenreviews", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "/api/v1/namespaces/{id}/serviceaccounts/default/token", "/api/v1/namespaces/{id}/bindings",
		"/api/v1/watch/namespaces/{id}/configmaps/a/x", "/api/v1/proxy/nodes/a", "/apis/policy/v1/namespaces/{id}/poddisruptionbudgets", "/apis/rbac.authorization.k8s.io/v1/clusterroles/{id}",
	}
	options := []string{
		"pretty=true", "pretty=x", "limit=1", "limit=x", "limit=-1", "continue=x", "continue=x&limit=1", "resourceVersion=0", "resourceVersion=x", "resourceVersion=1&resourceVersionMatch=Exact", "resourceVersionMatch=Exact",
		"resourceVersion=0&resourceVersionMatch=Exact", "resourceVersionMatch=x&resourceVersion=1", "labelSelector=a%3D", "labelSelector=a+in+(b", "labelSelector=%2B", "fieldSelector=metadata.name%3Da", "fieldSelector=a", "fieldSelector=x%3Dy",
		"fieldSelector=metadata.name%3Da,metadata.namespace%3Db", "dryRun=All", "dryRun=x", "dryRun=", "dryRun=All&dryRun=All", "fieldManager=%0A", "fieldValidation=x", "fieldValidation=Strict", "fieldValidation=", "gracePeriodSeconds=x", "gracePeriodSeconds=-1", "gracePeriodSeconds=0",
		"propagationPolicy=x", "propagationPolicy=Orphan", "orphanDependents=true", "orphanDependents=true&propagationPolicy=Orphan", "force=true", "force=x", "timeoutSeconds=x", "timeout=1x", "timeout=5s", "watch=x&timeoutSeconds=1", "watch=0", "export=true", "exact=true",
		"includeObject=None", "includeObject=x", "ignoreStoreReadErrorWithClusterBreakingPotential=true", "sendInitialEvents=true", "allowWatchBookmarks=true", "shardSelector=x", "container=c", "command=x", "tailLines=-1", "stdin=true", "unknown=x", "%zz=1", "a=b;c=d",
	}
	media := []string{
		"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor", mergePatch, strategicPatch, jsonPatch, applyPatch, "application/apply-patch+cbor",
		"text/plain", "x", "application/json; charset=utf-8", "application/json;charset=\"", "*/*", "application/*", "application/json, application/yaml", "application/json;q=0.1, application/yaml",
		"application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=Table;g=meta.k8s.io;v=v2", "application/json;as=Table", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
		"application/json;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2", "application/json;as=Unknown;g=a;v=b", "text/html", "application/xml", "application/openapi.v2+json", "", ";",
	}
	deleteOptions := func(version string) object {
		return object{"apiVersion": version, "kind": "DeleteOptions", "propagationPolicy": pick(r, "Background", "Foreground", "Orphan", "x"), "gracePeriodSeconds": pick(r, 0, -1, 30)}
	}
	bodies := []any{
		configMap, pod, lease, object{}, list{}, "", "null", "x", "{", `{"apiVersion":"v1","kind":"ConfigMap"`, `{"kind":"ConfigMap"}`, `{"apiVersion":"v1"}`, `"text"`, "1",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"metadata":{"name":"b"}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"a":1}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"x":1}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":"x"}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"other"}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"b-","name":"A"}}`,
		`{"apiVersion":"v9","kind":"ConfigMap","metadata":{"name":"b"}}`, `{"apiVersion":"a/b/c","kind":"ConfigMap","metadata":{"name":"b"}}`, `{"apiVersion":"v1","kind":"Unknown","metadata":{"name":"b"}}`, `{"apiVersion":1,"kind":"ConfigMap"}`, `{"apiVersion":"example.com/v1","kind":"ConfigMap"}`,
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n", "a: b: c", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\nx: y\n",
		deleteOptions("v1"), deleteOptions("meta.k8s.io/v1"), deleteOptions("example.com/v1"), deleteOptions("apps/v1"), object{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": object{"uid": "x"}}, object{"apiVersion": "v1", "kind": "DeleteOptions", "unknown": 1},
		object{"apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "m", "code": 400}, object{"apiVersion": "v1", "kind": "List", "items": list{}}, object{"apiVersion": "v1", "kind": "ConfigMapList", "items": list{configMap}},
		list{object{"op": "add", "path": "/data/x", "value": "y"}}, list{object{"op": "x", "path": "/data"}}, list{object{"op": "remove", "path": "/data/missing"}}, list{object{"op": "test", "path": "/data/k", "value": "w"}}, list{"x"},
		object{"data": object{"k": nil}}, object{"data": object{"k": 1}}, object{"data": nil}, object{"metadata": object{"name": "z"}}, object{"metadata": object{"uid": "z"}}, object{"metadata": object{"resourceVersion": "1"}}, object{"$patch": "replace"}, object{"$patch": "x"}, object{"data": object{"$retainKeys": list{"k"}}},
		object{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": object{"name": "a"}}, object{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": object{"name": "other"}, "deleteOptions": object{"dryRun": list{"All"}}},
		object{"apiVersion": "v1", "kind": "Binding", "metadata": object{"name": "a"}, "target": object{"kind": "Node", "name": "n"}}, object{"apiVersion": "v1", "kind": "Binding", "metadata": object{"name": "a"}, "target": object{}},
		object{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": object{"name": "a"}, "spec": object{"replicas": 2}}, object{"spec": object{"replicas": "x"}},
		object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": object{"audiences": list{"a"}, "expirationSeconds": pick(r, 600, 1, -1)}}, object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": object{"token": "x"}},
		object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": object{"resourceAttributes": object{"verb": "get", "resource": "pods"}}}, object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": object{}},
		object{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
	}
	for range 8 + r.IntN(8) {
		method := pick(r, http.MethodGet, http.MethodGet, http.MethodPost, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodPatch, http.MethodDelete, http.MethodDelete, http.MethodOptions, "FOO", http.MethodHead)
		s := Step{Method: method, Path: join(pick(r, paths...), r.query(2, options...))}
		if r.chance(4) {
			s.Path = join(s.Path, r.query(1, options...))
		}
		if method != http.MethodGet && method != http.MethodHead && !r.chance(6) {
			contentType := "application/json"
			if method == http.MethodPatch {
				contentType = pick(r, mergePatch, strategicPatch, jsonPatch, applyPatch)
			}
			if r.chance(5) {
				contentType = pick(r, media...)
			}
			body := pick(r, bodies...)
			header := s.Path
			s = request(method, header, contentType, body)
		}
		if r.chance(4) {
			s = s.with("Accept", pick(r, media...))
		}
		if r.chance(30) {
			s = s.with(pick(r, "Impersonate-User", "Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-A"), "bob")
		}
		steps = append(steps, s)
	}
	return steps
}
