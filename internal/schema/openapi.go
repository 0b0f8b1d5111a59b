package schema

import (
	"encoding/json"
	"errors"
)

// ErrMalformed is in the error of Parse for a document that contradicts itself:
// a reference to nothing, or one that leads back to itself.
var ErrMalformed = errors.New("malformed OpenAPI document")

// A Document is the schemas of an OpenAPI v3 document. It is immutable and safe
// for concurrent use.
type Document struct {
	named map[string]*Schema
	kinds map[kindKey]*Schema
}

// kindKey names a kind.
type kindKey struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// Named returns the schema that the document names so among its components,
// such as "io.k8s.api.core.v1.PodSpec".
func (d *Document) Named(name string) (*Schema, bool) {
	s, ok := d.named[name]
	return s, ok
}

// ForKind returns the schema that the document marks, with
// x-kubernetes-group-version-kind, as that of a kind. The legacy group is "".
func (d *Document) ForKind(group, version, kind string) (*Schema, bool) {
	s, ok := d.kinds[kindKey{group, version, kind}]
	return s, ok
}

// Parse reads the schemas of an OpenAPI v3 document. References among them
// become pointers, so that recursive types are circles; keywords beside a
// reference hold for the place they stand at only, in a copy of what is
// referred to. Keywords that a Schema has no field for, and all of the document
// but its component schemas, are passed over.
//
// Errors: those of encoding/json, and ErrMalformed.
func Parse(doc []byte) (*Document, error) {
	var parsed struct {
		Components struct {
			Schemas map[string]*definition `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(doc, &parsed); err != nil {
		return nil, err
	}
	l := linker{
		definitions: parsed.Components.Schemas,
		done:        make(map[string]*Schema, len(parsed.Components.Schemas)),
		open:        map[string]bool{},
	}
	d := &Document{named: l.done, kinds: map[kindKey]*Schema{}}
	for name := range l.definitions {
		s, err := l.named(name)
		if err != nil {
			return nil, err
		}
		for _, k := range l.definitions[name].Kinds {
			d.kinds[k] = s
		}
	}
	if err := l.finish(); err != nil {
		return nil, err
	}
	return d, nil
}

// A definition is a schema as it is written.
type definition struct {
	Ref                  string                 `json:"$ref"`
	AllOf                []*definition          `json:"allOf"`
	OneOf                []*definition          `json:"oneOf"`
	Type                 string                 `json:"type"`
	Format               string                 `json:"format"`
	Properties           map[string]*definition `json:"properties"`
	Required             []string               `json:"required"`
	AdditionalProperties *additional            `json:"additionalProperties"`
	Items                *definition            `json:"items"`
	Default              json.RawMessage        `json:"default"`
	Nullable             bool                   `json:"nullable"`

	ListType              string    `json:"x-kubernetes-list-type"`
	ListMapKeys           []string  `json:"x-kubernetes-list-map-keys"`
	MapType               string    `json:"x-kubernetes-map-type"`
	PatchStrategy         string    `json:"x-kubernetes-patch-strategy"`
	PatchMergeKey         string    `json:"x-kubernetes-patch-merge-key"`
	IntOrString           bool      `json:"x-kubernetes-int-or-string"`
	PreserveUnknownFields bool      `json:"x-kubernetes-preserve-unknown-fields"`
	EmbeddedResource      bool      `json:"x-kubernetes-embedded-resource"`
	Kinds                 []kindKey `json:"x-kubernetes-group-version-kind"`
}

// An additional is what additionalProperties says: a schema, or whether there
// may be any.
type additional struct {
	allowed bool
	schema  *definition
}

func (a *additional) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		a.allowed = true
		return json.Unmarshal(b, &a.schema)
	}
	return json.Unmarshal(b, &a.allowed)
}
