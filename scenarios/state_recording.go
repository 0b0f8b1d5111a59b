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
	"github.com/kubefake/kubefake/internal/reflector"
	"github.com/kubefake/kubefake/internal/scrub"
)

// A StateRecording lists and watches resources of a server and records the changes
// of their objects. It only reads.
type StateRecording struct {
	cancel  context.CancelFunc
	running sync.WaitGroup // the reflectors
	started time.Time
	file    *RecordingFile // nil: the changes are in memory
	memory  *memoryLog
	gone    time.Duration // StateOptions.Retry
	warn    func(string)
	ended   chan struct{} // closed when err is set

	mu    sync.Mutex // guards the fields below
	log   itemLog
	scrub *scrub.Scrubber // nil if secrets are shown
	lost  time.Time       // when the server was last reached, while it cannot be
	err   error           // the first error that ended a reflector
}

// DefaultRetry is the default of StateOptions.Retry.
const DefaultRetry = time.Minute

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
	// ShowSecrets records all secrets as they are.
	ShowSecrets bool
	// File gets the initial objects, and each change when it is observed. The caller
	// calls Finish after Stop. Without it the recording is kept in memory.
	File *RecordingFile
	// Retry is how long the server may be unreachable before the recording ends. 0
	// means DefaultRetry.
	Retry time.Duration
	// Warn is called with a text when the server becomes unreachable, and when it is
	// reached again; nil ignores it. It must not call methods of the StateRecording.
	Warn func(string)
}

// An observation is the state of an object in a list or a watch event.
type observation struct {
	typ     *reflector.Type
	object  map[string]any
	deleted bool
}

// RecordState starts a recording. When it returns, it has recorded the present
// objects, and it records changes until Stop or the end of ctx. It fails with
// [ErrUnknownResource] for a resource that the server does not serve.
func RecordState(ctx context.Context, o StateOptions) (*StateRecording, error) {
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	c := &reflector.Client{URL: strings.TrimSuffix(o.URL, "/"), HTTP: &http.Client{Transport: o.Transport}, UserAgent: "fakeapi-record"}
	types, err := findTypes(ctx, c, o.Resources)
	if err != nil {
		return nil, err
	}
	r := &StateRecording{
		started: time.Now(), file: o.File, memory: &memoryLog{}, gone: cmp.Or(o.Retry, DefaultRetry), warn: o.Warn,
		ended: make(chan struct{}), scrub: newScrubber(o.Secrets, o.ShowSecrets),
	}
	r.log = r.memory
	if r.file != nil {
		r.log = r.file
	}
	if r.warn == nil {
		r.warn = func(string) {}
	}
	var initial []observation
	var reflectors []*reflector.Reflector
	for _, t := range types {
		f := &reflector.Reflector{Client: c, Sink: recordingSink{r}, Type: t, Path: t.Path(o.Namespace)}
		objects, err := f.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			initial = append(initial, observation{typ: t, object: o})
		}
		reflectors = append(reflectors, f)
	}
	prerequisites, err := prerequisites(ctx, c, initial, types, o.Namespace)
	if err != nil {
		return nil, err
	}
	r.addInitial(append(prerequisites, initial...))
	ctx, r.cancel = context.WithCancel(ctx)
	for _, f := range reflectors {
		r.running.Add(1)
		go func() {
			defer r.running.Done()
			if err := f.Run(ctx); err != nil {
				r.fail(fmt.Errorf("%s: %w", f.Type, err))
			}
		}()
	}
	if r.file != nil {
		r.running.Add(1)
		go func() {
			defer r.running.Done()
			select {
			case <-r.file.Failed():
				r.fail(r.file.Err())
			case <-ctx.Done():
			}
		}()
	}
	return r, nil
}

// Stop ends the recording and returns it as a scenario with a history: first the
// initial objects, then each change at its time. The changes of one write are one
// Change. Secrets and resource versions are omitted. With StateOptions.File the
// scenario is nil, and is in the file.
//
// The error is the first one that ended the recording of a resource before Stop,
// other than the end of the context; for a server that was unreachable for too long
// it is an [ErrUnreachable]. The scenario is valid even then.
func (r *StateRecording) Stop() (*Scenario, error) {
	r.cancel()
	r.running.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		return nil, r.err
	}
	s := &Scenario{Version: Version, Name: "state"}
	err := assembleChanges(r.memory.lines, func(c any) error {
		s.History = append(s.History, *c.(*Change))
		return nil
	})
	return s, cmp.Or(r.err, err)
}

// Failed returns a channel that is closed when the recording of a resource has
// ended with an error. Stop returns it.
func (r *StateRecording) Failed() <-chan struct{} { return r.ended }

// fail records the error that ended a reflector.
func (r *StateRecording) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
		close(r.ended)
	}
}

// A recordingSink adds what reflectors observe to a recording.
type recordingSink struct{ *StateRecording }

// Add implements [reflector.Sink].
func (s recordingSink) Add(t *reflector.Type, obj map[string]any, deleted bool) {
	s.add(observation{typ: t, object: obj, deleted: deleted})
}

// Reached implements [reflector.Sink].
func (s recordingSink) Reached() { s.reached() }

// Unreachable implements [reflector.Sink].
func (s recordingSink) Unreachable(cause error) error { return s.unreachable(cause) }

// reached records that the server has answered.
func (r *StateRecording) reached() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.lost.IsZero() {
		r.warn("the server is reachable again")
		r.lost = time.Time{}
	}
}

// unreachable records that the server cannot be reached. It returns an error if it
// could not be for too long.
func (r *StateRecording) unreachable(cause error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost.IsZero() {
		r.lost = time.Now()
		r.warn(fmt.Sprintf("the server is unreachable, trying again for %s: %v", r.gone, cause))
	}
	if time.Since(r.lost) < r.gone {
		return nil
	}
	at := r.lost.Sub(r.started).Round(time.Millisecond)
	return fmt.Errorf("%w since %s after the start of the recording: %w", ErrUnreachable, at, cause)
}

// maxInitial is how many initial objects one Change has at most.
const maxInitial = 500

// addInitial adds the initial objects: first those that others require.
func (r *StateRecording) addInitial(initial []observation) {
	var first, rest Change
	for _, o := range initial {
		c := &rest
		if isPrerequisite(o.typ) {
			c = &first
		}
		o.addTo(c, r.scrub)
	}
	for _, c := range []Change{first, rest} {
		for put := range slices.Chunk(c.Store, maxInitial) {
			r.log.add("history", Change{Store: put}, "0")
		}
	}
}

// add adds a change.
func (r *StateRecording) add(o observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	revision, _ := strconv.ParseUint(object.String(o.object, "metadata", "resourceVersion"), 10, 64)
	c := Change{At: Duration(time.Since(r.started).Round(time.Millisecond))}
	o.addTo(&c, r.scrub)
	r.log.add("history", c, strconv.FormatUint(revision, 10))
}

const (
	// reorderTime and reorderLimit bound how far a change moves to be in the order
	// of revisions, in time and in number of changes.
	reorderTime  = 5 * time.Second
	reorderLimit = 1000
)

// assembleChanges sorts the changes of all resources by their resource versions,
// which all resources share, and calls yield for each. The note of a line is its
// version, 0 for the initial objects. Changes of different resources can be in the
// wrong order only if they are close, so that the memory is bounded.
func assembleChanges(lines func(func(line []byte, note string) error) error, yield func(any) error) error {
	type change struct {
		Change
		revision uint64
	}
	var pending []*change // sorted by revision
	var at Duration
	var last *change
	flush := func(limit int, before Duration) error {
		for len(pending) > limit || len(pending) > 0 && pending[0].At <= before {
			c := pending[0]
			pending = pending[1:]
			if last != nil && c.revision == last.revision && c.revision != 0 {
				last.Store, last.Remove = append(last.Store, c.Store...), append(last.Remove, c.Remove...)
				continue
			}
			if last != nil {
				at = max(at, last.At)
				last.At = at
				if err := yield(&last.Change); err != nil {
					return err
				}
			}
			last = c
		}
		return nil
	}
	err := lines(func(line []byte, note string) error {
		c := &change{}
		if err := decode(line, &c.Change); err != nil {
			return err
		}
		c.revision, _ = strconv.ParseUint(note, 10, 64)
		if err := flush(reorderLimit, c.At-Duration(reorderTime)); err != nil {
			return err
		}
		i := len(pending)
		for i > 0 && c.revision != 0 && pending[i-1].revision > c.revision {
			i--
		}
		pending = slices.Insert(pending, i, c)
		return nil
	})
	if err == nil {
		err = flush(0, 0)
	}
	if err == nil && last != nil {
		last.At = max(at, last.At)
		err = yield(&last.Change)
	}
	return err
}

// addTo adds the observed write to a change.
func (o observation) addTo(c *Change, s *scrub.Scrubber) {
	if o.deleted {
		c.Remove = append(c.Remove, identity(o.object))
		return
	}
	if meta, ok := o.object["metadata"].(map[string]any); ok {
		delete(meta, "resourceVersion")
		delete(meta, "selfLink")
	}
	c.Store = append(c.Store, s.Body(o.typ.String(), o.object).(map[string]any))
}

// identity returns an object with only the fields that identify it.
func identity(o map[string]any) map[string]any {
	meta := map[string]any{"name": object.String(o, "metadata", "name")}
	if namespace := object.String(o, "metadata", "namespace"); namespace != "" {
		meta["namespace"] = namespace
	}
	return map[string]any{"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": meta}
}
