package release

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/release/data"
	"github.com/kubefake/kubefake/internal/release/descriptions"
	"github.com/kubefake/kubefake/internal/release/surface"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/suggest"
)

// Default is the name of the release that Open("") opens: the newest stable one, which the
// corpus in conformance/testdata is recorded from.
const Default = "v1.37.2"

// Newest is the name of the newest release. The data that is kept once for all releases is
// generated from its Go types and recordings; other releases have what differs.
const Newest = "v1.37.2"

// ErrUnknown is wrapped in the error of Open for an unknown name.
var ErrUnknown = errors.New("unknown release")

// A Release is what a kube-apiserver of one release serves, with its default
// flags or, if the name ends in "-all", with --runtime-config=api/all=true. Select and
// WithGates return it with other flags. It
// reads each part of the data when it is first asked for. A Release is immutable
// and safe for concurrent use.
type Release struct {
	name      string
	sections  func() sections
	recorded  func() surface.Surface // with the resources whose gates are off
	documents func() map[string]document
	surface   func() surface.Surface
	openAPI   func() map[string]document
	changed   map[string]bool // the gates that do not have their default
	minor     int
	enabled   func(gate string) bool

	unprivileged bool
}

// sections are those of a file in data/surfaces.
type sections struct{ version, openAPI, scheme, resources string }

// A document is the name of an OpenAPI document in the archive, and the hash
// under which kube-apiserver publishes it.
type document struct{ id, hash string }

// releases returns the embedded releases, oldest first.
var releases = sync.OnceValue(func() []*Release {
	names := data.Surfaces()
	slices.SortFunc(names, compareNames)
	all := make([]*Release, len(names))
	for i, name := range names {
		all[i] = newRelease(name)
	}
	return all
})

func newRelease(name string) *Release {
	r := &Release{name: name, sections: sync.OnceValue(func() sections { return readSections(name) })}
	r.recorded = sync.OnceValue(r.readSurface)
	r.documents = sync.OnceValue(r.readOpenAPI)
	r.minor = minorNumber(name)
	r.enabled = enabledIn(r.minor, nil)
	return r.gated()
}

// gated sets what the release serves: what is recorded, without the resources whose gates are
// off. It returns the release.
func (r *Release) gated() *Release {
	r.surface = sync.OnceValue(func() surface.Surface { return r.withoutGated(r.recorded()) })
	r.openAPI = sync.OnceValue(func() map[string]document { return r.documentsOf(r.GroupVersions()) })
	return r
}

// Names returns the names of the releases, oldest first.
func Names() []string {
	all := releases()
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.name
	}
	return names
}

// Open returns the release of a name: "v1.36", and "v1.36-all" with the API versions that are
// off by default. The leading "v" may be missing, and the empty name is Default. "latest"
// is Newest. Every version of a minor release, such as "1.36.0" or "v1.36.1-eks-3025e55", is
// served by the same data. The error wraps ErrUnknown and lists the names there are.
func Open(name string) (*Release, error) {
	version, all := cutAll(name)
	switch {
	case name == "":
		version = Default
	case version == "latest":
		version = Newest
	}
	minor := minorNameOf(version)
	for _, r := range releases() {
		served, servedAll := cutAll(r.name)
		if servedAll == all && minorNameOf(served) == minor {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%w %q: there are %s%s", ErrUnknown, name, strings.Join(Names(), ", "), suggest.DidYouMean(minor, minors()))
}

// minors returns the names of the minor releases, oldest first.
func minors() (names []string) {
	for _, r := range releases() {
		if version, all := cutAll(r.name); !all {
			names = append(names, minorNameOf(version))
		}
	}
	return names
}

// Name returns the full name, such as "v1.36.3-all".
func (r *Release) Name() string { return r.name }

// Version returns the version of Kubernetes, such as "v1.36.3".
func (r *Release) Version() string {
	version, _ := cutAll(r.name)
	return version
}

// Minor returns the minor number of the release: 36 for "v1.36.3-all".
func (r *Release) Minor() int { return r.minor }

// Has reports whether the release has a behavior.
func (r *Release) Has(b behavior.Behavior) bool { return b.In(r.Minor()) }

// VersionInfo returns the body of GET /version.
func (r *Release) VersionInfo() []byte { return []byte(r.sections().version) }

// GroupVersions returns the served group versions in the order of discovery: the
// legacy group first, groups by their priority, and in each the preferred
// version first. The caller must not change the slice.
func (r *Release) GroupVersions() []resource.GroupVersion { return r.surface().GroupVersions }

// Types returns the served resources in the order of discovery: by group
// version, in each by name. They have their names, kinds, scopes, verbs,
// subresources, the version they are stored in, which is zero for resources that
// are not stored, and the warnings of deprecated kinds. The caller must not
// change the types or the slice.
func (r *Release) Types() []*resource.Type { return r.surface().Types }

// OpenAPIPaths returns the paths of the OpenAPI v3 documents as the index of
// /openapi/v3 names them, "api/v1" or "apis/apps/v1", sorted.
func (r *Release) OpenAPIPaths() []string { return slices.Sorted(maps.Keys(r.openAPI())) }

// OpenAPIHash returns the hash of the document of a path in the index of
// /openapi/v3, or "" for a path without a document. It is the SHA-512 of the
// document.
func (r *Release) OpenAPIHash(path string) string { return r.openAPI()[path].hash }

// OpenAPI returns the OpenAPI v3 document of a path as kube-apiserver serves it,
// byte for byte. It takes several times as long as BareOpenAPI. Otherwise it is
// the same.
func (r *Release) OpenAPI(path string) ([]byte, error) {
	bare, err := r.BareOpenAPI(path)
	if err != nil {
		return nil, err
	}
	table := tables.Get().(*descriptions.Table)
	defer tables.Put(table)
	document, err := table.Insert(bare, descriptions.Key(r.OpenAPIHash(path)))
	if err != nil {
		panic("release: descriptions.zip: " + err.Error()) // unreachable: a test reads all documents
	}
	return document, nil
}

// tables holds the descriptions of all documents, until the garbage collector
// runs: a client that asks for one document often asks for others.
var tables = sync.Pool{New: func() any {
	files := mustZIP("descriptions.zip", data.Descriptions())
	table, err := descriptions.Parse(string(unzip(files[descriptions.File])))
	if err != nil {
		panic("release: descriptions.zip: " + err.Error()) // unreachable: a test reads all documents
	}
	return table
}}

// SchemeGroupVersions returns the group versions that kube-apiserver has Go types
// for, served or not, sorted.
func (r *Release) SchemeGroupVersions() []resource.GroupVersion {
	var all []resource.GroupVersion
	for _, line := range strings.Fields(r.sections().scheme) {
		group, version, grouped := strings.Cut(line, "/")
		if !grouped {
			group, version = "", line
		}
		all = append(all, resource.GroupVersion{Group: group, Version: version})
	}
	return all
}

// BareOpenAPI returns the OpenAPI v3 document of a path as JSON without
// descriptions. Each call decompresses it, and the caller owns the result. The
// error is a *fs.PathError with fs.ErrNotExist if the path has no document.
func (r *Release) BareOpenAPI(path string) ([]byte, error) {
	doc, ok := r.openAPI()[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: r.name + " " + path, Err: fs.ErrNotExist}
	}
	return unzip(documents()[doc.id]), nil
}

// readSections splits the file of a release into its sections.
func readSections(name string) sections {
	_, text, _ := strings.Cut(data.Surface(name), "-- version --\n")
	version, text, _ := strings.Cut(text, "\n-- openapi --\n")
	openAPI, text, _ := strings.Cut(text, "-- scheme --\n")
	scheme, resources, ok := strings.Cut(text, "-- resources --\n")
	if !ok {
		panic("release: surface of " + name + ": sections are missing") // unreachable: a test reads all surfaces
	}
	return sections{version, openAPI, scheme, resources}
}

// readSurface parses the resources and adds their deprecation warnings.
func (r *Release) readSurface() surface.Surface {
	s, err := surface.Parse(r.sections().resources)
	if err != nil {
		panic("release: surface of " + r.name + ": " + err.Error()) // unreachable: a test reads all surfaces
	}
	minor := r.Minor()
	for _, t := range s.Types {
		t.Warnings = deprecationWarnings(resource.Kind{GroupVersion: t.GroupVersion, Kind: t.Kind}, minor)
	}
	return s
}

// NewestStored yields the resources of all API versions of the newest release, with those
// of feature gates, and the versions in which it stores them. A resource that it serves in
// several versions comes as often.
func NewestStored() iter.Seq2[status.GroupResource, resource.GroupVersion] {
	return surface.Stored(readSections(Newest + "-all").resources)
}

// readOpenAPI parses the index of OpenAPI documents.
func (r *Release) readOpenAPI() map[string]document {
	index := map[string]document{}
	for _, line := range strings.Split(r.sections().openAPI, "\n") {
		if f := strings.Fields(line); len(f) == 3 {
			index[f[0]] = document{hash: f[1], id: f[2]}
		}
	}
	return index
}

// documents returns the OpenAPI documents of all releases by their names.
var documents = sync.OnceValue(func() map[string]*zip.File { return mustZIP("openapi.zip", data.OpenAPI()) })

// mustZIP returns the files of an archive by their names.
func mustZIP(name, content string) map[string]*zip.File {
	archive, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
	if err != nil {
		panic("release: " + name + ": " + err.Error()) // unreachable: a test reads all archives
	}
	files := make(map[string]*zip.File, len(archive.File))
	for _, f := range archive.File {
		files[f.Name] = f
	}
	return files
}

// unzip returns the content of a file. It panics if f is nil or corrupt: the
// archive is part of the program, and a test reads all of it.
func unzip(f *zip.File) []byte {
	content := make([]byte, f.UncompressedSize64)
	reader, err := f.Open()
	if err == nil {
		_, err = io.ReadFull(reader, content)
	}
	if err == nil {
		err = reader.Close()
	}
	if err != nil {
		panic("release: " + f.Name + ": " + err.Error())
	}
	return content
}
