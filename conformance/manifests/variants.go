package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// variants returns n variants with faults of each object that takes no effect on others.
func variants(objects []*object, n int, seed uint64) (out []*object) {
	for i, o := range objects {
		if takesEffect(o) {
			continue
		}
		for v := range n {
			r := rand.New(rand.NewPCG(seed, uint64(i*n+v)))
			var tree map[string]any
			if json.Unmarshal(o.body, &tree) != nil {
				continue
			}
			for range 1 + r.IntN(2) {
				mutate(r, tree)
			}
			body, err := json.Marshal(tree)
			if err != nil {
				continue
			}
			changed := *o
			changed.body, changed.variant = body, true
			changed.origin = fmt.Sprintf("%s variant %d", o.origin, v)
			out = append(out, &changed)
		}
	}
	return out
}

// faults are the values that replace others.
var faults = []any{
	nil, "", "x", "A b", "-", "1Gi", "-1", "10%", "::", "a.b/c", strings.Repeat("a", 64), strings.Repeat("é", 130),
	0, -1, 1, 65536, 1 << 40, 0.5, true, false, []any{}, []any{nil}, []any{"a", "a"}, map[string]any{}, map[string]any{"a": "b"},
}

// mutate changes a random place of an object, but never what the URL of its request depends on.
func mutate(r *rand.Rand, tree map[string]any) {
	var at any = tree
	for depth := 0; ; depth++ {
		switch node := at.(type) {
		case map[string]any:
			keys := slices.DeleteFunc(slices.Sorted(maps.Keys(node)), func(k string) bool {
				return depth == 0 && (k == "apiVersion" || k == "kind") || k == "name" && depth == 1 || k == "namespace" && depth == 1
			})
			if len(keys) == 0 || r.IntN(12) == 0 {
				node["unknown"] = faults[r.IntN(len(faults))]
				return
			}
			key := keys[r.IntN(len(keys))]
			if child := node[key]; isLeaf(child) || depth > 0 && r.IntN(6) == 0 {
				change(r, node, key)
				return
			}
			at = node[key]
		case []any:
			i := r.IntN(len(node))
			if isLeaf(node[i]) || r.IntN(8) == 0 {
				node[i] = faults[r.IntN(len(faults))]
				return
			}
			at = node[i]
		}
	}
}

// isLeaf reports whether nothing is below a value.
func isLeaf(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return true
}

// change changes a member of a map.
func change(r *rand.Rand, node map[string]any, key string) {
	value := node[key]
	switch list, ok := value.([]any); {
	case ok && len(list) > 0 && r.IntN(2) == 0:
		node[key] = append(list, list[r.IntN(len(list))])
	case r.IntN(4) == 0:
		delete(node, key)
	case r.IntN(8) == 0:
		delete(node, key)
		node[strings.ToUpper(key[:1])+key[1:]] = value
	default:
		node[key] = faults[r.IntN(len(faults))]
	}
}
