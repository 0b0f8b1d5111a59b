// Package data embeds the generated files of package release. The other
// packages that read one of them are named below. All files but openapi.zip are
// text or hold text; each names its generator and the version of its input.
//
//   - surfaces/NAME.txt is the API surface of a release. It has the sections
//     "-- version --" with the body of GET /version, "-- openapi --" with a line
//     for each OpenAPI v3 document (path, hash, name in openapi.zip),
//     "-- scheme --" with the group versions that kube-apiserver has Go types
//     for, one a line, and "-- resources --" in the form of package surface.
//   - openapi.zip holds the OpenAPI v3 documents of all releases, each under the
//     first 8 bytes of its SHA-256. The documents have no descriptions.
//   - descriptions.zip holds the descriptions, in the form of package
//     descriptions. The key of a document is the start of its hash.
//   - bootstrap.txt holds the objects of a fresh cluster, one a line: the minor numbers
//     of the first and the last release that create it so, such as "33-34", or "33-" up
//     to the newest, the resource, the name, the labels, the values of the selectable fields, and
//     the stored JSON. Where clusters differ it has variables such as ${uid}.
//   - deprecations.txt holds the deprecated kinds, one a line: API version, kind,
//     the minor release that deprecates it, the one that removes it or 0, and
//     the API version and kind to use instead, if any.
//   - gates.txt holds the feature gates, one a line: the name and, for each release in
//     which its state changed, the release and the state: its stage, default, whether
//     it is locked, and the gates that it needs. The state is "-" where there is no
//     such gate.
//   - fields.txt holds the fields that came after the oldest release, one a line: the
//     minor number of the release, the Go type and the field, for package wire.
//   - columns.json holds the table columns of the built-in kinds, for package
//     table. A description that begins with @ is a key of "texts". "older" has, by the
//     minor number of a release, the kinds whose columns the next release changed.
//   - unversioned.txt describes kube-apiserver's internal Go types, for package
//     unversioned.
//   - wiretypes.zip describes the Go types of the API, for package wire.
//
// deprecations.txt is that of the newest release that has the kind. unversioned.txt and
// wiretypes.zip are those of the newest release, with what older releases differ in: in
// sections and in files below the minor number of the last release that differs.
package data

import (
	"embed"
	"io/fs"
	"strings"
)

//go:generate env GOWORK=off go -C ../gen run .

var (
	//go:embed surfaces
	surfaces embed.FS
	//go:embed openapi.zip
	openAPI string
	//go:embed descriptions.zip
	descriptions string
	//go:embed bootstrap.txt
	bootstrap string
	//go:embed deprecations.txt
	deprecations string
	//go:embed fields.txt
	fields string
	//go:embed gates.txt
	gates string
	//go:embed columns.json
	columns string
	//go:embed unversioned.txt
	unversioned string
	//go:embed wiretypes.zip
	wireTypes string
)

// Surfaces returns the names of the releases that have a surface, sorted as
// strings.
func Surfaces() []string {
	files, err := fs.ReadDir(surfaces, "surfaces")
	if err != nil {
		panic("data: " + err.Error()) // unreachable: the folder is embedded
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(file.Name(), ".txt")
	}
	return names
}

// Surface returns the API surface of a release. It panics for a name that
// Surfaces does not list.
func Surface(name string) string {
	text, err := surfaces.ReadFile("surfaces/" + name + ".txt")
	if err != nil {
		panic("data: " + err.Error())
	}
	return string(text)
}

// OpenAPI returns openapi.zip.
func OpenAPI() string { return openAPI }

// Descriptions returns descriptions.zip.
func Descriptions() string { return descriptions }

// Bootstrap returns bootstrap.txt.
func Bootstrap() string { return bootstrap }

// Deprecations returns deprecations.txt.
func Deprecations() string { return deprecations }

// Fields returns fields.txt.
func Fields() string { return fields }

// Gates returns gates.txt.
func Gates() string { return gates }

// Columns returns columns.json.
func Columns() string { return columns }

// Unversioned returns unversioned.txt.
func Unversioned() string { return unversioned }

// WireTypes returns wiretypes.zip.
func WireTypes() string { return wireTypes }
