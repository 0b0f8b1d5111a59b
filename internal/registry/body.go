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
	"github.com/kubefake/kubefake/internal/quantity"
)

// A Body is the object in a request to write: encoded, or in generic form.
type Body struct {
	Format codec.Format
	Data   []byte
	// Object replaces Data if it is not nil. It has a kind and an apiVersion. The registry
	// does not change it.
	Object map[string]any
}

// A requestBody is a Body whose text errors quote: they show numbers and quantities as the client
// sent them.
type requestBody struct {
	Body
	values any // of the text; nil before text
}

// text returns the body as generic values, with the texts of numbers. It returns nil for a body that
// is neither JSON nor YAML.
func (b *requestBody) text() any {
	if b.values == nil && b.Data != nil {
		b.values = textValues(b.Data, b.Format)
	}
	return b.values
}

func textValues(data []byte, format codec.Format) any {
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
	sent := op.body.text()
	if text, ok := sentAt(sent, field, quantity); ok {
		return text
	}
	at := strings.LastIndexByte(field, '[')
	list := strings.LastIndexByte(field[:max(at, 0)], '.')
	if list < 0 {
		return quantity
	}
	value, _ := valueAt(sent, field[:list])
	parent, _ := value.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(parent)) {
		if text, ok := sentAt(parent[name], field[at:], quantity); ok {
			return text
		}
	}
	return quantity
}

// sentAt returns the text of the value at a path, if it stands for a canonical quantity. The
// text of null, which stands for 0, is empty.
func sentAt(v any, path, canonical string) (text string, ok bool) {
	value, ok := valueAt(v, path)
	switch v := value.(type) {
	case nil:
		return "", ok && canonical == "0"
	case string:
		text = strings.TrimSpace(v)
	case json.Number:
		text = v.String()
	}
	same, err := quantity.Canonical(text)
	return text, err == nil && same == canonical
}

// valueAt returns the value at the path of an error, such as spec.limits[0].max[cpu], and
// reports whether there is one.
func valueAt(v any, path string) (value any, ok bool) {
	for path != "" {
		var name string
		switch rest, inBrackets := strings.CutPrefix(path, "["); {
		case inBrackets:
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, false
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
			if v, ok = t[name]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(t) {
				return nil, false
			}
			v = t[i]
		default:
			return nil, false
		}
	}
	return v, true
}
