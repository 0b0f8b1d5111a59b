package schema

import (
	"fmt"
	"strings"
)

// A linker resolves the references between definitions.
type linker struct {
	definitions map[string]*definition
	// resolved has the component schemas by name. A schema that is not a reference is
	// added before its subschemas are resolved, since these may refer to it.
	resolved map[string]*Schema
	// resolving has the components whose references are being resolved.
	resolving map[string]bool
	// copies are made at the end. A copy of a copy comes after the latter.
	copies []pendingCopy
}

// A pendingCopy is a schema that becomes a copy of another with some keywords changed.
type pendingCopy struct {
	to, from *Schema
	changes  *Schema
}

// finish makes the copies.
func (l *linker) finish() {
	for _, c := range l.copies {
		*c.to = *c.from
		c.to.override(c.changes)
	}
}

// named returns the component schema with a name.
func (l *linker) named(name string) (*Schema, error) {
	if s, ok := l.resolved[name]; ok {
		return s, nil
	}
	def := l.definitions[name]
	if def == nil {
		return nil, fmt.Errorf("%w: no schema %q", ErrMalformed, name)
	}
	if l.resolving[name] {
		return nil, fmt.Errorf("%w: schema %q is itself", ErrMalformed, name)
	}
	if def.reference() != "" {
		l.resolving[name] = true
		s, err := l.schema(def)
		l.resolved[name] = s
		return s, err
	}
	s := &def.schema
	s.Name = name
	l.resolved[name] = s
	return s, l.resolve(def)
}

// schema returns the schema of a definition, nil for nil.
func (l *linker) schema(def *definition) (*Schema, error) {
	if def == nil {
		return nil, nil
	}
	reference := def.reference()
	if reference == "" {
		return &def.schema, l.resolve(def)
	}
	name, ok := strings.CutPrefix(reference, "#/components/schemas/")
	if !ok {
		return nil, fmt.Errorf("%w: reference to %q", ErrMalformed, reference)
	}
	target, err := l.named(name)
	if err != nil || !def.hasKeywords {
		return target, err
	}
	s := &Schema{}
	l.copies = append(l.copies, pendingCopy{to: s, from: target, changes: &def.schema})
	return s, nil
}

// resolve resolves the subschemas of a definition that is not a reference.
func (l *linker) resolve(def *definition) (err error) {
	s := &def.schema
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

// reference returns the reference of the definition, "" if it is not a reference.
func (d *definition) reference() string {
	if d.ref == "" && len(d.allOf) == 1 {
		return d.allOf[0].ref
	}
	return d.ref
}

// integerOrString reports whether oneOf allows integers and strings only.
func (d *definition) integerOrString() bool {
	if len(d.oneOf) != 2 {
		return false
	}
	a, b := d.oneOf[0].schema.Type, d.oneOf[1].schema.Type
	return a == "integer" && b == "string" || a == "string" && b == "integer"
}

// override sets the keywords of s that by has.
func (s *Schema) override(by *Schema) {
	overrideString(&s.Type, by.Type)
	overrideString(&s.Format, by.Format)
	overrideString(&s.ListType, by.ListType)
	overrideString(&s.MapType, by.MapType)
	overrideString(&s.PatchMergeKey, by.PatchMergeKey)
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

func overrideString(to *string, by string) {
	if by != "" {
		*to = by
	}
}
