package table

import (
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
)

var corePrinters = map[string]printer{
	"Pod":            printPod,
	"ConfigMap":      func(r row) []any { return []any{r.name(), r.size("data") + r.size("binaryData"), r.age()} },
	"Secret":         func(r row) []any { return []any{r.name(), r.str("type"), r.size("data"), r.age()} },
	"ServiceAccount": printNameAge,
	"Namespace":      func(r row) []any { return []any{r.name(), r.str("status", "phase"), r.age()} },
	"Endpoints":      func(r row) []any { return []any{r.name(), endpoints(r), r.age()} },
	"Service":        printService,
	"ResourceQuota":  printQuota,
	"Event":          printEvent,
	"PodTemplate": func(r row) []any {
		names, images := r.containers("template", "spec")
		return []any{r.name(), names, images, r.labels("template", "metadata", "labels")}
	},
	"ComponentStatus":     printComponentStatus,
	"events.k8s.io/Event": printEvent,
	"coordination.k8s.io/Lease": func(r row) []any {
		return []any{r.name(), r.str("spec", "holderIdentity"), r.age()}
	},
	"coordination.k8s.io/LeaseCandidate": func(r row) []any {
		return []any{r.name(), r.str("spec", "leaseName"), r.str("spec", "binaryVersion"), r.str("spec", "emulationVersion"), r.age()}
	},
}

func printNameAge(r row) []any { return []any{r.name(), r.age()} }

// endpoints returns the first three ready addresses, each with each of its
// ports.
func endpoints(r row) string {
	subsets := objects(r.list("subsets"))
	if len(subsets) == 0 {
		return none
	}
	var all []string
	for _, s := range subsets {
		addresses, ports := objects(object.List(s, "addresses")), objects(object.List(s, "ports"))
		if len(ports) == 0 {
			for _, a := range addresses {
				all = append(all, object.String(a, "ip"))
			}
		}
		for _, p := range ports {
			for _, a := range addresses {
				all = append(all, net.JoinHostPort(object.String(a, "ip"), itoa(num(p, "port"))))
			}
		}
	}
	return joinFirst(all, 3, ",")
}

func printService(r row) []any {
	clusterIP := none
	if ips := object.Strings(r.obj, "spec", "clusterIPs"); len(ips) > 0 {
		clusterIP = ips[0]
	}
	var ports []string
	for _, p := range objects(r.list("spec", "ports")) {
		text := itoa(num(p, "port"))
		if node := num(p, "nodePort"); node > 0 {
			text += ":" + itoa(node)
		}
		ports = append(ports, text+"/"+object.String(p, "protocol"))
	}
	return []any{
		r.name(), r.str("spec", "type"), clusterIP, externalIP(r), or(strings.Join(ports, ","), none), r.age(),
		r.labels("spec", "selector"),
	}
}

// externalIP returns the addresses at which a service is reached from outside
// the cluster.
func externalIP(r row) string {
	external := object.Strings(r.obj, "spec", "externalIPs")
	switch r.str("spec", "type") {
	case "ClusterIP", "NodePort":
		return or(strings.Join(external, ","), none)
	case "LoadBalancer":
		return or(strings.Join(append(loadBalancerAddresses(r), external...), ","), "<pending>")
	case "ExternalName":
		return r.str("spec", "externalName")
	}
	return unknown
}

// loadBalancerAddresses returns the sorted addresses of a load balancer.
func loadBalancerAddresses(r row) []string {
	found := map[string]bool{}
	for _, i := range objects(r.list("status", "loadBalancer", "ingress")) {
		if at := or(object.String(i, "ip"), object.String(i, "hostname")); at != "" {
			found[at] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// printQuota prints used and hard amounts, limits in a column of their own.
func printQuota(r row) []any {
	var requests, limits []string
	for _, name := range slices.Sorted(maps.Keys(object.Map(r.obj, "status", "hard"))) {
		text := name + ": " + r.or("0", "status", "used", name) + "/" + r.or("0", "status", "hard", name)
		if strings.HasPrefix(name, "limits.") {
			limits = append(limits, text)
		} else {
			requests = append(requests, text)
		}
	}
	return []any{r.name(), strings.Join(requests, ", "), strings.Join(limits, ", "), r.age()}
}

// printEvent prints an event of either group. Members that events.k8s.io
// renamed are read under both names.
func printEvent(r row) []any {
	either := func(core, events string) string {
		path := func(p string) []string { return strings.Split(p, ".") }
		return or(r.str(path(core)...), r.str(path(events)...))
	}
	first := since(r.now, or(either("firstTimestamp", "deprecatedFirstTimestamp"), r.str("eventTime")))
	last := first
	if t := either("lastTimestamp", "deprecatedLastTimestamp"); t != "" {
		last = since(r.now, t)
	}
	count := max(r.num("count"), r.num("deprecatedCount"))
	if r.has("series") {
		last, count = r.since("series", "lastObservedTime"), r.num("series", "count")
	} else if count == 0 {
		count = 1
	}
	about := strings.ToLower(either("involvedObject.kind", "regarding.kind"))
	if name := either("involvedObject.name", "regarding.name"); name != "" {
		about += "/" + name
	}
	source := or(either("source.component", "deprecatedSource.component"), either("reportingComponent", "reportingController"))
	if at := or(either("source.host", "deprecatedSource.host"), r.str("reportingInstance")); at != "" {
		source += ", " + at
	}
	return []any{
		last, r.str("type"), r.str("reason"), about, either("involvedObject.fieldPath", "regarding.fieldPath"), source,
		strings.TrimSpace(either("message", "note")), first, count, r.name(),
	}
}

func printComponentStatus(r row) []any {
	for _, c := range objects(r.list("conditions")) {
		if object.String(c, "type") == "Healthy" {
			health := "Unhealthy"
			if object.String(c, "status") == "True" {
				health = "Healthy"
			}
			return []any{r.name(), health, object.String(c, "message"), object.String(c, "error")}
		}
	}
	return []any{r.name(), "Unknown", "", ""}
}
