package main

import "net/http"

// quotas returns a story about quotas and limit ranges, and of objects that they count, complete or
// refuse. Nothing counts what is there when a quota is made, so that a story begins with
// its status.
func quotas(r *source) []Step {
	const core = "/api/v1/namespaces/{id}/"
	var steps []Step
	quantity := func() string {
		return pick(r, "0", "1", "2", "3", "500m", "1Gi", "100Mi", "1.5", "10", "1e3", "2k", "0.1", "1500m")
	}
	resources := []string{
		"pods", "cpu", "memory", "requests.cpu", "limits.cpu", "limits.memory", "requests.storage", "persistentvolumeclaims", "configmaps", "services", "services.nodeports", "services.loadbalancers", "secrets", "ephemeral-storage",
		"count/configmaps", "count/pods", "count/deployments.apps", "count/services", "fast.storageclass.storage.k8s.io/requests.storage", "fast.storageclass.storage.k8s.io/persistentvolumeclaims", "hugepages-2Mi", "requests.example.com/gpu", "count/jobs.batch",
	}
	for _, name := range []string{"q1", "q2"}[:1+r.IntN(2)] {
		hard := object{}
		for range 1 + r.IntN(4) {
			hard[pick(r, resources...)] = quantity()
		}
		if r.chance(10) {
			hard[pick(r, "unknown", "limits.example.com/gpu", "example.com/gpu", "count/", "nodes")] = quantity()
		}
		spec := object{"hard": hard}
		if r.chance(4) {
			spec["scopes"] = pick(r, list{"BestEffort"}, list{"NotBestEffort"}, list{"Terminating"}, list{"NotTerminating"}, list{"BestEffort", "NotBestEffort"}, list{"PriorityClass"}, list{"CrossNamespacePodAffinity"}, list{"x"})
		} else if r.chance(6) {
			spec["scopeSelector"] = object{"matchExpressions": list{pick(r,
				object{"scopeName": "PriorityClass", "operator": "In", "values": list{"system-cluster-critical"}}, object{"scopeName": "PriorityClass", "operator": "Exists"},
				object{"scopeName": "PriorityClass", "operator": "DoesNotExist"}, object{"scopeName": "Terminating", "operator": "Exists"}, object{"scopeName": "BestEffort", "operator": "In", "values": list{"x"}})}}
		}
		used := object{}
		for k := range hard {
			used[k] = "0"
		}
		steps = append(steps, post(core+"resourcequotas", object{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": object{"name": name}, "spec": spec}))
		if !r.chance(10) {
			status := patch(core+"resourcequotas/"+name+"/status", mergePatch, object{"status": object{"hard": hard, "used": used}})
			status.Pause = true
			steps = append(steps, status)
		}
	}
	if r.chance(2) {
		limits := func(typ string) object {
			out := object{"type": typ}
			for _, field := range []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
				if r.chance(3) {
					values := object{}
					for range 1 + r.IntN(2) {
						values[pick(r, "cpu", "memory", "storage", "pods")] = quantity()
					}
					out[field] = values
				}
			}
			return out
		}
		item := list{limits(pick(r, "Container", "Container", "Pod", "PersistentVolumeClaim", "x"))}
		if r.chance(3) {
			item = append(item, limits(pick(r, "Container", "Pod")))
		}
		step := post(core+"limitranges", object{"apiVersion": "v1", "kind": "LimitRange", "metadata": object{"name": "l"}, "spec": object{"limits": item}})
		step.Pause = true
		steps = append(steps, step)
	}
	demand := func() object {
		out := object{}
		for _, field := range []string{"requests", "limits"} {
			if !r.chance(3) {
				values := object{}
				for range r.IntN(3) {
					values[pick(r, "cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi")] = quantity()
				}
				out[field] = values
			}
		}
		return out
	}
	pod := func(name string) object {
		container := object{"name": "c", "image": "i"}
		if !r.chance(3) {
			container["resources"] = demand()
		}
		spec := object{"containers": list{container}}
		if r.chance(4) {
			spec["initContainers"] = list{object{"name": "i", "image": "i", "resources": demand()}}
			if r.chance(2) {
				spec["initContainers"].(list)[0].(object)["restartPolicy"] = "Always"
			}
		}
		if r.chance(6) {
			spec["resources"] = demand()
		}
		if r.chance(6) {
			spec["overhead"] = object{"cpu": "100m"}
		}
		if r.chance(5) {
			spec["priorityClassName"] = pick(r, "system-cluster-critical", "missing", "system-node-critical")
		}
		if r.chance(5) {
			spec["activeDeadlineSeconds"] = 100
		}
		if r.chance(8) {
			spec["affinity"] = object{"podAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": list{object{"topologyKey": "zone", "namespaces": list{"other"}}}}}
		}
		return object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": name}, "spec": spec}
	}
	for range 6 + r.IntN(10) {
		name := pick(r, "a", "b", "c")
		query := r.query(10, "dryRun=All")
		var s Step
		switch r.IntN(12) {
		case 0, 1, 2, 3:
			s = post(core+"pods"+query, pod(name))
		case 4:
			s = post(core+"configmaps"+query, object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name}})
		case 5:
			ports := list{object{"port": 80, "name": "a"}, object{"port": 81, "name": "b"}}[:1+r.IntN(2)]
			spec := object{"type": pick(r, "ClusterIP", "NodePort", "LoadBalancer"), "ports": ports}
			if r.chance(3) {
				spec["allocateLoadBalancerNodePorts"] = false
			}
			s = pick(r, post(core+"services"+query, object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": name}, "spec": spec}),
				patch(core+"services/"+name, mergePatch, object{"spec": object{"type": pick(r, "ClusterIP", "NodePort", "LoadBalancer")}}))
		case 6:
			s = post(core+"persistentvolumeclaims"+query, object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": object{"name": name}, "spec": object{
				"accessModes": list{"ReadWriteOnce"}, "storageClassName": pick(r, "fast", "slow", ""), "resources": object{"requests": object{"storage": quantity()}},
			}})
		case 7:
			s = pick(r,
				patch(core+"pods/"+name+"/resize", strategicPatch, object{"spec": object{"containers": list{object{"name": "c", "resources": demand()}}}}),
				patch(core+"pods/"+name+"/status", mergePatch, object{"status": object{"phase": pick(r, "Succeeded", "Failed", "Running")}}),
				patch(core+"pods/"+name, mergePatch, object{"spec": object{"activeDeadlineSeconds": 50}}))
		case 8:
			s = Step{Method: http.MethodDelete, Path: core + pick(r, "pods/", "configmaps/", "services/", "persistentvolumeclaims/") + name + "?gracePeriodSeconds=0"}
		case 9:
			s = patch(core+"resourcequotas/q1", mergePatch, object{"spec": object{"hard": object{pick(r, resources...): quantity()}}})
			s.Pause = true
		case 10:
			s = post("/apis/apps/v1/namespaces/{id}/deployments"+query, object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name}, "spec": object{
				"selector": object{"matchLabels": object{"a": "b"}}, "template": object{"metadata": object{"labels": object{"a": "b"}}, "spec": pod("x")["spec"]},
			}})
		case 11:
			s = get(core + "resourcequotas")
		}
		steps = append(steps, s)
	}
	return append(steps, get(core+"resourcequotas"), get(core+"limitranges"), get(core+"pods"))
}
