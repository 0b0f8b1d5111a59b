package cel

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
)

// value returns the CEL value of a decoded JSON value. Maps and lists are wrapped, not
// copied.
func (t *declType) value(v any) ref.Val {
	if v == nil {
		if t.schema.Nullable {
			return types.NullValue
		}
		return types.NewErr("invalid data, got null for schema with nullable=false")
	}
	v = object.Plain(v)
	switch t.kind {
	case kindIntOrString:
		switch v := v.(type) {
		case string:
			return types.String(v)
		case int64:
			return types.Int(v)
		}
		return types.NewErr("invalid data, expected XIntOrString value to be either a string or integer")
	case kindObject, kindMap:
		m, ok := v.(map[string]any)
		if !ok {
			return types.NewErr("invalid data, expected a map for the provided schema with type=object")
		}
		return &mapVal{m, t}
	case kindList:
		return t.listValue(v)
	case kindScalar:
		return t.scalarValue(v)
	case kindUnknown:
		return unknownVal{v}
	}
	return types.NewErr("invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got %s", t.schema.Type)
}

func (t *declType) listValue(v any) ref.Val {
	l, ok := v.([]any)
	if !ok {
		return types.NewErr("invalid data, expected an array for the provided schema with type=array")
	}
	if t.element == nil {
		return types.NewErr("invalid array type, expected Items with a non-empty Schema")
	}
	plain := listVal{l, t}
	switch typ := t.schema.ListType; typ {
	case "map":
		return &mapListVal{plain}
	case "set":
		return &setVal{plain}
	case "", "atomic":
		return &plain
	default:
		return types.NewErr("invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got %s", typ)
	}
}

func (t *declType) scalarValue(v any) ref.Val {
	switch t.schema.Type {
	case "string":
		s, ok := v.(string)
		if !ok {
			return types.NewErr("invalid data, expected string, got %T", v)
		}
		return stringValue(t.schema.Format, s)
	case "number":
		switch v := v.(type) {
		case int64:
			return types.Double(v)
		case float64:
			return types.Double(v)
		}
		return types.NewErr("invalid data, expected float, got %T", v)
	case "integer":
		if i, ok := v.(int64); ok {
			return types.Int(i)
		}
		return types.NewErr("invalid data, expected int, got %T", v)
	}
	if b, ok := v.(bool); ok {
		return types.Bool(b)
	}
	return types.NewErr("invalid data, expected bool, got %T", v)
}

// stringValue returns the CEL value of a string of a format.
func stringValue(format, s string) ref.Val {
	switch format {
	case "duration":
		d, err := schema.ParseDuration(s)
		if err != nil {
			return types.NewErr("Invalid duration %s: %v", s, err)
		}
		return types.Duration{Duration: d}
	case "date":
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			return types.NewErr("Invalid date formatted string %s: %v", s, err)
		}
		return types.Timestamp{Time: d}
	case "date-time":
		d, err := parseDateTime(s)
		if err != nil {
			return types.NewErr("Invalid date-time formatted string %s: %v", s, err)
		}
		return types.Timestamp{Time: d}
	case "byte":
		b, err := base64.URLEncoding.DecodeString(s)
		if err != nil {
			return types.NewErr("Invalid byte formatted string %s: %v", s, err)
		}
		return types.Bytes(b)
	}
	return types.String(s)
}

// parseDateTime parses a string of the format date-time. The time zone may be omitted;
// the empty string is the start of 1970.
func parseDateTime(s string) (time.Time, error) {
	if s == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04:05", s)
	}
	return t, err
}

// unknownVal is a value whose unknown fields are preserved. Expressions can only
// compare it.
type unknownVal struct{ v any }

func (o unknownVal) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", to)
}

func (o unknownVal) ConvertToType(to ref.Type) ref.Val {
	return types.NewErr("type conversion to '%s' not supported for values preserved by x-kubernetes-preserve-unknown-fields", to.TypeName())
}

func (o unknownVal) Equal(other ref.Val) ref.Val { return types.Bool(object.Equal(o.v, other.Value())) }
func (o unknownVal) Type() ref.Type              { return types.UnknownType }
func (o unknownVal) Value() any                  { return o.v }
