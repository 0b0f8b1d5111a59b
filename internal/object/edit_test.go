package object_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/object"
)

func ExampleObject_Edit() {
	pod := object.FromMap(map[string]any{
		"metadata": map[string]any{"name": "a", "labels": map[string]any{"app": "web"}},
		"spec":     map[string]any{"priority": int64(0)},
	})
	edit := pod.Edit()
	edit.Set("n1", "spec", "nodeName")
	edit.Append("example.com/protect", "metadata", "finalizers")
	bound := edit.Object()

	fmt.Printf("%q %q\n", pod.View().String("spec", "nodeName"), bound.View().String("spec", "nodeName"))
	fmt.Println(pod.View().Strings("metadata", "finalizers"), bound.View().Strings("metadata", "finalizers"))
	fmt.Println("shares its labels:", bound.View().At("metadata", "labels").Shares(pod.View().At("metadata", "labels")))
	fmt.Println("shares its spec:", bound.View().At("spec").Shares(pod.View().At("spec")))
	// Output:
	// "" "n1"
	// [] [example.com/protect]
	// shares its labels: true
	// shares its spec: false
}

// TestEditSharesTheRest checks that an Edit copies a map or a list once, and only those on its path.
func TestEditSharesTheRest(t *testing.T) {
	o := object.FromMap(pod())
	e := o.Edit()
	e.Set("b", "metadata", "name")
	first := e.Own("metadata")
	e.Set("c", "metadata", "namespace")
	assert.True(t, object.Same(first, e.Own("metadata")), "the metadata was copied already")
	e.Delete("status", "phase")
	assert.True(t, e.View().At("status").IsNil(), "there is nothing to delete")
	next := e.Object()
	assert.True(t, next.View().At("spec").Shares(o.View().At("spec")))
	assert.True(t, next.View().At("metadata", "finalizers").Shares(o.View().At("metadata", "finalizers")))
	assert.True(t, o.View().EqualTo(pod()))
}

// TestEdits makes random Edits, and compares each with the same change of a deep copy.
func TestEdits(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		name := func() string { return string(rune('a' + random.IntN(3))) }
		path := func() []string {
			p := make([]string, 1+random.IntN(3))
			for i := range p {
				p[i] = name()
			}
			return p
		}
		value := func() any {
			switch random.IntN(4) {
			case 0:
				return map[string]any{name(): name()}
			case 1:
				return []any{name()}
			case 2:
				return nil
			}
			return random.Int64N(3)
		}
		type version struct {
			object *object.Object
			model  map[string]any
		}
		versions := []version{{object.FromMap(map[string]any{}), map[string]any{}}}
		for range 20 {
			from := versions[random.IntN(len(versions))]
			edit, model := from.object.Edit(), object.Copy(from.model)
			for range 1 + random.IntN(6) {
				p, v := path(), value()
				parent, last := object.Map(model, p[:len(p)-1]...), p[len(p)-1]
				switch random.IntN(4) {
				case 0, 1:
					edit.Set(v, p...)
					object.Set(model, object.Copy(v), p...)
				case 2:
					edit.Delete(p...)
					if parent != nil {
						delete(parent, last)
					}
				case 3:
					edit.Append(v, p...)
					object.Set(model, append(object.List(model, p...), object.Copy(v)), p...)
				}
				require.True(t, edit.View().EqualTo(model), "seed %d", seed)
			}
			versions = append(versions, version{edit.Object(), model})
			object.EnsureMap(model, "metadata") // of each Object
			for _, v := range versions[1:] {
				require.True(t, v.object.View().EqualTo(v.model), "seed %d: a later Edit changed an Object", seed)
			}
		}
	}
}
