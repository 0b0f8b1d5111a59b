package explore_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest/explored"
	"github.com/kubefake/kubefake/scenarios/explore"
)

const generators = "/apis/power.example.com/v1/namespaces/default/generators"

// describing returns a controller that writes the spec of a Generator, as text, to a ConfigMap.
func describing(write func(c *explored.Controller, path string, generator fakeapi.Object, spec map[string]any) error) explored.Shape {
	return explored.Shape{
		Watches: []explored.Watched{{Path: generators, Keys: explored.Self}},
		Reconcile: func(c *explored.Controller, key string) error {
			generator := c.Cached(generators, key)
			if generator == nil {
				return nil
			}
			spec, _ := generator["spec"].(map[string]any)
			return write(c, explored.DefaultMaps+"/"+generator.Name(), generator, spec)
		},
	}
}

func described(generator fakeapi.Object, spec map[string]any) fakeapi.Object {
	data := map[string]any{}
	for name, v := range spec {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		data[name] = string(text)
	}
	return fakeapi.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"name": generator.Name(), "ownerReferences": []any{map[string]any{
			"apiVersion": "power.example.com/v1", "kind": "Generator", "name": generator.Name(), "uid": explored.UIDOf(generator), "controller": true,
		}}},
	}
}

func TestChanges(t *testing.T) {
	needsBubble(t)
	for name, tt := range map[string]struct {
		shape  explored.Shape
		oracle explore.Oracle // "" for none
		text   string
	}{
		"correct": {shape: describing(func(c *explored.Controller, path string, generator fakeapi.Object, spec map[string]any) error {
			return c.Apply(path, described(generator, spec))
		})},
		"a removed field stays": {oracle: explore.Path, text: "where other changes came before the 2nd one", shape: describing(func(c *explored.Controller, path string, generator fakeapi.Object, spec map[string]any) error {
			err := c.Patch(path, described(generator, spec))
			if explored.CodeOf(err) == 404 {
				_, err = c.Create(explored.DefaultMaps, described(generator, spec))
			}
			return err
		})},
		"each reconciliation writes": {oracle: explore.Idempotent, text: "the system writes when it starts again", shape: describing(func(c *explored.Controller, path string, generator fakeapi.Object, spec map[string]any) error {
			o := described(generator, spec)
			o["data"].(map[string]any)["at"] = time.Now().String()
			return c.Apply(path, o)
		})},
	} {
		t.Run(name, func(t *testing.T) {
			report := explore.Find(t, explore.System{
				Options: []fakeapi.Option{
					fakeapi.WithCRDs(os.DirFS("testdata"), "generators.yaml"), fakeapi.WithControllers(fakeapi.BasicControllers...),
				},
				Start:    tt.shape.Start,
				Workload: explore.Changes(many, 3, 4),
				Ignore:   []explore.Exception{{Oracle: explore.Path, Resource: "configmaps", Field: "data.at", Reason: "it is the time"}},
				Plans:    20,
				Dir:      t.TempDir(),
			})
			if tt.oracle == "" {
				assert.Empty(t, report.Findings)
				assert.Positive(t, report.Plans)
				return
			}
			require.Len(t, report.Findings, 1)
			f := report.Findings[0]
			assert.Equal(t, tt.oracle, f.Oracle)
			assert.Equal(t, "configmaps default/generated", f.Subject)
			assert.Contains(t, f.Detail, tt.text)
			assert.Equal(t, 3, f.Repeated)
			t.Log(f)
		})
	}
}

// A client of another version reads the object and writes it back. What that version does not have is lost.
func TestConversion(t *testing.T) {
	needsBubble(t)
	version := func(name, storage, required, fields string) string {
		return `{name: ` + name + `, served: true, storage: ` + storage + `, schema: {openAPIV3Schema: {type: object, required: [spec], properties: {spec: {type: object, required: [` + required + `], properties: {` + fields + `}}}}}}`
	}
	const color, watts = `color: {type: string, enum: [red, green, blue]}`, `watts: {type: integer, minimum: 1, maximum: 100}`
	for name, tt := range map[string]struct {
		required, fields string // of the other version
		conversion       string
		text             string // of the finding; "" for none
	}{
		"all fields":   {required: "color, watts", fields: color + ", " + watts, conversion: "{strategy: None}"},
		"a field less": {required: "color", fields: color, conversion: "{strategy: None}", text: "spec.watts is absent, in the reference run "},
		"no webhook": {required: "color", fields: color,
			conversion: `{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/convert"}}}`, text: "the object cannot be read in v1beta1"},
	} {
		t.Run(name, func(t *testing.T) {
			definition := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: lamps.light.example.com}, spec: {group: light.example.com, scope: Namespaced,
				names: {plural: lamps, kind: Lamp}, conversion: ` + tt.conversion + `, versions: [` + version("v1", "true", "color, watts", color+", "+watts) + ", " + version("v1beta1", "false", tt.required, tt.fields) + `]}}`
			file := filepath.Join(t.TempDir(), "lamps.yaml")
			require.NoError(t, os.WriteFile(file, []byte(definition), 0o600))
			const lamps = "/apis/light.example.com/v1/namespaces/default/lamps"
			report := explore.Find(t, explore.System{
				Options:  []fakeapi.Option{fakeapi.WithObjects(definition)},
				Start:    explored.Shape{Watches: []explored.Watched{{Path: lamps, Keys: explored.Self}}, Reconcile: func(*explored.Controller, string) error { return nil }}.Start,
				Workload: explore.Changes(file, 3, 2),
				Plans:    5,
				Dir:      t.TempDir(),
			})
			if tt.text == "" {
				assert.Empty(t, report.Findings)
				return
			}
			require.Len(t, report.Findings, 1)
			f := report.Findings[0]
			assert.Equal(t, explore.Converts, f.Oracle)
			assert.Contains(t, f.Detail, tt.text)
			assert.Equal(t, 3, f.Repeated)
		})
	}
}
