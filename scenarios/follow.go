package scenarios

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// again is how long to wait before a watch is opened again that broke off.
const again = time.Second

// A reader reads a server.
type reader struct {
	url    string
	client *http.Client
}

// A readError is an answer other than 200.
type readError struct {
	code    int
	message string
}

func (e *readError) Error() string { return fmt.Sprintf("%d %s", e.code, e.message) }

func isExpired(err error) bool {
	var e *readError
	return errors.As(err, &e) && e.code == http.StatusGone
}

// open asks for a path.
func (c *reader) open(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "fakeapi-record")
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body) // what there is of it
		return nil, &readError{resp.StatusCode, message(body)}
	}
	return resp.Body, nil
}

// get reads a document.
func (c *reader) get(ctx context.Context, path string, v any) error {
	body, err := c.open(ctx, path)
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	defer body.Close()
	d := json.NewDecoder(body)
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// A servedType is a resource as a server serves it.
type servedType struct {
	resource.GroupVersion
	Name, SingularName string
	Kind               string
	ShortNames, Verbs  []string
	Namespaced         bool
}

// String is the resource and its group.
func (t *servedType) String() string {
	return status.GroupResource{Group: t.Group, Resource: t.Name}.String()
}

// path is that of the resource in a namespace, "" being all.
func (t *servedType) path(namespace string) string {
	path := "/apis/" + t.Group + "/" + t.Version
	if t.Group == "" {
		path = "/api/" + t.Version
	}
	if namespace != "" && t.Namespaced {
		path += "/namespaces/" + namespace
	}
	return path + "/" + t.Name
}

const (
	namespaces  = "namespaces"
	definitions = "customresourcedefinitions.apiextensions.k8s.io"
)

// definesOthers reports whether objects of other types need those of this one.
func (t *servedType) definesOthers() bool {
	return t.String() == namespaces || t.String() == definitions
}

// find finds resources by the names that kubectl takes.
func (c *reader) find(ctx context.Context, names []string) ([]*servedType, error) {
	var groups struct {
		Groups []struct {
			Name             string
			PreferredVersion struct{ Version string }
		}
	}
	if err := c.get(ctx, "/apis", &groups); err != nil {
		return nil, err
	}
	served, err := c.servedIn(ctx, "", "v1")
	if err != nil {
		return nil, err
	}
	var absent error // groups whose servers are away, as those of metrics often are
	for _, g := range groups.Groups {
		types, err := c.servedIn(ctx, g.Name, g.PreferredVersion.Version)
		absent = errors.Join(absent, err)
		served = append(served, types...)
	}
	var out []*servedType
	for _, name := range names {
		i := slices.IndexFunc(served, func(t *servedType) bool { return t.isCalled(name) })
		if i < 0 {
			return nil, errors.Join(fmt.Errorf("the server has no resource %q that can be listed and watched", name), absent)
		}
		if !slices.Contains(out, served[i]) {
			out = append(out, served[i])
		}
	}
	return out, nil
}

// servedIn are the resources of a group that can be listed and watched.
func (c *reader) servedIn(ctx context.Context, group, version string) ([]*servedType, error) {
	var list struct{ Resources []*servedType }
	path := (&servedType{GroupVersion: resource.GroupVersion{Group: group, Version: version}}).path("")
	if err := c.get(ctx, strings.TrimSuffix(path, "/"), &list); err != nil {
		return nil, err
	}
	var out []*servedType
	for _, t := range list.Resources {
		if slices.Contains(t.Verbs, "list") && slices.Contains(t.Verbs, "watch") {
			t.Group, t.Version = group, version
			out = append(out, t)
		}
	}
	return out, nil
}

func (t *servedType) isCalled(name string) bool {
	name, group, qualified := strings.Cut(strings.ToLower(name), ".")
	if qualified && group != t.Group {
		return false
	}
	return name == t.Name || name == t.SingularName || slices.Contains(t.ShortNames, name)
}

// needed are what the objects need that others than these types have: their
// namespaces, and the definitions of custom resources.
func (c *reader) needed(ctx context.Context, objects []observed, types []*servedType, namespace string) ([]observed, error) {
	var out []observed
	wanted := map[string]func(o map[string]any) bool{}
	recorded := func(name string) bool {
		return slices.ContainsFunc(types, func(t *servedType) bool { return t.String() == name })
	}
	if !recorded(namespaces) {
		in := map[string]bool{namespace: true}
		for _, o := range objects {
			in[object.String(o.object, "metadata", "namespace")] = true
		}
		wanted[namespaces] = func(o map[string]any) bool { return in[object.String(o, "metadata", "name")] }
	}
	if !recorded(definitions) {
		wanted[definitions] = func(o map[string]any) bool { return recorded(object.String(o, "metadata", "name")) }
	}
	others, err := c.find(ctx, slices.Sorted(maps.Keys(wanted)))
	if err != nil {
		return nil, err
	}
	for _, t := range others {
		f := &follower{reader: c, typ: t, path: t.path("")}
		list, err := f.list(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if wanted[t.String()](o) {
				out = append(out, observed{typ: t, object: o})
			}
		}
	}
	return out, nil
}

// A follower follows a resource.
type follower struct {
	*reader
	recording *StateRecording
	typ       *servedType
	path      string
	version   string                    // how far it has come
	known     map[string]map[string]any // the objects then, by their names
}

// list reads what there is, in the server's order.
func (f *follower) list(ctx context.Context) ([]map[string]any, error) {
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []map[string]any
	}
	if err := f.get(ctx, f.path, &list); err != nil {
		return nil, err
	}
	f.version, f.known = list.Metadata.ResourceVersion, map[string]map[string]any{}
	for _, o := range list.Items {
		o["apiVersion"], o["kind"] = f.typ.GroupVersion.String(), f.typ.Kind
		f.known[nameOf(o)] = o
	}
	return list.Items, nil
}

func nameOf(o map[string]any) string {
	return object.String(o, "metadata", "namespace") + "/" + object.String(o, "metadata", "name")
}

// run follows until ctx ends. A watch that ends is opened again; where its
// version is forgotten, the resource is listed again, and what changed meanwhile
// is told as changes.
func (f *follower) run(ctx context.Context) error {
	for {
		err := f.watch(ctx)
		if isExpired(err) {
			err = f.relist(ctx)
		}
		var refused *readError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &refused) && refused.code < http.StatusInternalServerError && refused.code != http.StatusTooManyRequests:
			return err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return nil
		}
	}
}

// watch follows until the server ends the watch.
func (f *follower) watch(ctx context.Context) error {
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {f.version}}
	body, err := f.open(ctx, f.path+"?"+query.Encode())
	if err != nil {
		return err
	}
	defer body.Close()
	d := json.NewDecoder(bufio.NewReader(body))
	d.UseNumber()
	for {
		var event struct {
			Type   string
			Object map[string]any
		}
		if err := d.Decode(&event); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		switch event.Type {
		case "ERROR":
			code, _ := event.Object["code"].(json.Number)
			n, _ := code.Int64()
			return &readError{int(n), object.String(event.Object, "message")}
		case "BOOKMARK":
		default:
			f.saw(event.Object, event.Type == "DELETED")
		}
		f.version = object.String(event.Object, "metadata", "resourceVersion")
	}
}

func (f *follower) saw(o map[string]any, deleted bool) {
	if deleted {
		delete(f.known, nameOf(o))
	} else {
		f.known[nameOf(o)] = o
	}
	f.recording.saw(observed{typ: f.typ, object: o, deleted: deleted})
}

// relist reads what there is and tells how it differs from what was known.
func (f *follower) relist(ctx context.Context) error {
	before := f.known
	now, err := f.list(ctx)
	if err != nil {
		return err
	}
	for _, o := range now {
		if !reflect.DeepEqual(o, before[nameOf(o)]) {
			f.saw(o, false)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if f.known[name] == nil {
			gone := identity(before[name])
			gone["metadata"].(map[string]any)["resourceVersion"] = f.version
			f.saw(gone, true)
		}
	}
	return nil
}
