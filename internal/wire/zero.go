package wire

import (
	"math/bits"

	"github.com/kubefake/kubefake/internal/object"
)

// zero returns the canonical form of a Go type's zero value. Each call returns
// new objects.
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

// zero returns the canonical form of an unset field that is always written.
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

// unset reports whether a value is the zero value of its Go type. Empty lists
// and maps are not.
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

// empty reports whether omitempty omits a value. It is not called for structs
// and values with their own codecs.
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
