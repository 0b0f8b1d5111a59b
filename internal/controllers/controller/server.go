package controller

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/cluster"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/ids"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/patch"
	"github.com/kubefake/kubefake/internal/registry"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/selector"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A server is what a Runtime asks of the server that it runs in.
//
// It is an interface because Go compiles the methods of a generic type again in each
// package whose types lead to it. The packages of all controllers lead to an Env, and
// those of the store would take most of the time that they take to build.
type server interface {
	// types returns the types that are served now, and those of the release.
	types() (served, builtin *resource.Types)
	// lookup returns a type, nil if it is not served.
	lookup(gv resource.GroupVersion, name string) *resource.Type
	ids() *ids.Source

	// watch returns the changes of the whole store that come after the call.
	watch() (storage.Watcher, error)
	// list returns the objects of a type as its watch cache has them.
	list(context.Context, *resource.Type) (mvcc.Revision, iter.Seq[*storage.Object], error)
	// cachedRevision returns the revision of the watch cache of a type.
	cachedRevision(*resource.Type) mvcc.Revision
	// onCacheMove has storage.Store.OnCacheMove call f.
	onCacheMove(f func())

	// do authorizes a request of a client, makes it through the faults, and records it.
	do(*Client, *request) response
	// note records a note in the story.
	note(journal.Note)
}

// A request is a request of a Client.
type request struct {
	typ                          *resource.Type
	verb                         string
	namespace, name, subresource string

	labels    selector.Labels // of a list
	body      map[string]any  // of a creation and an update
	patch     []byte
	patchType string
	manager   string // of an apply: the field manager
	deletion  DeleteOptions
}

// A response is the outcome of a request.
type response struct {
	objects  []*Object      // of a list, or the one object
	answer   map[string]any // an object that is not stored, such as a TokenRequest
	revision mvcc.Revision  // of the commit, 0 if there is none
	err      error
}

// object returns the object of a response, nil if it has none.
func (r response) object() (*Object, error) {
	if r.err != nil || len(r.objects) == 0 {
		return nil, r.err
	}
	return r.objects[0], nil
}

// apiServer implements server.
type apiServer struct {
	cluster *cluster.Cluster
	faults  *fault.Set
}

func (s *apiServer) types() (served, builtin *resource.Types) {
	surface := s.cluster.Surface()
	return surface.Types, surface.Builtin()
}

func (s *apiServer) lookup(gv resource.GroupVersion, name string) *resource.Type {
	return s.cluster.Surface().Lookup(gv.Group, gv.Version, name)
}

func (s *apiServer) ids() *ids.Source { return s.cluster.IDs() }

func (s *apiServer) watch() (storage.Watcher, error) {
	return s.cluster.Store().Events("", 0)
}

func (s *apiServer) list(ctx context.Context, t *resource.Type) (mvcc.Revision, iter.Seq[*storage.Object], error) {
	page, err := s.cluster.List(ctx, t, storage.Query{Version: "0"})
	if err != nil {
		return 0, nil, err
	}
	return page.Revision, page.Items, nil
}

func (s *apiServer) cachedRevision(t *resource.Type) mvcc.Revision {
	return s.cluster.Store().CachedRevision(t)
}

func (s *apiServer) onCacheMove(f func()) { s.cluster.Store().OnCacheMove(f) }

func (s *apiServer) note(n journal.Note) { s.cluster.Journal().RecordNote(n) }

func (s *apiServer) do(c *Client, r *request) (resp response) {
	story, runtime := s.cluster.Journal(), c.runtime
	entry := journal.Request{Time: runtime.Now(), Method: methods[r.verb], URI: r.path(), User: c.user.Name, UserAgent: c.agent}
	came := story.Order()
	defer func() {
		entry.Code, entry.Message = outcome(r.verb, resp.err)
		entry.Revision = int64(resp.revision)
		entry.Duration = runtime.Now().Sub(entry.Time)
		story.RecordRequest(entry, came)
	}()
	if !c.unlimited {
		if err := s.cluster.Authorizer().Check(runtime.ctx, c.user, r.attributes()); err != nil {
			return response{err: err}
		}
	}
	if !s.faults.Active() {
		return s.call(runtime.ctx, c, r)
	}
	runtime.calling.Store(true)
	defer runtime.calling.Store(false)
	err := s.faults.Call(runtime.ctx, r.described(runtime.ctx, c, entry.URI), func() error {
		resp = s.call(runtime.ctx, c, r)
		return resp.err
	})
	resp.err = err
	return resp
}

// call makes a request.
func (s *apiServer) call(ctx context.Context, c *Client, r *request) (resp response) {
	req := registry.Request{
		Type: r.typ, Subresource: r.subresource, Namespace: r.namespace, Name: r.name,
		User: c.user, UserAgent: c.agent,
	}
	var result registry.Result
	switch r.verb {
	case "get":
		result.Object, _, resp.err = s.cluster.Get(ctx, req, "")
	case "list":
		resp.objects, resp.err = s.listNow(ctx, req, r.labels)
	case "create":
		result, resp.err = s.cluster.Create(ctx, req, registry.Body{Object: r.body}, &registry.WriteOptions{})
	case "update":
		result, resp.err = s.cluster.Update(ctx, req, registry.Body{Object: r.body}, &registry.WriteOptions{})
	case "patch":
		o := &registry.WriteOptions{Force: r.patchType == patch.ApplyType}
		o.FieldManager = r.manager
		result, resp.err = s.cluster.Patch(ctx, req, registry.Patch{Type: r.patchType, Data: r.patch}, o)
	case "delete":
		result, resp.err = s.cluster.Delete(ctx, req, r.deletion.options())
	case "deletecollection":
		query := storage.Query{Selection: storage.Selection{Namespace: r.namespace}}
		_, result.Revision, resp.err = s.cluster.DeleteCollection(ctx, req, query, r.deletion.options())
	}
	resp.revision = result.Revision
	if result.Object != nil {
		resp.objects = []*Object{{Object: result.Object, Type: r.typ}}
	}
	if result.Answer != nil {
		resp.answer = result.Answer.Object
	}
	return resp
}

// listNow returns the newest versions of objects, from the store.
func (s *apiServer) listNow(ctx context.Context, r registry.Request, labels selector.Labels) (out []*Object, err error) {
	selection, err := r.Select(registry.Selector{Labels: labels})
	if err != nil {
		return nil, err
	}
	page, err := s.cluster.List(ctx, r.Type, storage.Query{Selection: selection})
	if err != nil {
		return nil, err
	}
	for stored := range page.Items {
		out = append(out, &Object{Object: stored, Type: r.Type})
	}
	return out, nil
}

func (o *DeleteOptions) options() *registry.DeleteOptions {
	out := &registry.DeleteOptions{GracePeriodSeconds: o.GracePeriod}
	if o.UID != "" {
		out.UID = &o.UID
	}
	if o.ResourceVersion != "" {
		out.Version = &o.ResourceVersion
	}
	if o.Propagation != "" {
		out.PropagationPolicy = &o.Propagation
	}
	return out
}

// attributes returns the attributes that authorize the request.
func (r *request) attributes() authz.Attributes {
	return authz.Attributes{
		Verb: r.verb, IsResource: true,
		Group: r.typ.Group, Resource: r.typ.Name, Subresource: r.subresource, Namespace: r.namespace, Name: r.name,
	}
}

// path returns the path of the URL that an HTTP client uses.
func (r *request) path() string {
	var b strings.Builder
	if r.typ.Group == "" {
		b.WriteString("/api/")
	} else {
		b.WriteString("/apis/")
	}
	b.WriteString(r.typ.GroupVersion.String())
	if r.typ.Namespaced && r.namespace != "" {
		b.WriteString("/namespaces/")
		b.WriteString(r.namespace)
	}
	for _, part := range []string{r.typ.Name, r.name, r.subresource} {
		if part != "" {
			b.WriteByte('/')
			b.WriteString(part)
		}
	}
	return b.String()
}

// methods are the HTTP methods of the verbs.
var methods = map[string]string{
	"get": http.MethodGet, "list": http.MethodGet, "create": http.MethodPost, "update": http.MethodPut,
	"patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete,
}

// described returns the request as faults match it.
func (r *request) described(ctx context.Context, c *Client, path string) *fault.Request {
	at := r.attributes()
	return &fault.Request{
		HTTP: (&http.Request{Method: methods[r.verb], URL: &url.URL{Path: path}, Header: http.Header{"User-Agent": {c.agent}}}).WithContext(ctx),
		Route: route.Route{
			Path: path, Verb: r.verb, IsResource: true, Group: at.Group, Version: r.typ.Version,
			Namespace: at.Namespace, Resource: at.Resource, Name: at.Name, Subresource: at.Subresource,
		},
	}
}

// outcome returns the status code and the message of a response.
func outcome(verb string, err error) (code int, message string) {
	var st *status.Status
	switch {
	case err == nil && verb == "create":
		return http.StatusCreated, ""
	case err == nil:
		return http.StatusOK, ""
	case errors.As(err, &st):
		return int(st.Code), st.Message
	}
	return 0, err.Error()
}
