package explore

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
	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/reflector"
	"github.com/kubefake/kubefake/internal/status"
)

// A realCluster is an API server against which plans are played. It follows all objects that the
// server has, apart from those in the background. Trials have it one after the other.
type realCluster struct {
	*kubeconfig.Cluster
	client  reflector.Client
	proxy   http.Handler
	version string
	base    *fakeapi.Server
	log     func(format string, args ...any)

	end       context.CancelFunc
	running   sync.WaitGroup // reflectors
	installed []objectKey

	mu       sync.Mutex // guards the fields below
	types    map[string]*reflector.Type
	live     map[objectKey]fakeapi.Object // the newest that is known
	observed []observation
	newest   int64 // revision
	failed   error // of a reflector
}

// An observation is a change that a watch has shown.
type observation struct {
	revision int64
	time     time.Time
	what     journal.Change
	object   fakeapi.Object // before the change if it is a deletion
}

// agentOfExplore is the user agent of requests that are neither the system's nor the workload's.
const agentOfExplore = "fakeapi-explore"

// connect returns the cluster of a kubeconfig file. It creates there what the options of the System
// have created in base, as far as it is missing.
func connect(ctx context.Context, file string, base *fakeapi.Server, log func(format string, args ...any)) (*realCluster, error) {
	c, err := kubeconfig.Load(ctx, file, "")
	if err != nil {
		return nil, err
	}
	r := &realCluster{
		Cluster: c, client: reflector.Client{URL: c.URL, HTTP: &http.Client{Transport: c.Transport}, UserAgent: agentOfExplore},
		base: base, log: log, types: map[string]*reflector.Type{}, live: map[objectKey]fakeapi.Object{},
	}
	ctx, r.end = context.WithCancel(ctx)
	err = r.start(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("explore: %s: %w", c.URL, err), r.close())
	}
	return r, err
}

func (r *realCluster) start(ctx context.Context) (err error) {
	if r.proxy, err = r.Proxy(); err != nil {
		return err
	}
	var version struct{ GitVersion string }
	if err := r.client.Get(ctx, "/version", &version); err != nil {
		return err
	}
	r.version = version.GitVersion
	if err := r.install(ctx); err != nil {
		return err
	}
	return r.follow(ctx)
}

// String returns the server with its version.
func (r *realCluster) String() string { return fmt.Sprintf("%s (%s)", r.URL, r.version) }

// discover reads which resources the server has.
func (r *realCluster) discover(ctx context.Context) error {
	served, _, err := r.client.Types(ctx) // groups whose servers are unavailable are not followed
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range served {
		r.types[t.String()] = t
	}
	return nil
}

// path returns the path of an object, "" if the server does not have its resource.
func (r *realCluster) path(k objectKey) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.types[k.resource]; t != nil {
		return t.Path(k.namespace) + "/" + k.name
	}
	return ""
}

// follow lists and watches all resources until ctx ends.
func (r *realCluster) follow(ctx context.Context) error {
	if err := r.discover(ctx); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.types)) {
		if isBackground(name) {
			continue
		}
		f := &reflector.Reflector{Client: &r.client, Sink: r, Type: r.types[name], Path: r.types[name].Path("")}
		objects, err := f.List(ctx)
		var refused *reflector.Error
		switch {
		case errors.As(err, &refused) && refused.Code < http.StatusInternalServerError:
			r.log("%s is not followed: %v", name, err)
			continue
		case err != nil:
			return err
		}
		for _, o := range objects {
			obj := fakeapi.Object(object.Integers(o))
			r.live[objectKey{resource: name, namespace: obj.Namespace(), name: obj.Name()}] = obj
		}
		r.running.Add(1)
		go func() {
			defer r.running.Done()
			if err := f.Run(ctx); err != nil && ctx.Err() == nil {
				r.mu.Lock()
				r.failed = cmp.Or(r.failed, fmt.Errorf("%s: %w", name, err))
				r.mu.Unlock()
			}
		}()
	}
	newest, err := r.present(ctx)
	r.saw(newest)
	return err
}

// present returns the revision of the server now.
func (r *realCluster) present(ctx context.Context) (int64, error) {
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := r.client.Get(ctx, "/api/v1/namespaces?limit=1", &list); err != nil {
		return 0, err
	}
	return strconv.ParseInt(list.Metadata.ResourceVersion, 10, 64)
}

func (r *realCluster) saw(revision int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest = max(r.newest, revision)
}

// Add implements [reflector.Sink].
func (r *realCluster) Add(t *reflector.Type, obj map[string]any, deleted bool) {
	o := fakeapi.Object(object.Integers(obj))
	key := objectKey{resource: t.String(), namespace: o.Namespace(), name: o.Name()}
	revision, _ := strconv.ParseInt(o.ResourceVersion(), 10, 64) // an int64 in every server so far
	what := journal.Change{Type: journal.Modified, Resource: key.resource, Namespace: key.namespace, Name: key.name}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.live[key]
	switch {
	case deleted:
		what.Type = journal.Deleted
		delete(r.live, key)
		if before != nil {
			o = before
		}
	case before == nil:
		what.Type = journal.Added
		fallthrough
	default:
		r.live[key] = o
	}
	r.observed = append(r.observed, observation{revision, time.Now(), what, o})
	r.newest = max(r.newest, revision)
}

// Reached implements [reflector.Sink].
func (r *realCluster) Reached() {}

// Unreachable implements [reflector.Sink].
func (r *realCluster) Unreachable(cause error) error { return cause }

// install creates the objects of base in the server that it does not have, apart from those that
// every server has, which nobody has written, and those that controllers have.
func (r *realCluster) install(ctx context.Context) error {
	if err := r.discover(ctx); err != nil {
		return err
	}
	for _, w := range r.base.Writes(1) {
		for _, c := range w.Changes {
			if strings.HasPrefix(w.Writer.User, "system:") || w.Writer.User == "" && c.Resource != definitions {
				continue
			}
			o, err := r.base.Get(c.Resource, c.Namespace, c.Name)
			if err != nil || c.Type == journal.Deleted {
				continue
			}
			if err := r.create(ctx, objectKey{resource: c.Resource, namespace: c.Namespace, name: c.Name}, o); err != nil {
				return err
			}
		}
	}
	return nil
}

const definitions = "customresourcedefinitions.apiextensions.k8s.io"

// definitionTimeout is how long the server may take to serve a custom resource after its definition
// is created, and an object to go after its deletion.
const definitionTimeout = 30 * time.Second

// create creates an object unless it exists.
func (r *realCluster) create(ctx context.Context, k objectKey, o fakeapi.Object) error {
	ctx, cancel := context.WithTimeout(ctx, definitionTimeout)
	defer cancel()
	for r.path(k) == "" {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server has no %s", k.resource)
		case <-time.After(100 * time.Millisecond):
		}
		if err := r.discover(ctx); err != nil {
			return err
		}
	}
	o = object.Copy(o)
	delete(o, "status")
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		delete(object.Map(o, "metadata"), field)
	}
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	code, err := r.send(ctx, http.MethodPost, strings.TrimSuffix(r.path(k), "/"+k.name), "application/json", string(body))
	if code == http.StatusConflict {
		return nil
	}
	if err != nil {
		return err
	}
	r.installed = append(r.installed, k)
	if k.resource == definitions {
		return r.established(ctx, r.path(k))
	}
	return nil
}

// established waits until a definition is established: until then the server ends the watches of its
// objects.
func (r *realCluster) established(ctx context.Context, path string) error {
	for {
		var o map[string]any
		if err := r.client.Get(ctx, path, &o); err != nil {
			return err
		}
		for c := range object.Each(object.Value(o, "status", "conditions")) {
			if object.String(c, "type") == "Established" && object.String(c, "status") == "True" {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not established", path)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// send sends a request of the search itself, and returns the status code. Codes from 400 on are errors.
func (r *realCluster) send(ctx context.Context, method, path, contentType, body string) (code int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, r.URL+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("User-Agent", agentOfExplore)
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", "application/json")
	resp, err := r.client.HTTP.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, status.MessageOf(text))
	}
	return resp.StatusCode, err
}

// remove deletes objects, whatever finalizers they have, and waits until they are gone.
func (r *realCluster) remove(ctx context.Context, keys []objectKey) error {
	ctx, cancel := context.WithTimeout(ctx, definitionTimeout)
	defer cancel()
	var last error
	for len(keys) > 0 {
		keys = slices.DeleteFunc(keys, func(k objectKey) bool {
			code, err := r.removeOnce(ctx, k)
			if code == http.StatusNotFound {
				return true
			}
			last = err
			return false
		})
		select {
		case <-ctx.Done():
			if len(keys) > 0 {
				return fmt.Errorf("%s remains: %w", keys[0], cmp.Or(last, ctx.Err()))
			}
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// removeOnce asks for the deletion of an object. The code is 404 when it is gone.
func (r *realCluster) removeOnce(ctx context.Context, k objectKey) (code int, err error) {
	path := r.path(k)
	if path == "" {
		return http.StatusNotFound, nil
	}
	code, err = r.send(ctx, http.MethodDelete, path, "application/json", `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"propagationPolicy":"Background"}`)
	if code != http.StatusOK && code != http.StatusAccepted {
		return code, err
	}
	if k.resource == definitions {
		return code, nil // its finalizer deletes the objects
	}
	if k.resource == "namespaces" { // whose finalizer a bare API server does not run
		return r.send(ctx, http.MethodPut, path+"/finalize", "application/json", fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q},"spec":{"finalizers":[]}}`, k.name))
	}
	return r.send(ctx, http.MethodPatch, path, "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
}

// close removes what connect has created, and ends.
func (r *realCluster) close() error {
	err := r.remove(context.Background(), slices.Clone(r.installed))
	r.end()
	r.running.Wait()
	return err
}
