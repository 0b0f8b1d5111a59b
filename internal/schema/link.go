package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A linker turns definitions into schemas that point at each other.
type linker struct {
	definitions map[string]*definition
	// done has the component schemas there are so far. One that is no reference
	// is in it before its parts are made: they may refer back to it.
	done map[string]*Schema
	// open are the components whose references are being followed.
	open map[string]bool
	// copies are to be made when all else is complete. A copy of a copy comes
	// after it.
	copies []pending
}

// A pending copy is a schema that will be another with some keywords changed.
type pending struct {
	to, from *Schema
	keywords *definition
}

// finish makes the copies.
func (l *linker) finish() error {
	for _, c := range l.copies {
		*c.to = *c.from
		if err := c.to.describe(c.keywords); err != nil {
			return err
		}
	}
	return nil
}

// named returns the component schema of that name.
func (l *linker) named(name string) (*Schema, error) {
	if s, ok := l.done[name]; ok {
		return s, nil
	}
	def := l.definitions[name]
	if def == nil {
		return nil, fmt.Errorf("%w: no schema %q", ErrMalformed, name)
	}
	if l.open[name] {
		return nil, fmt.Errorf("%w: schema %q is itself", ErrMalformed, name)
	}
	if def.reference() != "" {
		l.open[name] = true
		s, err := l.schema(def)
		l.done[name] = s
		return s, err
	}
	s := &Schema{Name: name}
	l.done[name] = s
	return s, l.fill(s, def)
}

// schema returns the schema of a definition that stands anywhere in the
// document; nil for none.
func (l *linker) schema(def *definition) (*Schema, error) {
	if def == nil {
		return nil, nil
	}
	reference := def.reference()
	if reference == "" {
		s := &Schema{}
		return s, l.fill(s, def)
	}
	name, ok := strings.CutPrefix(reference, "#/components/schemas/")
	if !ok {
		return nil, fmt.Errorf("%w: reference to %q", ErrMalformed, reference)
	}
	target, err := l.named(name)
	if err != nil || !def.describes() {
		return target, err
	}
	s := &Schema{}
	l.copies = append(l.copies, pending{to: s, from: target, keywords: def})
	return s, nil
}

// fill makes s what a definition that is no reference says.
func (l *linker) fill(s *Schema, def *definition) (err error) {
	if err := s.describe(def); err != nil {
		return err
	}
	s.Required = def.Required
	if len(def.Properties) > 0 {
		s.Properties = make(map[string]*Schema, len(def.Properties))
	}
	for name, property := range def.Properties {
		if s.Properties[name], err = l.schema(property); err != nil {
			return err
		}
	}
	if a := def.AdditionalProperties; a != nil && a.allowed {
		if a.schema == nil {
			s.Additional = &Schema{}
		} else if s.Additional, err = l.schema(a.schema); err != nil {
			return err
		}
	}
	s.Items, err = l.schema(def.Items)
	return err
}

// reference is what the definition refers to, "" if it stands for itself.
func (d *definition) reference() string {
	if d.Ref == "" && len(d.AllOf) == 1 && d.AllOf[0] != nil {
		return d.AllOf[0].Ref
	}
	return d.Ref
}

// describes reports whether a definition that is a reference has keywords of
// its own.
func (d *definition) describes() bool {
	return d.Type != "" || d.Format != "" || d.Default != nil || d.Nullable ||
		d.ListType != "" || d.ListMapKeys != nil || d.MapType != "" ||
		d.PatchStrategy != "" || d.PatchMergeKey != "" ||
		d.IntOrString || d.PreserveUnknownFields || d.EmbeddedResource
}

// describe sets in s what the keywords of a definition say, all but those that
// have schemas in them.
func (s *Schema) describe(d *definition) error {
	override(&s.Type, d.Type)
	override(&s.Format, d.Format)
	override(&s.ListType, d.ListType)
	override(&s.MapType, d.MapType)
	override(&s.PatchMergeKey, d.PatchMergeKey)
	if d.ListMapKeys != nil {
		s.ListMapKeys = d.ListMapKeys
	}
	if d.PatchStrategy != "" {
		s.PatchStrategies = strings.Split(d.PatchStrategy, ",")
	}
	s.Nullable = s.Nullable || d.Nullable
	s.IntOrString = s.IntOrString || d.IntOrString || d.Format == "int-or-string" || d.integerOrString()
	s.PreserveUnknownFields = s.PreserveUnknownFields || d.PreserveUnknownFields
	s.EmbeddedResource = s.EmbeddedResource || d.EmbeddedResource
	if d.Default == nil {
		return nil
	}
	value, err := decodeDefault(d.Default)
	if err != nil {
		return err
	}
	s.Default, s.HasDefault = value, true
	return nil
}

func override(to *string, by string) {
	if by != "" {
		*to = by
	}
}

// integerOrString reports whether the definition offers just these two.
func (d *definition) integerOrString() bool {
	if len(d.OneOf) != 2 || d.OneOf[0] == nil || d.OneOf[1] == nil {
		return false
	}
	a, b := d.OneOf[0].Type, d.OneOf[1].Type
	return a == "integer" && b == "string" || a == "string" && b == "integer"
}

// decodeDefault decodes a default into the sorts of values that objects are
// made of: numbers are int64 where they can be, else float64.
func decodeDefault(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return numbers(v)
}

// numbers replaces the json.Numbers in v.
func numbers(v any) (_ any, err error) {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i, nil
		}
		return v.Float64()
	case []any:
		for i := range v {
			if v[i], err = numbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = numbers(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
