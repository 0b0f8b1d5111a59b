// Package findings finds what clients do that loses what others write, or that costs a real cluster
// more than it needs to, in the journal and the story of a server. Package fakeapi/usage lists the
// rules.
package findings

import (
	"iter"
	"net/url"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/usage"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/internal/story"
	"github.com/kubefake/kubefake/mvcc"
)

// A Source is the server whose clients are examined.
type Source struct {
	Journal *journal.Journal
	Store   *storage.Store
	Story   *story.Story
	// Type returns the type of a resource; nil if it is not served.
	Type func(group, version, resource string) *resource.Type
	// Hidden reports whether requests for a path are left out.
	Hidden func(path string) bool
	// URI returns a URI without secrets.
	URI func(uri string) string
}

// Add adds the findings to what the clients have asked.
func Add(u *usage.Usage, from Source) {
	b := &builder{Source: from, usage: u}
	for _, e := range from.Journal.Requests() {
		at, err := url.ParseRequestURI(e.What.URI)
		if err != nil || e.What.UserAgent == "" || from.Hidden(at.Path) {
			continue
		}
		b.requests = append(b.requests, request{e, route.Parse(e.What.Method, at), at.Query()})
	}
	b.staleWrites()
	b.ownerReferences()
	b.statuses()
	b.finalizers()
	b.lateFinalizers()
	b.conflicts()
	b.loops()
	b.lists()
	b.gets()
	b.asksAtRest()
	b.requestsPerChange()
	b.idleWrites()
	b.events()
	b.allNamespaces()
	b.expired()
	b.watches()
	b.deprecated()
	u.Sort()
}

// A builder adds findings to a usage.
type builder struct {
	Source
	usage    *usage.Usage
	requests []request
}

// A request is a request of the journal with its route.
type request struct {
	journal.Entry[journal.CompletedRequest]
	route.Route
	query url.Values
}

// A client is who makes a request.
type client struct{ user, userAgent string }

func (r *request) client() client { return client{r.What.User, r.What.UserAgent} }

func clientOf(c story.Client) client { return client{c.User, c.UserAgent} }

// resource returns the resource of the request as in "deployments.apps".
func (r *request) resource() string { return groupResource(r.Group, r.Resource) }

func groupResource(group, resource string) string {
	return status.GroupResource{Group: group, Resource: resource}.String()
}

// target returns the object of the request; its Name is "" for a collection.
func (r *request) target() story.Target {
	t := story.Target{Resource: r.resource(), Namespace: r.Namespace, Name: r.Name}
	if r.Resource == "namespaces" && r.Group == "" {
		t.Namespace = "" // the path has its own name there
	}
	return t
}

// text returns the method and the URI.
func (b *builder) text(r *request) string { return r.What.Method + " " + b.URI(r.What.URI) }

// add adds a finding of a rule.
func (b *builder) add(rule string, who client, resource, text, request string, order int64) {
	if who.userAgent == "" {
		return // the server and the test make no requests
	}
	b.usage.AddFinding(usage.Finding{
		Rule: rule, User: who.user, UserAgent: who.userAgent, Resource: resource, Text: text, Request: request, Order: order, Count: 1,
	})
}

// A change is what a transaction of the journal has done to an object.
type change struct {
	order    int64 // the position of the transaction
	who      client
	what     story.Target
	old, now *storage.Object // nil if it did not exist before, or does not after
}

// changes iterates over the changes that the journal has, oldest first.
func (b *builder) changes() iter.Seq[change] {
	return func(yield func(change) bool) {
		for _, e := range b.Journal.Transactions() {
			for i := range e.What.Changes {
				event := &e.What.Changes[i]
				c := change{order: e.Order, who: client{e.What.Writer.User, e.What.Writer.UserAgent}}
				c.what.Resource, c.what.Namespace, c.what.Name = journal.SplitKey(event.Item.Key)
				if event.Prev != nil {
					c.old = event.Prev.Value
				}
				if event.Type == mvcc.Put {
					c.now = event.Item.Value
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}

// covers reports whether an object is in a collection, or is the one object of it.
func covers(collection, t story.Target) bool {
	return collection.Resource == t.Resource &&
		(collection.Namespace == "" || collection.Namespace == t.Namespace) && (collection.Name == "" || collection.Name == t.Name)
}

// name returns the object as "pods default/a".
func name(t story.Target) string {
	if t.Namespace == "" {
		return t.Resource + " " + t.Name
	}
	return t.Resource + " " + t.Namespace + "/" + t.Name
}

// isRenewed reports whether clients write objects of the resource periodically by design.
func isRenewed(resource string) bool {
	return resource == "leases.coordination.k8s.io" || strings.HasPrefix(resource, "events.") || resource == "events"
}
