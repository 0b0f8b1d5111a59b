//go:build go1.24

package cel

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/schema"
	"github.com/kubefake/kubefake/internal/validation"
)

// TestCostsOfReleases checks the estimated costs of rules in new definitions of
// kube-apiserver v1.32.13 and v1.37.2: by which factor they exceed the limit.
func TestCostsOfReleases(t *testing.T) {
	const tooMuch = "more than 100x"
	for _, tt := range []struct{ rule, in32, in37 string }{
		{"self.l.all(a, self.l.all(b, a == b))", tooMuch, tooMuch},
		{"self.l.map(a, a).all(a, a.contains('x'))", "49.5x", "49.5x"},
		{"['a', 'b'].all(a, a.startsWith('x'))", "10.5x", "10.5x"},
		{"[self.l].all(a, a == self.l)", "9.5x", "9.5x"},
		{"[self.l[0]].all(a, a.contains('x'))", "9.0x", "9.0x"},
		{"optional.of(1) == optional.of(1)", tooMuch, "1.5x"},
		{"dyn(self.l) == dyn(self.l)", tooMuch, "3.5x"},
		{"sets.contains(self.l, ['a', 'b'])", "11.5x", "11.5x"},
		{"sets.equivalent(self.l, self.l)", "27.5x", "27.5x"},
		{"self.l[0].matches('a+') ? self.l.size() > 1 : self.l[0].endsWith('b')", "5.0x", "5.0x"},
		{"string(bytes(self.l[0])).replace('a', 'b') < 'x' && {'a': self.l}['a'].size() > 2", "38.5x", "38.5x"},
		{"(has(self.q) ? self.l : ['x']) + self.l == self.l", "8.5x", "8.5x"},
		{"self.q == self.q", tooMuch, "3.0x"},
		{"self.m.all(k, self.m[k].lowerAscii() == k)", "25.5x", "25.5x"},
		{"'%s'.format([self.l[0]]) in self.l", "10.5x", "10.5x"},
		{"self.l.first() == self.l.last()", "", tooMuch},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			for minor, want := range map[int]string{32: tt.in32, 37: tt.in37} {
				s := read(t, `
type: object
properties:
  x:
    type: array
    maxItems: 5000000
    items:
      type: object
      properties:
        l: {type: array, maxItems: 5, items: {type: string, maxLength: 7}}
        m: {type: object, maxProperties: 4, additionalProperties: {type: string, maxLength: 9}}
        q: {x-kubernetes-int-or-string: true, maxLength: 5}
      x-kubernetes-validations:
      - rule: "`+tt.rule+`"
`)
				_, list := schema.DefinitionCheck{Rules: RuleChecker{Context: t.Context(), Version: NewExpressions(minor)}}.Check(s, validation.NewPath("schema"))
				if want == "" {
					want = "undeclared reference"
				} else {
					want = "schema.properties[x].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of " + want
				}
				assert.Contains(t, strings.Join(errorTexts(list), "\n"), want, "1.%d", minor)
			}
		})
	}
}

// TestCostsOfNames checks the estimated costs of rules about the names of objects in new definitions of
// kube-apiserver v1.36.3 and v1.37.2.
func TestCostsOfNames(t *testing.T) {
	long := strings.Repeat("a", 200)
	for _, tt := range []struct{ name, metadata, rule, in36, in37 string }{
		{"name", "{type: object}", "self.metadata.name.matches('" + long + "')", "1.6x", ""},
		{"generateName", "{type: object}", "self.metadata.generateName.matches('" + long + "')", "1.6x", ""},
		{"kind", "{type: object}", "self.kind.matches('" + long + "')", "1.6x", "1.6x"},
		{"shorter name", "{type: object, properties: {name: {type: string, maxLength: 10}}}", "self.metadata.name.matches('" + strings.Repeat(long, 10) + "')", "15.7x", ""},
		{"declared names", "{type: object, properties: {name: {type: string}, generateName: {type: string}}}", "self.metadata.name.matches('" + long + "')", "1.6x", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for minor, want := range map[int]string{36: tt.in36, 37: tt.in37} {
				s := read(t, `
type: object
properties:
  metadata: `+tt.metadata+`
x-kubernetes-validations:
- rule: "`+tt.rule+`"
`)
				_, list := schema.DefinitionCheck{Rules: RuleChecker{Context: t.Context(), Version: NewExpressions(minor)}}.Check(s, validation.NewPath("schema"))
				text := strings.Join(errorTexts(list), "\n")
				if want == "" {
					assert.Empty(t, text, "1.%d", minor)
				} else {
					assert.Contains(t, text, "estimated rule cost exceeds budget by factor of "+want, "1.%d", minor)
				}
			}
		})
	}
}
