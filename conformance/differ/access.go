package main

import "net/http"

// access returns a story about roles, their bindings, and users who try what they may do.
func access(r *source) []Step {
	const rbac = "/apis/rbac.authorization.k8s.io/v1/"
	rule := func() object {
		o := object{"verbs": pick(r, list{"get"}, list{"*"}, list{"get", "list", "watch"}, list{"create", "patch"}, list{"impersonate"}, list{"escalate", "bind", "create", "update"}, list{})}
		if r.chance(8) {
			o["nonResourceURLs"] = pick(r, list{"/healthz"}, list{"/healthz/*"}, list{"*"})
			return o
		}
		o["apiGroups"] = pick(r, list{""}, list{"*"}, list{"rbac.authorization.k8s.io"}, list{"apps"}, list{"", "apps"})
		o["resources"] = pick(r, list{"configmaps"}, list{"*"}, list{"roles", "rolebindings", "clusterroles"}, list{"users", "groups", "serviceaccounts"}, list{"pods/log"}, list{"*/scale"}, list{})
		if r.chance(4) {
			o["resourceNames"] = pick(r, list{"a"}, list{"bob"}, list{"", "a"})
		}
		return o
	}
	role := func(kind, name string) object {
		o := object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": object{"name": name}}
		var rules list
		for range r.IntN(3) {
			rules = append(rules, rule())
		}
		if rules != nil {
			o["rules"] = rules
		}
		return o
	}
	binding := func(kind, name string) object {
		ref := pick(r, object{"kind": "Role", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}, object{"kind": "ClusterRole", "name": "{id}-r", "apiGroup": "rbac.authorization.k8s.io"}, object{"kind": "ClusterRole", "name": "view", "apiGroup": "rbac.authorization.k8s.io"},
			object{"kind": "ClusterRole", "name": "missing", "apiGroup": "rbac.authorization.k8s.io"}, object{"kind": "X", "name": "r"})
		subjects := pick(r, list{object{"kind": "User", "name": "{id}-bob", "apiGroup": "rbac.authorization.k8s.io"}}, list{object{"kind": "Group", "name": "{id}-devs"}}, list{object{"kind": "ServiceAccount", "name": "default", "namespace": "{id}"}},
			list{object{"kind": "ServiceAccount", "name": "default"}}, list{object{"kind": "X", "name": "y"}}, list{})
		return object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": object{"name": name}, "roleRef": ref, "subjects": subjects}
	}
	as := func(s Step) Step {
		switch r.IntN(6) {
		case 0, 1:
			return s.with("Impersonate-User", "{id}-bob")
		case 2:
			return s.with("Impersonate-User", "{id}-eve").with("Impersonate-Group", pick(r, "{id}-devs", "system:authenticated", "system:masters"))
		case 3:
			return s.with("Impersonate-User", "system:serviceaccount:{id}:default")
		case 4:
			return s.with("Impersonate-User", pick(r, "system:anonymous", "", "system:serviceaccount:x", "system:node:n"))
		}
		return s
	}
	var steps []Step
	for range 8 + r.IntN(10) {
		var s Step
		switch r.IntN(9) {
		case 0:
			s = post(rbac+"namespaces/{id}/roles", role("Role", "r"))
		case 1:
			s = post(rbac+"clusterroles", role("ClusterRole", "{id}-r"))
		case 2:
			s = post(rbac+"namespaces/{id}/rolebindings", binding("RoleBinding", "b"))
		case 3:
			s = put(rbac+pick(r, "namespaces/{id}/roles/r", "namespaces/{id}/rolebindings/b"), pick(r, role("Role", "r"), binding("RoleBinding", "b")))
		case 4:
			attributes := object{"verb": pick(r, "get", "list", "create", "*", "impersonate"), "resource": pick(r, "configmaps", "pods", "roles", "users", "*"), "group": pick(r, "", "apps", "*", "rbac.authorization.k8s.io"), "namespace": pick(r, "{id}", "", "other"), "name": pick(r, "", "a"), "subresource": pick(r, "", "log")}
			spec := object{"user": pick(r, "{id}-bob", "{id}-eve", ""), "groups": list{pick(r, "{id}-devs", "x")}, "resourceAttributes": attributes}
			if r.chance(4) {
				delete(spec, "resourceAttributes")
				spec["nonResourceAttributes"] = object{"path": pick(r, "/healthz", "/healthz/x", "/x"), "verb": "get"}
			}
			s = post("/apis/authorization.k8s.io/v1/"+pick(r, "subjectaccessreviews", "namespaces/{id}/localsubjectaccessreviews"), object{"apiVersion": "authorization.k8s.io/v1", "kind": pick(r, "SubjectAccessReview", "LocalSubjectAccessReview"), "metadata": object{"namespace": pick(r, "", "{id}")}, "spec": spec})
		case 5:
			s = as(post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": object{"namespace": pick(r, "{id}", "")}}))
		case 6:
			s = Step{Method: http.MethodDelete, Path: rbac + pick(r, "namespaces/{id}/roles/r", "namespaces/{id}/rolebindings/b", "clusterroles/{id}-r")}
		case 7:
			s = post("/api/v1/namespaces/{id}/configmaps", object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": pick(r, "a", "b")}})
		case 8:
			s = get(pick(r, "/api/v1/namespaces/{id}/configmaps", "/api/v1/namespaces/{id}/configmaps/a", "/apis/apps/v1/namespaces/{id}/deployments/a/scale", "/healthz", "/api/v1/nodes", "/api/v1/namespaces/{id}/pods/a/log", "/apis/unknown/v1/x"))
		}
		s.Pause = s.changes()
		steps = append(steps, as(s))
	}
	return append(steps, Step{Method: http.MethodDelete, Path: rbac + "clusterroles/{id}-r"})
}
