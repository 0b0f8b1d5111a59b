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

// A StateRecording lists and watches resources of a server and records the changes
// of their objects. It only reads.
type StateRecording struct {
	secrets []Secret
	cancel  context.CancelFunc
	running sync.WaitGroup // the reflectors
	started time.Time
	initial []observation

	mu      sync.Mutex // guards the fields below
	changes []observation
	err     error // the first error that ended a reflector
}

// StateOptions configure RecordState.
type StateOptions struct {
	// URL is the base URL of the server. Transport sends the requests; the
	// default is http.DefaultTransport.
	URL       string
	Transport http.RoundTripper
	// Resources are the resources to record, by the names that kubectl accepts:
	// "pods", "po", "deployments.apps". The namespaces and definitions that their
	// objects require are recorded too.
	Resources []string
	// Namespace limits the recording to a namespace. "" means all.
	Namespace string
	// Secrets are omitted from the recording, in addition to the default ones;
	// see DefaultSecrets.
	Secrets []Secret
}

// An observation is the state of an object in a list or a watch event.
type observation struct {
	typ      *servedType
	object   map[string]any
	deleted  bool
	revision uint64
	at       time.Duration
}

// RecordState starts a recording. When it returns, it has recorded the present
// objects, and it records changes until Stop or the end of ctx. It fails with
// [ErrUnknownResource] for a resource that the server does not serve.
func RecordState(ctx context.Context, o StateOptions) (*StateRecording, error) {
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	c := &reader{url: strings.TrimSuffix(o.URL, "/"), client: &http.Client{Transport: o.Transport}}
	types, err := c.findTypes(ctx, o.Resources)
	if err != nil {
		return nil, err
	}
	r := &StateRecording{secrets: o.Secrets, started: time.Now()}
	var reflectors []*reflector
	for _, t := range types {
		f := &reflector{reader: c, recording: r, typ: t, path: t.path(o.Namespace)}
		objects, err := f.list(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			r.initial = append(r.initial, observation{typ: t, object: o})
		}
		reflectors = append(reflectors, f)
	}
	prerequisites, err := c.prerequisites(ctx, r.initial, types, o.Namespace)
	if err != nil {
		return nil, err
	}
	r.initial = append(prerequisites, r.initial...)
	ctx, r.cancel = context.WithCancel(ctx)
	for _, f := range reflectors {
		r.running.Go(func() {
			if err := f.run(ctx); err != nil {
				r.fail(fmt.Errorf("%s: %w", f.typ, err))
			}
		})
	}
	return r, nil
}

// Stop ends the recording and returns it as a scenario with a history: first the
// initial objects, then each change at its time. The changes of one write are one
// Change. Secrets and resource versions are omitted.
//
// The error is the first one that ended the recording of a resource before Stop,
// other than the end of the context. The scenario is valid even then.
func (r *StateRecording) Stop() (*Scenario, error) {
	r.cancel()
	r.running.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Scenario{Version: Version, Name: "state", History: r.history()}, r.err
}

// fail records the error that ended a reflector.
func (r *StateRecording) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// add adds a change.
func (r *StateRecording) add(o observation) {
	o.revision, _ = strconv.ParseUint(object.String(o.object, "metadata", "resourceVersion"), 10, 64)
	o.at = time.Since(r.started)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, o)
}

// history returns the changes of all resources, sorted by their resource versions,
// which all resources share.
func (r *StateRecording) history() []Change {
	scrub := newScrubber(r.secrets)
	var out []Change
	var first, rest Change // first has the prerequisites of the other objects
	for _, o := range r.initial {
		if o.typ.isPrerequisite() {
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
	slices.SortStableFunc(r.changes, func(a, b observation) int { return cmp.Compare(a.revision, b.revision) })
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

// addTo adds the observed write to a change.
func (o observation) addTo(c *Change, scrub *scrubber) {
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

// identity returns an object with only the fields that identify it.
func identity(o map[string]any) map[string]any {
	meta := map[string]any{"name": object.String(o, "metadata", "name")}
	if namespace := object.String(o, "metadata", "namespace"); namespace != "" {
		meta["namespace"] = namespace
	}
	return map[string]any{"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": meta}
}
