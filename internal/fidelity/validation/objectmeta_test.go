package validation_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/validation"
)

// metadata has the values of random metadata by field of ObjectMeta.
var metadata = map[string][]any{
	"name":                       {"a", "b", "a.b", "A", "", "a/b", "..", strings.Repeat("a", 254)},
	"generateName":               {"a-", "A-", "a%", "", "--", "a_-"},
	"namespace":                  {"a", "b", "a.b", "", "A"},
	"uid":                        {"u", "v", "", "<u>"},
	"resourceVersion":            {"1", "", "x"},
	"generation":                 {int64(1), int64(2), int64(-1), int64(0)},
	"creationTimestamp":          {"2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00", "2024-01-01T00:00:00.5Z", "2025-01-01T00:00:00Z", nil},
	"deletionTimestamp":          {"2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00", "2025-01-01T00:00:00Z", nil},
	"deletionGracePeriodSeconds": {int64(0), int64(30), nil},
	"labels": {
		nil, map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a b": "c d", "-": "-", "x/": "", "a/b/c": "v", "ok": "no!"},
		map[string]any{"A.com/x": strings.Repeat("v", 64), "": ""},
	},
	"annotations": {
		nil, map[string]any{}, map[string]any{"A.com/X": "any thing"}, map[string]any{"a b": "", "": "", "x/y/z": "", "B/ c": ""},
		map[string]any{"a": strings.Repeat("v", 256<<10)}, map[string]any{"a": strings.Repeat("v", 256<<10-1)},
	},
	"finalizers": {
		nil, []any{}, []any{"orphan"}, []any{"foregroundDeletion", "orphan"}, []any{"kubernetes", "a.b/c", "x"},
		[]any{"b c", "", "A/b", "b c"}, []any{"z/z", "x", "a/a"},
	},
	"ownerReferences": {
		nil, []any{}, []any{owner("v1", "Pod", "p", "u", nil)}, []any{owner("", "", "", "", nil)}, []any{owner("v1", "Event", "e", "u", nil)},
		[]any{owner("a/b/c", "K", "n", "u", nil)}, []any{owner("a/", "K", "n", "u", nil)}, []any{owner("/", "Event", "n", "u", true)},
		[]any{owner("/v1", "Event", "n", "u", false)}, []any{owner("events.k8s.io/v1", "Event", "n", "u", false)},
		[]any{owner("v1", "A", "a", "u", true), owner("v1", "B", "b", "u", false), owner("g/v1", "C", "<c>", "v", true), owner("g/v1", "D", "d", "v", true)},
		[]any{nil},
	},
	"managedFields": {
		nil, []any{}, []any{map[string]any{"manager": "m", "operation": "Update", "fieldsType": "FieldsV1", "apiVersion": "v1"}},
		[]any{map[string]any{}, map[string]any{"manager": "m\n\x00é", "operation": "<Patch>", "fieldsType": "FieldsV2"}},
		[]any{map[string]any{"manager": strings.Repeat("m", 129), "operation": "Apply", "subresource": strings.Repeat("s", 257)}},
	},
}

func owner(apiVersion, kind, name, uid string, controller any) map[string]any {
	ref := map[string]any{"apiVersion": apiVersion, "kind": kind, "name": name, "uid": uid}
	if controller != nil {
		ref["controller"] = controller
		ref["blockOwnerDeletion"] = !controller.(bool)
	}
	return ref
}

// randomMeta chooses values for some of the fields. A low variety prefers the
// first, valid ones.
func randomMeta(r *rand.Rand) map[string]any {
	meta := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		values := metadata[name]
		switch r.IntN(4) {
		case 0:
		case 1:
			meta[name] = values[r.IntN(len(values))]
		default:
			meta[name] = values[0]
		}
	}
	return meta
}

func typed(t *testing.T, meta map[string]any) *metav1.ObjectMeta {
	t.Helper()
	text, err := json.Marshal(meta)
	require.NoError(t, err)
	var o metav1.ObjectMeta
	require.NoError(t, json.Unmarshal(text, &o))
	return &o
}

// sortMapErrors sorts upstream's errors about the entries of one map, which it
// visits in random order.
func sortMapErrors(texts []string) []string {
	for _, part := range []string{" metadata.labels: ", " metadata.annotations: Invalid", " matchLabels: "} {
		is := func(s string) bool { return strings.Contains(s, part) }
		for i := 0; i < len(texts); {
			j := i
			for j < len(texts) && is(texts[j]) {
				j++
			}
			slices.Sort(texts[i:j])
			i = j + 1
		}
	}
	return texts
}

// compared is the release whose libraries this module requires.
var compared = sync.OnceValue(func() *release.Release {
	r, err := release.Open("v1.37")
	if err != nil {
		panic(err)
	}
	return r
})

func TestObjectMeta(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 36))
	path, theirPath := validation.NewPath("metadata"), field.NewPath("metadata")
	for range 300 {
		meta := randomMeta(r)
		for _, namespaced := range []bool{true, false} {
			want := apivalidation.ValidateObjectMeta(typed(t, meta), namespaced, apivalidation.NameIsDNSSubdomain, theirPath)
			got := validation.ObjectMeta(meta, namespaced, validation.SubdomainName, path).In(compared(), "", "")
			require.Equal(t, sortMapErrors(unique(theirs(want))), sortMapErrors(ours(got)), "%v", meta)
			requireMessage(t, want, got)
		}
	}
}

func TestObjectMetaUpdate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 36))
	path, theirPath := validation.NewPath("metadata"), field.NewPath("metadata")
	for range 500 {
		newMeta, oldMeta := randomMeta(r), randomMeta(r)
		want := apivalidation.ValidateObjectMetaUpdate(typed(t, newMeta), typed(t, oldMeta), theirPath)
		got := validation.ObjectMetaUpdate(newMeta, object.ViewOf(oldMeta), path).In(compared(), "", "")
		require.Equal(t, sortMapErrors(unique(theirs(want))), sortMapErrors(ours(got)), "%v -> %v", oldMeta, newMeta)
		requireMessage(t, want, got)
	}
}

// unique leaves out what is repeated, as kube-apiserver does after the validation.
func unique(texts []string) []string {
	var out []string
	for _, text := range texts {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// requireMessage compares the messages of two lists if upstream's order is not
// random.
func requireMessage(t *testing.T, want field.ErrorList, got validation.List) {
	t.Helper()
	if !slices.Equal(unique(theirs(want)), ours(got)) {
		return
	}
	text := ""
	if agg := want.ToAggregate(); agg != nil {
		text = agg.Error()
	}
	require.Equal(t, text, got.Message())
}

// utf8Text returns randomText as valid UTF-8.
func utf8Text(r *rand.Rand) string {
	return strings.ToValidUTF8(randomText(r), "?")
}

func TestLabelSelector(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 36))
	operators := []string{"In", "NotIn", "Exists", "DoesNotExist", "<Gt>", ""}
	for range 500 {
		selector := map[string]any{}
		if r.IntN(2) == 0 {
			selector["matchLabels"] = map[string]any{utf8Text(r): utf8Text(r)}
		}
		var exprs []any
		for range r.IntN(3) {
			var values []any
			for range r.IntN(3) {
				values = append(values, utf8Text(r))
			}
			exprs = append(exprs, map[string]any{"key": utf8Text(r), "operator": operators[r.IntN(len(operators))], "values": values})
		}
		selector["matchExpressions"] = exprs

		text, err := json.Marshal(selector)
		require.NoError(t, err)
		var theirSelector metav1.LabelSelector
		require.NoError(t, json.Unmarshal(text, &theirSelector))

		bits := r.IntN(4)
		want := metavalidation.ValidateLabelSelector(&theirSelector, metavalidation.LabelSelectorValidationOptions{
			AllowInvalidLabelValueInSelector: bits&1 != 0, AllowUnknownOperatorInRequirement: bits&2 != 0,
		}, field.NewPath("s"))
		got := validation.LabelSelector(selector, validation.LabelSelectorOptions{
			InvalidValues: bits&1 != 0, UnknownOperators: bits&2 != 0,
		}, validation.NewPath("s"))
		require.Equal(t, theirs(want), ours(got), "%s", text)
	}
}

func TestConditions(t *testing.T) {
	conditions := []any{
		map[string]any{"type": "A", "status": "True", "reason": "R", "lastTransitionTime": "2024-01-01T00:00:00Z"},
		map[string]any{"type": "A", "status": "true", "reason": ":", "lastTransitionTime": nil, "observedGeneration": int64(-1)},
		map[string]any{"message": strings.Repeat("m", 32<<10)},
		map[string]any{"type": "B", "message": strings.Repeat("m", 32<<10+1), "reason": strings.Repeat("r", 1<<10+1)},
	}
	text, err := json.Marshal(conditions)
	require.NoError(t, err)
	var theirConditions []metav1.Condition
	require.NoError(t, json.Unmarshal(text, &theirConditions))
	require.Equal(t, theirs(metavalidation.ValidateConditions(theirConditions, field.NewPath("c"))),
		ours(validation.Conditions(conditions, validation.NewPath("c"))))
}
