package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/activity"
)

// activityAnswer returns how the request was answered, from which the server learns what
// its client is going to ask for. The answers of connections have no meaning.
func (r *request) activityAnswer() activity.Answer {
	if r.isLongRunning() && r.Verb != "watch" {
		return activity.Answer{}
	}
	a := activity.Answer{
		Request:  activity.Request{Agent: r.userAgent, Verb: r.Verb, Path: r.Path},
		Failed:   r.sent.code < http.StatusOK || r.sent.code >= http.StatusBadRequest || r.lost,
		Election: r.isOfElection(),
		Informer: r.isOfInformer(),
	}
	switch {
	case r.isDiscovery(), r.winsElection():
		a.Starting = strings.TrimSuffix(r.userAgent, "/"+electionAgent)
	case r.IsResource && r.Resource != "leases" && r.Resource != "events":
		a.Started = r.userAgent
	}
	if a.Failed {
		if seconds, err := strconv.Atoi(r.w.Header().Get("Retry-After")); err == nil {
			a.RetryAfter = time.Duration(seconds) * time.Second
		}
	}
	return a
}

// isOfElection reports whether the request is for the Lease of an election: a candidate's
// read, or anybody's write.
func (r *request) isOfElection() bool {
	return r.Resource == "leases" && r.Group == "coordination.k8s.io" && r.Name != "" &&
		(r.Verb != "get" || strings.HasSuffix(r.userAgent, electionAgent))
}

// electionAgent is the end of the User-Agent header of controller-runtime's and Kubernetes'
// leader elections.
const electionAgent = "leader-election"

// isDiscovery reports whether the request is for the groups, versions or resources that the
// server serves.
func (r *request) isDiscovery() bool {
	root, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	return !r.IsResource && r.http.Method == http.MethodGet && (root == "api" || root == "apis")
}

// winsElection reports whether the request is for a Lease that nobody holds: a candidate finds
// none, or creates it.
func (r *request) winsElection() bool {
	return r.Resource == "leases" && strings.HasSuffix(r.userAgent, electionAgent) &&
		(r.Verb == "create" || r.Verb == "get" && r.sent.code == http.StatusNotFound)
}

// isOfInformer reports whether the request is a list or watch as informers make it.
func (r *request) isOfInformer() bool {
	switch r.Verb {
	case "list":
		return r.query().Get("resourceVersion") == "0"
	case "watch":
		return r.query().Get("allowWatchBookmarks") == "true"
	}
	return false
}
