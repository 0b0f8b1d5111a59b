package schema

import (
	"github.com/kubefake/kubefake/internal/once"
)

// Documents are the OpenAPI v3 documents of a Kubernetes release.
type Documents interface {
	// Name identifies the documents in a panic.
	Name() string
	// OpenAPIHash returns the hash of the document of a path such as
	// "apis/apps/v1", "" if there is none.
	OpenAPIHash(path string) string
	// BareOpenAPI returns the document of a path as JSON. It needs no
	// descriptions.
	BareOpenAPI(path string) ([]byte, error)
}

// documentKey identifies a document of a release.
type documentKey struct {
	release Documents
	path    string
}

// ForKind returns the schema of a built-in kind as a release
// describes it; the legacy group is "". It reports false for a kind that the
// release does not serve. release is the key of a cache: it must be comparable,
// and the same for each call.
//
// The first call for a group version parses its document, which for the legacy
// group takes a few milliseconds; the calls after it share the result.
func ForKind(release Documents, group, version, kind string) (*Schema, bool) {
	path := "apis/" + group + "/" + version
	if group == "" {
		path = legacyPath
	}
	if s, ok := find(release, path, group, version, kind); ok || path == legacyPath {
		return s, ok
	}
	// Some kinds belong to a group but are served by other groups' subresources
	// only: Scale, Eviction. The legacy group has them all.
	return find(release, legacyPath, group, version, kind)
}

const legacyPath = "api/v1"

// find returns the schema of a kind in one document.
func find(release Documents, path, group, version, kind string) (*Schema, bool) {
	if release.OpenAPIHash(path) == "" {
		return nil, false
	}
	return documentOf(documentKey{release, path}).ForKind(group, version, kind)
}

var documentOf = once.PerKey(documentKey.load)

// load parses the document. It panics on an error: the documents are part of the
// program, and a test parses all of them.
func (k documentKey) load() *Document {
	text, err := k.release.BareOpenAPI(k.path)
	if err != nil {
		panic("schema: " + err.Error())
	}
	d, err := Parse(text)
	if err != nil {
		panic("schema: " + k.release.Name() + " " + k.path + ": " + err.Error())
	}
	return d
}
