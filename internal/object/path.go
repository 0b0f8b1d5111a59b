package object

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

// keys are the members that can identify the elements of a list, the best first.
var keys = []string{"name", "type", "key", "uid", "ip", "port", "containerPort", "mountPath", "topologyKey"}

// SharedKey returns the key that identifies the elements of two lists, of which a may be empty;
// "" if there is none.
func SharedKey(a, b []any) string {
	for _, key := range keys {
		if len(b) > 0 && isKey(a, key) && isKey(b, key) {
			return key
		}
	}
	return ""
}

// isKey reports whether key identifies every element of a list.
func isKey(list []any, key string) bool { return len(ByKey(list, key)) == len(list) }

// ByKey returns the elements of a list by key, without those that have none.
func ByKey(list []any, key string) map[string]any {
	out := make(map[string]any, len(list))
	for _, e := range list {
		m, _ := e.(map[string]any)
		switch v := m[key].(type) {
		case string, json.Number, float64, int64:
			out[fmt.Sprint(v)] = e
		}
	}
	return out
}

var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_$-]+$`) })

// Member returns the path of a member: spec.replicas, metadata.labels["a.b/c"].
func Member(path, name string) string {
	switch {
	case !plain().MatchString(name):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}
