package server

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// The checks of the health endpoints, in kube-apiserver's order. This server
// has nothing that could fail one of them while it answers at all; they are
// there for those who ask for one by name.
//
// See https://kubernetes.io/docs/reference/using-api/health-checks/.
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
	liveChecks = slices.Concat([]string{"ping", "log", "loopback-serving-certificate", "etcd"}, commonChecks)

	healthChecks = map[string][]string{
		"healthz": liveChecks,
		"livez":   liveChecks,
		"readyz":  slices.Concat([]string{"ping", "log", "etcd", "etcd-readiness", "informer-sync"}, commonChecks, []string{"shutdown"}),
	}
)

// serveHealth answers /healthz, /livez and /readyz and the checks below them.
// It reports false for other paths.
func (r *request) serveHealth() bool {
	name, check, single := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	checks, ok := healthChecks[name]
	if !ok || single && !slices.Contains(checks, check) {
		return false
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	q := r.query()
	if _, verbose := q["verbose"]; single || !verbose {
		io.WriteString(r.w, "ok")
		return true
	}
	r.w.WriteHeader(http.StatusOK)
	excluded := q["exclude"]
	for _, c := range checks {
		if slices.Contains(excluded, c) {
			fmt.Fprintf(r.w, "[+]%s excluded: ok\n", c)
		} else {
			fmt.Fprintf(r.w, "[+]%s ok\n", c)
		}
	}
	var unknown []string
	for _, e := range excluded {
		if !slices.Contains(checks, e) {
			unknown = append(unknown, fmt.Sprintf("%q", e))
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		fmt.Fprintf(r.w, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(unknown, ", "))
	}
	fmt.Fprintf(r.w, "%s check passed\n", name)
	return true
}
