// Package bootstrap holds the objects that a kube-apiserver puts into every
// cluster and would put back, other than those it makes up as it starts:
// priority levels and flow schemas, and the priority classes of the system.
package bootstrap

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/kubefake/kubefake/internal/object"
)

//go:embed objects.jsonl
var lines []byte

var objects = sync.OnceValue(func() []map[string]any {
	var out []map[string]any
	decoder := json.NewDecoder(bytes.NewReader(lines))
	decoder.UseNumber()
	for decoder.More() {
		var obj map[string]any
		if err := decoder.Decode(&obj); err != nil {
			panic("bootstrap: objects.jsonl: " + err.Error()) // unreachable: a test reads it all
		}
		out = append(out, object.Integers(obj))
	}
	return out
})

// Objects are the objects, in the order in which they are made. They are
// shared, and must not be changed.
func Objects() []map[string]any { return objects() }

// Spec is the specification of the object of that kind and name, nil if there
// is no such object. It is shared, and must not be changed.
func Spec(kind, name string) map[string]any {
	for _, obj := range objects() {
		if obj["kind"] == kind && object.String(obj, "metadata", "name") == name {
			return object.Map(obj, "spec")
		}
	}
	return nil
}
