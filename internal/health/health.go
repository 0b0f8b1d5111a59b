// Package health holds the checks of /healthz, /livez and /readyz.
//
// Nothing of this server can fail while it answers requests, so every check
// passes. The checks exist for clients that ask for one by name.
//
// See https://kubernetes.io/docs/reference/using-api/health-checks/.
package health

import (
	"fmt"
	"slices"
	"strings"
)

// The checks of kube-apiserver, in its order.
var (
	commonChecks = []string{
		"poststarthook/start-apiserver-admission-initializer",
		"poststarthook/generic-apiserver-start-informers",
		"poststarthook/priority-and-fairness-config-consumer",
		"poststarthook/priority-and-fairness-filter",
		"poststarthook/storage-object-count-tracker-hook",
		"poststarthook/start-apiextensions-informers",
		"poststarthook/start-apiextensions-controllers",
		"poststarthook/crd-informer-synced",
		"poststarthook/start-system-namespaces-controller",
		"poststarthook/peer-endpoint-reconciler-controller",
		"poststarthook/start-cluster-authentication-info-controller",
		"poststarthook/start-kube-apiserver-identity-lease-controller",
		"poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
		"poststarthook/storage-readiness",
		"poststarthook/start-legacy-token-tracking-controller",
		"poststarthook/start-service-ip-repair-controllers",
		"poststarthook/rbac/bootstrap-roles",
		"poststarthook/scheduling/bootstrap-system-priority-classes",
		"poststarthook/priority-and-fairness-config-producer",
		"poststarthook/bootstrap-controller",
		"poststarthook/start-kubernetes-service-cidr-controller",
		"poststarthook/start-kube-aggregator-informers",
		"poststarthook/apiservice-status-local-available-controller",
		"poststarthook/apiservice-status-remote-available-controller",
		"poststarthook/apiservice-registration-controller",
		"poststarthook/apiservice-discovery-controller",
		"poststarthook/kube-apiserver-autoregistration",
		"autoregister-completion",
		"poststarthook/apiservice-openapi-controller",
		"poststarthook/apiservice-openapiv3-controller",
	}
	liveChecks  = slices.Concat([]string{"ping", "log", "loopback-serving-certificate", "etcd"}, commonChecks)
	readyChecks = slices.Concat([]string{"ping", "log", "etcd", "etcd-readiness", "informer-sync"}, commonChecks, []string{"shutdown"})
)

// Endpoints returns the names of the endpoints, sorted.
func Endpoints() []string { return []string{"healthz", "livez", "readyz"} }

// Checks returns the checks of an endpoint, nil for another name. It is shared:
// do not change it.
func Checks(endpoint string) []string {
	switch endpoint {
	case "healthz", "livez":
		return liveChecks
	case "readyz":
		return readyChecks
	}
	return nil
}

// ParsePath splits the path of an endpoint, such as /readyz, or of one of its
// checks, such as /readyz/etcd. check is "" for the endpoint. ok is false for any
// other path.
func ParsePath(path string) (endpoint, check string, ok bool) {
	endpoint, check, single := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	checks := Checks(endpoint)
	if checks == nil || single && !slices.Contains(checks, check) {
		return "", "", false
	}
	return endpoint, check, true
}

// Report returns the verbose report of an endpoint, without the checks in
// exclude.
func Report(endpoint string, exclude []string) string {
	var b strings.Builder
	checks := Checks(endpoint)
	for _, c := range checks {
		if slices.Contains(exclude, c) {
			fmt.Fprintf(&b, "[+]%s excluded: ok\n", c)
		} else {
			fmt.Fprintf(&b, "[+]%s ok\n", c)
		}
	}
	var unknown []string
	for _, e := range exclude {
		if !slices.Contains(checks, e) {
			unknown = append(unknown, fmt.Sprintf("%q", e))
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		fmt.Fprintf(&b, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(unknown, ", "))
	}
	fmt.Fprintf(&b, "%s check passed\n", endpoint)
	return b.String()
}
