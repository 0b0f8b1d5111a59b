package generate

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/schema"
)

func TestMatching(t *testing.T) {
	for _, pattern := range []string{
		`^[a-z]([-a-z0-9]*[a-z0-9])?$`, `^(\d+|\d+%)$`, `^v\d{1,3}(alpha|beta)?\d*$`, `^[^\s/]+/[^\s/]+$`, `a.c`, `^$`, `^[\x{4e00}-\x{9fff}]+$`,
		`^(([0-9]+(\.[0-9]+)?)(Ki|Mi|Gi)?)$`, `^\p{L}+$`, `(?i)^yes|no$`,
	} {
		t.Run(pattern, func(t *testing.T) {
			c := Random(1)
			for range 200 {
				assert.Regexp(t, regexp.MustCompile(pattern), matching(c, pattern))
			}
		})
	}
}

func TestSteps(t *testing.T) {
	for path, want := range map[string][]string{
		"":                                    nil,
		"spec":                                {"spec"},
		"spec.ports[0].name":                  {"spec", "ports", "0", "name"},
		"metadata.labels[example.com/a].x":    {"metadata", "labels", "example.com/a", "x"},
		"spec.lists[1][2]":                    {"spec", "lists", "1", "2"},
		"[spec.a]":                            {"spec.a"},
		"<nil>":                               {"<nil>"},
		"spec.template.spec.containers[10].x": {"spec", "template", "spec", "containers", "10", "x"},
	} {
		assert.Equal(t, want, steps(path), path)
	}
}

// Without choices left the simplest object is made: a fuzzer makes failing ones smaller.
func TestFuzzedChoicesEnd(t *testing.T) {
	s := &schema.Schema{Type: "object", Properties: map[string]*schema.Schema{
		"spec": {Type: "object", Properties: map[string]*schema.Schema{"size": {Type: "integer"}}},
	}}
	n := newNode(s, hints{})
	assert.Equal(t, map[string]any{}, n.value(Fuzzed(nil), nil, 0))
	assert.Equal(t, n.value(Fuzzed([]byte{3, 1, 4, 1, 5}), nil, 0), n.value(Fuzzed([]byte{3, 1, 4, 1, 5}), nil, 0))
}

func TestHints(t *testing.T) {
	h := hints{}.with([]schema.Rule{{Rule: `self.mode == 'fast' ? self.size > 3 : self.matches(r'^a+$') || has(self.other)`}})
	assert.Equal(t, []string{"fast", "^a+$"}, h.texts)
	assert.Equal(t, []int64{3, 2, 4}, h.numbers)
	assert.Equal(t, []string{"^a+$"}, h.patterns)
	assert.Equal(t, []string{"matches", "mode", "other", "size"}, fieldsOf([]schema.Rule{{Rule: `self.mode == 'fast' ? self.size > 3 : self.matches(r'^a+$') || has(self.other)`}}))
}

func TestFormats(t *testing.T) {
	for format, texts := range formats {
		for _, text := range texts {
			assert.True(t, schema.IsFormat(format, text), "%s: %q", format, text)
		}
	}
}
