package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// A StateRecording follows resources of a server and writes down what becomes of
// their objects. It reads, and changes nothing.
type StateRecording struct {
	secrets []Secret
	cancel  context.CancelFunc
	follow  sync.WaitGroup
	begun   time.Time
	initial []observed

	mu      sync.Mutex // guards the fields below
	changes []observed
	err     error // the first that ended the following of a resource
}

// StateOptions say what a StateRecording follows, and where.
type StateOptions struct {
	// URL is the base URL of the server, Transport what reaches it; nil is
	// http.DefaultTransport.
	URL       string
	Transport http.RoundTripper
	// Resources are what to follow, by the names that kubectl takes: "pods",
	// "po", "deployments.apps". Namespaces and the definitions of custom
	// resources are recorded with their objects.
	Resources []string
	// Namespace is where to look; "" is everywhere.
	Namespace string
	// Secrets are what is left out of the recording beside Secrets.
	Secrets []Secret
}

// observed is an object as it was seen to be, or to be gone.
type observed struct {
	typ      *servedType
	object   map[string]any
	deleted  bool
	revision uint64
	at       time.Duration
}

// RecordState begins to record. When it returns, what there is has been read,
// and from now on changes are. Stop ends it.
func RecordState(ctx context.Context, o StateOptions) (*StateRecording, error) {
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	c := &reader{url: strings.TrimSuffix(o.URL, "/"), client: &http.Client{Transport: o.Transport}}
	types, err := c.find(ctx, o.Resources)
	if err != nil {
		return nil, err
	}
	r := &StateRecording{secrets: o.Secrets, begun: time.Now()}
	var followers []*follower
	for _, t := range types {
		f := &follower{reader: c, recording: r, typ: t, path: t.path(o.Namespace)}
		objects, err := f.list(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			r.initial = append(r.initial, observed{typ: t, object: o})
		}
		followers = append(followers, f)
	}
	needed, err := c.needed(ctx, r.initial, types, o.Namespace)
	if err != nil {
		return nil, err
	}
	r.initial = append(needed, r.initial...)
	ctx, r.cancel = context.WithCancel(ctx)
	for _, f := range followers {
		r.follow.Go(func() {
			if err := f.run(ctx); err != nil {
				r.fail(fmt.Errorf("%s: %w", f.typ, err))
			}
		})
	}
	return r, nil
}

// Stop ends the recording and returns it as a scenario with a history: at its
// begin what there was, then each change at its time. Changes of one write are
// one change. Secrets are not in it, nor are the versions of objects, which a
// server gives anew.
//
// The error is of the first resource that could not be followed to the end, for
// another reason than the end of the context. The scenario has what was seen.
func (r *StateRecording) Stop() (*Scenario, error) {
	r.cancel()
	r.follow.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Scenario{Version: Version, Name: "state", History: r.history()}, r.err
}

// fail keeps why a resource is not followed any more.
func (r *StateRecording) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// saw notes a change.
func (r *StateRecording) saw(o observed) {
	o.revision, _ = strconv.ParseUint(object.String(o.object, "metadata", "resourceVersion"), 10, 64)
	o.at = time.Since(r.begun)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, o)
}

// history puts what several watches told in the order of its versions, which
// all resources share.
func (r *StateRecording) history() []Change {
	scrub := newScrubber(r.secrets)
	var out []Change
	var first, rest Change // what others need comes before them
	for _, o := range r.initial {
		if o.typ.definesOthers() {
			o.addTo(&first, scrub)
		} else {
			o.addTo(&rest, scrub)
		}
	}
	for _, c := range []Change{first, rest} {
		if len(c.Put) > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(r.changes, func(a, b observed) int { return cmp.Compare(a.revision, b.revision) })
	var last uint64
	var at time.Duration
	for _, o := range r.changes {
		at = max(at, o.at)
		if o.revision != last || o.revision == 0 {
			out = append(out, Change{At: Duration(at.Round(time.Millisecond))})
		}
		last = o.revision
		o.addTo(&out[len(out)-1], scrub)
	}
	return out
}

// addTo makes a part of a change of what was seen.
func (o observed) addTo(c *Change, scrub *scrubber) {
	if o.deleted {
		c.Delete = append(c.Delete, identity(o.object))
		return
	}
	if meta, ok := o.object["metadata"].(map[string]any); ok {
		delete(meta, "resourceVersion")
		delete(meta, "selfLink")
	}
	scrub.scrub(o.typ.String(), o.object)
	c.Put = append(c.Put, o.object)
}

// identity is as much of an object as tells it from others.
func identity(o map[string]any) map[string]any {
	meta := map[string]any{"name": object.String(o, "metadata", "name")}
	if namespace := object.String(o, "metadata", "namespace"); namespace != "" {
		meta["namespace"] = namespace
	}
	return map[string]any{"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": meta}
}
