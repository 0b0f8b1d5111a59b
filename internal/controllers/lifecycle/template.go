package lifecycle

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/template"
)

// A Host is what templates ask about the Node of an object.
type Host interface {
	Now() time.Time
	// StartTime is when the kubelet started.
	StartTime() time.Time
	// Version is that of Kubernetes, such as v1.36.3.
	Version() string
	// NodeIPs returns the addresses of a Node.
	NodeIPs(node string) []string
	// PodIPs returns the addresses of a Pod, which it allocates for a Pod that has none.
	PodIPs(node string, hostNetwork bool, uid, name, namespace string) []string
}

// NodeConditions are the conditions of a Node that is well, as templates get them.
func NodeConditions() []any {
	return []any{
		condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
		condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
	}
}

func condition(typ, status, reason, message string) map[string]any {
	return map[string]any{"type": typ, "status": status, "reason": reason, "message": message}
}

// A renderer returns the JSON of what a template makes of an object. node is the Node that
// the object is, or that it is assigned to.
type renderer func(h Host, node string, obj object.View) ([]byte, error)

// parseTemplate returns the renderer of a template. A function that does not exist is an
// error.
func parseTemplate(text string) (renderer, error) {
	parsed, err := template.Parse("stage", strings.TrimSpace(text), functions(nil, ""))
	if err != nil {
		return nil, err
	}
	return func(h Host, node string, obj object.View) ([]byte, error) {
		out, err := parsed.Execute(functions(h, node), obj.Shared())
		if err != nil {
			return nil, err
		}
		data, err := yaml.YAMLToJSON([]byte(out))
		if err != nil {
			return nil, fmt.Errorf("the result is not YAML: %w", err)
		}
		return data, nil
	}, nil
}

// functions are those of KWOK, and the ones of the library sprig that its Stages use.
func functions(h Host, node string) template.Functions {
	first := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return list[0]
	}
	return template.Functions{
		"Quote":          quote,
		"Now":            func() string { return h.Now().UTC().Format(time.RFC3339Nano) },
		"StartTime":      func() string { return h.StartTime().UTC().Format(time.RFC3339Nano) },
		"Version":        func() string { return h.Version() },
		"YAML":           toYAML,
		"NodeConditions": NodeConditions,
		"NodeName":       func() string { return node },
		"NodeIP":         func() string { return first(h.NodeIPs(node)) },
		"NodePort":       func() int { return 10250 },
		"NodeIPWith":     func(node string) string { return first(h.NodeIPs(node)) },
		"NodeIPsWith":    func(node string) []string { return h.NodeIPs(node) },
		"PodIPWith": func(node string, hostNetwork bool, uid, name, namespace string) string {
			return first(h.PodIPs(node, hostNetwork, uid, name, namespace))
		},
		"PodIPsWith": func(node string, hostNetwork bool, uid, name, namespace string) []string {
			return h.PodIPs(node, hostNetwork, uid, name, namespace)
		},

		"dict":     dict,
		"list":     func(v ...any) []any { return v },
		"default":  func(other, v any) any { return ternary(v, other, !empty(v)) },
		"empty":    empty,
		"ternary":  ternary,
		"hasKey":   func(m map[string]any, k string) bool { _, ok := m[k]; return ok },
		"get":      func(m map[string]any, k string) any { return m[k] },
		"quote":    func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
		"toString": func(v any) string { return fmt.Sprint(v) },
		"toJson":   func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
		"add":      func(a, b any) int64 { return integer(a) + integer(b) },
		"sub":      func(a, b any) int64 { return integer(a) - integer(b) },
		"mul":      func(a, b any) int64 { return integer(a) * integer(b) },
		"int":      integer,
		"lower":    strings.ToLower,
		"upper":    strings.ToUpper,
		"trim":     strings.TrimSpace,
		"contains": func(part, s string) bool { return strings.Contains(s, part) },
		"hasPrefix": func(prefix, s string) bool {
			return strings.HasPrefix(s, prefix)
		},
		"hasSuffix": func(suffix, s string) bool { return strings.HasSuffix(s, suffix) },
		"replace":   func(old, new, s string) string { return strings.ReplaceAll(s, old, new) },
	}
}

func quote(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return strconv.Quote(fmt.Sprint(v))
	}
	if data[0] == '"' {
		return string(data)
	}
	return strconv.Quote(string(data))
}

func toYAML(v any, indent ...int) (string, error) {
	data, err := yaml.Marshal(v)
	text := string(data)
	if len(indent) == 1 && indent[0] > 0 {
		text = strings.ReplaceAll("\n"+text, "\n", "\n"+strings.Repeat("  ", indent[0]))
	}
	return text, err
}

func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}

func ternary(yes, no any, condition bool) any {
	if condition {
		return yes
	}
	return no
}

func empty(v any) bool { return !template.IsTrue(v) }

func integer(v any) int64 {
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return r.Int()
	case r.CanFloat():
		return int64(r.Float())
	case r.Kind() == reflect.String:
		n, _ := strconv.ParseInt(r.String(), 10, 64)
		return n
	}
	return 0
}
