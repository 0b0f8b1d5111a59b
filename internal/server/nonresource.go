package server

import (
	"net/http"
	"strings"

	"github.com/kubefake/kubefake/internal/authn/serviceaccount"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/header"
	"github.com/kubefake/kubefake/internal/health"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/status"
)

// serveNonResource serves the paths below no group version: health, version,
// discovery, OpenAPI, metrics and the pages about the process.
//
// Differs from kube-apiserver: debugging: profiles are not served, and the verbosity of the log
// is neither shown nor set. Request: GET /debug/pprof/.
func (r *request) serveNonResource() error {
	switch {
	case r.serveHealth():
		return nil
	case strings.TrimRight(r.Path, "/") == versionPath:
		if r.http.Method != http.MethodGet {
			return status.MethodNotAllowed()
		}
		if !codec.Accepts(header.Get(r.http.Header, "Accept"), codec.JSON.MediaType()) {
			return status.UnroutedAccept([]string{codec.JSON.MediaType()})
		}
		r.writeJSON(http.StatusOK, r.surface.Release().VersionInfo())
		return nil
	}
	if strings.HasPrefix(r.Path, "/openapi/") {
		service := r.server.documentsOf(r.surface).openapi()
		if remote := r.server.aggregator.LookupOpenAPI(r.Path); remote != nil && !service.Has(r.Path) {
			r.remote = remote
			return r.forward()
		}
		if found, err := service.Serve(r.w, r.http, r.Path); found || err != nil {
			return err
		}
	}
	if found, err := r.server.documentsOf(r.surface).discovery.Serve(r.w, r.http, r.Path); found || err != nil {
		return err
	}
	serve := selfPaths[r.Path]
	if trimmed := strings.TrimRight(r.Path, "/"); serve == nil && servicePaths[trimmed] {
		serve = selfPaths[trimmed]
	}
	if serve != nil {
		return serve(r)
	}
	if servesZpage(r.surface.Release(), r.Path) {
		return r.serveZpage(zpages[r.Path])
	}
	for _, path := range []string{"/debug/flags", "/debug/pprof"} {
		if r.Path == path || strings.HasPrefix(r.Path, path+"/") {
			return status.NotImplemented(r.Path)
		}
	}
	for path := range servicePaths {
		if strings.HasPrefix(r.Path, path+"/") {
			return status.NoResource()
		}
	}
	// Below a group that it serves, kube-apiserver answers with a Status, elsewhere
	// in plain text.
	switch group, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/apis/"), "/"); {
	case strings.HasPrefix(r.Path, "/api/"):
		return status.NoResource()
	case strings.HasPrefix(r.Path, "/apis/") && group != "" && r.surface.Builtin().ServesGroup(group):
		return status.NoResource()
	}
	return errNoPage
}

const (
	versionPath             = "/version"
	openIDConfigurationPath = "/.well-known/openid-configuration"
)

// selfPaths serve metrics, the keys of service account tokens, and dumps of requests.
var selfPaths = map[string]func(*request) error{
	"/metrics":                (*request).serveMetrics,
	"/metrics/slis":           (*request).serveHealthMetrics,
	openIDConfigurationPath:   (*request).serveOpenIDConfiguration,
	serviceaccount.KeySetPath: (*request).serveKeySet,

	"/debug/api_priority_and_fairness/dump_priority_levels": (*request).dumpPriorityLevels,
	"/debug/api_priority_and_fairness/dump_queues":          (*request).dumpQueues,
	"/debug/api_priority_and_fairness/dump_requests":        (*request).dumpRequests,
}

// servicePaths are the paths that slashes may follow. kube-apiserver serves them as it serves
// groups, with a Status for the paths below.
var servicePaths = map[string]bool{versionPath: true, openIDConfigurationPath: true, serviceaccount.KeySetPath: true}

// rootPaths returns the paths that / lists beside those of discovery.
func rootPaths(r *release.Release) []string {
	paths := []string{
		"/healthz", "/livez", "/readyz", "/openapi/v2", "/openapi/v3", "/openapi/v3/", versionPath,
		"/metrics", "/metrics/slis", openIDConfigurationPath, serviceaccount.KeySetPath,
	}
	for _, path := range []string{flagzPath, statuszPath} {
		if servesZpage(r, path) {
			paths = append(paths, path)
		}
	}
	for _, name := range health.Endpoints() {
		for _, check := range health.Checks(r, name) {
			paths = append(paths, "/"+name+"/"+check)
		}
	}
	return paths
}
