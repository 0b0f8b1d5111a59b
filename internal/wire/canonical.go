package wire

import (
	"encoding/base64"
	"math"
	"math/bits"
	"unicode/utf8"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/quantity"
)

// IsCanonical reports whether an object is in canonical form, so that [Type.Normalize] and
// [Type.Convert] would return an equal one without errors, and so would decoding its stored form. It
// reports false for some objects that are in canonical form, such as those with new empty lists.
// before is a canonical object of the type, or nil: what obj shares with it is not looked at.
func (t *Type) IsCanonical(obj, before map[string]any) bool { return t.root.isStruct(obj, before) }

// IsCanonicalCustom reports whether decoding the stored form of a custom resource returns an equal
// object, unless its schema changes it. It may miss that: it reports false for an object with new
// numbers that are not integers, and with nulls. before is a decoded custom resource, or nil: what
// obj shares with it is not looked at.
func IsCanonicalCustom(obj, before map[string]any) bool {
	for name, v := range obj {
		was := before[name]
		if name != "metadata" && !isCanonicalAny(v, was) {
			return false
		}
		if name == "metadata" && !object.Identical(v, was) && !objectMeta().root.isCanonical(v, was) {
			return false
		}
	}
	return true
}

// isCanonicalAny reports whether decoding the JSON of an untyped value returns an equal one.
func isCanonicalAny(v, before any) bool {
	if v != nil && object.Identical(v, before) {
		return true
	}
	switch v := v.(type) {
	case bool, int64:
		return true
	case string:
		return utf8.ValidString(v)
	case map[string]any:
		was, _ := before.(map[string]any)
		for name, member := range v {
			if !utf8.ValidString(name) || !isCanonicalAny(member, was[name]) {
				return false
			}
		}
		return v != nil
	case []any:
		was, _ := before.([]any)
		for i, element := range v {
			var old any
			if i < len(was) {
				old = was[i]
			}
			if !isCanonicalAny(element, old) {
				return false
			}
		}
		return v != nil
	}
	return false
}

// isCanonical reports whether a value is in the canonical form of the type. before is such a
// value, or nil.
func (n *node) isCanonical(v, before any) bool {
	switch n.kind {
	case kindBool:
		_, ok := v.(bool)
		return ok
	case kindInt:
		i, ok := v.(int64)
		return ok && n.hasInt(i)
	case kindString:
		s, ok := v.(string)
		return ok && utf8.ValidString(s)
	case kindBytes:
		s, ok := v.(string)
		b, err := base64.StdEncoding.DecodeString(s)
		return ok && err == nil && base64.StdEncoding.EncodeToString(b) == s
	case kindIntOrString:
		i, ok := v.(int64)
		if s, isString := v.(string); isString {
			ok = utf8.ValidString(s)
		}
		return ok && math.MinInt32 <= i && i <= math.MaxInt32
	case kindTime, kindMicroTime:
		s, ok := v.(string)
		canonical, err := n.canonicalTime(s)
		return ok && err == nil && canonical == s
	case kindRaw:
		raw, ok := v.(object.RawJSON)
		return ok && raw != "null"
	case kindFieldsV1:
		fields, ok := v.(object.FieldsV1)
		return ok && isPlainFieldSet(string(fields))
	case kindQuantity:
		s, ok := v.(string)
		canonical, err := quantity.Canonical(s)
		return ok && err == nil && canonical == s
	case kindStruct:
		obj, ok := v.(map[string]any)
		was, _ := before.(map[string]any)
		return ok && n.isStruct(obj, was)
	case kindMap:
		obj, ok := v.(map[string]any)
		was, _ := before.(map[string]any)
		return ok && n.isMap(obj, was)
	case kindSlice:
		list, ok := v.([]any)
		was, _ := before.([]any)
		return ok && n.isSlice(list, was)
	}
	return false
}

// hasInt reports whether a number is in the range of the type.
func (n *node) hasInt(i int64) bool {
	switch n.bits {
	case 8:
		return 0 <= i && i <= math.MaxUint8
	case 32:
		return math.MinInt32 <= i && i <= math.MaxInt32
	}
	return true
}

func (n *node) isStruct(obj, before map[string]any) bool {
	kept := 0
	for name, v := range obj {
		was, had := before[name]
		if had {
			kept++
			if object.Identical(v, was) {
				continue
			}
		}
		i := n.byName.Find(name)
		if i < 0 || !n.fields[i].isCanonical(v, was) {
			return false
		}
	}
	return before != nil && kept == len(before) || n.hasAlways(obj)
}

// hasAlways reports whether an object has all fields of the struct that are written even if
// zero.
func (n *node) hasAlways(obj map[string]any) bool {
	for set := n.always; set != 0; set &= set - 1 {
		if _, ok := obj[n.fields[bits.TrailingZeros64(set)].name]; !ok {
			return false
		}
	}
	return true
}

// isCanonical is isCanonical of a value that the field has.
func (f *field) isCanonical(v, before any) bool {
	return !f.unstored && (f.always || f.pointer || !unset(v)) && f.node.isCanonical(v, before)
}

// isMap reports false for a map without members: whether it is an [object.EmptyMap] depends on
// what has it.
func (n *node) isMap(obj, before map[string]any) bool {
	for name, v := range obj {
		if was, had := before[name]; had && object.Identical(v, was) {
			continue
		}
		if !n.elem.isCanonical(v, nil) {
			return false
		}
	}
	return len(obj) > 0
}

// isSlice reports false for a list without elements, which protobuf does not have. It compares each
// element with the one of before in its place, which is the same if others have changed.
func (n *node) isSlice(list, before []any) bool {
	for i, v := range list {
		var was any
		if i < len(before) {
			if was = before[i]; object.Identical(v, was) {
				continue
			}
		}
		if !n.elem.isCanonical(v, was) {
			return false
		}
	}
	return len(list) > 0
}
