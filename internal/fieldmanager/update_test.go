package fieldmanager

import (
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/kubefake/kubefake/internal/object"
)

// TestUpdateAsUpdater compares updates of random objects by several managers with those of
// structured-merge-diff's updater. Some of the objects do not match the schema.
func TestUpdateAsUpdater(t *testing.T) {
	k := custom(t, everything)
	names, version := k.compiled().names, fieldpath.APIVersion(k.apiVersion)
	compared := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 0))
		live := map[string]any{"apiVersion": k.apiVersion}
		var owned owners
		for range 6 {
			obj := randomObject(r)
			if r.IntN(3) == 0 { // most writes change little
				obj = maps.Clone(live)
				obj["text"] = randomMember(r, "text")
			}
			obj["apiVersion"] = k.apiVersion
			before, err := k.asTyped(live, typed.AllowDuplicates)
			require.NoError(t, err)
			after, err := k.asTyped(obj, typed.AllowDuplicates)
			if err != nil {
				continue
			}
			o := Options{Manager: string(rune('a' + r.IntN(3)))}
			m := owned.managed(names)
			id := m.entry(o.entry(opUpdate, k.apiVersion))
			_, want, wantErr := k.updater(m, o).Update(before, after, version, maps.Clone(m.sets), "this write")
			if set, ok := want["this write"]; ok { // as kube-apiserver names the writer
				delete(want, "this write")
				if previous, ok := want[id]; ok {
					set = fieldpath.NewVersionedSet(set.Set().Union(previous.Set()), version, false)
				}
				want[id] = set
			}
			got, err := k.update(live, obj, owned, o)
			require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
			if err != nil {
				break
			}
			require.Len(t, got, len(want))
			for _, e := range got {
				require.True(t, e.fields.asSet(names).Equals(want[e.id()].Set()), "seed %d: %s: %s, want %s; %v -> %v", seed, e.id(), e.fields.text, names.tree(want[e.id()].Set()).encode(), live, obj)
				require.Equal(t, e.fields.tree.encode(), e.fields.text)
			}
			live, owned, compared = obj, got, compared+1
		}
	}
	assert.Greater(t, compared, 500)
}

// TestUpdateWithoutKeys changes an object of which a list element has no key, so that the fields of
// the change cannot be recorded.
func TestUpdateWithoutKeys(t *testing.T) {
	s := &state{kind: builtin(t, "", "v1", "ServiceAccount"), now: start}
	before := []string{"one Update 0 {f:secrets:{.:{},k:{'name':'a'}:{}}}"}
	for _, step := range []struct {
		merge string
		want  []string
	}{
		{`secrets: [{name: a}]`, before},
		{`secrets: [{namespace: b}]`, before},
		{`metadata: {labels: {l: m}}`, before},
		{`secrets: [{name: c}]`, before},
		{`metadata: {labels: {l: k}}`, []string{"one Update 4 {f:metadata:{f:labels:{f:l:{}}},f:secrets:{.:{},k:{'name':'a'}:{}}}"}},
	} {
		o := s.options("one", "")
		o.KeepOnError = true
		live := s.live
		if live == nil {
			live = s.object(t, "{}")
		}
		obj := mergePatch(live, parse(t, step.merge)).(map[string]any) // shares the list with live, as patches do
		s.store(t, s.kind.Update(object.ViewOf(s.live), obj, o))
		s.check(t, step.want)
		s.now = s.now.Add(time.Second)
	}
}
