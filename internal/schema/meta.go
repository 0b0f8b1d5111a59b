package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// CoerceOptions say how Coerce treats what does not fit.
type CoerceOptions struct {
	// DropInvalid drops members of metadata that cannot be decoded, as is done
	// to objects that come out of storage; otherwise they are errors.
	DropInvalid bool
	// KeepUnknown keeps the members that the schema does not know, as
	// definitions of old with spec.preserveUnknownFields do.
	KeepUnknown bool
	// KeepNulls keeps nulls that may not be, for Validate to refuse, as is done
	// to the results of applying.
	KeepNulls bool
	// Strict makes unknown and duplicate members of metadata be reported.
	Strict bool
}

// Coerce gives a decoded custom resource the form that built-in kinds have once
// they are decoded: metadata is canonical, there and in embedded resources;
// members that the schema does not know are gone, and so are nulls that may not
// be and have no default. A nil schema knows apiVersion, kind and metadata only.
//
// It returns the paths of the members it removed, those of metadata first. Its
// error is that of decoding, and leaves obj as it happens to be; for embedded
// metadata it is a *validation.Error.
func (s *Schema) Coerce(obj map[string]any, o CoerceOptions) (unknown []string, err error) {
	for _, name := range []string{"kind", "apiVersion"} {
		if _, err := nestedText(obj, name); err != nil {
			return nil, err
		}
	}
	meta, found, unknown, err := decodeMeta(obj, o, "metadata")
	if err != nil {
		return nil, err
	}
	if !o.KeepUnknown {
		unknown = append(unknown, s.Prune(obj)...)
	}
	if !o.KeepUnknown && !o.KeepNulls {
		s.DropNulls(obj)
	}
	c := coercer{CoerceOptions: o}
	if e := c.value(s, obj, nil); e != nil {
		return nil, e
	}
	slices.Sort(c.unknown)
	if found {
		obj["metadata"] = meta
	}
	return append(unknown, c.unknown...), nil
}

// nestedText reads a string member, "" if there is none.
func nestedText(obj map[string]any, name string) (string, error) {
	v, ok := obj[name]
	if s, isText := v.(string); isText || !ok {
		return s, nil
	}
	return "", fmt.Errorf(".%s accessor error: %v is of the type %T, expected string", name, v, v)
}

// objectMeta is the type of metadata.
func objectMeta() *wire.Type {
	t, ok := wire.ForKind("meta.k8s.io", "v1", "ObjectMeta")
	if !ok {
		panic("schema: ObjectMeta is no type") // unreachable: the table has it
	}
	return t
}

// decodeMeta reads an object's metadata, which is at a path. It reports false
// for an object without.
func decodeMeta(obj map[string]any, o CoerceOptions, at string) (meta map[string]any, found bool, unknown []string, err error) {
	value, found := obj["metadata"]
	if !found {
		return nil, false, nil, nil
	}
	raw, ok := value.(map[string]any)
	if !ok && value != nil {
		if o.DropInvalid {
			return nil, false, nil, fmt.Errorf("invalid metadata: expected object, got %T", value)
		}
		return nil, true, nil, notMeta(value)
	}
	meta, fieldErrors, err := objectMeta().Normalize(raw, wire.DecodeOptions{Strict: o.Strict})
	if err != nil && o.DropInvalid {
		valid := make(map[string]any, len(raw))
		for name, member := range raw {
			if _, _, err := objectMeta().Normalize(map[string]any{name: member}, wire.DecodeOptions{}); err == nil {
				valid[name] = member
			}
		}
		meta, fieldErrors, err = objectMeta().Normalize(valid, wire.DecodeOptions{Strict: o.Strict})
	}
	for _, e := range fieldErrors {
		if e, ok := e.(wire.FieldError); ok {
			unknown = append(unknown, at+"."+e.Path)
		}
	}
	maps.DeleteFunc(meta, func(name string, v any) bool {
		list, isList := v.([]any)
		// An empty list of managed fields is a request.
		return v == object.EmptyMap{} || isList && len(list) == 0 && name != "managedFields"
	})
	return meta, true, unknown, err
}

// notMeta is the error of decoding something that is no object as metadata.
func notMeta(value any) error {
	sort, _ := typeOf(value)
	switch sort {
	case "boolean":
		sort = "bool"
	case "integer", "number":
		sort = "number"
	}
	return &wire.TypeError{Value: sort, GoType: "v1.ObjectMeta"}
}

// A coercer decodes the metadata of embedded resources.
type coercer struct {
	CoerceOptions
	unknown []string
}

// value coerces the value at a path.
func (c *coercer) value(s *Schema, v any, at *validation.Path) *validation.Error {
	if s == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := v[name]
			if s.EmbeddedResource {
				if err := c.embedded(v, name, at); err != nil {
					return err
				}
			}
			if err := c.value(s.Member(name), member, s.path(at, name)); err != nil {
				return err
			}
		}
	case []any:
		for i, elem := range v {
			if err := c.value(s.Items, elem, at.Index(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// path is that of a member of the object at a path: a field's or a map key's.
func (s *Schema) path(at *validation.Path, name string) *validation.Path {
	if _, ok := s.Properties[name]; ok || s.Additional == nil {
		return at.Child(name)
	}
	return at.Key(name)
}

// embedded coerces a member of an embedded resource.
func (c *coercer) embedded(obj map[string]any, name string, at *validation.Path) *validation.Error {
	switch name {
	case "apiVersion", "kind":
		if _, ok := obj[name].(string); ok {
			return nil
		}
		if !c.DropInvalid {
			return validation.Invalid(at.Child(name), obj[name], mustBeText)
		}
		delete(obj, name)
	case "metadata":
		path := at.Child(name)
		meta, found, unknown, err := decodeMeta(obj, c.CoerceOptions, path.String())
		c.unknown = append(c.unknown, unknown...)
		if err != nil && !c.DropInvalid {
			return validation.Invalid(path, obj[name], err.Error())
		}
		if err == nil && found {
			obj[name] = meta
		}
	}
	return nil
}

const mustBeText = "must be a string"

// ValidateEmbedded checks apiVersion, kind and metadata of the resources that
// are embedded in a value. The path is that of the value; nil is the top of an
// object.
func (s *Schema) ValidateEmbedded(v any, path *validation.Path) validation.List {
	if s == nil {
		return nil
	}
	var list validation.List
	switch v := v.(type) {
	case map[string]any:
		if s.EmbeddedResource {
			list = append(list, validateResource(v, path)...)
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = append(list, s.Member(name).ValidateEmbedded(v[name], s.path(path, name))...)
		}
	case []any:
		for i, elem := range v {
			list = append(list, s.Items.ValidateEmbedded(elem, path.Index(i))...)
		}
	}
	return list
}

// validateResource checks what every API object has.
func validateResource(obj map[string]any, path *validation.Path) validation.List {
	var list validation.List
	for _, name := range []string{"apiVersion", "kind"} {
		if _, ok := obj[name]; !ok {
			list = append(list, validation.Required(path.Child(name), ""))
		}
	}
	invalid := func(name string, value any, detail string) {
		list = append(list, validation.Invalid(path.Child(name), value, detail))
	}
	if v, ok := obj["apiVersion"]; ok {
		switch s, isText := v.(string); {
		case !isText:
			invalid("apiVersion", v, mustBeText)
		case s == "":
			invalid("apiVersion", s, "must not be empty")
		case strings.Count(s, "/") > 1:
			invalid("apiVersion", s, "unexpected GroupVersion string: "+s)
		}
	}
	if v, ok := obj["kind"]; ok {
		switch s, isText := v.(string); {
		case !isText:
			invalid("kind", v, mustBeText)
		case s == "":
			invalid("kind", s, "must not be empty")
		default:
			if wrong := validation.DNS1035Label(strings.ToLower(s)); len(wrong) > 0 {
				invalid("kind", s, "may have mixed case, but should otherwise match: "+strings.Join(wrong, ","))
			}
		}
	}
	if meta, found, _, err := decodeMeta(obj, CoerceOptions{}, ""); err != nil {
		invalid("metadata", obj["metadata"], err.Error())
	} else if found {
		if name, _ := meta["name"].(string); name == "" {
			meta["name"] = "fakename" // an embedded resource needs none
		}
		namespace, _ := meta["namespace"].(string)
		list = append(list, validation.ObjectMeta(meta, namespace != "", validation.PathSegmentName, path.Child("metadata"))...)
	}
	return list
}
