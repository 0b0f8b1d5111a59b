package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/kubefake/kubefake/internal/control"
)

// A document is an OpenAPI document. Its fields are the parts that this one has.
type document struct {
	OpenAPI    string            `json:"openapi"`
	Info       info              `json:"info"`
	Servers    []server          `json:"servers"`
	Paths      object[*pathItem] `json:"paths"`
	Components components        `json:"components"`
}

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type server struct {
	URL string `json:"url"`
}

type components struct {
	Schemas object[*schema] `json:"schemas"`
}

type pathItem = object[*operation]

type operation struct {
	ID          string           `json:"operationId"`
	Summary     string           `json:"summary"`
	Parameters  []parameter      `json:"parameters,omitempty"`
	RequestBody *body            `json:"requestBody,omitempty"`
	Responses   object[response] `json:"responses"`

	method, path string // as the generated clients send them
}

type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description,omitempty"`
	Example     string  `json:"example,omitempty"`
	Schema      *schema `json:"schema"`
}

type body struct {
	Content object[content] `json:"content"`
}

type response struct {
	Description string          `json:"description"`
	Content     object[content] `json:"content"`
}

type content struct {
	Schema  *schema         `json:"schema"`
	Example json.RawMessage `json:"example,omitempty"`
}

// A schema is the schema of a JSON value.
type schema struct {
	Ref                  string          `json:"$ref,omitempty"`
	Description          string          `json:"description,omitempty"`
	Type                 string          `json:"type,omitempty"`
	Format               string          `json:"format,omitempty"`
	Enum                 []string        `json:"enum,omitempty"`
	Items                *schema         `json:"items,omitempty"`
	Required             []string        `json:"required,omitempty"`
	Properties           object[*schema] `json:"properties,omitempty"`
	AdditionalProperties *schema         `json:"additionalProperties,omitempty"`
	OneOf                []*schema       `json:"oneOf,omitempty"`
	AllOf                []*schema       `json:"allOf,omitempty"`
}

const schemaRef = "#/components/schemas/"

// name returns the name of the schema that s refers to, "" if it refers to none.
func (s *schema) name() string {
	if len(s.AllOf) == 1 {
		return s.AllOf[0].name()
	}
	return strings.TrimPrefix(s.Ref, schemaRef)
}

// An object is a JSON object whose fields have an order.
type object[T any] []field[T]

type field[T any] struct {
	name  string
	value T
}

func (o *object[T]) add(name string, value T) { *o = append(*o, field[T]{name, value}) }

func (o object[T]) get(name string) (value T, ok bool) {
	for _, f := range o {
		if f.name == name {
			return f.value, true
		}
	}
	return value, false
}

func (o object[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", f.name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// operations returns the operations in the order in which they were described.
func (d *document) operations() []*operation {
	var out []*operation
	for _, p := range d.Paths {
		for _, o := range *p.value {
			out = append(out, o.value)
		}
	}
	return out
}

// body returns the schema of the body of an operation, with a reference resolved; nil if
// it has none.
func (d *document) body(o *operation) *schema {
	if o.RequestBody == nil {
		return nil
	}
	return d.resolve(o.RequestBody.Content[0].value.Schema)
}

func (d *document) resolve(s *schema) *schema {
	if resolved, ok := d.Components.Schemas.get(s.name()); ok {
		return resolved
	}
	return s
}

// answer returns the schema of the answer of an operation.
func (o *operation) answer() *schema { return o.Responses[0].value.Content[0].value.Schema }

const description = "Does to a Kubernetes API server for tests what no kube-apiserver allows. Durations are strings, such as 1.5s or 10m. Errors are a Status of Kubernetes."

// describe returns the document of operations.
func describe(root string, operations []control.Operation) (*document, error) {
	g := &describer{sources: sources{root: root}, names: map[reflect.Type]string{}}
	d := &document{
		OpenAPI: "3.0.3",
		Info:    info{"The control endpoint of fakeapi", "1", description},
		Servers: []server{{"/"}},
	}
	for i := range operations {
		o, err := g.operation(&operations[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", operations[i].ID, err)
		}
		item, ok := d.Paths.get(o.path)
		if !ok {
			item = &pathItem{}
			d.Paths.add(o.path, item)
		}
		item.add(strings.ToLower(o.method), o)
	}
	g.schemas.add("Status", statusSchema)
	d.Components.Schemas = g.schemas
	return d, nil
}

var statusSchema = &schema{
	Description: "Why a request has failed, as meta/v1 of Kubernetes describes it.", Type: "object", Required: []string{"code", "message"},
	Properties: object[*schema]{
		{"code", &schema{Type: "integer", Description: "The HTTP status code."}},
		{"reason", &schema{Type: "string", Description: "The reason in one word, such as NotFound."}},
		{"message", &schema{Type: "string", Description: "The reason for people."}},
	},
}

// A describer describes types.
type describer struct {
	sources sources
	schemas object[*schema]
	names   map[reflect.Type]string // of the types that have a schema
}

func (g *describer) operation(c *control.Operation) (*operation, error) {
	o := &operation{ID: c.ID, Summary: c.Effect, method: c.Method, path: control.Prefix + c.Path}
	in := c.In()
	examples, err := url.ParseQuery(c.Query)
	if err != nil {
		return nil, err
	}
	hasBody := in.Kind() != reflect.Struct
	if !hasBody {
		src, err := g.sources.of(in)
		if err != nil {
			return nil, err
		}
		for i := range in.NumField() {
			f := in.Field(i)
			name, ok := f.Tag.Lookup("query")
			if !ok {
				hasBody = true
				continue
			}
			s, err := g.schema(f.Type)
			if err != nil {
				return nil, err
			}
			o.Parameters = append(o.Parameters, parameter{name, "query", src.fields[f.Name], examples.Get(name), s})
		}
	}
	if hasBody {
		s, err := g.schema(in)
		if err != nil {
			return nil, err
		}
		o.RequestBody = &body{object[content]{{"application/json", content{s, json.RawMessage(c.Body)}}}}
	}
	s, err := g.schema(c.Out())
	if err != nil {
		return nil, err
	}
	answers := object[content]{{"application/json", content{Schema: s}}}
	if c.Out().Implements(reflect.TypeFor[control.Document]()) {
		answers.add("text/html", content{Schema: &schema{Type: "string"}})
		answers.add("text/plain", content{Schema: &schema{Type: "string"}})
	}
	o.Responses = object[response]{
		{"200", response{"The request has succeeded.", answers}},
		{"default", response{"The request has failed.", object[content]{{"application/json", content{Schema: &schema{Ref: schemaRef + "Status"}}}}}},
	}
	return o, nil
}

// opaque are the schemas of types that are described here, because their JSON does not
// follow from their fields.
var opaque = map[string]*schema{
	"time.Time":             {Type: "string", Format: "date-time"},
	"time.Duration":         {Type: "integer", Format: "int64", Description: "A duration in nanoseconds."},
	"json.RawMessage":       {Type: "object"},
	"story.Sighting":        {Type: "array", Items: &schema{Type: "integer", Format: "int64"}},
	"journal.ChangeType":    {Type: "string", Enum: []string{"ADDED", "MODIFIED", "DELETED"}},
	"faults.WatchSelection": {Type: "string", Enum: []string{"open", "new"}},
	"faults.WatchEffect":    {Type: "string", Enum: []string{"close", "reset", "expire", "pause"}},
}

// schema returns the schema of a type.
func (g *describer) schema(t reflect.Type) (*schema, error) {
	if s := opaque[t.String()]; s != nil {
		return s, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.schema(t.Elem())
	case reflect.String:
		return &schema{Type: "string"}, nil
	case reflect.Bool:
		return &schema{Type: "boolean"}, nil
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return &schema{Type: "integer", Format: "int64"}, nil
	case reflect.Float64:
		return &schema{Type: "number"}, nil
	case reflect.Interface:
		return &schema{}, nil
	case reflect.Map:
		values, err := g.schema(t.Elem())
		return &schema{Type: "object", AdditionalProperties: values}, err
	case reflect.Slice:
		items, err := g.schema(t.Elem())
		list := &schema{Type: "array", Items: items}
		if t == reflect.TypeFor[control.NewFaults]() {
			return &schema{OneOf: []*schema{items, list}}, err
		}
		return list, err
	case reflect.Struct:
		return g.object(t)
	}
	return nil, fmt.Errorf("no schema for %s", t)
}

// schemaName returns the name of the schema of a struct. Types of the packages story and usage
// that have the name of another type have a prefix.
func schemaName(t reflect.Type) string {
	if strings.HasPrefix(t.String(), "usage.") {
		return "Usage" + t.Name()
	}
	if strings.HasPrefix(t.String(), "story.") && t.Name() != "Story" {
		return "Story" + t.Name()
	}
	return t.Name()
}

// object returns a reference to the schema of a struct, and adds the schema.
func (g *describer) object(t reflect.Type) (*schema, error) {
	name := schemaName(t)
	ref := &schema{Ref: schemaRef + name}
	if g.names[t] != "" {
		return ref, nil
	}
	if _, taken := g.schemas.get(name); taken {
		return nil, fmt.Errorf("two types have the name %s", name)
	}
	src, err := g.sources.of(t)
	if err != nil {
		return nil, err
	}
	s := &schema{Type: "object", Description: src.doc}
	g.names[t] = name
	g.schemas.add(name, s)
	return ref, g.properties(s, t)
}

// properties adds the fields of a struct to a schema.
func (g *describer) properties(s *schema, t reflect.Type) error {
	src, err := g.sources.of(t)
	if err != nil {
		return err
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, option, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && !tagged:
			if err := g.properties(s, f.Type); err != nil {
				return err
			}
			continue
		case !tagged || name == "-":
			continue
		}
		p, err := g.schema(f.Type)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if f.Type.String() == "time.Duration" && t.String() == "faults.Fault" {
			p = &schema{Type: "string"} // Fault.MarshalJSON
		}
		s.Properties.add(name, p.described(src.fields[f.Name]))
		if option != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
	return nil
}

// described returns s with a description.
func (s *schema) described(text string) *schema {
	if text == "" {
		return s
	}
	if s.Ref != "" {
		return &schema{Description: text, AllOf: []*schema{s}}
	}
	out := *s
	out.Description = strings.TrimSpace(text + " " + cmp.Or(s.Description))
	return &out
}
