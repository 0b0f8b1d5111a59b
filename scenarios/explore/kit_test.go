package explore_test

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

// An api is a client of a server.
type api struct {
	ctx   context.Context
	srv   *fakeapi.Server
	agent string
}

// A refusal is an answer that is not a success.
type refusal struct {
	code int
	text string
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

// codeOf returns the status code of a refusal, 0 of another error.
func codeOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.code
	}
	return 0
}

func (a *api) do(method, path, contentType string, in any) (fakeapi.Object, error) {
	body, ok := in.(string)
	if !ok {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	r, err := http.NewRequestWithContext(a.ctx, method, a.srv.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", a.agent)
	r.Header.Set("Content-Type", contentType)
	resp, err := a.srv.Client().Do(r)
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

const jsonType = "application/json"

func (a *api) get(path string) (fakeapi.Object, error) {
	return a.do(http.MethodGet, path, jsonType, nil)
}

func (a *api) create(collection string, o fakeapi.Object) (fakeapi.Object, error) {
	return a.do(http.MethodPost, collection, jsonType, o)
}

func (a *api) update(path string, o fakeapi.Object) error {
	_, err := a.do(http.MethodPut, path, jsonType, o)
	return err
}

func (a *api) patch(path string, patch any) error {
	_, err := a.do(http.MethodPatch, path, "application/merge-patch+json", patch)
	return err
}

func (a *api) apply(path string, o any) error {
	_, err := a.do(http.MethodPatch, path+"?force=true&fieldManager="+a.agent, "application/apply-patch+yaml", o)
	return err
}

// remove deletes an object. If uid is not "", it must be that of the object. One that does not
// exist is no error.
func (a *api) remove(path, uid string) error {
	options := map[string]any{"propagationPolicy": "Background"}
	if uid != "" {
		options["preconditions"] = map[string]any{"uid": uid}
	}
	if _, err := a.do(http.MethodDelete, path, jsonType, options); err != nil && codeOf(err) != http.StatusNotFound {
		return err
	}
	return nil
}

// A watched is a collection that a controller watches.
type watched struct {
	path string
	keys func(o fakeapi.Object) []string // of what an object concerns
	// old lists from the watch cache of the server.
	old bool
	// expired, if not nil, is called when the version of the watch has expired.
	expired func()
	// changed, if not nil, reports whether the change of an object concerns the controller.
	changed func(old, now fakeapi.Object) bool
}

// A controller has a cache of what it watches, a queue of keys with a back-off, and a worker.
type controller struct {
	api
	watches   []watched
	reconcile func(c *controller, key string) error
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

// run runs the controller until its context ends.
func (c *controller) run() {
	c.caches, c.fails, c.wake = map[string]map[string]fakeapi.Object{}, map[string]int{}, make(chan struct{}, 1)
	var informers sync.WaitGroup
	for _, w := range c.watches {
		c.caches[w.path] = nil
		informers.Add(1)
		go func() {
			defer informers.Done()
			c.inform(w)
		}()
	}
	for c.ctx.Err() == nil {
		key, ok := c.next()
		if !ok {
			select {
			case <-c.wake:
			case <-c.ctx.Done():
			}
			continue
		}
		err := c.reconcile(c, key)
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
func (c *controller) next() (key string, ok bool) {
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

func (c *controller) add(keys ...string) {
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
func (c *controller) inform(w watched) {
	for ; c.ctx.Err() == nil; wait(c.ctx) {
		path := w.path
		if w.old {
			path += "?resourceVersion=0"
		}
		list, err := c.get(path)
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
		old := c.caches[w.path]
		c.caches[w.path] = cache
		c.mu.Unlock()
		for _, o := range old {
			c.add(w.keys(o)...)
		}
		for _, o := range cache {
			c.add(w.keys(o)...)
		}
		c.add() // an empty cache is filled too
		for version := field(list, "metadata", "resourceVersion"); c.ctx.Err() == nil; wait(c.ctx) {
			if c.follow(w, &version) {
				if w.expired != nil {
					w.expired()
				}
				break
			}
		}
	}
}

// follow watches until the watch ends, and reports whether its version has expired.
func (c *controller) follow(w watched, version *string) (expired bool) {
	r, err := http.NewRequestWithContext(c.ctx, http.MethodGet, c.srv.URL+w.path+"?watch=1&resourceVersion="+*version, nil)
	if err != nil {
		return false
	}
	r.Header.Set("User-Agent", c.agent)
	resp, err := c.srv.Client().Do(r)
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
		old := c.caches[w.path][keyOf(e.Object)]
		c.caches[w.path][keyOf(e.Object)] = e.Object
		if e.Type == "DELETED" {
			delete(c.caches[w.path], keyOf(e.Object))
		}
		c.mu.Unlock()
		if e.Type == "MODIFIED" && w.changed != nil && old != nil && !w.changed(old, e.Object) {
			continue
		}
		c.add(w.keys(e.Object)...)
	}
}

// cached returns an object from the cache of a collection, nil if it is not there.
func (c *controller) cached(path, key string) fakeapi.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.caches[path][key]
}

// all returns the objects in the cache of a collection that match, sorted by their keys.
func (c *controller) all(path string, match func(o fakeapi.Object) bool) []fakeapi.Object {
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

func self(o fakeapi.Object) []string { return []string{keyOf(o)} }

// owner returns the key of the Thing that controls an object.
func owner(o fakeapi.Object) []string {
	if ref := controllerOf(o); ref != nil && ref["kind"] == "Thing" {
		return []string{o.Namespace() + "/" + fmt.Sprint(ref["name"])}
	}
	return nil
}

// labelled returns the key of the Thing that an object has in its label thing.
func labelled(o fakeapi.Object) []string {
	if name := field(o, "metadata", "labels", "thing"); name != "" {
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

// controls reports whether an object is controlled by another one.
func controls(by, o fakeapi.Object) bool {
	ref := controllerOf(o)
	return ref != nil && ref["uid"] == uidOf(by)
}

func uidOf(o fakeapi.Object) string { return field(o, "metadata", "uid") }

// refTo returns the owner references of an object that a Thing controls.
func refTo(thing fakeapi.Object) []any {
	return []any{map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Thing", "name": thing.Name(), "uid": uidOf(thing),
		"controller": true, "blockOwnerDeletion": true,
	}}
}

func deleted(o fakeapi.Object) bool { return field(o, "metadata", "deletionTimestamp") != "" }

// valueAt returns the value at a path of fields and indices, nil if it is absent.
func valueAt(o fakeapi.Object, path ...string) any {
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

// field returns the string at a path, "" if there is none.
func field(o fakeapi.Object, path ...string) string {
	s, _ := valueAt(o, path...).(string)
	return s
}

// with returns an object with a value at a path. The object itself stays as it is.
func with(o fakeapi.Object, value any, path ...string) fakeapi.Object {
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

// users are the steps of a workload.
type users []func(a *api) error

// workload returns the steps, with a pause after each of them.
func (u users) workload() explore.Workload { return u.workloadWith(5 * time.Second) }

// workloadWith returns the steps, with a pause of d after each of them.
func (u users) workloadWith(d time.Duration) explore.Workload {
	var steps []func(srv *fakeapi.Server) error
	for _, step := range u {
		steps = append(steps, func(srv *fakeapi.Server) error {
			return step(&api{ctx: context.Background(), srv: srv, agent: "user"})
		})
	}
	return explore.Steps(d, steps...)
}

// applies returns a step that applies an object, as kubectl apply --server-side does.
func applies(path, object string) func(a *api) error {
	return func(a *api) error { return a.apply(path, object) }
}

func removes(path string) func(a *api) error {
	return func(a *api) error { return a.remove(path, "") }
}
