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

	"github.com/kubefake/kubefake/internal/release/behavior"
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

// A Release is the part of a Kubernetes release on which checks depend.
type Release interface {
	Has(b behavior.Behavior) bool
	Enabled(gate string) bool
}

// A condition is what a check depends on: a feature gate or, if that is "", the behavior of
// releases that have the check.
type condition struct {
	gate  string
	since behavior.Behavior
}

// conditions has those of the checks that not every server has.
var conditions = map[string]condition{
	"loopback-serving-certificate":                           {since: behavior.LoopbackCertificateCheck},
	"poststarthook/peer-endpoint-reconciler-controller":      {gate: "UnknownVersionInteroperabilityProxy"},
	"poststarthook/start-kubernetes-service-cidr-controller": {gate: "MultiCIDRServiceAllocator"},
	"poststarthook/storage-readiness":                        {gate: "WatchCacheInitializationPostStartHook"},
}

// Endpoints returns the names of the endpoints, sorted.
func Endpoints() []string { return []string{"healthz", "livez", "readyz"} }

// Checks returns the checks of an endpoint in a release, nil for another name.
func Checks(r Release, endpoint string) []string {
	var all []string
	switch endpoint {
	case "healthz", "livez":
		all = liveChecks
	case "readyz":
		all = readyChecks
	default:
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(check string) bool {
		c, ok := conditions[check]
		return ok && (c.gate != "" && !r.Enabled(c.gate) || !r.Has(c.since))
	})
}

// ParsePath splits the path of an endpoint, such as /readyz, or of one of its
// checks, such as /readyz/etcd. check is "" for the endpoint. ok is false for any
// other path.
func ParsePath(r Release, path string) (endpoint, check string, ok bool) {
	endpoint, check, single := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	checks := Checks(r, endpoint)
	if checks == nil || single && !slices.Contains(checks, check) {
		return "", "", false
	}
	return endpoint, check, true
}

// Report returns the verbose report of an endpoint, without the checks in
// exclude.
func Report(r Release, endpoint string, exclude []string) string {
	var b strings.Builder
	checks := Checks(r, endpoint)
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
