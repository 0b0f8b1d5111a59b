package object

// Alike reports whether two values are equal apart from members that are absent in one and empty or
// zero in the other, as clients with typed objects send them.
func Alike(a, b any) bool {
	if Equal(a, b) {
		return true
	}
	switch x := a.(type) {
	case nil:
		return b != nil && Alike(b, nil)
	case map[string]any:
		y, ok := b.(map[string]any)
		return (ok || b == nil) && alikeMembers(x, y) && alikeMembers(y, x)
	case []any:
		y, ok := b.([]any)
		return (ok || b == nil) && alikeElements(x, y)
	case bool:
		return b == nil && !x
	case string:
		return b == nil && (x == "" || x == "0" || x == "0s") // a Quantity and a Duration too
	case int64:
		return b == nil && x == 0
	case float64:
		return b == nil && x == 0
	}
	return false
}

// alikeMembers reports whether each member of x is alike that of y.
func alikeMembers(x, y map[string]any) bool {
	for name, v := range x {
		if !Alike(v, y[name]) {
			return false
		}
	}
	return true
}

func alikeElements(x, y []any) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !Alike(x[i], y[i]) {
			return false
		}
	}
	return true
}
