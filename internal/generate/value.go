package generate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
)

const (
	maxDepth   = 12  // fields deep, from where on only required ones are set
	maxItems   = 4   // of a list or map that has no limit
	maxText    = 300 // characters of a text that has no limit below
	mostTrials = 8   // for an element that differs from others
)

// value returns a value for a node. more are schemas that the value should be valid by, too.
func (n *node) value(c *Choices, more []*schema.Schema, depth int) any {
	all := n.choose(c, more)
	l := limitsOf(all)
	switch {
	case n.Nullable && c.oneIn(16):
		return nil
	case len(l.enum) > 0:
		return object.Copy(pick(c, l.enum))
	case n.IntOrString:
		return n.intOrString(c, l)
	case n.EmbeddedResource && len(n.names) == 0:
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "embedded"}}
	}
	switch n.Type {
	case "object":
		return n.object(c, all, l, depth)
	case "array":
		return n.list(c, all, l, depth)
	case "string":
		return n.text(c, l)
	case "integer":
		return n.integer(c, l)
	case "number":
		return n.number(c, l)
	case "boolean":
		return c.of(2) == 1
	}
	return pick(c, []any{map[string]any{}, "a", int64(1)}) // any value
}

// A density is how many of the optional fields of an object are set.
type density int

const (
	none density = iota
	few
	half
	every
)

func (d density) sets(c *Choices) bool {
	switch d {
	case few:
		return c.oneIn(8)
	case half:
		return c.oneIn(2)
	case every:
		return true
	}
	return false
}

func (n *node) object(c *Choices, all []*schema.Schema, l limits, depth int) any {
	out := map[string]any{}
	d := pick(c, []density{none, few, few, half, half, every})
	if depth > maxDepth || depth > 2 && d == every && len(n.names) > 20 {
		d = none
	}
	for _, name := range n.names {
		if l.required[name] || !l.forbidden[name] && d.sets(c) {
			out[name] = n.children[name].value(c, under(all, name), depth+1)
		}
	}
	if n.values != nil && len(n.names) == 0 {
		n.fill(c, all, l, out, depth)
	}
	if n.EmbeddedResource {
		out["apiVersion"], out["kind"] = "v1", "ConfigMap"
		out["metadata"] = map[string]any{"name": "embedded"}
	}
	return out
}

// fill adds entries to a map.
func (n *node) fill(c *Choices, all []*schema.Schema, l limits, out map[string]any, depth int) {
	names := slices.Concat(slices.Sorted(maps.Keys(l.required)), []string{"a", "b", "example.com/c", "d-e", "f"}, n.hints.texts)
	for _, name := range names[:len(l.required)] {
		out[name] = n.values.value(c, additional(all), depth+1)
	}
	for i := len(out); i < n.count(c, l, depth); i++ {
		name := pick(c, names)
		if _, ok := out[name]; ok {
			name = fmt.Sprintf("key-%d", i)
		}
		out[name] = n.values.value(c, additional(all), depth+1)
	}
}

// count returns a number of elements.
func (n *node) count(c *Choices, l limits, depth int) int {
	most := min(l.items, max(l.fewest, maxItems))
	if depth > maxDepth {
		most = l.fewest
	}
	if l.items <= 16 && depth <= 3 && c.oneIn(8) {
		return int(l.items) // the largest
	}
	return int(l.fewest) + c.of(int(max(most-l.fewest, 0))+1)
}

func (n *node) list(c *Choices, all []*schema.Schema, l limits, depth int) any {
	out := []any{}
	for range n.count(c, l, depth) {
		for range mostTrials {
			v := n.items.value(c, ofItems(all), depth+1)
			if !slices.ContainsFunc(out, func(other any) bool { return n.clash(v, other) }) {
				out = append(out, v)
				break
			}
			if c.fuzzed && len(c.data) == 0 {
				break // it would be the same again
			}
		}
	}
	return out
}

// clash reports whether two elements must not be in the same list.
func (n *node) clash(a, b any) bool {
	switch n.ListType {
	case "set":
		return object.Equal(a, b)
	case "map":
		x, _ := a.(map[string]any)
		y, _ := b.(map[string]any)
		return !slices.ContainsFunc(n.ListMapKeys, func(key string) bool {
			return !object.Equal(n.keyOf(x, key), n.keyOf(y, key))
		})
	}
	return false
}

// keyOf returns a key field of an element, or its default.
func (n *node) keyOf(element map[string]any, key string) any {
	if v, ok := element[key]; ok {
		return v
	}
	if s := n.Items.Properties[key]; s != nil {
		return s.Default
	}
	return nil
}

// under returns what schemas say of a field.
func under(all []*schema.Schema, name string) []*schema.Schema {
	return of(all[1:], func(s *schema.Schema) *schema.Schema { return s.Properties[name] })
}

func ofItems(all []*schema.Schema) []*schema.Schema {
	return of(all[1:], func(s *schema.Schema) *schema.Schema { return s.Items })
}

func additional(all []*schema.Schema) []*schema.Schema {
	return of(all[1:], func(s *schema.Schema) *schema.Schema { return s.Additional })
}

func of(all []*schema.Schema, part func(*schema.Schema) *schema.Schema) (out []*schema.Schema) {
	for _, s := range all {
		if p := part(s); p != nil {
			out = append(out, p)
			if p.Constraints != nil {
				out = append(out, p.Constraints.AllOf...)
			}
		}
	}
	return out
}

// texts are candidates for a text without a pattern.
var texts = []string{"a", "", "b", "a-b", "example.com", "0", "1", "true", "null", " a ", "A_b.C", "10m", "1Gi", "é", "日本語", "a\nb", strings.Repeat("x", 63), strings.Repeat("y", 64), strings.Repeat("z", 253)}

func (n *node) text(c *Choices, l limits) any {
	patterns := slices.Concat(l.patterns, n.hints.patterns)
	var s string
	switch {
	case len(patterns) > 0:
		s = matching(c, pick(c, patterns))
		if len(n.hints.texts) > 0 && c.oneIn(4) {
			s = pick(c, n.hints.texts)
		}
	case len(l.formats) > 0 && formatted(l.formats[0]) != nil:
		return pick(c, formatted(l.formats[0]))
	case len(n.hints.texts) > 0 && c.oneIn(3):
		s = pick(c, n.hints.texts)
	default:
		s = pick(c, texts)
	}
	runes := []rune(s)
	if most := l.length; int64(len(runes)) > most {
		runes = runes[:most]
	}
	least := l.shortest
	if l.length <= maxText && len(patterns) == 0 && c.oneIn(16) {
		least = l.length // the longest
	}
	for int64(len(runes)) < least {
		runes = append(runes, 'x')
	}
	return string(runes)
}

func (n *node) intOrString(c *Choices, l limits) any {
	if c.of(2) == 0 {
		return n.integer(c, l)
	}
	if len(l.patterns) > 0 {
		return n.text(c, l)
	}
	return pick(c, []any{"1", "0", "25%", "100%", "http", "1Gi", "100m"})
}

// numbers are candidates for a number.
var numbers = []int64{1, 0, 2, 3, -1, 10, 80, 100, 65535, math.MaxInt32, math.MinInt32, 1 << 40}

func (n *node) integer(c *Choices, l limits) any {
	candidates := slices.Concat(numbers, n.hints.numbers)
	if l.least > math.Inf(-1) {
		low := int64(math.Ceil(l.least))
		candidates = append([]int64{low, low + 1, low}, candidates...)
	}
	if l.most < math.Inf(1) {
		high := int64(math.Floor(l.most))
		candidates = append(candidates, high, high-1, high)
	}
	limit := int64(math.MaxInt64)
	if n.Format == "int32" {
		limit = math.MaxInt32
	}
	fits := slices.DeleteFunc(candidates, func(v int64) bool {
		return float64(v) < l.least || float64(v) > l.most || v > limit || v < -limit-1
	})
	if len(fits) == 0 {
		return int64(0)
	}
	v := pick(c, fits)
	if m := int64(l.multiple); m > 0 {
		v -= v % m
	}
	return v
}

func (n *node) number(c *Choices, l limits) any {
	v := float64(n.integer(c, l).(int64))
	if half := v + 0.5; half <= l.most && l.multiple == 0 && c.oneIn(4) {
		return half
	}
	return v
}
