package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release/behavior"
	"github.com/kubefake/kubefake/internal/validation"
	"github.com/kubefake/kubefake/internal/wire"
)

// CoerceOptions are the options of Coerce.
type CoerceOptions struct {
	// DropInvalid drops fields of metadata that cannot be decoded. It is used for
	// objects read from storage. Otherwise such fields are errors.
	DropInvalid bool
	// KeepUnknown disables pruning, like spec.preserveUnknownFields of a definition.
	KeepUnknown bool
	// KeepNulls keeps nulls that are not allowed, so that Validate reports them. It
	// is used for the results of server-side apply.
	KeepNulls bool
	// Strict returns the paths of unknown and duplicate fields of metadata.
	Strict bool
	// MetadataDecoded says that the metadata of the object is decoded already, as
	// wire.DecodeCustom decodes it.
	MetadataDecoded bool
}

// Coerce converts a custom resource decoded from JSON to the form that decoded built-in
// kinds have: it normalizes metadata, also of embedded resources, prunes unknown fields,
// and removes nulls that are not allowed and have no default. A nil schema has apiVersion,
// kind and metadata only.
//
// The schema is one that FromProps returned, or nil.
//
// Coerce returns the paths of the removed fields, those of metadata first. An error is a
// decoding error, for embedded metadata a *validation.Error; obj may be partly changed
// then.
func (s *Schema) Coerce(obj map[string]any, o CoerceOptions) (unknown []string, err error) {
	for _, name := range []string{"kind", "apiVersion"} {
		if _, err := stringField(obj, name); err != nil {
			return nil, err
		}
	}
	meta, found := object.Map(obj, "metadata"), false
	if o.MetadataDecoded {
		dropEmpty(meta)
	} else if meta, found, unknown, err = decodeMeta(obj, o, "metadata"); err != nil {
		return nil, err
	}
	if !o.KeepUnknown {
		unknown = append(unknown, s.prune(obj)...)
	}
	if !o.KeepUnknown && !o.KeepNulls {
		s.dropNulls(obj)
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

// ReadBack makes of a written custom resource what is read of it from storage, and reports
// whether that changes it. Server-side apply and policies write nulls that are not allowed, and a
// write may have reset fields that have a default. A map or a list in the object, which other objects may
// share, is not changed: a copy takes its place. keepUnknown is that of CoerceOptions.
func (s *Schema) ReadBack(obj map[string]any, keepUnknown bool) bool {
	dropped := !keepUnknown && s.dropNulls(obj)
	return s.SetDefaults(obj) || dropped
}

// stringField returns a string field, "" if it is absent.
func stringField(obj map[string]any, name string) (string, error) {
	v, ok := obj[name]
	if s, isText := v.(string); isText || !ok {
		return s, nil
	}
	return "", fmt.Errorf(".%s accessor error: %v is of the type %T, expected string", name, v, v)
}

// decodeMeta returns the normalized metadata of an object, which has the path at, and
// whether the object has metadata.
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
		return nil, true, nil, metadataTypeError(value)
	}
	if raw != nil && wire.ObjectMeta().IsCanonical(raw, nil) {
		meta = maps.Clone(raw)
		dropEmpty(meta)
		return meta, true, nil, nil
	}
	meta, fieldErrors, err := wire.ObjectMeta().Normalize(raw, wire.DecodeOptions{Strict: o.Strict})
	if err != nil && o.DropInvalid {
		valid := make(map[string]any, len(raw))
		for name, member := range raw {
			if ValidMetadata(name, member) {
				valid[name] = member
			}
		}
		meta, fieldErrors, err = wire.ObjectMeta().Normalize(valid, wire.DecodeOptions{Strict: o.Strict})
	}
	for _, e := range fieldErrors {
		if e, ok := e.(wire.FieldError); ok {
			unknown = append(unknown, at+"."+e.Path)
		}
	}
	dropEmpty(meta)
	return meta, true, unknown, err
}

// dropEmpty removes the empty maps and lists of metadata, except for an empty list of managed
// fields, which requests their removal.
func dropEmpty(meta map[string]any) {
	for name, v := range meta {
		list, isList := v.([]any)
		if v == any(object.EmptyMap{}) || isList && len(list) == 0 && name != "managedFields" {
			delete(meta, name)
		}
	}
}

// ValidMetadata reports whether a member of the metadata of an object can be decoded.
func ValidMetadata(name string, v any) bool { return DecodeMetadata(name, v) == nil }

// DecodeMetadata returns the error of decoding a member of the metadata of an object.
func DecodeMetadata(name string, v any) error {
	_, _, err := wire.ObjectMeta().Normalize(map[string]any{name: v}, wire.DecodeOptions{})
	return err
}

// metadataTypeError returns the error for metadata that is not an object.
func metadataTypeError(value any) error {
	typ, _ := typeOf(value)
	switch typ {
	case "boolean":
		typ = "bool"
	case "integer", "number":
		typ = "number"
	}
	return &wire.TypeError{Value: typ, GoType: "v1.ObjectMeta"}
}

// A coercer normalizes the metadata of embedded resources.
type coercer struct {
	CoerceOptions
	unknown []string
}

// value coerces the value v at the path at.
func (c *coercer) value(s *Schema, v any, at *validation.Path) *validation.Error {
	if s == nil || !s.hasEmbedded {
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
			if err := c.value(s.member(name), member, s.path(at, name)); err != nil {
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

// path returns the path of a field or of a map key within the path at.
func (s *Schema) path(at *validation.Path, name string) *validation.Path {
	if _, ok := s.Properties[name]; ok || s.Additional == nil {
		return at.Child(name)
	}
	return at.Key(name)
}

// embedded coerces apiVersion, kind or metadata of an embedded resource.
func (c *coercer) embedded(obj map[string]any, name string, at *validation.Path) *validation.Error {
	switch name {
	case "apiVersion", "kind":
		if _, ok := obj[name].(string); ok {
			return nil
		}
		if !c.DropInvalid {
			return validation.Invalid(at.Child(name), obj[name], mustBeString)
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

const (
	mustBeString   = "must be a string"
	mustNotBeEmpty = "must not be empty"
)

// ValidateEmbedded validates apiVersion, kind and metadata of the resources that are
// embedded in a value. path is the path of v, nil for an object. The schema is one that FromProps
// returned, or a part of one.
func (s *Schema) ValidateEmbedded(v any, path *validation.Path) validation.List {
	if s == nil || !s.hasEmbedded {
		return nil
	}
	var list validation.List
	switch v := v.(type) {
	case map[string]any:
		if s.EmbeddedResource {
			list = append(list, validateResource(v, path)...)
		}
		list = append(list, inOrder(v, func(name string, member any) validation.List {
			if known := s.member(name); known != nil && known.hasEmbedded {
				return known.ValidateEmbedded(member, s.path(path, name))
			}
			return nil
		})...)
	case []any:
		for i, elem := range v {
			list = append(list, s.Items.ValidateEmbedded(elem, path.Index(i))...)
		}
	}
	return list
}

// validateResource validates apiVersion, kind and metadata of an object.
func validateResource(obj map[string]any, path *validation.Path) validation.List {
	var list validation.List
	for _, name := range []string{"apiVersion", "kind"} {
		if _, ok := obj[name]; !ok {
			list = append(list, validation.Required(path.Child(name), "").Before(behavior.PlainDetails, validation.Detail(mustNotBeEmpty)))
		}
	}
	invalid := func(name string, value any, detail string) {
		list = append(list, validation.Invalid(path.Child(name), value, detail))
	}
	if v, ok := obj["apiVersion"]; ok {
		switch s, isText := v.(string); {
		case !isText:
			invalid("apiVersion", v, mustBeString)
		case s == "":
			invalid("apiVersion", s, mustNotBeEmpty)
		case strings.Count(s, "/") > 1:
			invalid("apiVersion", s, "unexpected GroupVersion string: "+s)
		}
	}
	if v, ok := obj["kind"]; ok {
		switch s, isText := v.(string); {
		case !isText:
			invalid("kind", v, mustBeString)
		case s == "":
			invalid("kind", s, mustNotBeEmpty)
		default:
			if errs := validation.DNS1035Label(strings.ToLower(s)); len(errs) > 0 {
				invalid("kind", s, "may have mixed case, but should otherwise match: "+strings.Join(errs, ","))
			}
		}
	}
	if meta, found, _, err := decodeMeta(obj, CoerceOptions{}, ""); err != nil {
		invalid("metadata", obj["metadata"], err.Error())
	} else if found {
		if name, _ := meta["name"].(string); name == "" {
			meta["name"] = "fakename" // an embedded resource may have no name
		}
		namespace, _ := meta["namespace"].(string)
		list = append(list, validation.ObjectMeta(meta, namespace != "", validation.PathSegmentName, path.Child("metadata"))...)
	}
	return list
}
