//go:build go1.24

package selector_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/selector"
)

// objects are the objects of the recordings in the corpus.
var objects = []struct {
	name   string
	labels selector.Map
}{
	{"a", selector.Map{"env": "prod", "tier": "web"}},
	{"b", selector.Map{"env": "dev", "tier": "web"}},
	{"c", selector.Map{"env": "prod"}},
	{"d", nil},
	{"e", selector.Map{"env": "", "num": "10"}},
}

func selected(s selector.Labels) string {
	var names []string
	for _, o := range objects {
		if s.Matches(o.labels) {
			names = append(names, o.name)
		}
	}
	return strings.Join(names, " ")
}

func TestLabels(t *testing.T) {
	for _, tt := range []struct {
		name      string
		selector  string
		selects   string
		canonical string
	}{
		{"empty", "", "a b c d e", ""},
		{"blank", " ", "a b c d e", ""},
		{"equal", "env=prod", "a c", "env=prod"},
		{"double equal", "env==prod", "a c", "env==prod"},
		{"not equal selects those without the label", "env!=prod", "b d e", "env!=prod"},
		{"equal to the empty value", "env=", "e", "env="},
		{"not equal to the empty value", "env!=", "a b c d", "env!="},
		{"two requirements", "tier=web,env=prod", "a", "env=prod,tier=web"},
		{"contradiction", "env=prod,env=dev", "", "env=prod,env=dev"},
		{"in", "env in (prod,dev)", "a b c", "env in (dev,prod)"},
		{"in with one value", "env in (prod)", "a c", "env in (prod)"},
		{"in with duplicates", "env in (prod,prod)", "a c", "env in (prod)"},
		{"in with an empty value first", "env in (,dev)", "b e", "env in (,dev)"},
		{"in with an empty value last", "env in (dev,)", "b e", "env in (,dev)"},
		{"in with an empty value between", "env in (dev,,prod)", "a b c e", "env in (,dev,prod)"},
		{"in with commas only", "env in (,,)", "e", "env in ()"},
		{"in with nothing is the empty value", "env in ()", "e", "env in ()"},
		{"notin selects those without the label", "env notin (prod,dev)", "d e", "env notin (dev,prod)"},
		{"notin with nothing", "env notin ()", "a b c d", "env notin ()"},
		{"in and notin", "env in (prod),tier notin (web)", "c", "env in (prod),tier notin (web)"},
		{"exists", "tier", "a b", "tier"},
		{"does not exist", "!tier", "c d e", "!tier"},
		{"does not exist, blank", "! tier", "c d e", "!tier"},
		{"exists and does not", "env,!tier", "c e", "env,!tier"},
		{"unknown key", "nosuch", "", "nosuch"},
		{"greater", "num>9", "e", "num>9"},
		{"not greater", "num>10", "", "num>10"},
		{"less", "num<11", "e", "num<11"},
		{"not less", "num<10", "", "num<10"},
		{"greater than no number", "env>1", "", "env>1"},
		{"blanks", "\t env  in  (\r\n prod , dev ) ", "a b c", "env in (dev,prod)"},
		{"blanks around equal", " env = prod ", "a c", "env=prod"},
		{"operators as names", "in in (in,notin),notin=in", "", "in in (in,notin),notin=in"},
		{"prefixed key", "example.com/x!=y", "a b c d e", "example.com/x!=y"},
		{"NUL ends the input", "env=prod,tier \x00 !=", "a", "env=prod,tier"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := selector.ParseLabels(tt.selector)
			require.NoError(t, err)
			assert.Equal(t, tt.selects, selected(s))
			assert.Equal(t, tt.canonical, s.String())
			assert.Equal(t, tt.canonical == "", s.Empty())
		})
	}
}

const (
	nameText = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	valueText = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	subdomainText = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
		`(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
)

func TestParseLabelsError(t *testing.T) {
	long := strings.Repeat("x", 64)
	for _, tt := range []struct {
		name     string
		selector string
		want     string
	}{
		{"in without list", "a in", "unable to parse requirement: found '' expected: '('"},
		{"in with a bare value", "a in b", "unable to parse requirement: found 'b' expected: '('"},
		{"list not closed", "a in (b", "unable to parse requirement: found '', expected: ',' or ')'"},
		{"list not begun", "a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
		{"list ends after comma", "a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"},
		{"operator in list", "a in (b,=)", "unable to parse requirement: found '=', expected: ',', or identifier"},
		{"operator begins list", "a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"},
		{"notin with a bare value", "a notin x", "unable to parse requirement: found 'x' expected: '('"},
		{"two values", "a=b=c", "found '=', expected: ',' or 'end of string'"},
		{"operator first", "=a", "found '=', expected: !, identifier, or 'end of string'"},
		{"comma last", "a,", "found '', expected: identifier after ','"},
		{"two commas", "a,,b", "found ',', expected: identifier after ','"},
		{"comma only", ",", "found ',', expected: !, identifier, or 'end of string'"},
		{"not of nothing", "!", "unable to parse requirement: found '', expected: identifier"},
		{"not of not", "!!a", "unable to parse requirement: found '!', expected: identifier"},
		{"not between", "a!b", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"},
		{"no operator", "a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
		{"operator instead of value", "a==!", "unable to parse requirement: found '!', expected: identifier"},
		{"no key after comma", "a=b,=c", "found '=', expected: identifier after ','"},
		{"in without key", "in (x)", "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt"},
		{"not of equal", "!a=b", "found '=', expected: ',' or 'end of string'"},
		{"parentheses", "(a)", "found '(', expected: !, identifier, or 'end of string'"},
		{"value with blank", "a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"},

		{"key begins with dash", "-a=b", `unable to parse requirement: <nil>: Invalid value: "-a": name part ` + nameText},
		{"key with two slashes", "a/b/c=d", `unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key ` + nameText +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
		{"key with empty prefix", "/a", `unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty`},
		{"key with empty name", "a/", `unable to parse requirement: <nil>: Invalid value: "a/": name part must be non-empty; name part ` + nameText},
		{"prefix in upper case", "UPPER.example.com/x=y", `unable to parse requirement: <nil>: Invalid value: "UPPER.example.com/x": prefix part ` + subdomainText},
		{"prefix too long", strings.Repeat("a", 254) + "/x", `unable to parse requirement: <nil>: Invalid value: "` + strings.Repeat("a", 254) +
			`/x": prefix part must be no more than 253 bytes`},
		{"key too long", long + "=a", `unable to parse requirement: <nil>: Invalid value: "` + long + `": name part must be no more than 63 bytes`},
		{"value begins with dash", "a=-b", `unable to parse requirement: values[0][a]: Invalid value: "-b": ` + valueText},
		{"value too long", "a=" + long, `unable to parse requirement: values[0][a]: Invalid value: "` + long + `": must be no more than 63 bytes`},
		{"value too long and wrong", "a=-" + long, `unable to parse requirement: values[0][a]: Invalid value: "-` + long + `": must be no more than 63 bytes; ` + valueText},
		{"value in list", "a in (%)", `unable to parse requirement: values[0][a]: Invalid value: "%": ` + valueText},
		{"values in sorted list", "a in (x,-,_)", `unable to parse requirement: [values[0][a]: Invalid value: "-": ` + valueText +
			`, values[1][a]: Invalid value: "_": ` + valueText + "]"},
		{"greater than a word", "a>b", `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`},
		{"less than a fraction", "a<1.5", `unable to parse requirement: values[0]: Invalid value: "1.5": for 'Gt', 'Lt' operators, the value must be an integer`},
		{"greater than nothing", "a>", `unable to parse requirement: values[0]: Invalid value: "": for 'Gt', 'Lt' operators, the value must be an integer`},
		{"less than a word, second", "a>1,a<x", `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`},
		{"neither integer nor value", "a>-", `unable to parse requirement: [values[0]: Invalid value: "-": for 'Gt', 'Lt' operators, the value must be an integer, ` +
			`values[0][a]: Invalid value: "-": ` + valueText + "]"},
		{"a negative integer is no label value", "a>-1", `unable to parse requirement: values[0][a]: Invalid value: "-1": ` + valueText},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := selector.ParseLabels(tt.selector)
			assert.EqualError(t, err, tt.want)
		})
	}
}

func TestLabelsOddIntegers(t *testing.T) {
	s, err := selector.ParseLabels("n>5")
	require.NoError(t, err)
	for value, want := range map[string]bool{
		"6": true, "+6": true, "007": true, "5": false, "-6": false, "6a": false, "6.0": false, "": false, "+": false,
		"9223372036854775807": true, "9223372036854775808": false,
	} {
		assert.Equal(t, want, s.Matches(selector.Map{"n": value}), value)
	}
}

func TestRequirements(t *testing.T) {
	s, err := selector.ParseLabels("b>4,a in (y,x),c")
	require.NoError(t, err)
	var got []string
	for _, r := range s.Requirements() {
		got = append(got, r.Key+"|"+string(r.Operator)+"|"+strings.Join(r.Values, " ")+"|"+r.String())
	}
	assert.Equal(t, []string{"a|in|x y|a in (x,y)", "b|gt|4|b>4", "c|exists||c"}, got)
}

func TestNothing(t *testing.T) {
	s := selector.Nothing()
	assert.Empty(t, selected(s))
	assert.False(t, s.Empty())
	assert.Empty(t, s.String())
	assert.Empty(t, s.Requirements())
}

func TestObject(t *testing.T) {
	expr := func(key, op string, values ...string) *selector.Object {
		return &selector.Object{MatchExpressions: []selector.Expression{{Key: key, Operator: op, Values: values}}}
	}
	for _, tt := range []struct {
		name      string
		object    *selector.Object
		selects   string
		canonical string
		err       string
	}{
		{name: "nil", object: nil, selects: ""},
		{name: "empty", object: &selector.Object{}, selects: "a b c d e"},
		{name: "labels", object: &selector.Object{MatchLabels: map[string]string{"tier": "web", "env": "prod"}}, selects: "a", canonical: "env=prod,tier=web"},
		{name: "in", object: expr("env", "In", "prod", "dev"), selects: "a b c", canonical: "env in (dev,prod)"},
		{name: "not in", object: expr("env", "NotIn", "prod"), selects: "b d e", canonical: "env notin (prod)"},
		{name: "exists", object: expr("tier", "Exists"), selects: "a b", canonical: "tier"},
		{name: "does not exist", object: expr("tier", "DoesNotExist"), selects: "c d e", canonical: "!tier"},
		{name: "unknown operator", object: expr("a", "Gt", "1"), err: `"Gt" is not a valid label selector operator`},
		{name: "in nothing", object: expr("a", "In"), err: "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
		{name: "exists with values", object: expr("a", "Exists", "x"), err: `values: Invalid value: ["x"]: values set must be empty for exists and does not exist`},
		{name: "bad key", object: &selector.Object{MatchLabels: map[string]string{"a/": "b"}}, err: `key: Invalid value: "a/": name part must be non-empty; name part ` + nameText},
		{name: "bad value", object: expr("a", "In", "b", "-"), err: `values[1][a]: Invalid value: "-": ` + valueText},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := tt.object.Selector()
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.selects, selected(s))
			assert.Equal(t, tt.canonical, s.String())
		})
	}
}

func TestFromMap(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    map[string]any
		want *selector.Object
	}{
		{"none", nil, nil},
		{"everything", map[string]any{}, &selector.Object{}},
		{"labels", map[string]any{"matchLabels": map[string]any{"a.b/c": "d"}}, &selector.Object{MatchLabels: map[string]string{"a.b/c": "d"}}},
		{"expressions", map[string]any{"matchExpressions": []any{
			map[string]any{"key": "k", "operator": "In", "values": []any{"a", "b"}},
			map[string]any{"key": "l", "operator": "Exists"},
		}}, &selector.Object{MatchExpressions: []selector.Expression{{Key: "k", Operator: "In", Values: []string{"a", "b"}}, {Key: "l", Operator: "Exists"}}}},
		{"wrong types", map[string]any{"matchLabels": "a", "matchExpressions": int64(1)}, &selector.Object{}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, selector.FromMap(tt.m)) })
	}
}

func TestObjectKeepsItsValues(t *testing.T) {
	values := []string{"b", "a"}
	o := &selector.Object{MatchExpressions: []selector.Expression{{Key: "k", Operator: "In", Values: values}}}
	s, err := o.Selector()
	require.NoError(t, err)
	values[0] = "changed"
	assert.Equal(t, "k in (a,b)", s.String())
}

func FuzzParseLabels(f *testing.F) {
	for _, seed := range []string{
		"", "a", "!a", "a=b", "a == b", "a!=b,c", "a in (b,,c)", "a notin ()", "in in (in)", "a>1,b<2", "x.y/z=", "a\x00b", "!a=(", "a in (,",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := selector.ParseLabels(text)
		if err != nil {
			return
		}
		again, err := selector.ParseLabels(s.String())
		require.NoError(t, err)
		assert.Equal(t, s, again)
		for _, o := range objects {
			s.Matches(o.labels)
		}
		assert.True(t, slices.IsSortedFunc(s.Requirements(), func(a, b selector.Requirement) int { return strings.Compare(a.Key, b.Key) }))
	})
}

func BenchmarkLabelsMatches(b *testing.B) {
	labels := selector.Map{"app": "web", "tier": "front", "pod-template-hash": "5d4f8c7b9", "replicas": "12"}
	for _, bb := range []struct{ name, selector string }{
		{"requirements=1", "app=web"},
		{"requirements=3", "app=web,tier in (front,back),!canary"},
		{"integer", "replicas>10"},
		{"no-integer", "app>10"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, err := selector.ParseLabels(bb.selector)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				s.Matches(labels)
			}
		})
	}
}

func BenchmarkParseLabels(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := selector.ParseLabels("app.kubernetes.io/name=web,tier in (front,back),!canary"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMatchesDoesNotAllocate(t *testing.T) {
	labels := map[string]string{"app": "web", "n": "12"}
	get := func(field string) string { return labels[field] }
	l, err := selector.ParseLabels("app in (web,api),n>10,!x,app notin (db),app>1")
	require.NoError(t, err)
	fields, err := selector.ParseFields("app=web,n!=1")
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		l.Matches(selector.Map(labels))
		fields.Matches(get)
	}))
}
