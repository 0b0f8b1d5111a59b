package explore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

const many = "testdata/generators.yaml"

// dryRun returns the answer to the creation of an object.
func dryRun(t testing.TB, srv *fakeapi.Server, obj fakeapi.Object) (code int, body string) {
	t.Helper()
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, srv.URL+"/apis/power.example.com/v1/namespaces/default/generators?dryRun=All", strings.NewReader(string(text)))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(answer)
}

// TestObjects checks that a server accepts what Objects returns, that nothing else than the seed matters,
// and that the objects reach the boundaries.
func TestObjects(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithCRDs(os.DirFS("testdata"), "generators.yaml"))
	objects, err := explore.Objects(many, 7)
	require.NoError(t, err)
	seen := map[string]int{}
	var first []string
	for obj := range objects {
		code, body := dryRun(t, srv, obj)
		require.Equal(t, http.StatusCreated, code, "%s\n%v", body, obj)
		text := fmt.Sprint(obj["spec"])
		if first = append(first, text); len(first) == 150 {
			break
		}
		for _, boundary := range []string{
			"replicas:0", "replicas:100", "fuel:diesel", "fuel:sun", "fuel:wind", "name:a", "grid:", "battery:", "ports:[]", "window:", "labels:map[]", "weight:0.5",
		} {
			if strings.Contains(text, boundary) {
				seen[boundary]++
			}
		}
		if !strings.Contains(text, "replicas:") {
			seen["no replicas"]++
		}
	}
	assert.Len(t, seen, 13, "%v", seen)
	again, err := explore.Objects(many, 7)
	require.NoError(t, err)
	i := 0
	for obj := range again {
		assert.Equal(t, first[i], fmt.Sprint(obj["spec"]))
		if i++; i == 20 {
			break
		}
	}
}

// TestNearlyValid checks that a server refuses what NearlyValid returns, with the same error.
func TestNearlyValid(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithCRDs(os.DirFS("testdata"), "generators.yaml"))
	objects, err := explore.NearlyValid(many, 7)
	require.NoError(t, err)
	n := 0
	for obj, wrong := range objects {
		code, body := dryRun(t, srv, obj)
		require.Equal(t, http.StatusUnprocessableEntity, code, "%v\n%s\n%v", wrong, body, obj)
		var status struct{ Message string }
		require.NoError(t, json.Unmarshal([]byte(body), &status))
		assert.Equal(t, `Generator.power.example.com "generated" is invalid: `+wrong.Error(), status.Message)
		if n++; n == 50 {
			break
		}
	}
}

func TestObjectsErrors(t *testing.T) {
	for _, tt := range []struct{ name, file, err string }{
		{"no file", "", "no such file"},
		{"no definition", "{}", "kind"},
		{"no object", strings.ReplaceAll(string(must(os.ReadFile(many))), "has(self.grid) != has(self.battery)", "has(self.grid) && !has(self.grid)"), "no valid object was found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "crd.yaml")
			if tt.file != "" {
				require.NoError(t, os.WriteFile(file, []byte(tt.file), 0o666))
			}
			_, err := explore.Objects(file, 1)
			assert.ErrorContains(t, err, tt.err)
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func FuzzObjects(f *testing.F) {
	srv := fakeapi.Start(f, fakeapi.WithInMemory(), fakeapi.WithCRDs(os.DirFS("testdata"), "generators.yaml"))
	explore.Fuzz(f, many, func(t *testing.T, obj fakeapi.Object) {
		code, body := dryRun(t, srv, obj)
		assert.Equal(t, http.StatusCreated, code, "%s\n%v", body, obj)
	})
}

// BenchmarkObjects makes objects of a definition of 200 fields with 20 rules.
func BenchmarkObjects(b *testing.B) {
	var fields strings.Builder
	for i := range 20 {
		fmt.Fprintf(&fields, `
              part%d:
                type: object
                required: [low, high]
                x-kubernetes-validations: [{rule: "self.low <= self.high"}]
                properties:
                  low: {type: integer, minimum: 0, maximum: 100}
                  high: {type: integer, minimum: 0, maximum: 100}
                  mode: {type: string, enum: [fast, slow]}
                  name: {type: string, pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$", maxLength: 63}
                  paused: {type: boolean}
                  image: {type: string}
                  weight: {type: number}
                  port: {type: integer, minimum: 1, maximum: 65535}
                  tags: {type: array, maxItems: 8, items: {type: string, maxLength: 20}}
                  labels: {type: object, additionalProperties: {type: string}}`, i)
	}
	file := filepath.Join(b.TempDir(), "crd.yaml")
	require.NoError(b, os.WriteFile(file, []byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machines.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: machines, kind: Machine}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:`+fields.String()), 0o666))
	objects, err := explore.Objects(file, 1)
	require.NoError(b, err)
	b.ResetTimer()
	n := 0
	for range objects {
		if n++; n >= b.N {
			break
		}
	}
}
