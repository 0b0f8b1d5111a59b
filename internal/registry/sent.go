package registry

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/wire"
)

// A sentBody is the body of a request as the client sent it. It is parsed when an error first
// asks for it.
type sentBody struct {
	data   []byte // nil if the request has none
	format codec.Format
	parsed any
	length int // of the document that new strings of the object are from: the body, or a patched text
}

// values returns the body as generic values, with the texts of numbers. It returns nil for a
// format whose bodies are not kept.
func (b *sentBody) values() any {
	if b.parsed == nil && b.data != nil {
		b.parsed = sentValues(b.data, b.format)
		b.data = nil
	}
	return b.parsed
}

func sentValues(data []byte, format codec.Format) any {
	switch format {
	case codec.YAML:
		var err error
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return nil
		}
	case codec.JSON:
	default:
		return nil
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&out) != nil {
		return nil
	}
	return out
}

// sentQuantity returns a quantity of the field of an error as the client sent it: in the
// field, or under the same key of another list of the parent, such as the limit that a
// request is taken from. It returns the canonical quantity if the client sent none.
func (op *operation) sentQuantity(field, quantity string) string {
	sent := op.sent.values()
	if text, ok := sentAs(valueAt(sent, field), quantity); ok {
		return text
	}
	at := strings.LastIndexByte(field, '[')
	list := strings.LastIndexByte(field[:max(at, 0)], '.')
	if list < 0 {
		return quantity
	}
	parent, _ := valueAt(sent, field[:list]).(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(parent)) {
		if text, ok := sentAs(valueAt(parent[name], field[at:]), quantity); ok {
			return text
		}
	}
	return quantity
}

// sentAs returns the text of a value that stands for a canonical quantity.
func sentAs(v any, quantity string) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		text = strings.TrimSpace(v)
	case json.Number:
		text = v.String()
	}
	canonical, err := wire.CanonicalQuantity(text)
	return text, err == nil && canonical == quantity
}

// valueAt returns the value at the path of an error, such as spec.limits[0].max[cpu].
func valueAt(v any, path string) any {
	for path != "" {
		var name string
		switch rest, inBrackets := strings.CutPrefix(path, "["); {
		case inBrackets:
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil
			}
			name, path = rest[:end], rest[end+1:]
		default:
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			name, path = path[:end], path[end:]
		}
		switch t := v.(type) {
		case map[string]any:
			v = t[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}
