package template_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	texttemplate "text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/template"
)

var functions = template.Functions{
	"quote":  func(v any) string { b, _ := json.Marshal(v); return string(b) },
	"upper":  strings.ToUpper,
	"add":    func(a, b int64) int64 { return a + b },
	"repeat": func(s string, n ...int) string { return strings.Repeat(s, append(n, 2)[0]) },
	"list":   func(v ...any) []any { return v },
	"words":  strings.Fields,
	"get":    func(m map[string]any, k string) any { return m[k] },
	"zone":   func() string { return "z1" },
	"broken": func() (string, error) { return "", errors.New("it is broken") },
	"parse":  func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) },
	"panics": func() string { panic("it is lost") },
}

func data() map[string]any {
	return map[string]any{
		"name": "web", "empty": "", "yes": true, "no": false, "null": nil,
		"n": int64(7), "zero": int64(0), "f": 1.5,
		"labels":     map[string]any{"b": "2", "a": "1", "a.b/c": "3"},
		"containers": []any{map[string]any{"name": "x", "ports": []any{int64(80), int64(443)}}, map[string]any{"name": "y"}},
		"none":       []any{}, "nothing": map[string]any{}, "nulls": []any{nil, "v"},
	}
}

// Each template gives what text/template gives, or fails with the same error.
func TestAsTextTemplate(t *testing.T) {
	for _, row := range []struct{ name, template string }{
		{"text", "plain\ntext"},
		{"comment", "a{{/* comment */}}b {{- /* trimmed */ -}} c"},
		{"trim", "a  {{- .name -}}  b"},
		{"field", "{{ .name }} {{ .n }} {{ .f }} {{ .yes }} {{ .labels }} {{ .none }}"},
		{"fields", "{{ .labels.a }}"},
		{"absent", "{{ .missing }} {{ .missing.more }} {{ .labels.c }} {{ .null }}"},
		{"absent in a pipeline", "{{ .missing | quote }} {{ (.null).more }} {{ print .missing }}"},
		{"dot", "{{ with .name }}{{ . }}{{ end }}{{ . | len }}"},
		{"literals", "{{ \"a\\n\" }}{{ `raw` }}{{ 1 }} {{ 1.5 }} {{ 0x10 }} {{ 'a' }} {{ 1e3 }} {{ true }} {{ -3 }} {{ 'e' }} {{ 0x1e }} {{ 1_000 }} {{ 0x1p4 }}"},
		{"large number", "{{ 18446744073709551615 }}"},
		{"nil", "{{ nil }}"},
		{"nil argument", "{{ list nil | len }} {{ get nil \"a\" }} {{ upper nil }}"},
		{"if", "{{ if .yes }}1{{ end }}{{ if .no }}2{{ end }}{{ if .empty }}3{{ else if .zero }}4{{ else }}5{{ end }}{{ if .none }}6{{ end }}{{ if .nothing }}7{{ end }}{{ if .labels }}8{{ end }}{{ if .missing }}9{{ end }}{{ if .f }}10{{ end }}{{ if .null }}11{{ end }}"},
		{"if with a variable", "{{ if $x := .name }}{{ $x }}{{ else }}{{ $x }}{{ end }}{{ if $x := .no }}{{ else }}{{ $x }}{{ end }}"},
		{"with", "{{ with .labels }}{{ .a }}{{ $.name }}{{ end }}{{ with .no }}{{ else with .name }}{{ . }}{{ end }}{{ with $x := .n }}{{ $x }}{{ end }}"},
		{"variables", "{{ $x := .name }}{{ $x }}{{ $x = \"other\" }}{{ $x }}{{ if true }}{{ $x = \"inner\" }}{{ $x := \"hidden\" }}{{ $x }}{{ end }}{{ $x }}"},
		{"fields of a variable", "{{ $l := .labels }}{{ $l.a }}{{ $l.none }}{{ $m := .missing }}{{ $m.a }}{{ $.labels.b }}"},
		{"range", "{{ range .containers }}{{ .name }}{{ $.name }}{{ end }}"},
		{"range with variables", "{{ range $i, $c := .containers }}{{ $i }}{{ $c.name }}{{ end }}{{ range $c := .containers }}{{ $c.name }}{{ end }}"},
		{"range assigns", "{{ $k := 0 }}{{ $v := 0 }}{{ range $k, $v = .labels }}{{ $k }}{{ end }}{{ $k }}{{ $v }}{{ range $v = .containers }}{{ end }}{{ $v.name }}"},
		{"range over a map", "{{ range $k, $v := .labels }}{{ $k }}={{ $v }},{{ end }}{{ range .labels }}{{ . }}{{ end }}"},
		{"range over nothing", "{{ range .none }}a{{ else }}b{{ end }}{{ range .missing }}c{{ else }}d{{ end }}{{ range .null }}e{{ else }}{{ .name }}{{ end }}{{ range .nothing }}f{{ end }}"},
		{"range over numbers", "{{ range 3 }}{{ . }}{{ end }}{{ range $i := .n }}{{ $i }}{{ end }}{{ range .zero }}{{ else }}none{{ end }}"},
		{"range over nulls", "{{ range .nulls }}{{ . }} {{ end }}"},
		{"range over words", "{{ range words \"a b\" }}{{ . }},{{ end }}"},
		{"range over a string", "{{ range .name }}{{ end }}"},
		{"break and continue", "{{ range $i, $_ := .labels }}{{ if eq $i \"a.b/c\" }}{{ continue }}{{ end }}{{ $i }}{{ break }}{{ end }}{{ range 3 }}{{ range 3 }}{{ if . }}{{ break }}{{ end }}{{ . }}{{ end }}{{ end }}"},
		{"scopes", "{{ range .containers }}{{ $x := .name }}{{ $x }}{{ end }}{{ with .name }}{{ $y := . }}{{ $y }}{{ end }}"},
		{"pipeline", "{{ .name | upper | quote }} {{ \"a\" | printf \"%s-%s\" \"b\" }} {{ (.name | upper) | quote }}"},
		{"nested calls", "{{ printf \"%s %d\" (upper .name) (len .containers) }} {{ upper zone }} {{ (index .containers 0).name }} {{ zone | upper }}"},
		{"functions of no arguments", "{{ zone }}{{ $z := zone }}{{ $z }}"},
		{"numbers for integers", "{{ add 1 2 }} {{ add .n 1 }} {{ 2 | repeat \"a\" }} {{ repeat \"b\" }}"},
		{"too many arguments", "{{ upper .name .name }}"},
		{"too few arguments", "{{ upper }}"},
		{"too few for a variadic function", "{{ repeat }}"},
		{"string wanted, number in the template", "{{ upper 1 }}"},
		{"string wanted, bool in the template", "{{ upper true }}"},
		{"string wanted, number", "{{ upper .n }}"},
		{"string wanted, number in a pipeline", "{{ .n | upper }}"},
		{"string wanted, nothing", "{{ upper .missing }}"},
		{"map wanted, nothing", "{{ get .missing \"a\" }}"},
		{"error of a function", "text {{ broken }}"},
		{"error in a pipeline", "{{ .name | parse }}"},
		{"panic of a function", "{{ panics }}"},
		{"arguments of a literal", "{{ 1 2 }}"},
		{"and", "{{ and .yes .name }} {{ and .no broken }} {{ and .name .zero }} {{ and 1 }} {{ .name | and .yes }}"},
		{"or", "{{ or .no .name }} {{ or .name broken }} {{ or .no .empty .zero }} {{ or .missing \"\" }} {{ .name | or .no }}"},
		{"not", "{{ not .yes }} {{ not .missing }} {{ not .n }}"},
		{"len", "{{ len .name }} {{ len .containers }} {{ len .labels }} {{ words \"a b c\" | len }}"},
		{"len of a number", "{{ len .n }}"},
		{"index", "{{ index .labels \"a.b/c\" }} {{ index .containers 1 \"name\" }} {{ index .containers 0 \"ports\" 1 }} {{ index .labels \"none\" }} {{ index (words \"a b\") 1 }} {{ index .name 1 }}"},
		{"index with a string", "{{ index .containers \"a\" }}"},
		{"index of null", "{{ index .null 1 }}"},
		{"index of a number", "{{ index .n 1 }}"},
		{"slice", "{{ slice .name 1 }} {{ slice .name 0 2 }} {{ slice .containers 1 | len }} {{ slice .name }}"},
		{"slice out of range", "{{ slice .name 4 }}"},
		{"slice the wrong way", "{{ slice .name 2 1 }}"},
		{"print", "{{ print \"a\" 1 2 \"b\" .n }}{{ println .name }}{{ printf \"%q %v %05d\" .name .labels .n }}"},
		{"escapes", "{{ html \"<a href='x'>\" }} {{ js \"it's\" }} {{ urlquery \"a b&c\" }} {{ .name | html }}"},
		{"eq", "{{ eq .name \"web\" }} {{ eq .n 7 }} {{ eq .n 1 2 7 }} {{ eq .f 1.5 }} {{ eq .yes true }} {{ eq .missing nil }} {{ eq .null .missing }} {{ eq .name .missing }} {{ eq 1 1 }} {{ eq (index .labels \"none\") nil }}"},
		{"eq of types", "{{ eq .n \"7\" }}"},
		{"eq of one", "{{ eq .n }}"},
		{"ne", "{{ ne .name \"web\" }} {{ ne .n 8 }} {{ ne .name nil }}"},
		{"order", "{{ lt .n 8 }} {{ le .n 7 }} {{ gt .n 7 }} {{ ge .n 7 }} {{ lt \"a\" \"b\" }} {{ ge 1.5 2.5 }}"},
		{"order of types", "{{ lt .n \"a\" }}"},
		{"templates", "{{ define \"row\" }}[{{ . }}{{ $ }}]{{ end }}{{ template \"row\" .name }}{{ range .labels }}{{ template \"row\" . }}{{ end }}{{ block \"b\" .n }}{{ . }}{{ end }}{{ template \"b\" }}"},
		{"recursive template", "{{ define \"down\" }}{{ if . }}{{ . }}{{ template \"down\" slice . 1 }}{{ end }}{{ end }}{{ template \"down\" .name }}"},
		{"template that does not exist", "{{ template \"none\" . }}"},
		{"error in a template", "{{ define \"row\" }}\n{{ upper .n }}{{ end }}\n{{ template \"row\" . }}"},
		{"syntax: action", "a {{ if }}"},
		{"syntax: end", "{{ range .a }}"},
		{"syntax: function", "{{ none 1 }}"},
		{"syntax: variable", "{{ $x }}"},
		{"syntax: break", "{{ break }}"},
		{"position", "line\n  {{ .name | upper | add .n .n }}"},
	} {
		t.Run(row.name, func(t *testing.T) {
			want, wantErr := asText(row.template)
			got, err := ours(row.template)
			if wantErr != nil {
				require.Error(t, err)
				assert.Equal(t, wantErr.Error(), err.Error())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func asText(text string) (string, error) {
	parsed, err := texttemplate.New("stage").Funcs(texttemplate.FuncMap(functions)).Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = parsed.Execute(&out, data())
	return out.String(), err
}

func ours(text string) (string, error) {
	parsed, err := template.Parse("stage", text, functions)
	if err != nil {
		return "", err
	}
	return parsed.Execute(functions, data())
}

// These errors name types of JSON, or what text/template can do and this package cannot.
func TestErrors(t *testing.T) {
	for _, row := range []struct{ name, template, want string }{
		{"field of null", "{{ .null.more }}", "template: stage:1:8: executing \"stage\" at <.null.more>: can't evaluate field more of null"},
		{"field of a string", "{{ .name.first }}", "template: stage:1:8: executing \"stage\" at <.name.first>: can't evaluate field first in type string"},
		{"field of an element", "{{ range .nulls }}{{ .x }}{{ end }}", "<.x>: can't evaluate field x of null"},
		{"range over a number with two variables", "{{ range $i, $v := 3 }}{{ end }}", "<$i, $v := 3>: can't use 3 to iterate over more than one variable"},
		{"float for an integer", "{{ add 1 1.5 }}", "<1.5>: expected int64; found 1.5"},
		{"int for int64", "{{ len .name | add 1 }}", "<add>: wrong type for value; expected int64; got int"},
		{"value of a pipeline", "line\n{{ .name | upper | add 1 }}", "stage:2:19: executing \"stage\" at <add>: wrong type for value; expected int64; got string"},
		{"null for a string", "{{ upper .null }}", "<.null>: invalid value; expected string"},
		{"arguments of a field", "{{ .name 1 }}", "<.name>: can't give argument to non-function .name"},
		{"arguments of a pipeline", "{{ (zone) 1 }}", "<zone>: can't give argument to non-function zone"},
		{"index out of range", "{{ index .containers 2 }}", "<index .containers 2>: error calling index: index out of range: 2"},
		{"complex number", "{{ 1i }}", "<1i>: complex number 1i"},
		{"call", "{{ call .name }}", "function \"call\" not defined"},
		{"compared lists", "{{ eq .none .none }}", "error calling eq: non-comparable type []interface {}"},
		{"endless recursion", "{{ define \"a\" }}{{ template \"a\" }}{{ end }}{{ template \"a\" }}", "exceeded maximum template depth (1000)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := ours(row.template)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

// The functions of an execution take the place of those that the template was parsed with.
func TestFunctionsOfExecution(t *testing.T) {
	parsed, err := template.Parse("stage", "{{ zone }}", functions)
	require.NoError(t, err)
	out, err := parsed.Execute(template.Functions{"zone": func() string { return "z2" }}, nil)
	require.NoError(t, err)
	assert.Equal(t, "z2", out)
}
