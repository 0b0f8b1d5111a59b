package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

const (
	uid1 = "11111111-1111-4111-8111-111111111111"
	uid2 = "22222222-2222-4222-8222-222222222222"
)

func TestMatcher(t *testing.T) {
	for _, row := range []struct {
		name      string
		want, got string // JSON
		differs   []string
	}{
		{"equal", `{"a":[1,"x",true,null]}`, `{"a":[1,"x",true,null]}`, nil},
		{"number and its text", `{"a":1}`, `{"a":"1"}`, []string{`.a: want 1, got "1"`}},
		{"text and its number", `{"a":"1"}`, `{"a":1}`, []string{`.a: want "1", got the number 1`}},
		{"text and null", `"a"`, `null`, []string{`: want "a", got null`}},
		{"null and text", `null`, `"a"`, []string{`: want null, got "a"`}},
		{"object and list", `{}`, `[]`, []string{`: want an object, got []`}},
		{"list and object", `[]`, `{}`, []string{`: want a list, got {}`}},
		{"missing", `{"a":1}`, `{}`, []string{`.a: missing, want 1`}},
		{"surplus", `{}`, `{"a":1}`, []string{`.a: unexpected, got 1`}},
		{"maybe absent", `{"a":"<maybe>"}`, `{}`, nil},
		{"maybe present", `{"a":"<maybe>"}`, `{"a":[]}`, nil},
		{"any is not absent", `{"a":"<any>"}`, `{}`, []string{`.a: missing, want "<any>"`}},
		{"any value", `{"a":"<any>"}`, `{"a":{"b":1}}`, nil},
		{"list length", `[1,2]`, `[1]`, []string{`: want 2 items, got 1`}},
		{"any text between", `"a <*> c"`, `"a b\nb c"`, nil},
		{"no text between", `"a<*>c"`, `"ac"`, nil},
		{"any text twice", `"<*>b<*>"`, `"abc"`, nil},
		{"text between only once", `"<*>b<*>b"`, `"ab"`, []string{`: want "<*>b<*>b", got "ab"`}},
		{"text between elsewhere", `"a <*> c"`, `"a b d"`, []string{`: want "a <*> c", got "a b d"`}},
		{"beginning and end overlap", `"ab<*>bc"`, `"abc"`, []string{`: want "ab<*>bc", got "abc"`}},
		{"classes", `["<time>","<num>","<num>","<rv>","<continue>","<uid>"]`, `["2026-01-02T03:04:05Z",5,"5","7","x","` + uid1 + `"]`, nil},
		{"negative number", `["<num>"]`, `[-5]`, []string{`[0]: want "<num>", got "-5"`}},
		{"time without a zone", `"<time>"`, `"2026-01-02T03:04:05"`, []string{`: want "<time>", got "2026-01-02T03:04:05"`}},
		{"empty continue", `"<continue>"`, `""`, []string{`: want "<continue>", got ""`}},
		{"one placeholder, one value", `["<rv:1>","<rv:1>"]`, `["5","5"]`, nil},
		{"one placeholder, two values", `["<rv:1>","<rv:1>"]`, `["5","6"]`, []string{`[1]: want <rv:1>, which is 5, got 6`}},
		{"two placeholders, one value", `["<rv:1>","<rv:2>"]`, `["5","5"]`, []string{`[1]: want <rv:2>, a new value, got 5, which is <rv:1>`}},
		{"classes bind apart", `["<uid:1>","<uid:2>"]`, `["` + uid1 + `","` + uid2 + `"]`, nil},
		{"placeholder of another class", `"<uid:1>"`, `"5"`, []string{`: want <uid:1>, got "5"`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var d differences
			newMatcher().value("", decodeJSON([]byte(row.want)), decodeJSON([]byte(row.got)), &d)
			assert.Equal(t, row.differs, []string(d))
		})
	}
}

func TestAnswer(t *testing.T) {
	want := &Answer{
		Status:  200,
		Headers: map[string]string{"Content-Type": "application/json", "Vary": "<maybe>", "Etag": "<any>"},
		Warning: []string{"careful"},
		Body:    map[string]any{"a": "b"},
	}
	same := *want
	same.Headers = map[string]string{"Content-Type": "application/json", "Etag": `"1"`, "Date": "today"}
	assert.Empty(t, newMatcher().compare(want, &same))

	little := Answer{Warning: want.Warning, Body: want.Body}
	assert.Empty(t, newMatcher().compare(&little, &same), "200, and headers do not count")
	little.Headers = map[string]string{}
	assert.Len(t, newMatcher().compare(&little, &same), 2, "there are to be none")

	assert.Equal(t, []string{
		`status: want 200, got 404 {"kind":"Status"}`,
		`header Content-Type: want "application/json", got "text/plain"`,
		`header Etag: want "<any>", got ""`,
		`header Allow: want "", got "GET"`,
		`warning: want 1 items, got 0`,
	}, newMatcher().compare(want, &Answer{
		Status:  404,
		Headers: map[string]string{"Content-Type": "text/plain", "Allow": "GET"},
		Body:    map[string]any{"kind": "Status"},
	}))
}

func TestExpected(t *testing.T) {
	got := &Answer{
		Status:  200,
		Headers: map[string]string{"Content-Type": "application/json"},
		Body:    map[string]any{"spec": map[string]any{"a": "b", "c": []any{"d", map[string]any{"e": "f", "g": "h"}}}},
	}
	for _, row := range []struct {
		name    string
		want    Answer
		differs []string
	}{
		{"nothing", Answer{Status: 200}, nil},
		{"a member", Answer{Status: 200, Body: map[string]any{"spec": map[string]any{"a": "b"}}}, nil},
		{"a member in a list", Answer{Status: 200, Body: map[string]any{"spec": map[string]any{"c": []any{"d", map[string]any{"e": "f"}}}}}, nil},
		{"another value", Answer{Status: 200, Body: map[string]any{"spec": map[string]any{"a": "x"}}}, []string{`body.spec.a: want "x", got "b"`}},
		{"a shorter list", Answer{Status: 200, Body: map[string]any{"spec": map[string]any{"c": []any{"d"}}}}, []string{`body.spec.c: want 1 items, got 2`}},
		{"a header", Answer{Status: 200, Headers: map[string]string{"Content-Type": "text/plain"}}, []string{`header Content-Type: want "text/plain", got "application/json"`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newMatcher()
			m.partial = true
			assert.Equal(t, row.differs, m.compareSubset(&row.want, got))
		})
	}
}
