package patch

import (
	"fmt"
	"strings"

	"github.com/kubefake/kubefake/internal/schema"
)

// A field describes how a strategic merge patch merges a member of an object.
type field struct {
	// typ is the type of the member, or of its elements if it is a list.
	typ *schema.Schema
	// strategy is merge, replace or "".
	strategy string
	// key is the merge key of a list.
	key string
}

// member describes a member of an object of type s. Like encoding/json it falls
// back to names that differ in case.
func member(s *schema.Schema, name string) (field, error) {
	if goKind(s) != "struct" {
		return field{}, fmt.Errorf("merging an object in json but data type is not struct, instead is: %s", goKind(s))
	}
	typ, ok := s.Properties[name]
	if !ok {
		for other, property := range s.Properties {
			if strings.EqualFold(other, name) {
				typ, ok = property, true
			}
		}
	}
	if !ok {
		return field{}, fmt.Errorf("unable to find api field in struct %s for the json field %q", goName(s), name)
	}
	f := field{typ: typ, key: typ.PatchMergeKey}
	for _, strategy := range typ.PatchStrategies {
		if strategy != "retainKeys" {
			f.strategy = strategy
		}
	}
	return f, nil
}

// list describes a member that is a list.
//
// Differs from kube-apiserver: strategic merge patches with directives for a
// list on another field: kube-apiserver treats any pointer as a list without
// anything to merge, and its error names the kind ptr. Here the error names the
// kind of the struct. Request: PATCH with $setElementOrder for a field that is
// an object.
func list(s *schema.Schema, name string) (field, error) {
	f, err := member(s, name)
	if err != nil {
		return field{}, err
	}
	if goKind(f.typ) != "slice" || f.typ.Items == nil {
		return field{}, fmt.Errorf("expected slice or array type, but got: %s", goKind(s))
	}
	f.typ = f.typ.Items
	return f, nil
}

// goName returns the name of the Go type of a schema.
func goName(s *schema.Schema) string { return s.Name[strings.LastIndexByte(s.Name, '.')+1:] }

// goKind returns the reflect.Kind of the Go type of a schema.
func goKind(s *schema.Schema) string {
	switch s.Type {
	case "array":
		return "slice"
	case "boolean":
		return "bool"
	case "integer":
		return s.Format
	case "number":
		return "float64"
	case "string":
		switch s.Format {
		case "byte":
			return "slice"
		case "date-time":
			return "struct"
		}
		return "string"
	}
	if s.Additional != nil {
		return "map"
	}
	return "struct"
}
