package wire

import (
	"math/bits"

	"github.com/kubefake/kubefake/internal/object"
)

// zero returns the canonical form of a Go type's zero value. Objects are made
// anew at each call.
func (n *node) zero() any {
	switch n.kind {
	case kindBool, kindSchemaOrBool:
		return false
	case kindInt, kindIntOrString:
		return int64(0)
	case kindFloat:
		return 0.0
	case kindString:
		return ""
	case kindQuantity:
		return "0"
	case kindStruct:
		obj := make(map[string]any, bits.OnesCount64(n.always))
		n.addZeros(obj, n.always)
		return obj
	}
	return nil
}

// zero is the canonical form of a field that is written although it is not set.
func (f *field) zero() any {
	if f.pointer {
		return nil
	}
	return f.node.zero()
}

// addZeros sets the fields of a set to their zero values.
func (n *node) addZeros(obj map[string]any, set uint64) {
	for ; set != 0; set &= set - 1 {
		f := &n.fields[bits.TrailingZeros64(set)]
		obj[f.name] = f.zero()
	}
}

// unset reports whether a value is the zero value of its Go type, which lists
// and maps without elements are not.
func unset(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	case string:
		return v == ""
	}
	return false
}

// empty reports whether omitempty leaves a value out. Structs and values with
// codecs of their own are never asked about.
func empty(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	case object.EmptyMap:
		return true
	}
	return unset(v)
}
