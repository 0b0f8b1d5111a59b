//go:build go1.24

package selector_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/selector"
)

func TestFields(t *testing.T) {
	object := map[string]string{
		"metadata.name":  "a",
		"spec.nodeName":  "n1",
		"spec.text":      `x,y=z\`,
		"spec.blank":     " a ",
		" metadata.name": "b",
	}
	for _, tt := range []struct {
		name      string
		selector  string
		matches   bool
		canonical string
	}{
		{"empty", "", true, ""},
		{"commas only", ",,", true, ""},
		{"nothing equals nothing", "=", true, ""},
		{"equal", "metadata.name=a", true, "metadata.name=a"},
		{"double equal", "metadata.name==a", true, "metadata.name=a"},
		{"not equal", "metadata.name!=a", false, "metadata.name!=a"},
		{"absent field is empty", "status.phase=", true, "status.phase="},
		{"absent field is not a value", "status.phase!=Running", true, "status.phase!=Running"},
		{"both hold", "spec.nodeName=n1,metadata.name=a", true, "metadata.name=a,spec.nodeName=n1"},
		{"one fails", "spec.nodeName=n2,metadata.name=a", false, "metadata.name=a,spec.nodeName=n2"},
		{"comma last", "metadata.name=a,", true, "metadata.name=a"},
		{"escapes", `spec.text=x\,y\=z\\`, true, `spec.text=x\,y\=z\\`},
		{"blanks in a value count", "spec.blank= a ", true, "spec.blank= a "},
		{"blanks in a field count", " metadata.name=a", false, " metadata.name=a"},
		{"exclamation mark in a field", "a!b=", true, "a!b="},
		{"first operator counts", `a!=b\=c`, true, `a!=b\=c`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := selector.ParseFields(tt.selector)
			require.NoError(t, err)
			assert.Equal(t, tt.matches, s.Matches(func(field string) string { return object[field] }))
			assert.Equal(t, tt.canonical, s.String())
			assert.Equal(t, tt.canonical == "", s.Empty())
		})
	}
}

func TestParseFieldsError(t *testing.T) {
	for _, tt := range []struct {
		name     string
		selector string
		want     string
	}{
		{"no operator", "metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
		{"in", "metadata.name in (a)", "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'"},
		{"not", "!metadata.name", "invalid selector: '!metadata.name'; can't understand '!metadata.name'"},
		{"unescaped comma", "metadata.name=a,b", "invalid selector: 'metadata.name=a,b'; can't understand 'b'"},
		{"greater", "metadata.name>a", "invalid selector: 'metadata.name>a'; can't understand 'metadata.name>a'"},
		{"first in sorted order", "z,a", "invalid selector: 'z,a'; can't understand 'a'"},
		{"trailing backslash", `a=b\`, `invalid field selector: invalid escape sequence: \`},
		{"unknown escape", `a=\n`, `invalid field selector: invalid escape sequence: \n`},
		{"unescaped equals sign", "a=b=c", "invalid field selector: unescaped character in value: 61"},
		{"operators in a row", "a===b", "invalid field selector: unescaped character in value: 61"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := selector.ParseFields(tt.selector)
			assert.EqualError(t, err, tt.want)
		})
	}
}

func TestTransform(t *testing.T) {
	parsed, err := selector.ParseFields("host!=n1,metadata.name=a,drop=x")
	require.NoError(t, err)

	s, err := parsed.Transform(func(field, value string) (string, string, error) {
		switch field {
		case "host":
			return "spec.nodeName", value, nil
		case "drop":
			return "", "", nil
		default:
			return field, value, nil
		}
	})
	require.NoError(t, err)
	assert.Equal(t, []selector.FieldRequirement{
		{Field: "spec.nodeName", Operator: selector.NotEquals, Value: "n1"},
		{Field: "metadata.name", Operator: selector.Equals, Value: "a"},
	}, s.Requirements())
	assert.Equal(t, "drop=x,host!=n1,metadata.name=a", parsed.String(), "the original must not change")

	unknown := errors.New("field label not supported: drop")
	_, err = parsed.Transform(func(field, _ string) (string, string, error) { return "", "", unknown })
	assert.Same(t, unknown, err)
}

func TestRequiresExactMatch(t *testing.T) {
	s, err := selector.ParseFields("a!=1,a=2,b!=3,c=")
	require.NoError(t, err)
	for _, tt := range []struct {
		field, value string
		ok           bool
	}{
		{"a", "2", true},
		{"b", "", false},
		{"c", "", true},
		{"d", "", false},
	} {
		t.Run(tt.field, func(t *testing.T) {
			value, ok := s.RequiresExactMatch(tt.field)
			assert.Equal(t, tt.value, value)
			assert.Equal(t, tt.ok, ok)
		})
	}
}

func FuzzParseFields(f *testing.F) {
	for _, seed := range []string{"", "=", "a=b", "a==b,c!=d", `a=\,\=\\`, `a=\`, "a===b", "a!!=b", `\,a=b`, "a=\xff,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := selector.ParseFields(text)
		if err != nil {
			return
		}
		again, err := selector.ParseFields(s.String())
		require.NoError(t, err)
		sorted := func(s selector.Fields) []string {
			var all []string
			for _, r := range s.Requirements() {
				all = append(all, fmt.Sprintf("%q", r))
			}
			slices.Sort(all)
			return all
		}
		assert.Equal(t, sorted(s), sorted(again))
	})
}

func BenchmarkFieldsMatches(b *testing.B) {
	s, err := selector.ParseFields("spec.nodeName=n1,status.phase!=Failed")
	require.NoError(b, err)
	get := func(field string) string {
		if field == "spec.nodeName" {
			return "n1"
		}
		return "Running"
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Matches(get)
	}
}
