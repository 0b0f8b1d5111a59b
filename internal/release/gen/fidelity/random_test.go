package fidelity

import (
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var seed = flag.Uint64("seed", 1, "`SEED` of the random documents")

// onEveryKind compares random documents of each kind, fewer in a short run.
// compare returns the first difference, "" if there is none.
func onEveryKind(t *testing.T, rounds int, compare func(k kind, doc []byte) string) {
	if testing.Short() {
		rounds /= 10
	}
	g := &documents{Rand: rand.New(rand.NewPCG(*seed, 0))}
	for _, k := range kinds {
		for range rounds {
			doc := g.document(k.goType)
			if diff := compare(k, doc); diff != "" {
				t.Fatalf("%v\n%s\n%s", k, doc, diff)
			}
		}
	}
}

// fuzzKinds compares documents of all kinds.
func fuzzKinds(f *testing.F, compare func(k kind, doc []byte) string) {
	g := &documents{Rand: rand.New(rand.NewPCG(*seed, 0))}
	for i, k := range kinds {
		f.Add(uint16(i), g.document(k.goType))
	}
	f.Fuzz(func(t *testing.T, i uint16, doc []byte) {
		k := kinds[int(i)%len(kinds)]
		if diff := compare(k, doc); diff != "" {
			t.Fatalf("%v\n%s\n%s", k, doc, diff)
		}
	})
}

// documents writes random JSON documents for Go types. Most values have the right
// type; nulls, empty values, unknown and duplicate fields and values of wrong
// types are frequent enough to reach every rule.
type documents struct {
	*rand.Rand

	// wrong makes one value in so many have a wrong type; 0 makes none.
	wrong int
}

// special holds the values to try for types with codecs of their own. It has no
// null for quantities and ports: a null after another value of the same field
// shows hidden state of the Go types.
var special = map[reflect.Type][]string{
	reflect.TypeFor[metav1.Time](): {
		`"2024-05-06T07:08:09Z"`, `"2024-05-06T07:08:09.999+02:00"`, `"1970-01-01T00:00:00Z"`,
		`"0001-01-01T00:00:00Z"`, `"1969-12-31T23:59:59.5Z"`, `"1965-12-31T23:59:59.5-03:30"`, `null`,
	},
	reflect.TypeFor[metav1.MicroTime](): {
		`"2024-05-06T07:08:09.123456Z"`, `"2024-05-06T07:08:09.123456+02:00"`, `"1970-01-01T00:00:00.000000Z"`,
		`"0001-01-01T00:00:00.000000Z"`, `"1969-12-31T23:59:59.500000Z"`, `null`,
	},
	reflect.TypeFor[resource.Quantity](): {
		`"1"`, `1`, `1.5`, `"1024Mi"`, `"1.5Gi"`, `"100m"`, `"0"`, `"0.1m"`, `"-1.1Ki"`, `" 5 "`, `1e3`, `"1000E"`, `"+5"`, `"1.500"`,
		`"12345678901234567890123"`, `"1e-12"`, `"16Ei"`,
	},
	reflect.TypeFor[intstr.IntOrString]():                           {`80`, `"http"`, `"25%"`, `0`, `""`, `-5`},
	reflect.TypeFor[runtime.RawExtension]():                         {`{"b":[1,{}],"a":null}`, `null`, `5`, `"x"`, `[]`, `{"a":1.5,"a":2}`},
	reflect.TypeFor[metav1.FieldsV1]():                              {`{"f:metadata":{"f:labels":{}}}`, `{}`, `null`},
	reflect.TypeFor[apiextensionsv1.JSON]():                         {`{"b":1,"a":[null,true]}`, `null`, `"x"`, `0`, `[]`, `{}`},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        {`true`, `false`, `{"type":"string"}`, `{}`},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       {`{"type":"string"}`, `[]`, `[{"type":"string"},{}]`, `{}`, `5`, `true`},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): {`{"type":"string"}`, `[]`, `["a",null]`, `{}`, `5`, `null`, `[{}]`},
}

// misfits are values that few types accept.
var misfits = []string{
	`{}`, `[]`, `""`, `"x"`, `0`, `1.5`, `-1`, `99999999999`, `1e400`, `true`, `{"a":1}`, `[1]`, `["x"]`, `"2024-13-01T00:00:00Z"`, `"5Q"`, `"=="`, `[{}]`, `[[]]`,
}

var texts = []string{`""`, `"a"`, `"Always"`, `"<a&b>"`, `"\u00e9\n\u2028"`, `"\ud800x"`, "\"\xff\xfe\"", "\"\u65e5\u672c\"", `"\/\"\\"`}

func (g *documents) pick(from []string) string { return from[g.IntN(len(from))] }

// value writes a value for a type.
func (g *documents) value(b *strings.Builder, t reflect.Type, depth int) {
	if g.wrong > 0 && g.IntN(g.wrong) == 0 {
		b.WriteString(g.pick(misfits))
		return
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		if g.IntN(12) == 0 {
			b.WriteString("null")
			return
		}
	}
	if values, ok := special[t]; ok {
		b.WriteString(g.pick(values))
		return
	}
	if g.IntN(25) == 0 {
		b.WriteString("null")
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(g.IntN(2) == 0))
	case reflect.Int, reflect.Int32, reflect.Int64:
		b.WriteString(g.pick([]string{"0", "1", "-7", "2147483647", "-0"}))
	case reflect.Uint8:
		b.WriteString(strconv.Itoa(g.IntN(256)))
	case reflect.Float64:
		b.WriteString(g.pick([]string{"0", "1", "1.5", "1e30", "-2.5e-9", "1e6"}))
	case reflect.String:
		b.WriteString(g.pick(texts))
	case reflect.Interface:
		b.WriteString(g.pick([]string{"null", "5", "1.0", `"x"`, `{"a":1,"a":{"b":[]}}`, "[]", "true", "99999999999999999999"}))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && g.IntN(5) > 0 {
			b.WriteString(g.pick([]string{`""`, `"YQ=="`, `"YWI="`, `"YW\nI="`}))
			return
		}
		b.WriteByte('[')
		if depth > 0 {
			for i := range g.IntN(3) {
				if i > 0 {
					b.WriteByte(',')
				}
				g.value(b, t.Elem(), depth-1)
			}
		}
		b.WriteByte(']')
	case reflect.Map:
		b.WriteByte('{')
		if depth > 0 {
			for i := range g.IntN(4) {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(g.pick([]string{`"k"`, `"cpu"`, `"<"`, `""`, `"a.b/c"`}))
				b.WriteByte(':')
				g.value(b, t.Elem(), depth-1)
			}
		}
		b.WriteByte('}')
	case reflect.Struct:
		g.object(b, t, depth)
	default:
		panic(fmt.Sprint("no document for ", t))
	}
}

// object writes an object with some of the fields of a struct, in any order.
func (g *documents) object(b *strings.Builder, t reflect.Type, depth int) {
	members := slices.DeleteFunc(jsonFields(t), func(member) bool {
		return (depth <= 0 || g.IntN(3) == 0) && g.IntN(12) > 0
	})
	if len(members) > 0 && g.IntN(6) == 0 {
		members = append(members, members[g.IntN(len(members))]) // a duplicate
	}
	if g.IntN(12) == 0 {
		members = append(members, member{g.pick([]string{"unknown", "Kind", "", "<"}), reflect.TypeFor[[]string]()})
	}
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteString(g.pick([]string{",", ", ", ",\n\t"}))
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			panic(err)
		}
		b.Write(name)
		b.WriteByte(':')
		g.value(b, m.t, depth-1)
	}
	b.WriteByte('}')
}

// A member is a field of a struct as JSON sees it.
type member struct {
	name string
	t    reflect.Type
}

func jsonFields(t reflect.Type) (members []member) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			members = append(members, jsonFields(f.Type)...)
		case name == "":
			members = append(members, member{f.Name, f.Type})
		default:
			members = append(members, member{name, f.Type})
		}
	}
	return members
}

// jsonValues are the fields of a struct as JSON sees them, by name.
func jsonValues(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for f, field := range v.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-" || !f.IsExported():
			case name == "" && f.Anonymous:
				for name, inner := range jsonValues(field) {
					if !yield(name, inner) {
						return
					}
				}
			case name == "":
				name = f.Name
				fallthrough
			default:
				if !yield(name, field) {
					return
				}
			}
		}
	}
}

// document writes a document for a kind.
func (g *documents) document(t reflect.Type) []byte {
	var b strings.Builder
	g.wrong = []int{0, 0, 400, 60}[g.IntN(4)]
	g.object(&b, t, 2+g.IntN(6))
	doc := []byte(b.String())
	if g.IntN(8) == 0 { // break its syntax, perhaps
		for range 1 + g.IntN(2) {
			i := g.IntN(len(doc))
			switch g.IntN(3) {
			case 0:
				doc[i] = "{}[],:\"\\0x-tn\x00\x80 "[g.IntN(16)]
			case 1:
				doc = doc[:i+1]
			case 2:
				doc = append(doc[:i], doc[i+1:]...)
			}
			if len(doc) == 0 {
				break
			}
		}
	}
	return doc
}
