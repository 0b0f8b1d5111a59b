// Package explored has a controller without client-go, and sorts of controllers, for tests of package explore of scenarios.
package explored

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// An API is a client of a server.
type API struct {
	Ctx   context.Context
	Srv   *fakeapi.Server
	Agent string
}

// A refusal is an answer that is not a success.
type refusal struct {
	code int
	text string
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

// CodeOf returns the status code of a refusal, 0 of another error.
func CodeOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.code
	}
	return 0
}

// Do makes a request. An answer that is not a success is an error of which CodeOf knows the code.
func (a *API) Do(method, path, contentType string, in any) (fakeapi.Object, error) {
	body, ok := in.(string)
	if !ok {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	r, err := http.NewRequestWithContext(a.Ctx, method, a.Srv.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", a.Agent)
	r.Header.Set("Content-Type", contentType)
	resp, err := a.Srv.Client().Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, &refusal{resp.StatusCode, fmt.Sprintf("%s %s: %d %s", method, path, resp.StatusCode, text)}
	}
	var out fakeapi.Object
	return out, json.Unmarshal(text, &out)
}

const JSONType = "application/json"

// Get reads an object or a collection.
func (a *API) Get(path string) (fakeapi.Object, error) {
	return a.Do(http.MethodGet, path, JSONType, nil)
}

// Create creates an object in a collection.
func (a *API) Create(collection string, o fakeapi.Object) (fakeapi.Object, error) {
	return a.Do(http.MethodPost, collection, JSONType, o)
}

// Update replaces an object.
func (a *API) Update(path string, o fakeapi.Object) error {
	_, err := a.Do(http.MethodPut, path, JSONType, o)
	return err
}

// Patch makes a JSON merge patch.
func (a *API) Patch(path string, patch any) error {
	_, err := a.Do(http.MethodPatch, path, "application/merge-patch+json", patch)
	return err
}

// Apply applies an object, with force.
func (a *API) Apply(path string, o any) error {
	_, err := a.Do(http.MethodPatch, path+"?force=true&fieldManager="+a.Agent, "application/apply-patch+yaml", o)
	return err
}

// Remove deletes an object. If uid is not "", it must be that of the object. One that does not
// exist is no error.
func (a *API) Remove(path, uid string) error {
	options := map[string]any{"propagationPolicy": "Background"}
	if uid != "" {
		options["preconditions"] = map[string]any{"uid": uid}
	}
	if _, err := a.Do(http.MethodDelete, path, JSONType, options); err != nil && CodeOf(err) != http.StatusNotFound {
		return err
	}
	return nil
}

// A Watched is a collection that a controller watches.
type Watched struct {
	Path string
	Keys func(o fakeapi.Object) []string // of what an object concerns
	// Old lists from the watch cache of the server.
	Old bool
	// Expired, if not nil, is called when the version of the watch has expired.
	Expired func()
	// Changed, if not nil, reports whether the change of an object concerns the controller.
	Changed func(old, now fakeapi.Object) bool
}

// A Controller has a cache of what it watches, a queue of keys with a back-off, and a worker.
type Controller struct {
	API
	Watches   []Watched
	Reconcile func(c *Controller, key string) error
	retry     time.Duration // after the first failure; 0 is firstRetry

	mu     sync.Mutex // guards the fields below
	caches map[string]map[string]fakeapi.Object
	queue  []string
	fails  map[string]int
	wake   chan struct{}
}

const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// Run runs the controller until its context ends.
func (c *Controller) Run() {
	c.caches, c.fails, c.wake = map[string]map[string]fakeapi.Object{}, map[string]int{}, make(chan struct{}, 1)
	var informers sync.WaitGroup
	for _, w := range c.Watches {
		c.caches[w.Path] = nil
		informers.Add(1)
		go func() {
			defer informers.Done()
			c.inform(w)
		}()
	}
	for c.Ctx.Err() == nil {
		key, ok := c.next()
		if !ok {
			select {
			case <-c.wake:
			case <-c.Ctx.Done():
			}
			continue
		}
		err := c.Reconcile(c, key)
		c.mu.Lock()
		if err == nil {
			delete(c.fails, key)
			c.mu.Unlock()
			continue
		}
		first := cmp.Or(c.retry, firstRetry)
		pause := max(first, min(first<<min(c.fails[key], 20), lastRetry))
		c.fails[key]++
		c.mu.Unlock()
		timer := time.AfterFunc(pause, func() { c.add(key) })
		defer timer.Stop()
	}
	informers.Wait()
}

// next removes the first key of the queue when all caches are filled.
func (c *Controller) next() (key string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cache := range c.caches {
		if cache == nil {
			return "", false
		}
	}
	if len(c.queue) == 0 {
		return "", false
	}
	key, c.queue = c.queue[0], c.queue[1:]
	return key, true
}

func (c *Controller) add(keys ...string) {
	c.mu.Lock()
	for _, key := range keys {
		if !slices.Contains(c.queue, key) {
			c.queue = append(c.queue, key)
		}
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// inform lists and watches a collection.
func (c *Controller) inform(w Watched) {
	for ; c.Ctx.Err() == nil; Wait(c.Ctx) {
		path := w.Path
		if w.Old {
			path += "?resourceVersion=0"
		}
		list, err := c.Get(path)
		if err != nil {
			continue
		}
		cache := map[string]fakeapi.Object{}
		items, _ := list["items"].([]any)
		for _, item := range items {
			o := fakeapi.Object(item.(map[string]any))
			cache[keyOf(o)] = o
		}
		c.mu.Lock()
		old := c.caches[w.Path]
		c.caches[w.Path] = cache
		c.mu.Unlock()
		for _, o := range old {
			c.add(w.Keys(o)...)
		}
		for _, o := range cache {
			c.add(w.Keys(o)...)
		}
		c.add() // an empty cache is filled too
		for version := Field(list, "metadata", "resourceVersion"); c.Ctx.Err() == nil; Wait(c.Ctx) {
			if c.follow(w, &version) {
				if w.Expired != nil {
					w.Expired()
				}
				break
			}
		}
	}
}

// follow watches until the watch ends, and reports whether its version has expired.
func (c *Controller) follow(w Watched, version *string) (expired bool) {
	r, err := http.NewRequestWithContext(c.Ctx, http.MethodGet, c.Srv.URL+w.Path+"?watch=1&resourceVersion="+*version, nil)
	if err != nil {
		return false
	}
	r.Header.Set("User-Agent", c.Agent)
	resp, err := c.Srv.Client().Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	for events := json.NewDecoder(resp.Body); ; {
		var e struct {
			Type   string
			Object fakeapi.Object
		}
		if events.Decode(&e) != nil {
			return false
		}
		if e.Type == "ERROR" || resp.StatusCode == http.StatusGone {
			return true
		}
		*version = e.Object.ResourceVersion()
		c.mu.Lock()
		old := c.caches[w.Path][keyOf(e.Object)]
		c.caches[w.Path][keyOf(e.Object)] = e.Object
		if e.Type == "DELETED" {
			delete(c.caches[w.Path], keyOf(e.Object))
		}
		c.mu.Unlock()
		if e.Type == "MODIFIED" && w.Changed != nil && old != nil && !w.Changed(old, e.Object) {
			continue
		}
		c.add(w.Keys(e.Object)...)
	}
}

// Cached returns an object from the cache of a collection, nil if it is not there.
func (c *Controller) Cached(path, key string) fakeapi.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.caches[path][key]
}

// All returns the objects in the cache of a collection that match, sorted by their keys.
func (c *Controller) All(path string, match func(o fakeapi.Object) bool) []fakeapi.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []fakeapi.Object
	for _, o := range c.caches[path] {
		if match(o) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b fakeapi.Object) int { return strings.Compare(keyOf(a), keyOf(b)) })
	return out
}

// keyOf returns the namespace and the name of an object.
func keyOf(o fakeapi.Object) string { return o.Namespace() + "/" + o.Name() }

// Self returns the key of an object.
func Self(o fakeapi.Object) []string { return []string{keyOf(o)} }

// Owner returns the key of the Thing that controls an object.
func Owner(o fakeapi.Object) []string {
	if ref := controllerOf(o); ref != nil && ref["kind"] == "Thing" {
		return []string{o.Namespace() + "/" + fmt.Sprint(ref["name"])}
	}
	return nil
}

// Labelled returns the key of the Thing that an object has in its label thing.
func Labelled(o fakeapi.Object) []string {
	if name := Field(o, "metadata", "labels", "thing"); name != "" {
		return []string{o.Namespace() + "/" + name}
	}
	return nil
}

func controllerOf(o fakeapi.Object) map[string]any {
	meta, _ := o["metadata"].(map[string]any)
	refs, _ := meta["ownerReferences"].([]any)
	for _, ref := range refs {
		if ref, ok := ref.(map[string]any); ok && ref["controller"] == true {
			return ref
		}
	}
	return nil
}

// Controls reports whether an object is controlled by another one.
func Controls(by, o fakeapi.Object) bool {
	ref := controllerOf(o)
	return ref != nil && ref["uid"] == UIDOf(by)
}

// UIDOf returns the UID of an object.
func UIDOf(o fakeapi.Object) string { return Field(o, "metadata", "uid") }

// refTo returns the owner references of an object that a Thing controls.
func refTo(thing fakeapi.Object) []any {
	return []any{map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Thing", "name": thing.Name(), "uid": UIDOf(thing),
		"controller": true, "blockOwnerDeletion": true,
	}}
}

// Deleted reports whether an object has a deletionTimestamp.
func Deleted(o fakeapi.Object) bool { return Field(o, "metadata", "deletionTimestamp") != "" }

// ValueAt returns the value at a path of fields and indices, nil if it is absent.
func ValueAt(o fakeapi.Object, path ...string) any {
	v := any(map[string]any(o))
	for _, name := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// Field returns the string at a path, "" if there is none.
func Field(o fakeapi.Object, path ...string) string {
	s, _ := ValueAt(o, path...).(string)
	return s
}

// With returns an object with a value at a path. The object itself stays as it is.
func With(o fakeapi.Object, value any, path ...string) fakeapi.Object {
	return fakeapi.Object(replaced(map[string]any(o), value, path).(map[string]any))
}

func replaced(in, value any, path []string) any {
	if len(path) == 0 {
		return value
	}
	if list, ok := in.([]any); ok {
		if i, err := strconv.Atoi(path[0]); err == nil {
			list = slices.Clone(list)
			list[i] = replaced(list[i], value, path[1:])
			return list
		}
	}
	object, _ := in.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, object)
	out[path[0]] = replaced(out[path[0]], value, path[1:])
	return out
}

// Users are the steps of a workload.
type Users []func(a *API) error

// workload returns the steps, with a pause after each of them.
func (u Users) workload() explore.Workload { return u.WorkloadWith(5 * time.Second) }

// WorkloadWith returns the steps, with a pause of d after each of them.
func (u Users) WorkloadWith(d time.Duration) explore.Workload {
	var steps []func(srv *fakeapi.Server) error
	for _, step := range u {
		steps = append(steps, func(srv *fakeapi.Server) error {
			return step(&API{Ctx: context.Background(), Srv: srv, Agent: "user"})
		})
	}
	return explore.Steps(d, steps...)
}

// Applies returns a step that applies an object, as kubectl apply --server-side does.
func Applies(path, object string) func(a *API) error {
	return func(a *API) error { return a.Apply(path, object) }
}

// Removes returns a step that deletes an object.
func Removes(path string) func(a *API) error {
	return func(a *API) error { return a.Remove(path, "") }
}

// Wait waits for a second, or until ctx ends.
func Wait(ctx context.Context) { Pause(ctx, time.Second) }

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
