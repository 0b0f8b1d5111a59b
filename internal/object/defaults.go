package object

// SetDefault gives obj a member that it lacks.
func SetDefault(obj map[string]any, name string, v any) {
	if obj[name] == nil {
		obj[name] = v
	}
}

// SetDefaultIfZero gives obj a member that it lacks or that is zero: for members that
// the API keeps by value, whose zero is as good as none.
func SetDefaultIfZero(obj map[string]any, name string, v any) {
	switch obj[name] {
	case nil, "", int64(0):
		obj[name] = v
	}
}

// EnsureMap is the object at a member of obj, made if there is none.
func EnsureMap(obj map[string]any, name string) map[string]any {
	if m, ok := obj[name].(map[string]any); ok {
		return m
	}
	m := map[string]any{}
	obj[name] = m
	return m
}

// A Default is a name with the value that fills it.
type Default struct {
	Name  string
	Value any
}

// ShallowCopy is a shallow copy of m, to be changed.
func ShallowCopy(m map[string]any) map[string]any {
	out := make(map[string]any, len(m)+1)
	for k, v := range m {
		out[k] = v
	}
	return out
}

// SetDefaults fills several members.
func SetDefaults(obj map[string]any, members []Default) {
	for _, m := range members {
		SetDefault(obj, m.Name, m.Value)
	}
}
