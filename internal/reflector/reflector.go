package reflector

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/object"
)

// retryDelay is the delay before a reflector opens its watch again.
const retryDelay = time.Second

// A Sink gets what reflectors observe. Several reflectors may call it at the same time.
type Sink interface {
	// Add adds a change of an object. The sink may keep and change the object. Of an object whose
	// deletion was only seen in a list, it has what identifies it.
	Add(t *Type, obj map[string]any, deleted bool)
	// Reached is called when the server has answered.
	Reached()
	// Unreachable is called when it has not. The reflector ends with the error that it
	// returns, and continues without one.
	Unreachable(cause error) error
}

// A Reflector lists and watches a resource. Its fields are set before its first use.
type Reflector struct {
	*Client
	Sink Sink
	Type *Type
	Path string // of the collection

	version string            // the resourceVersion of the last list or event
	cache   map[string]string // the resourceVersions of the objects at that version, by namespace/name
}

// List reads the objects, in the server's order, and resets the cache.
func (f *Reflector) List(ctx context.Context) ([]map[string]any, error) {
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []map[string]any
	}
	if err := f.Get(ctx, f.Path, &list); err != nil {
		return nil, err
	}
	f.version, f.cache = list.Metadata.ResourceVersion, map[string]string{}
	for _, o := range list.Items {
		o["apiVersion"], o["kind"] = f.Type.GroupVersion.String(), f.Type.Kind
		f.cache[nameOf(o)] = versionOf(o)
	}
	return list.Items, nil
}

func nameOf(o map[string]any) string {
	return object.String(o, "metadata", "namespace") + "/" + object.String(o, "metadata", "name")
}

func versionOf(o map[string]any) string { return object.String(o, "metadata", "resourceVersion") }

// Run follows the resource until ctx ends. If the watch ends, Run opens it again. If
// the version has expired, Run lists the resource again and adds the
// differences. It fails if the server refuses the watch, or is unreachable for too
// long.
func (f *Reflector) Run(ctx context.Context) error {
	for {
		err := f.watch(ctx)
		if isExpired(err) {
			err = f.relist(ctx)
		}
		var refused *Error
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &refused) && refused.Code < http.StatusInternalServerError && refused.Code != http.StatusTooManyRequests:
			return err
		case err != nil && (refused == nil || refused.Code != http.StatusTooManyRequests):
			if err := f.Sink.Unreachable(err); err != nil {
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

// watch adds changes until the watch ends, or its connection breaks. Its errors
// are those of opening a watch, and those that the server sends in one.
func (f *Reflector) watch(ctx context.Context) error {
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {f.version}}
	body, err := f.open(ctx, f.Path+"?"+query.Encode())
	if err != nil {
		return err
	}
	defer body.Close()
	f.Sink.Reached()
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
			return &Error{int(n), object.String(event.Object, "message")}
		case "BOOKMARK":
		default:
			f.add(event.Object, event.Type == "DELETED")
		}
		f.version = object.String(event.Object, "metadata", "resourceVersion")
	}
}

// add adds a change to the cache and the sink.
func (f *Reflector) add(o map[string]any, deleted bool) {
	if deleted {
		delete(f.cache, nameOf(o))
	} else {
		f.cache[nameOf(o)] = versionOf(o)
	}
	f.Sink.Add(f.Type, o, deleted)
}

// relist lists the resource and adds how it differs from the cache.
func (f *Reflector) relist(ctx context.Context) error {
	before := f.cache
	now, err := f.List(ctx)
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
		f.add(map[string]any{"apiVersion": f.Type.GroupVersion.String(), "kind": f.Type.Kind, "metadata": meta}, true)
	}
	return nil
}
