package server

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/once"

	"github.com/kubefake/kubefake/internal/aggregator"
	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/crd"
	"github.com/kubefake/kubefake/internal/discovery"
	"github.com/kubefake/kubefake/internal/openapi"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/wire"
)

// documents are the discovery and OpenAPI documents of a set of types and of other servers.
type documents struct {
	types     *resource.Types
	versions  *crd.ServedVersions
	remote    *aggregator.Documents
	discovery *discovery.Documents
	openapi   func() *openapi.Service // made when it is first asked for
}

// documentsOf returns the documents of a Surface. They are made when the first
// client asks for them.
func (s *Server) documentsOf(surface *serving.Surface) *documents {
	remote, versions := s.aggregator.Documents(), surface.Definitions.Versions
	if d := s.documents.Load(); d != nil && d.types == surface.Types && d.versions == versions && d.remote == remote {
		return d
	}
	base := builtinDocumentsOf(surface.Release())
	d := &documents{types: surface.Types, versions: versions, remote: remote, discovery: base.documents}
	sets := []*openapi.Set{base.openapi.ModifiedAt(s.started)}
	all := base.surface
	var remotes []*openapi.Remote
	if remote != nil {
		all.APIServices, remotes = remote.APIServices, remote.OpenAPI
	}
	custom := slices.Collect(surface.Defined())
	if len(custom) > 0 {
		for _, t := range custom {
			all.Custom = append(all.Custom, t.GroupVersion)
		}
		all.Types = slices.Concat(all.Types, custom)
		sets = append(sets, customOpenAPI(surface.Release(), custom).ModifiedAt(s.cluster.Clock().Now()))
	}
	all.Registered = slices.AppendSeq([]resource.GroupVersion(nil), versions.All())
	if len(all.Registered) > 0 || len(custom) > 0 || remote != nil {
		d.discovery = discovery.New(all)
	}
	d.openapi = sync.OnceValue(func() *openapi.Service {
		return openapi.New(sets, remotes, s.cluster.Clock().Now)
	})
	s.documents.Store(d)
	return d
}

// builtinDocuments are the documents of a release. They are made once per process.
type builtinDocuments struct {
	surface   discovery.Surface
	documents *discovery.Documents
	openapi   *openapi.Set
}

var builtinDocumentsOf = once.PerKey(func(r *release.Release) *builtinDocuments {
	surface := discovery.Surface{
		Builtin:   r.GroupVersions(),
		Types:     r.Types(),
		Paths:     rootPaths(r),
		Beta:      !r.Has(behavior.OptionalBetaDiscovery) || !r.Enabled("AggregatedDiscoveryRemoveBetaType"),
		NullTimes: !r.Has(behavior.OmitsNullTimes),
	}
	formats := []codec.Format{codec.YAML, codec.Protobuf}
	if r.Has(behavior.DiscoveryInCBOR) && r.Enabled("CBORServingAndStorage") {
		formats = append(formats, codec.CBOR)
	}
	for _, f := range formats {
		surface.Encodings = append(surface.Encodings, discovery.Encoding{MediaType: f.MediaType(), Convert: encodeDiscovery(f)})
	}
	return &builtinDocuments{surface: surface, documents: discovery.New(surface), openapi: builtinOpenAPI(r)}
})

// encodeDiscovery returns the conversion of discovery documents to a format.
func encodeDiscovery(f codec.Format) func(doc []byte) ([]byte, error) {
	return func(doc []byte) ([]byte, error) {
		apiVersion, kind, err := wire.Identify(doc)
		if err != nil {
			return nil, err
		}
		group, version, found := strings.Cut(apiVersion, "/")
		if !found {
			group, version = "meta.k8s.io", "v1"
		}
		t, ok := wire.ForKind(group, version, kind)
		if !ok {
			return nil, fmt.Errorf("no type is known for %s of %s", kind, apiVersion)
		}
		return f.Append(nil, doc, t), nil
	}
}

// builtinOpenAPI returns the OpenAPI documents of a release.
func builtinOpenAPI(r *release.Release) *openapi.Set {
	var documents []*openapi.Document
	for _, path := range r.OpenAPIPaths() {
		documents = append(documents, openapi.NewDocument(path, r.OpenAPIHash(path), func() ([]byte, error) { return r.OpenAPI(path) }))
	}
	return openapi.NewSet(documents, func() openapi.V2Overrides {
		return openapi.V2Overrides{GroupVersions: r.SchemeGroupVersions(), Consumes: []string{"*/*"}}
	})
}

// customOpenAPI returns the OpenAPI documents of custom types, one for each group
// version.
func customOpenAPI(r *release.Release, types []*resource.Type) *openapi.Set {
	byVersion := map[resource.GroupVersion][]*resource.Type{}
	for _, t := range types {
		byVersion[t.GroupVersion] = append(byVersion[t.GroupVersion], t)
	}
	var documents []*openapi.Document
	for gv, types := range byVersion {
		documents = append(documents, openapi.NewDocument("apis/"+gv.String(), "", func() ([]byte, error) { return crd.Document(r, types) }))
	}
	return openapi.NewSet(documents, func() openapi.V2Overrides { return crd.V2Overrides(r, types) })
}
