//go:build go1.24

package fakeapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// BenchmarkDefine creates a CustomResourceDefinition of 200 fields, waits until its
// resource is served, and deletes it.
func BenchmarkDefine(b *testing.B) {
	var fields []string
	for i := range 200 {
		fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string","maxLength":20,"description":"what f%d is for"}`, i, i))
	}
	definition := apitest.Widgets("v1", strings.Join(fields, ","))
	srv := fakeapi.Start(b)
	for b.Loop() {
		_, err := srv.Store(definition)
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, srv.Remove("customresourcedefinitions", "", "widgets.example.com"))
		b.StartTimer()
	}
}

// gadgets returns the ith of many CustomResourceDefinitions, and its name. Every other one has a group
// of its own.
func gadgets(i int) (definition, name string) {
	plural, group := fmt.Sprintf("gadget%ds", i), "example.com"
	if i%2 == 0 {
		group = fmt.Sprintf("g%d.example.com", i)
	}
	name = plural + "." + group
	return strings.NewReplacer("widgets.example.com", name, `"group":"example.com"`, fmt.Sprintf(`"group":%q`, group),
		`"plural":"widgets","kind":"Widget","shortNames":["wd"]`, fmt.Sprintf(`"plural":%q,"kind":"Gadget%d"`, plural, i)).
		Replace(apitest.Widgets("v1", `"size":{"type":"integer"}`)), name
}

// putGadgets stores n definitions, and returns the next one.
func putGadgets(t testing.TB, srv *fakeapi.Server, n int) (next, name string) {
	for i := range n {
		definition, _ := gadgets(i)
		_, err := srv.Store(definition)
		require.NoError(t, err)
	}
	return gadgets(n)
}

// TestDefineAmongMany checks that the work of creating a definition does not grow with
// the number of definitions.
func TestDefineAmongMany(t *testing.T) {
	allocations := func(n int) float64 {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		next, name := putGadgets(t, srv, n)
		return testing.AllocsPerRun(3, func() {
			_, err := srv.Store(next)
			require.NoError(t, err)
			require.NoError(t, srv.Remove("customresourcedefinitions", "", name))
		})
	}
	few, many := allocations(2), allocations(400)
	assert.Less(t, many, 1.5*few)
}

// TestForkWithManyDefinitions checks that the work of a fork does not grow with the
// number of definitions.
func TestForkWithManyDefinitions(t *testing.T) {
	allocations := func(n int) float64 {
		srv := fakeapi.Start(t, fakeapi.WithInMemory())
		putGadgets(t, srv, n)
		return testing.AllocsPerRun(3, func() { srv.Fork(t) })
	}
	few, many := allocations(1), allocations(200)
	assert.Less(t, many, 1.5*few)
}

// BenchmarkDefineAmong creates a CustomResourceDefinition on a server that has n others,
// and deletes it.
func BenchmarkDefineAmong(b *testing.B) {
	for _, n := range []int{2, 100, 800} {
		b.Run(fmt.Sprintf("definitions=%d", n), func(b *testing.B) {
			srv := filled(b, 0)
			next, name := putGadgets(b, srv, n)
			b.ReportAllocs()
			for b.Loop() {
				request(b, srv, "POST", apitest.DefinitionsPath, next)
				require.NoError(b, srv.Remove("customresourcedefinitions", "", name))
			}
		})
	}
}

// BenchmarkCreateCustom creates a custom resource of 20 fields, without CEL rules and
// with one for each field.
func BenchmarkCreateCustom(b *testing.B) {
	const fields = 20
	for _, bench := range []struct{ name, rule string }{
		{"plain", ""},
		{"rules", `,"x-kubernetes-validations":[{"rule":"self.size() > 0 && self.startsWith('v')"}]`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var properties, values []string
			for i := range fields {
				properties = append(properties, fmt.Sprintf(`"f%d":{"type":"string","maxLength":20%s}`, i, bench.rule))
				values = append(values, fmt.Sprintf(`"f%d":"value %d"`, i, i))
			}
			srv := filled(b, 0)
			_, err := srv.Store(apitest.Widgets("v1", strings.Join(properties, ",")))
			require.NoError(b, err)
			body := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w-%d"},"spec":{` + strings.Join(values, ",") + `}}`
			for i := 0; b.Loop(); i++ {
				request(b, srv, "POST", apitest.WidgetsPath, fmt.Sprintf(body, i))
			}
		})
	}
}

// widgetsWithConditions is widgets with conditions in the status.
func widgetsWithConditions(properties string) string {
	return strings.Replace(apitest.Widgets("v1", properties), `"status":{"type":"object"}`, `"status":{"type":"object","properties":{
		"conditions":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"],"items":{
			"type":"object","required":["type","status"],"properties":{
				"type":{"type":"string","maxLength":316},"status":{"type":"string","enum":["True","False","Unknown"]},
				"reason":{"type":"string","minLength":1},"message":{"type":"string"}}}}}}`, 1)
}

// BenchmarkChangeCustom changes a custom resource of 20 fields: a label by a merge patch, a field by
// a merge patch, the status by a merge patch, and a field by a server-side apply.
func BenchmarkChangeCustom(b *testing.B) {
	var properties, values []string
	for i := range 20 {
		properties = append(properties, fmt.Sprintf(`"f%d":{"type":"string","maxLength":20}`, i))
		values = append(values, fmt.Sprintf(`"f%d":"value %d"`, i, i))
	}
	const head = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{`
	for _, bench := range []struct{ name, method, path, body string }{
		{"label", "PATCH", "/a", `{"metadata":{"labels":{"a":"%d"}}}`},
		{"field", "PATCH", "/a", `{"spec":{"f0":"%d"}}`},
		{"status", "PATCH", "/a/status", `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Up","message":"%d"}]}}`},
		{"apply", "APPLY", "/a?fieldManager=bench", head + `"f0":"%d"}}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			srv := filled(b, 0)
			_, err := srv.Store(widgetsWithConditions(strings.Join(properties, ",")))
			require.NoError(b, err)
			request(b, srv, "APPLY", apitest.WidgetsPath+"/a?fieldManager=other", head+strings.Join(values[1:], ",")+"}}")
			for i := 0; b.Loop(); i++ {
				request(b, srv, bench.method, apitest.WidgetsPath+bench.path, fmt.Sprintf(bench.body, i))
			}
		})
	}
}
