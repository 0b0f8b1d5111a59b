package accept_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/codec/accept"
)

func TestParse(t *testing.T) {
	for name, row := range map[string]struct {
		header string
		want   string // types in order of preference
	}{
		"empty":                    {"", ""},
		"one":                      {"application/json", "application/json"},
		"as they stand":            {"a/b, c/d,e/f", "a/b c/d e/f"},
		"by quality":               {"text/html;q=0.5, application/json;q=0.9", "application/json text/html"},
		"specific first":           {"*/*, application/json", "application/json */*"},
		"subtype specific first":   {"application/*, application/json", "application/json application/*"},
		"later of no order first":  {"*/*, application/json;q=0.5", "application/json */*"},
		"later of no order second": {"application/json;q=0.5, */*", "*/* application/json"},
		"star alone":               {"*", "*/*"},
		"type alone":               {"json", ""},
		"too many slashes":         {"a/b/c, d/e", "d/e"},
		"zero quality accepts":     {"application/json;q=0", "application/json"},
		"bad quality is none":      {"a/b;q=x, c/d;q=0.1", "c/d a/b"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range accept.Parse(row.header) {
				got = append(got, c.Type+"/"+c.Subtype)
			}
			assert.Equal(t, row.want, strings.Join(got, " "))
		})
	}
}

// TestParseAgain parses more headers than are kept, and one that is too long to be kept.
func TestParseAgain(t *testing.T) {
	headers := []string{"a/" + strings.Repeat("b", 1000)}
	for i := range 200 {
		headers = append(headers, fmt.Sprintf("a/b%d", i))
	}
	for range 3 {
		for _, header := range headers {
			got := accept.Parse(header)
			assert.Len(t, got, 1)
			assert.Equal(t, header, got[0].Type+"/"+got[0].Subtype)
			assert.Equal(t, got, accept.Parse(header))
		}
	}
}

func TestParams(t *testing.T) {
	c := accept.Parse("application/json; as = Table ;g=meta.k8s.io;v;w=;x=y=z;q=0.5")
	assert.Equal(t, []accept.Clause{{
		Type: "application", Subtype: "json", Quality: 0.5,
		Params: map[string]string{"as": "Table", "g": "meta.k8s.io"},
	}}, c)
}

func TestMatches(t *testing.T) {
	for _, row := range []struct {
		header string
		want   bool
	}{
		{"application/json", true},
		{"application/json;as=Table", true},
		{"application/*", true},
		{"*/*", true},
		{"*", true},
		{"*/json", false},
		{"Application/json", false},
		{"application/yaml", false},
		{"text/*", false},
	} {
		t.Run(row.header, func(t *testing.T) {
			assert.Equal(t, row.want, accept.Parse(row.header)[0].Matches("application/json"))
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("application/json;as=Table;g=meta.k8s.io;v=v1, */*;q=0.1")
	f.Add("*;q=,/,a/b;=;;=c")
	f.Fuzz(func(t *testing.T, header string) {
		for _, c := range accept.Parse(header) {
			assert.LessOrEqual(t, len(c.Type)+len(c.Subtype), len(header)+1)
			assert.NotContains(t, c.Params, "q")
			assert.NotContains(t, c.Subtype, "/")
		}
	})
}

func ExampleParse() {
	for _, c := range accept.Parse("application/json;q=0.5, application/json;as=Table;v=v1;g=meta.k8s.io") {
		fmt.Println(c.Type+"/"+c.Subtype, c.Quality, c.Params["as"])
	}
	// Output:
	// application/json 1 Table
	// application/json 0.5
}
