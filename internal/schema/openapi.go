package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrMalformed is wrapped by the error of Parse for JSON that is not an OpenAPI document
// or has references that cannot be resolved.
var ErrMalformed = errors.New("malformed OpenAPI document")

// A Document has the schemas of an OpenAPI v3 document. It is immutable and safe for
// concurrent use.
type Document struct {
	named map[string]*Schema
	kinds map[kindKey]*Schema
}

// kindKey identifies a kind.
type kindKey struct{ group, version, kind string }

// Named returns the component schema with a name, such as "io.k8s.api.core.v1.PodSpec".
func (d *Document) Named(name string) (*Schema, bool) {
	s, ok := d.named[name]
	return s, ok
}

// ForKind returns the schema of a kind by x-kubernetes-group-version-kind. The legacy
// group is "".
func (d *Document) ForKind(group, version, kind string) (*Schema, bool) {
	s, ok := d.kinds[kindKey{group, version, kind}]
	return s, ok
}

// Parse parses the component schemas of an OpenAPI v3 document. References become
// pointers, so recursive types are cyclic. Keywords next to a reference apply to a copy
// of the referenced schema. Keywords without a field of Schema, and the other parts of the
// document, are ignored.
//
// Errors: an error of encoding/json if the text is not JSON, which is not always detected,
// or ErrMalformed.
func Parse(doc []byte) (*Document, error) {
	r := reader{text: string(doc)}
	definitions, ok := r.document()
	if !ok {
		var raw json.RawMessage
		if err := json.Unmarshal(doc, &raw); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: unexpected value at offset %d", ErrMalformed, r.pos)
	}
	l := linker{
		definitions: definitions,
		resolved:    make(map[string]*Schema, len(definitions)),
		resolving:   map[string]bool{},
	}
	d := &Document{named: l.resolved, kinds: map[kindKey]*Schema{}}
	for name, def := range definitions {
		s, err := l.named(name)
		if err != nil {
			return nil, err
		}
		for _, k := range def.kinds {
			d.kinds[k] = s
		}
	}
	l.finish()
	return d, nil
}

// A definition is a schema in the document, with unresolved references.
type definition struct {
	// schema has the keywords without subschemas.
	schema Schema
	// hasKeywords is whether the definition has such a keyword.
	hasKeywords bool

	ref                  string
	allOf, oneOf         []*definition
	properties           map[string]*definition
	additionalProperties *definition
	items                *definition
	kinds                []kindKey
}

// document reads the component schemas.
func (r *reader) document() (map[string]*definition, bool) {
	definitions := map[string]*definition{}
	ok := r.object(func(name string) bool {
		if name != "components" {
			return r.skip()
		}
		return r.object(func(name string) bool {
			if name != "schemas" {
				return r.skip()
			}
			return r.definitions(&definitions)
		})
	})
	return definitions, ok && r.token() == 0
}

// definitions reads an object of schemas by name.
func (r *reader) definitions(to *map[string]*definition) bool {
	if *to == nil {
		*to = map[string]*definition{}
	}
	return r.object(func(name string) bool {
		d := &definition{}
		(*to)[name] = d
		return r.definition(d)
	})
}

// list reads an array of schemas.
func (r *reader) list(to *[]*definition) bool {
	return r.array(func() bool {
		d := &definition{}
		*to = append(*to, d)
		return r.definition(d)
	})
}

// definition reads a schema.
func (r *reader) definition(d *definition) bool {
	return r.object(func(keyword string) bool {
		switch keyword {
		case "$ref":
			return r.string(&d.ref)
		case "allOf":
			return r.list(&d.allOf)
		case "oneOf":
			return r.list(&d.oneOf)
		case "properties":
			return r.definitions(&d.properties)
		case "required":
			return r.strings(&d.schema.Required)
		case "additionalProperties":
			return r.additional(&d.additionalProperties)
		case "items":
			d.items = &definition{}
			return r.definition(d.items)
		case "x-kubernetes-group-version-kind":
			return r.kinds(&d.kinds)
		}
		known, ok := r.keyword(&d.schema, keyword)
		d.hasKeywords = d.hasKeywords || known
		return ok
	})
}

// keyword reads a keyword without subschemas, and reports whether Schema has a field for
// it.
func (r *reader) keyword(s *Schema, keyword string) (known, ok bool) {
	switch keyword {
	case "type":
		return true, r.string(&s.Type)
	case "format":
		return true, r.string(&s.Format)
	case "default":
		s.HasDefault = true
		return true, r.value(&s.Default)
	case "nullable":
		return true, r.bool(&s.Nullable)
	case "x-kubernetes-list-type":
		return true, r.string(&s.ListType)
	case "x-kubernetes-list-map-keys":
		return true, r.strings(&s.ListMapKeys)
	case "x-kubernetes-map-type":
		return true, r.string(&s.MapType)
	case "x-kubernetes-patch-strategy":
		var strategies string
		ok := r.string(&strategies)
		s.PatchStrategies = strings.Split(strategies, ",")
		return true, ok
	case "x-kubernetes-patch-merge-key":
		return true, r.string(&s.PatchMergeKey)
	case "x-kubernetes-int-or-string":
		return true, r.bool(&s.IntOrString)
	case "x-kubernetes-preserve-unknown-fields":
		return true, r.bool(&s.PreserveUnknownFields)
	case "x-kubernetes-embedded-resource":
		return true, r.bool(&s.EmbeddedResource)
	}
	return false, r.skip()
}

// additional reads additionalProperties, a schema or a boolean.
func (r *reader) additional(to **definition) bool {
	if r.token() == '{' {
		*to = &definition{}
		return r.definition(*to)
	}
	var any bool
	ok := r.bool(&any)
	if any {
		*to = &definition{}
	}
	return ok
}

// kinds reads x-kubernetes-group-version-kind.
func (r *reader) kinds(to *[]kindKey) bool {
	return r.array(func() bool {
		var k kindKey
		ok := r.object(func(name string) bool {
			switch name {
			case "group":
				return r.string(&k.group)
			case "version":
				return r.string(&k.version)
			case "kind":
				return r.string(&k.kind)
			}
			return r.skip()
		})
		*to = append(*to, k)
		return ok
	})
}
