package apiserver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/fieldmanager"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
)

// ownership is what tells who owns which field of a type's objects. It is made
// when the first of them is written.
type ownership struct {
	objects        *fieldmanager.Type
	fields, status *fieldmanager.Filter            // what a write can change, by what it is for
	parts          map[string]*fieldmanager.Filter // the same by subresource

	scales *fieldmanager.Type // of the scale subresource, if there is one
	scale  *fieldmanager.ScaleHandler
}

// owners are the ownerships of types that are served together.
type owners struct {
	release *release.Release
	made    sync.Map // of *resource.Type to func() *ownership
}

func newOwners(p *release.Release) *owners { return &owners{release: p} }

func (s *owners) of(t *resource.Type) *ownership {
	once, ok := s.made.Load(t)
	if !ok {
		once, _ = s.made.LoadOrStore(t, sync.OnceValue(func() *ownership { return s.make(t) }))
	}
	return once.(func() *ownership)()
}

// keep hands to others what was made of types.
func (s *owners) keep(to *owners, types []*resource.Type) {
	for _, t := range types {
		if once, ok := s.made.Load(t); ok {
			to.made.Store(t, once)
		}
	}
}

func (s *owners) make(t *resource.Type) *ownership {
	kind := t.Codec.ManagedKind(s.release)
	if t.Versions != nil {
		kind.Convert = s.converter(t)
	}
	o := &ownership{objects: fieldmanager.New(kind)}
	if t.Virtual() {
		return o // no write of them leaves anything alone
	}
	if len(t.Reset) > 0 {
		o.fields = fieldmanager.Except(t.Reset...)
	}
	if len(t.StatusReset) > 0 {
		o.status = fieldmanager.Except(t.StatusReset...)
	}
	o.parts = make(map[string]*fieldmanager.Filter, len(t.Parts))
	for name, part := range t.Parts {
		if len(part.Reset) > 0 {
			o.parts[name] = fieldmanager.Except(part.Reset...)
		}
	}
	if sub := t.Subresource("scale"); sub != nil && t.Scale != nil {
		o.scales = fieldmanager.New(t.Scale.Codec.ManagedKind(s.release))
		o.scale = fieldmanager.NewScaleHandler(t.GroupVersion.String(), replicasPaths(t))
	}
	return o
}

// replicasPaths are where each version of t keeps the number of its replicas.
func replicasPaths(t *resource.Type) map[string]string {
	paths := map[string]string{t.GroupVersion.String(): strings.Join(t.Scale.Spec, ".")}
	for _, v := range t.Versions {
		if v.Scale != nil {
			paths[v.GroupVersion.String()] = strings.Join(v.Scale.Spec, ".")
		}
	}
	return paths
}

// converter brings objects of t's resource to the versions that other managers
// wrote in.
func (s *owners) converter(t *resource.Type) func(obj map[string]any, apiVersion string) (map[string]any, *fieldmanager.Type, error) {
	return func(obj map[string]any, apiVersion string) (map[string]any, *fieldmanager.Type, error) {
		to := t.In(apiVersion)
		if to == nil || to.Group != t.Group { // in another group nothing is known of who owns what
			return nil, nil, fmt.Errorf("%w: %q", fieldmanager.ErrNoVersion, apiVersion)
		}
		objs, err := to.Convert(context.Background(), []map[string]any{object.Copy(obj)})
		if err != nil {
			return nil, nil, err
		}
		return objs[0], s.of(to).objects, nil
	}
}

// tracked is the ownership in what the request's bodies are: objects or Scales.
func (r *request) tracked() *fieldmanager.Type {
	o := r.surface.ownershipOf(r.typ)
	if r.isScale() {
		return o.scales
	}
	return o.objects
}

// fieldOptions say who writes, and which fields it can.
func (r *request) fieldOptions(o *writeOptions) fieldmanager.Options {
	out := fieldmanager.Options{Manager: o.FieldManager, Subresource: r.Subresource, Now: r.server.clock.Now(), Force: o.force}
	if out.Manager == "" {
		out.Manager = managerOf(r.userAgent())
	}
	r.manager = out.Manager
	switch r.Subresource {
	case "", "finalize":
		out.Fields = r.surface.ownershipOf(r.typ).fields
	case "status":
		out.Fields = r.surface.ownershipOf(r.typ).status
	default:
		out.Fields = r.surface.ownershipOf(r.typ).parts[r.Subresource]
	}
	return out
}

// userAgent is the client's, the server's own where there is none.
func (r *request) userAgent() string {
	if r.http == nil {
		return "kube-apiserver"
	}
	return r.http.UserAgent()
}

// maxManager is how long the name of a field manager can be, in bytes.
const maxManager = 128

// managerOf is the field manager of a client that names none: its user agent
// up to the first slash, without what cannot be printed.
func managerOf(userAgent string) string {
	name, _, _ := strings.Cut(userAgent, "/")
	var b strings.Builder
	for _, c := range name {
		if !unicode.IsPrint(c) {
			continue
		}
		if b.Len()+utf8.RuneLen(c) > maxManager {
			break
		}
		b.WriteRune(c)
	}
	return b.String()
}

// applyFailed is the Status of an error of fieldmanager.Type.Apply.
func applyFailed(err error) error {
	switch e := err.(type) {
	case *fieldmanager.RequestError:
		return status.BadRequest(e.Message)
	case *fieldmanager.ConflictError:
		st := status.Failure(409, status.ReasonConflict, e.Error(), &status.Details{})
		for _, c := range e.Conflicts {
			st.Details.Causes = append(st.Details.Causes, status.Cause{Reason: "FieldManagerConflict", Message: c.String(), Field: c.Field})
		}
		return st
	}
	return status.Unclassified(err.Error())
}
