package jsonpath

import (
	"cmp"
	"errors"
	"fmt"
)

var (
	errNoScalar     = errors.New("invalid type for comparison")
	errIncompatible = errors.New("incompatible types for comparison")
)

// compare compares two scalars of the same type. Booleans can only be equal or not.
func compare(a any, operator string, b any) (bool, error) {
	order, ordered, err := compareScalars(a, b)
	switch operator {
	case "==":
		return order == 0, err
	case "!=":
		return order != 0, err
	case "<", "<=", ">", ">=":
		if err == nil && !ordered {
			err = errNoScalar
		}
	default:
		return false, fmt.Errorf("unrecognized filter operator %s", operator)
	}
	switch operator {
	case "<":
		return order < 0, err
	case "<=":
		return order <= 0, err
	case ">":
		return order > 0, err
	default:
		return order >= 0, err
	}
}

// compareScalars returns the order of two scalars of the same type, and whether
// the type has one. Bytes of texts are numbers.
func compareScalars(a, b any) (order int, ordered bool, err error) {
	a, b = scalar(a), scalar(b)
	if a == nil || b == nil {
		return 0, false, errNoScalar
	}
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return cmp.Compare(a, b), true, nil
		}
	case bool:
		if b, ok := b.(bool); ok {
			if a != b {
				order = 1
			}
			return order, false, nil
		}
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b), true, nil
		}
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b), true, nil
		}
	}
	return 0, false, errIncompatible
}

// scalar returns a scalar, with integers as int64, and nil for other values.
func scalar(v any) any {
	switch v := v.(type) {
	case string, bool, int64, float64:
		return v
	case int:
		return int64(v)
	case byte:
		return int64(v)
	}
	return nil
}
