package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Convert returns the canonical form of an object that is the result of a
// strategic merge patch. kube-apiserver converts such an object to a Go struct
// without encoding it as JSON, so that Convert differs from [Type.Normalize]:
// whole numbers convert to integers however they are written, and integers that
// are too large for their field lose their upper bits; errors have other texts
// and no paths.
//
// With o.Strict, fieldErrors has an error for each unknown field, sorted by
// text; the object is returned nevertheless. err is the error of the first
// value, in the order of fields, that does not convert to the type of its
// field. Convert does not change obj and shares no memory with it. It panics
// for values of types that canonical objects do not contain.
func (t *Type) Convert(obj map[string]any, o DecodeOptions) (normal map[string]any, fieldErrors []error, err error) {
	// The converter writes JSON that Decode reads, so that only Decode
	// implements the rules of canonical form.
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	c := converter{dst: (*buf)[:0], strict: o.Strict}
	err = c.value(t.root, obj)
	*buf = c.dst
	if err != nil {
		return nil, nil, err
	}
	if normal, _, err = t.Decode(c.dst, DecodeOptions{}); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(c.unknown, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return normal, c.unknown, nil
}

// A converter appends the JSON encoding of values that fit their types.
type converter struct {
	dst     []byte
	strict  bool
	path    []byte // of the current value
	unknown []error
}

// value appends a value of type n.
func (c *converter) value(n *node, v any) error {
	if v == nil {
		c.dst = append(c.dst, "null"...)
		return nil
	}
	switch n.kind {
	case kindBool, kindInt, kindFloat, kindString:
		return c.scalar(n, v)
	case kindBytes:
		return c.bytes(n, v)
	case kindAny:
		c.dst = appendAny(c.dst, v)
		return nil
	case kindSlice:
		list, ok := v.([]any)
		if !ok {
			return errors.New("cannot restore slice from " + reflectKind(v))
		}
		return c.list(n.elem, list)
	case kindMap:
		obj, ok := v.(map[string]any)
		if !ok {
			return errors.New("cannot restore map from " + reflectKind(v))
		}
		return c.mapping(n.elem, obj)
	case kindStruct:
		obj, ok := v.(map[string]any)
		if !ok {
			return errors.New("cannot restore struct from: " + reflectKind(v))
		}
		return c.object(n, obj)
	}
	// A type with its own codec decodes the value as a document.
	start := len(c.dst)
	c.dst = appendVerbatim(c.dst, v)
	_, _, err := (&Type{root: n}).decode(c.dst[start:], DecodeOptions{})
	return err
}

// scalar appends a value of a simple type.
func (c *converter) scalar(n *node, v any) error {
	switch v := v.(type) {
	case bool:
		if n.kind == kindBool {
			c.dst = strconv.AppendBool(c.dst, v)
			return nil
		}
	case string:
		if n.kind == kindString {
			c.dst = appendString(c.dst, v)
			return nil
		}
	case int64:
		switch n.kind {
		case kindInt:
			c.integer(n, v)
			return nil
		case kindFloat:
			c.dst = appendFloat(c.dst, float64(v))
			return nil
		case kindString: // Go converts an integer to a string of one character
			return fmt.Errorf("cannot convert int64 to %s", n.goType)
		}
	case float64:
		switch n.kind {
		case kindFloat:
			c.dst = appendFloat(c.dst, v)
			return nil
		case kindInt:
			if v != math.Trunc(v) {
				return fmt.Errorf("cannot convert float64 to %s", n.goType)
			}
			c.integer(n, int64(v))
			return nil
		}
	}
	return errors.New("unrecognized type: " + n.reflectKind())
}

// integer appends the lower bits of an integer that the type has.
func (c *converter) integer(n *node, i int64) {
	switch n.bits {
	case 8:
		i = int64(uint8(i))
	case 32:
		i = int64(int32(i))
	}
	c.dst = strconv.AppendInt(c.dst, i, 10)
}

// bytes appends a []byte.
func (c *converter) bytes(n *node, v any) error {
	switch v := v.(type) {
	case string:
		if _, err := base64.StdEncoding.DecodeString(v); err != nil {
			return fmt.Errorf("error decoding from json: %w", err)
		}
		c.dst = appendString(c.dst, v)
		return nil
	case []any:
		return c.list(n.elem, v)
	}
	return errors.New("cannot restore slice from " + reflectKind(v))
}

func (c *converter) list(elem *node, list []any) error {
	c.dst = append(c.dst, '[')
	here := len(c.path)
	for i, v := range list {
		if i > 0 {
			c.dst = append(c.dst, ',')
		}
		c.path = append(strconv.AppendInt(append(c.path, '['), int64(i), 10), ']')
		if err := c.value(elem, v); err != nil {
			return err
		}
		c.path = c.path[:here]
	}
	c.dst = append(c.dst, ']')
	return nil
}

// mapping appends a map. The paths of unknown fields do not contain its keys.
func (c *converter) mapping(elem *node, obj map[string]any) error {
	c.dst = append(c.dst, '{')
	for i, key := range slices.Sorted(maps.Keys(obj)) {
		if i > 0 {
			c.dst = append(c.dst, ',')
		}
		c.dst = append(appendString(c.dst, key), ':')
		if err := c.value(elem, obj[key]); err != nil {
			return err
		}
	}
	c.dst = append(c.dst, '}')
	return nil
}

// object appends a struct and records unknown members.
func (c *converter) object(n *node, obj map[string]any) error {
	c.dst = append(c.dst, '{')
	start, here := len(c.dst), len(c.path)
	known := 0
	for i := range n.fields {
		f := &n.fields[i]
		v, ok := obj[f.name]
		if !ok {
			continue
		}
		known++
		if len(c.dst) > start {
			c.dst = append(c.dst, ',')
		}
		c.dst = append(c.dst, f.prefix...)
		c.step(f.name)
		if err := c.value(f.node, v); err != nil {
			return err
		}
		c.path = c.path[:here]
	}
	c.dst = append(c.dst, '}')
	if !c.strict || known == len(obj) {
		return nil
	}
	for key := range obj {
		if n.byName.Find(key) < 0 {
			c.step(key)
			c.unknown = append(c.unknown, errors.New(string(UnknownField)+` "`+string(c.path)+`"`))
			c.path = c.path[:here]
		}
	}
	return nil
}

// step appends a member to the path.
func (c *converter) step(name string) {
	if len(c.path) > 0 {
		c.path = append(c.path, '.')
	}
	c.path = append(c.path, name...)
}

// reflectKind returns the reflect.Kind of a value.
func reflectKind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "map"
	case []any:
		return "slice"
	}
	return fmt.Sprintf("%T", v)
}

// reflectKind returns the reflect.Kind of a simple type.
func (n *node) reflectKind() string {
	switch n.kind {
	case kindBool:
		return "bool"
	case kindFloat:
		return "float64"
	case kindString:
		return "string"
	}
	if n.bits == 8 {
		return "uint8"
	}
	return "int" + strconv.Itoa(n.bits)
}
