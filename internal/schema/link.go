package schema

import (
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
	changes  *Schema
}

// finish makes the copies.
func (l *linker) finish() {
	for _, c := range l.copies {
		*c.to = *c.from
		c.to.change(c.changes)
	}
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
	s := &def.own
	s.Name = name
	l.done[name] = s
	return s, l.fill(def)
}

// schema returns the schema of a definition that stands anywhere in the
// document; nil for none.
func (l *linker) schema(def *definition) (*Schema, error) {
	if def == nil {
		return nil, nil
	}
	reference := def.reference()
	if reference == "" {
		return &def.own, l.fill(def)
	}
	name, ok := strings.CutPrefix(reference, "#/components/schemas/")
	if !ok {
		return nil, fmt.Errorf("%w: reference to %q", ErrMalformed, reference)
	}
	target, err := l.named(name)
	if err != nil || !def.described {
		return target, err
	}
	s := &Schema{}
	l.copies = append(l.copies, pending{to: s, from: target, changes: &def.own})
	return s, nil
}

// fill completes the schema of a definition that is no reference.
func (l *linker) fill(def *definition) (err error) {
	s := &def.own
	s.IntOrString = s.IntOrString || s.Format == "int-or-string" || def.integerOrString()
	if len(def.properties) > 0 {
		s.Properties = make(map[string]*Schema, len(def.properties))
	}
	for name, property := range def.properties {
		if s.Properties[name], err = l.schema(property); err != nil {
			return err
		}
	}
	if s.Additional, err = l.schema(def.additionalProperties); err != nil {
		return err
	}
	s.Items, err = l.schema(def.items)
	return err
}

// reference is what the definition refers to, "" if it stands for itself.
func (d *definition) reference() string {
	if d.ref == "" && len(d.allOf) == 1 {
		return d.allOf[0].ref
	}
	return d.ref
}

// integerOrString reports whether the definition offers just these two.
func (d *definition) integerOrString() bool {
	if len(d.oneOf) != 2 {
		return false
	}
	a, b := d.oneOf[0].own.Type, d.oneOf[1].own.Type
	return a == "integer" && b == "string" || a == "string" && b == "integer"
}

// change sets in s the keywords that by has.
func (s *Schema) change(by *Schema) {
	override(&s.Type, by.Type)
	override(&s.Format, by.Format)
	override(&s.ListType, by.ListType)
	override(&s.MapType, by.MapType)
	override(&s.PatchMergeKey, by.PatchMergeKey)
	if by.ListMapKeys != nil {
		s.ListMapKeys = by.ListMapKeys
	}
	if by.PatchStrategies != nil {
		s.PatchStrategies = by.PatchStrategies
	}
	if by.HasDefault {
		s.Default, s.HasDefault = by.Default, true
	}
	s.Nullable = s.Nullable || by.Nullable
	s.IntOrString = s.IntOrString || by.IntOrString
	s.PreserveUnknownFields = s.PreserveUnknownFields || by.PreserveUnknownFields
	s.EmbeddedResource = s.EmbeddedResource || by.EmbeddedResource
}

func override(to *string, by string) {
	if by != "" {
		*to = by
	}
}
