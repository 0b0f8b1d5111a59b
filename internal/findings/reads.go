package findings

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/story"
)

const (
	maxUnpaged = 500 // objects of a list without limit, the page size of client-go
	minPolls   = 10  // equal reads
	minAtRest  = 20  // reads after the last change

	minRequests  = 100 // of a client, for requestsPerChange
	maxPerChange = 20  // requests
)

// lists finds large lists without limit, lists in place of watches, and those beside a watch.
func (b *builder) lists() {
	sizes := map[story.Target]int{}
	size := func(r *request) int {
		of := story.Target{Resource: r.resource(), Namespace: r.Namespace}
		n, ok := sizes[of]
		if t := b.Type(r.Group, r.Version, r.Resource); !ok && t != nil {
			for o := range b.Store.All(t.Prefix) {
				if of.Namespace == "" || o.Namespace == of.Namespace {
					n++
				}
			}
			sizes[of] = n
		}
		return n
	}
	type key struct {
		client
		path, selector string
	}
	keyOf := func(who client, path string, query url.Values) key {
		return key{who, path, query.Get("labelSelector") + " " + query.Get("fieldSelector")}
	}
	polls, newest := map[key]int{}, map[key]int{}
	watched, expired := map[key]bool{}, map[key]int{} // an informer lists again when it was disconnected, at the newest version after 410
	for _, w := range b.Journal.Watches() {
		path, _, _ := strings.Cut(w.URI, "?")
		k := keyOf(client{w.User, w.UserAgent}, path, queryOf(w.URI))
		watched[k] = true
		if w.Code == http.StatusGone {
			expired[k]++
		}
	}
	for i := range b.requests {
		r := &b.requests[i]
		k := keyOf(r.client(), r.Path, r.query)
		if r.Verb != "list" || r.What.Code != http.StatusOK || !r.IsResource {
			continue
		}
		if r.query.Get("limit") == "" && r.query.Get("resourceVersion") == "" {
			if n := size(r); n > maxUnpaged {
				b.add("unpaged-list", r.client(), r.resource(), fmt.Sprintf("listed %s without limit, of which there are %d", r.resource(), n), b.text(r), r.Order)
			}
		}
		if r.query.Get("continue") == "" {
			if watched[k] && r.query.Get("resourceVersion") == "" {
				if newest[k]++; newest[k] == minPolls+expired[k] {
					b.add("list-beside-watch", r.client(), r.resource(), fmt.Sprintf("listed %s %d times at the newest version, and watches them", r.resource(), newest[k]), b.text(r), r.Order)
				}
			}
			if polls[k]++; polls[k] == minPolls && !watched[k] {
				b.add("polling-list", r.client(), r.resource(), fmt.Sprintf("listed %s %d times", r.resource(), minPolls), b.text(r), r.Order)
			}
		}
	}
}

// gets finds objects that a client reads again and again.
func (b *builder) gets() {
	type key struct {
		client
		story.Target
	}
	polls := map[key]int{}
	for i := range b.requests {
		r := &b.requests[i]
		k := key{r.client(), r.target()}
		switch {
		case !r.IsResource || r.Name == "" || isRenewed(r.resource()):
		case r.Verb != "get":
			delete(polls, k)
		default:
			if polls[k]++; polls[k] == minPolls {
				b.add("polling-get", r.client(), r.resource(), fmt.Sprintf("read %s %d times without a write in between", name(k.Target), minPolls), b.text(r), r.Order)
			}
		}
	}
}

// asksAtRest finds clients that read after the last change of an object.
func (b *builder) asksAtRest() {
	rest := int64(0) // the position of the last change
	for i := range b.Story.Revisions {
		for _, c := range b.Story.Revisions[i].Changes {
			if !isRenewed(c.Resource) {
				rest = b.Story.Revisions[i].Order
			}
		}
	}
	counts := map[client]int{}
	for i := range b.requests {
		r := &b.requests[i]
		if r.What.Came < rest || !r.IsResource || r.Verb != "get" && r.Verb != "list" || isRenewed(r.resource()) {
			continue
		}
		if counts[r.client()]++; counts[r.client()] == minAtRest {
			b.add("asks-at-rest", r.client(), "", fmt.Sprintf("read %d times or more after the last change", minAtRest), b.text(r), r.Order)
		}
	}
}

// requestsPerChange finds clients that make many requests for each change of what they watch, their
// own changes included.
func (b *builder) requestsPerChange() {
	watched := map[client][]story.Target{}
	for _, w := range b.Journal.Watches() {
		who := client{w.User, w.UserAgent}
		watched[who] = append(watched[who], story.Target{Resource: w.Resource, Namespace: w.Namespace, Name: w.Name})
	}
	requests := map[client]int{}
	for i := range b.requests {
		if r := &b.requests[i]; r.IsResource && r.Verb != "watch" && !isRenewed(r.resource()) {
			requests[r.client()]++
		}
	}
	for who, targets := range watched {
		changes := 0
		for i := range b.Story.Revisions {
			for _, c := range b.Story.Revisions[i].Changes {
				if slices.ContainsFunc(targets, func(t story.Target) bool { return covers(t, c.Target) }) {
					changes++
				}
			}
		}
		if n := requests[who]; n >= minRequests && n >= maxPerChange*changes {
			b.add("requests-per-change", who, "", fmt.Sprintf("made %d requests for %d changes of what it watches", n, changes), "", 0)
		}
	}
}

// allNamespaces finds lists and watches of all namespaces by clients that ask for objects of one
// namespace only.
func (b *builder) allNamespaces() {
	type key struct {
		client
		resource string
	}
	wide := map[key]*usage.Request{}
	touched := map[key]map[string]bool{}
	for i := range b.usage.Requests {
		r := &b.usage.Requests[i]
		k := key{client{r.User, r.UserAgent}, groupResource(r.Group, r.Resource)}
		switch {
		case r.Path != "" || r.Reason != "" || r.Resource == "namespaces":
		case (r.Verb == "list" || r.Verb == "watch") && r.Namespace == "" && r.Unnamed:
			wide[k] = r
		case r.Namespace != "":
			if touched[k] == nil {
				touched[k] = map[string]bool{}
			}
			touched[k][r.Namespace] = true
		}
	}
	for k, r := range wide {
		if len(touched[k]) != 1 {
			continue
		}
		others := 0
		for i := range b.usage.Objects {
			o := &b.usage.Objects[i]
			if groupResource(o.Group, o.Resource) == k.resource && o.Namespace != "" && !touched[k][o.Namespace] {
				others++
			}
		}
		for namespace := range touched[k] {
			if others > 0 {
				b.add("all-namespaces", k.client, k.resource, fmt.Sprintf("reads %s of all namespaces, and asks for those of %s only; there are %d in others", k.resource, namespace, others), r.Example, 0)
			}
		}
	}
}

// deprecated finds requests for versions that are deprecated.
func (b *builder) deprecated() {
	for i := range b.usage.Requests {
		r := &b.usage.Requests[i]
		if r.Path != "" || r.Reason != "" {
			continue
		}
		if t := b.Type(r.Group, r.Version, r.Resource); t != nil && len(t.Warnings) > 0 {
			b.add("deprecated-version", client{r.User, r.UserAgent}, groupResource(r.Group, r.Resource), t.Warnings[0], r.Example, 0)
		}
	}
}
