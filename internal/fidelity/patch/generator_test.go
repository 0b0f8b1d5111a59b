package patch_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A generator returns random objects of Go types, and patches for them.
type generator struct{ *rand.Rand }

// special has values of types with their own codecs.
var special = map[reflect.Type][]any{
	reflect.TypeFor[metav1.Time]():          {"2024-05-06T07:08:09Z"},
	reflect.TypeFor[metav1.MicroTime]():     {"2024-05-06T07:08:09.000001Z"},
	reflect.TypeFor[resource.Quantity]():    {"1", "2Gi"},
	reflect.TypeFor[intstr.IntOrString]():   {int64(80), "http"},
	reflect.TypeFor[runtime.RawExtension](): {map[string]any{"a": int64(1)}, map[string]any{"b": map[string]any{"c": []any{"d"}}}},
	reflect.TypeFor[metav1.FieldsV1]():      {map[string]any{"f:data": map[string]any{}}},
}

// misfits are values that few types accept.
var misfits = []any{nil, "a", int64(1), 1.5, true, []any{}, map[string]any{}, []any{"a", int64(1)}, []any{[]any{"a"}}, []any{map[string]any{}}}

// letter returns one of three letters, so that objects and patches often match.
func (g *generator) letter() string { return string("abc"[g.IntN(3)]) }

func pick[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

// stored returns an object in the form in which the server merges a patch into
// it.
func (g *generator) stored(t reflect.Type) map[string]any {
	doc, err := json.Marshal(g.value(t, 8))
	if err != nil {
		panic(err)
	}
	obj := reflect.New(t).Interface()
	if err := json.Unmarshal(doc, obj); err != nil {
		panic(err)
	}
	stored, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		panic(err)
	}
	return stored
}

// value returns a value of a type.
func (g *generator) value(t reflect.Type, depth int) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if values, ok := special[t]; ok {
		return runtime.DeepCopyJSONValue(pick(g, values))
	}
	switch t.Kind() {
	case reflect.Bool:
		return g.IntN(2) == 0
	case reflect.Int32, reflect.Int64:
		return int64(1 + g.IntN(3))
	case reflect.Float64:
		return float64(g.IntN(3)) / 2
	case reflect.String:
		return g.letter()
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "YQ=="
		}
		list := []any{}
		for range g.IntN(4) {
			v := g.value(t.Elem(), depth-1)
			// If a stored list contains a scalar twice, kube-apiserver's order
			// depends on the capacities of its slices.
			if text, ok := v.(string); !ok || !slices.Contains(list, any(text)) {
				list = append(list, v)
			}
		}
		return list
	case reflect.Map:
		obj := map[string]any{}
		for range g.IntN(3) {
			obj[g.letter()] = g.value(t.Elem(), depth-1)
		}
		return obj
	}
	obj := map[string]any{}
	if depth > 0 {
		for _, m := range members(t) {
			if m.required || g.IntN(4) == 0 {
				obj[m.name] = g.value(m.goType, depth-1)
			}
		}
	}
	return obj
}

// A member is a field of a struct in JSON.
type member struct {
	name     string
	goType   reflect.Type
	mergeKey string
	// required is set if the field is always present, or likely a merge key.
	required bool
}

func members(t reflect.Type) (list []member) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			list = append(list, members(f.Type)...)
			continue
		}
		required := !strings.Contains(f.Tag.Get("json"), "omit")
		for _, key := range []string{"name", "metadata", "spec", "port", "containerPort", "mountPath", "devicePath", "uid", "type", "ip", "topologyKey", "labels"} {
			required = required || name == key
		}
		list = append(list, member{name, f.Type, f.Tag.Get("patchMergeKey"), required})
	}
	return list
}

// patch returns a patch for an object of a type.
func (g *generator) patch(t reflect.Type, obj map[string]any) map[string]any {
	patch := map[string]any{}
	for _, m := range members(t) {
		if g.IntN(3) > 0 {
			continue
		}
		old, ok := obj[m.name]
		if !ok && g.IntN(3) > 0 {
			continue
		}
		patch[m.name] = g.change(m, old)
		// kube-apiserver treats pointers as lists; see package patch.
		if list, ok := old.([]any); (ok || m.goType.Kind() != reflect.Pointer && g.IntN(20) == 0) && g.IntN(3) == 0 {
			g.listDirectives(patch, m, list)
		}
	}
	switch g.IntN(60) {
	case 0:
		patch["$patch"] = pick(g, []any{"replace", "delete", "merge", "x", int64(1)})
	case 1, 2:
		kept := []any{}
		for name := range patch {
			if g.IntN(8) > 0 {
				kept = append(kept, name)
			}
		}
		patch["$retainKeys"] = kept
	case 3:
		patch[pick(g, []string{"bogus", "$retainKeys", "$setElementOrder/bogus", "$setElementOrder", "$deleteFromPrimitiveList", "$deleteFromPrimitiveList/"})] = pick(g, misfits)
	}
	return patch
}

// change returns the value of a member in a patch.
func (g *generator) change(m member, old any) any {
	switch g.IntN(40) {
	case 0:
		return runtime.DeepCopyJSONValue(pick(g, misfits))
	case 1:
		return nil
	}
	t := m.goType
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, isSpecial := special[t]
	switch old := old.(type) {
	case map[string]any:
		if t.Kind() == reflect.Struct && !isSpecial {
			return g.patch(t, old)
		}
	case []any:
		if t.Kind() != reflect.Slice {
			break
		}
		list, _ := g.value(t, 3).([]any)
		for _, elem := range old {
			if g.IntN(2) > 0 {
				continue
			}
			elem, ok := elem.(map[string]any)
			if !ok {
				continue
			}
			change := g.patch(t.Elem(), elem)
			if key, ok := elem[m.mergeKey]; ok && g.IntN(15) > 0 {
				change[m.mergeKey] = key
			}
			if g.IntN(4) == 0 {
				change["$patch"] = pick(g, []any{"delete", "delete", "delete", "replace", "merge", "x"})
			}
			list = append(list, change)
		}
		g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list
	}
	return g.value(m.goType, 3)
}

// listDirectives adds directives for a list to a patch.
func (g *generator) listDirectives(patch map[string]any, m member, old []any) {
	if g.IntN(3) == 0 {
		patch["$deleteFromPrimitiveList/"+m.name] = []any{g.letter(), g.letter()}
	}
	if g.IntN(6) == 0 {
		delete(patch, m.name)
	}
	order := []any{}
	lists := [][]any{old}
	if list, ok := patch[m.name].([]any); ok {
		lists = append(lists, list)
		if g.IntN(3) > 0 {
			lists = [][]any{list, old}
		}
	}
	for _, list := range lists {
		for _, elem := range list {
			if obj, ok := elem.(map[string]any); ok {
				elem = map[string]any{}
				if key, ok := obj[m.mergeKey]; ok {
					elem = map[string]any{m.mergeKey: key}
				}
			}
			if g.IntN(12) > 0 {
				order = append(order, elem)
			}
		}
	}
	switch g.IntN(9) {
	case 0, 1, 2:
	case 3:
		patch["$setElementOrder/"+m.name] = pick(g, misfits)
	case 4:
		patch["$setElementOrder/"+m.name] = []any{}
		patch[m.name] = pick(g, misfits)
	default:
		patch["$setElementOrder/"+m.name] = order
	}
}
