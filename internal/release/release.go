// Package release holds what depends on a Kubernetes release: the resources that
// its kube-apiserver serves, in which versions and with which verbs, and the
// OpenAPI documents of its kinds. Both are recorded from real servers and
// embedded. A document is decompressed when it is asked for.
//
// A name without suffix, such as v1.36.3, is what kube-apiserver serves by
// default. With the suffix "-all" it is what kube-apiserver serves with
// --runtime-config=api/all=true.
package release

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/release/surface"
	"github.com/kubefake/kubefake/internal/resource"
)

//go:generate go run ./gen -in $PROFILE_DIR -out profiles.zip

//go:embed profiles.zip
var packed []byte

// Default is the name of the release that Open("") opens.
const Default = "v1.36.3"

// ErrUnknown is wrapped in the error of Open for an unknown name.
var ErrUnknown = errors.New("unknown release")

// A Release is what a kube-apiserver of one release serves. It is immutable and
// safe for concurrent use.
type Release struct {
	name    string
	surface func() surface.Surface
	version func() []byte
	index   func() map[string]document
}

// A document is an entry of the archive and the hash it is published under.
type document struct{ entry, hash string }

// embedded is the archive that all profiles are read from.
var embedded = sync.OnceValue(open)

// open lists the archive and the profiles in it, and decompresses nothing.
func open() *archive {
	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		panic("profile: embedded archive: " + err.Error()) // unreachable: a test reads all of it
	}
	a := &archive{files: make(map[string]*zip.File, len(r.File)), profiles: map[string]*Release{}}
	for _, f := range r.File {
		a.files[f.Name] = f
		if name, ok := strings.CutSuffix(f.Name, "/resources"); ok {
			a.names = append(a.names, name)
			a.profiles[name] = &Release{
				name:    name,
				surface: sync.OnceValue(func() surface.Surface { return a.surface(name) }),
				version: sync.OnceValue(func() []byte { return a.mustRead(name + "/version") }),
				index:   sync.OnceValue(func() map[string]document { return a.index(name) }),
			}
		}
	}
	slices.SortFunc(a.names, compareReleases)
	return a
}

// Names returns the names of the embedded releases, oldest first.
func Names() []string { return slices.Clone(embedded().names) }

// Open returns the release of that name. The name may leave out the leading
// "v" and the patch release, "1.36" and "1.36-all", and the empty name is
// Default. The error wraps ErrUnknown and lists the names there are.
func Open(name string) (*Release, error) {
	a := embedded()
	if name == "" {
		name = Default
	}
	if p := a.profiles[name]; p != nil {
		return p, nil
	}
	minor, all := strings.CutSuffix("v"+strings.TrimPrefix(name, "v"), "-all")
	for _, full := range slices.Backward(a.names) {
		release, fullAll := strings.CutSuffix(full, "-all")
		if all == fullAll && (release == minor || minorOf(release) == minor) {
			return a.profiles[full], nil
		}
	}
	return nil, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, strings.Join(a.names, ", "))
}

// Name returns the full name, such as "v1.36.3-all".
func (p *Release) Name() string { return p.name }

// Version returns the version of the release, such as "v1.36.3".
func (p *Release) Version() string { return strings.TrimSuffix(p.name, "-all") }

// Minor is the minor number of the release: 36 of v1.36.3.
func (p *Release) Minor() int {
	n, _ := numbers(p.name)
	return n[1]
}

// VersionInfo returns the body of GET /version. The caller must not change it.
func (p *Release) VersionInfo() []byte { return p.version() }

// GroupVersions are the served group versions in the order of discovery: the
// legacy group first, groups by their priority, and in each the preferred
// version first. The caller must not change the slice.
func (p *Release) GroupVersions() []resource.GroupVersion { return p.surface().GroupVersions }

// Types are the served resources in the order of discovery: by group version,
// in each by name. They know their names, kinds, scopes, verbs, subresources
// and the version they are stored in, which is zero for resources of which
// nothing is stored. The types are shared: a caller that has more to say of
// one says it of a copy, and must not change the slice either.
func (p *Release) Types() []*resource.Type { return p.surface().Types }

// OpenAPIPaths lists the paths of the OpenAPI v3 documents as the index of
// /openapi/v3 names them, "api/v1" or "apis/apps/v1", sorted. The slice is the
// caller's.
func (p *Release) OpenAPIPaths() []string {
	return slices.Sorted(maps.Keys(p.index()))
}

// OpenAPIHash is the hash under which the index of /openapi/v3 names the
// document of a path: where it was recorded, the real server's. It is "" for a
// path without a document.
func (p *Release) OpenAPIHash(path string) string { return p.index()[path].hash }

// OpenAPI returns the OpenAPI v3 document of a path as JSON without
// descriptions. It is decompressed by each call and the caller's. The error is
// fs.ErrNotExist in a *fs.PathError if there is no document of the path.
func (p *Release) OpenAPI(path string) ([]byte, error) {
	doc, ok := p.index()[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: p.name + " " + path, Err: fs.ErrNotExist}
	}
	return embedded().mustRead("openapi/" + doc.entry), nil
}

type archive struct {
	names    []string
	profiles map[string]*Release
	files    map[string]*zip.File
}

func (a *archive) surface(name string) surface.Surface {
	s, err := surface.Parse(string(a.mustRead(name + "/resources")))
	if err != nil {
		panic("profile: " + name + ": " + err.Error()) // unreachable: a test parses all of them
	}
	return s
}

func (a *archive) index(name string) map[string]document {
	index := map[string]document{}
	for line := range strings.Lines(string(a.mustRead(name + "/openapi"))) {
		if f := strings.Fields(line); len(f) == 3 {
			index[f[0]] = document{hash: f[1], entry: f[2]}
		}
	}
	return index
}

// mustRead returns the contents of an entry. It panics if there is none or it
// is corrupt: the archive is part of the program, and a test reads all of it.
func (a *archive) mustRead(entry string) []byte {
	f := a.files[entry]
	if f == nil {
		panic("profile: no entry " + entry)
	}
	b := make([]byte, f.UncompressedSize64)
	r, err := f.Open()
	if err == nil {
		_, err = io.ReadFull(r, b)
	}
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		panic("profile: entry " + entry + ": " + err.Error())
	}
	return b
}
