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
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/suggest"
)

// retryDelay is the delay before a reflector opens its watch again.
const retryDelay = time.Second

// A reader sends GET requests to a server.
type reader struct {
	url    string
	client *http.Client
}

// A readError reports an answer other than 200.
type readError struct {
	code    int
	message string
}

func (e *readError) Error() string { return fmt.Sprintf("%d %s", e.code, e.message) }

func isExpired(err error) bool {
	var e *readError
	return errors.As(err, &e) && e.code == http.StatusGone
}

// open sends a GET request and returns the body of the answer.
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
		body, _ := io.ReadAll(resp.Body) // as much as arrived
		return nil, &readError{resp.StatusCode, message(body)}
	}
	return resp.Body, nil
}

// get reads and decodes a JSON document.
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

// A servedType is an entry of the server's discovery.
type servedType struct {
	resource.GroupVersion
	Name, SingularName string
	Kind               string
	ShortNames, Verbs  []string
	Namespaced         bool
}

// String returns the resource with its group.
func (t *servedType) String() string {
	return status.GroupResource{Group: t.Group, Resource: t.Name}.String()
}

// path returns the path of the resource in a namespace, or in all namespaces if
// namespace is "".
func (t *servedType) path(namespace string) string {
	path := route.VersionPath(t.GroupVersion.String())
	if namespace != "" && t.Namespaced {
		path += "/namespaces/" + namespace
	}
	return path + "/" + t.Name
}

const (
	namespaces  = "namespaces"
	definitions = "customresourcedefinitions.apiextensions.k8s.io"
)

// isPrerequisite reports whether objects of other types require objects of this
// one.
func (t *servedType) isPrerequisite() bool {
	return t.String() == namespaces || t.String() == definitions
}

// findTypes returns the resources with the given names. It accepts the names that
// kubectl accepts.
func (c *reader) findTypes(ctx context.Context, names []string) ([]*servedType, error) {
	var groups struct {
		Groups []struct {
			Name             string
			PreferredVersion struct{ Version string }
		}
	}
	if err := c.get(ctx, "/apis", &groups); err != nil {
		return nil, err
	}
	served, err := c.typesInGroup(ctx, "", "v1")
	if err != nil {
		return nil, err
	}
	var unavailable error // groups whose servers are unavailable, as often for metrics
	for _, g := range groups.Groups {
		types, err := c.typesInGroup(ctx, g.Name, g.PreferredVersion.Version)
		unavailable = errors.Join(unavailable, err)
		served = append(served, types...)
	}
	var out []*servedType
	for _, name := range names {
		i := slices.IndexFunc(served, func(t *servedType) bool { return t.hasName(name) })
		if i < 0 {
			return nil, errors.Join(fmt.Errorf("%w: %s%s", ErrUnknownResource, name, similarTypes(name, served)), unavailable)
		}
		if !slices.Contains(out, served[i]) {
			out = append(out, served[i])
		}
	}
	return out, nil
}

// similarTypes ends the error for a resource that does not exist.
func similarTypes(name string, served []*servedType) string {
	names := make([]suggest.Name, len(served))
	for i, t := range served {
		names[i] = suggest.Name{Name: t.String(), Aliases: []string{t.Name, t.SingularName}}
	}
	return suggest.DidYouMeanAny(name, names)
}

// typesInGroup returns the resources of a group version that can be listed and
// watched.
func (c *reader) typesInGroup(ctx context.Context, group, version string) ([]*servedType, error) {
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

// hasName reports whether name is a plural, singular or short name of the resource,
// optionally followed by a dot and its group.
func (t *servedType) hasName(name string) bool {
	name, group, qualified := strings.Cut(strings.ToLower(name), ".")
	if qualified && group != t.Group {
		return false
	}
	return name == t.Name || name == t.SingularName || slices.Contains(t.ShortNames, name)
}

// prerequisites returns the objects of other types that the given ones require:
// their namespaces and the definitions of custom resources.
func (c *reader) prerequisites(ctx context.Context, objects []observation, types []*servedType, namespace string) ([]observation, error) {
	var out []observation
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
	others, err := c.findTypes(ctx, slices.Sorted(maps.Keys(wanted)))
	if err != nil {
		return nil, err
	}
	for _, t := range others {
		f := &reflector{reader: c, typ: t, path: t.path("")}
		list, err := f.list(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if wanted[t.String()](o) {
				out = append(out, observation{typ: t, object: o})
			}
		}
	}
	return out, nil
}

// A reflector lists and watches a resource and adds its changes to a recording.
type reflector struct {
	*reader
	recording *StateRecording
	typ       *servedType
	path      string
	version   string            // the resourceVersion of the last list or event
	cache     map[string]string // the resourceVersions of the objects at that version, by namespace/name
}

// list reads the objects, in the server's order, and resets the cache.
func (f *reflector) list(ctx context.Context) ([]map[string]any, error) {
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []map[string]any
	}
	if err := f.get(ctx, f.path, &list); err != nil {
		return nil, err
	}
	f.version, f.cache = list.Metadata.ResourceVersion, map[string]string{}
	for _, o := range list.Items {
		o["apiVersion"], o["kind"] = f.typ.GroupVersion.String(), f.typ.Kind
		f.cache[nameOf(o)] = versionOf(o)
	}
	return list.Items, nil
}

func nameOf(o map[string]any) string {
	return object.String(o, "metadata", "namespace") + "/" + object.String(o, "metadata", "name")
}

func versionOf(o map[string]any) string { return object.String(o, "metadata", "resourceVersion") }

// run follows the resource until ctx ends. If the watch ends, run opens it again. If
// the version has expired, run lists the resource again and records the
// differences. It fails if the server refuses the watch, or is unreachable for too
// long.
func (f *reflector) run(ctx context.Context) error {
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
		case err != nil && (refused == nil || refused.code != http.StatusTooManyRequests):
			if err := f.recording.unreachable(err); err != nil {
				return err
			}
		}
		select {
		case <-time.After(retryDelay):
		case <-ctx.Done():
			return nil
		}
	}
}

// watch records changes until the watch ends, or its connection breaks. Its errors
// are those of opening a watch, and those that the server sends in one.
func (f *reflector) watch(ctx context.Context) error {
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {f.version}}
	body, err := f.open(ctx, f.path+"?"+query.Encode())
	if err != nil {
		return err
	}
	defer body.Close()
	f.recording.reached()
	d := json.NewDecoder(bufio.NewReader(body))
	d.UseNumber()
	for {
		var event struct {
			Type   string
			Object map[string]any
		}
		if err := d.Decode(&event); err != nil {
			return nil
		}
		switch event.Type {
		case "ERROR":
			code, _ := event.Object["code"].(json.Number)
			n, _ := code.Int64()
			return &readError{int(n), object.String(event.Object, "message")}
		case "BOOKMARK":
		default:
			f.add(event.Object, event.Type == "DELETED")
		}
		f.version = object.String(event.Object, "metadata", "resourceVersion")
	}
}

// add adds a change to the cache and the recording.
func (f *reflector) add(o map[string]any, deleted bool) {
	if deleted {
		delete(f.cache, nameOf(o))
	} else {
		f.cache[nameOf(o)] = versionOf(o)
	}
	f.recording.add(observation{typ: f.typ, object: o, deleted: deleted})
}

// relist lists the resource and records how it differs from the cache.
func (f *reflector) relist(ctx context.Context) error {
	before := f.cache
	now, err := f.list(ctx)
	if err != nil {
		return err
	}
	for _, o := range now {
		if version, ok := before[nameOf(o)]; !ok || version != versionOf(o) {
			f.add(o, false)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := f.cache[name]; ok {
			continue
		}
		meta := map[string]any{"resourceVersion": f.version}
		meta["namespace"], meta["name"], _ = strings.Cut(name, "/")
		f.add(map[string]any{"apiVersion": f.typ.GroupVersion.String(), "kind": f.typ.Kind, "metadata": meta}, true)
	}
	return nil
}
