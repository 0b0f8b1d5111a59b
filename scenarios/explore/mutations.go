package explore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/inputfile"
)

// Mutations returns a workload for a custom resource. It creates the sample object, and
// then, field by field, changes the spec to other values that the schema of the
// CustomResourceDefinition permits, and back. Both are files in YAML or JSON. What the
// server refuses, because of other rules, is left out. The system has ten seconds after
// each change; see [Pace].
//
// The definition must be in the server: use fakeapi.WithCRDs in System.Options.
func Mutations(crd, sample string) Workload {
	return func(ctx context.Context, srv *fakeapi.Server) error {
		m, err := newMutator(srv, crd, sample)
		if err != nil {
			return fmt.Errorf("mutations: %w", err)
		}
		if err := m.run(ctx); err != nil {
			return fmt.Errorf("mutations: %w", err)
		}
		return nil
	}
}

// A mutator changes one object.
type mutator struct {
	srv    *fakeapi.Server
	url    string
	sample map[string]any
	schema map[string]any // of the whole object
}

// definition is what Mutations needs of a CustomResourceDefinition.
type definition struct {
	Spec struct {
		Group string
		Scope string
		Names struct{ Plural string }

		Versions []struct {
			Name   string
			Served bool
			Schema struct {
				OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
			}
		}
	}
}

func newMutator(srv *fakeapi.Server, crd, sample string) (*mutator, error) {
	var d definition
	m := &mutator{srv: srv}
	for name, v := range map[string]any{crd: &d, sample: &m.sample} {
		text, err := inputfile.Read(name)
		if err != nil {
			return nil, err
		}
		if err := yaml.Unmarshal(text, v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	object := fakeapi.Object(m.sample)
	if object.Name() == "" {
		return nil, fmt.Errorf("%s: the object has no name", sample)
	}
	for _, v := range d.Spec.Versions {
		if v.Served && m.sample["apiVersion"] == d.Spec.Group+"/"+v.Name {
			m.schema = v.Schema.OpenAPIV3Schema
		}
	}
	if m.schema == nil {
		return nil, fmt.Errorf("%s: %s has no version %v", sample, crd, m.sample["apiVersion"])
	}
	namespace := ""
	if d.Spec.Scope == "Namespaced" {
		namespace = cmp.Or(object.Namespace(), "default")
	}
	m.url = collectionURL(srv, fmt.Sprint(m.sample["apiVersion"]), namespace, d.Spec.Names.Plural)
	return m, nil
}

// collectionURL returns the URL of the objects of a custom resource, in a namespace unless that is "".
func collectionURL(srv *fakeapi.Server, apiVersion, namespace, plural string) string {
	url := srv.URL + "/apis/" + apiVersion + "/"
	if namespace != "" {
		url += "namespaces/" + namespace + "/"
	}
	return url + plural
}

// afterMutation is the time that a system has after a change in a bubble; outside of one
// it has a tenth of it.
const afterMutation = 10 * time.Second

func (m *mutator) run(ctx context.Context) error {
	body, err := json.Marshal(m.sample)
	if err != nil {
		return err
	}
	if err := m.send(ctx, http.MethodPost, m.url, "application/json", body); err != nil {
		return err
	}
	object := m.url + "/" + fakeapi.Object(m.sample).Name()
	for _, c := range mutationsOf(m.schema, m.sample) {
		for _, change := range []any{nested(c.path, c.to), nested(c.absent, c.from)} {
			if err := m.pause(ctx); err != nil {
				return err
			}
			patch, err := json.Marshal(change)
			if err != nil {
				return err
			}
			err = m.send(ctx, http.MethodPatch, object, "application/merge-patch+json", patch)
			if errors.Is(err, errRefused) {
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return m.pause(ctx)
}

func (m *mutator) pause(ctx context.Context) error {
	if m.srv.InMemory() {
		return Pause(ctx, m.srv, afterMutation+skew)
	}
	return Pause(ctx, m.srv, afterMutation/10)
}

// errRefused is returned for a change that the server does not accept.
var errRefused = errors.New("the server refuses the change")

// errConflict is returned for a change that was made from an older version of the object.
var errConflict = errors.New("the object has changed")

func (m *mutator) send(ctx context.Context, method, url, contentType string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("User-Agent", "mutations")
	resp, err := m.srv.Client().Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusConflict:
		return fmt.Errorf("%w: %w: %s %s: %d %s", errRefused, errConflict, method, url, resp.StatusCode, text)
	case resp.StatusCode >= 400:
		return fmt.Errorf("%w: %s %s: %d %s", errRefused, method, url, resp.StatusCode, text)
	}
	return nil
}

// get returns an object, nil if it does not exist.
func (m *mutator) get(ctx context.Context, url string) (fakeapi.Object, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "mutations")
	resp, err := m.srv.Client().Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, nil
	}
	var o fakeapi.Object
	err = json.NewDecoder(resp.Body).Decode(&o)
	return o, err
}

// nested returns an object with a value at a path.
func nested(path []string, value any) any {
	for _, field := range slices.Backward(path) {
		value = map[string]any{field: value}
	}
	return value
}

// A mutation changes the field at a path to a value, nil for an absent field. Writing from
// at the path absent reverts it: that is path, or the first absent field on it.
type mutation struct {
	path, absent []string
	from, to     any
}

// mutationsOf returns the mutations of the spec of a sample, in the order of their paths.
func mutationsOf(schema, sample map[string]any) []mutation {
	var out []mutation
	properties, _ := schema["properties"].(map[string]any)
	spec, _ := properties["spec"].(map[string]any)
	var walk func(path, absent []string, schema map[string]any, value any, depth int)
	walk = func(path, absent []string, schema map[string]any, value any, depth int) {
		if value != nil || absent == nil {
			absent = path
		}
		for _, to := range valuesOf(schema, value, depth) {
			out = append(out, mutation{path, absent, value, to})
		}
		if value != nil {
			absent = nil
		}
		fields, _ := schema["properties"].(map[string]any)
		object, ok := value.(map[string]any)
		if !ok && value != nil || depth > maxDepth {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if field, ok := fields[name].(map[string]any); ok {
				walk(append(slices.Clone(path), name), absent, field, object[name], depth+1)
			}
		}
	}
	walk([]string{"spec"}, nil, spec, sample["spec"], 0)
	return out
}

// maxDepth is how many fields deep mutations go.
const maxDepth = 6

// valuesOf returns values that a schema permits, other than the present one.
func valuesOf(schema map[string]any, value any, depth int) []any {
	var out []any
	add := func(values ...any) {
		for _, v := range values {
			if compact(v) != compact(value) && !slices.ContainsFunc(out, func(o any) bool { return compact(o) == compact(v) }) {
				out = append(out, v)
			}
		}
	}
	enum, isEnum := schema["enum"].([]any)
	switch typ := schema["type"]; {
	case isEnum:
		add(enum...)
	case typ == "boolean":
		add(value != true)
	case typ == "integer", typ == "number":
		n, _ := value.(float64)
		add(n+1, n-1)
		if schema["minimum"] != nil {
			add(schema["minimum"])
		}
		if schema["maximum"] != nil {
			add(schema["maximum"])
		}
		out = slices.DeleteFunc(out, func(v any) bool { return !inRange(schema, v) })
	case typ == "string":
		if s, _ := value.(string); schema["pattern"] == nil && schema["format"] == nil {
			add(s + "x")
		}
	case typ == "array":
		list, _ := value.([]any)
		items, _ := schema["items"].(map[string]any)
		if len(list) > 0 {
			add(list[:len(list)-1])
			if more := valuesOf(items, list[len(list)-1], depth+1); len(more) > 0 {
				add(append(slices.Clone(list), more[0]))
			}
		} else if first := valuesOf(items, nil, depth+1); len(first) > 0 && items["type"] != "object" {
			add([]any{first[0]})
		}
	}
	if schema["x-kubernetes-int-or-string"] == true {
		n, _ := value.(float64)
		add(n + 1)
	}
	if value != nil && depth > 0 {
		out = append(out, nil) // without the field
	}
	return out
}

// inRange reports whether a number is in the range of a schema.
func inRange(schema map[string]any, v any) bool {
	n, _ := v.(float64)
	low, hasLow := schema["minimum"].(float64)
	high, hasHigh := schema["maximum"].(float64)
	return (!hasLow || n >= low) && (!hasHigh || n <= high)
}
