package definitions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// modules has the Go modules with definitions, and the paths of these in the modules.
var modules = []struct {
	path  string // with the version
	globs []string
}{
	{"github.com/cert-manager/cert-manager@v1.21.2", []string{"deploy/crds/*.yaml"}},
	{"github.com/kubernetes-csi/external-snapshotter/client/v8@v8.7.0", []string{"config/crd/*_*.yaml"}},
	{"github.com/prometheus-operator/prometheus-operator@v0.85.0", []string{"example/prometheus-operator-crd-full/*.yaml"}},
	{"istio.io/api@v1.31.1", []string{"kubernetes/customresourcedefinitions.gen.yaml"}},
	{"sigs.k8s.io/cluster-api@v1.14.2", []string{"core/config/crd/bases/*.yaml", "*/kubeadm/config/crd/bases/*.yaml"}},
	{"sigs.k8s.io/gateway-api@v1.4.1", []string{"config/crd/experimental/gateway.*.yaml"}},
	{"sigs.k8s.io/karpenter@v1.8.2", []string{"pkg/apis/crds/*.yaml"}},
}

// A definition has the fields of a CustomResourceDefinition that the tests use.
type definition struct {
	Metadata struct{ Name string }
	Spec     struct {
		Group, Scope string
		Names        struct{ Plural, Kind string }
		Versions     []version
	}
	text []byte // the whole definition as JSON
}

// A version is a version of a definition.
type version struct {
	Name    string
	Served  bool
	Storage bool
	Schema  struct{ OpenAPIV3Schema map[string]any }
}

// definitions returns the definitions of all modules, sorted by name.
var definitions = sync.OnceValues(func() ([]definition, error) {
	dirs, err := download()
	if err != nil {
		return nil, err
	}
	var all []definition
	for i, dir := range dirs {
		for _, glob := range modules[i].globs {
			found, err := read(filepath.Join(dir, glob))
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", modules[i].path, glob, err)
			}
			all = append(all, found...)
		}
	}
	slices.SortFunc(all, func(a, b definition) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	return all, nil
})

// download downloads the modules and returns their folders in the module cache.
func download() ([]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, c := range modules {
		args = append(args, c.path)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Dir = os.TempDir() // outside of the module, so that go.sum is not changed
	out, runErr := cmd.Output()
	var dirs []string
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var m struct{ Path, Dir, Error string }
		if err := d.Decode(&m); err != nil {
			return nil, err
		}
		if m.Error != "" {
			return nil, fmt.Errorf("%s: %s", m.Path, m.Error)
		}
		dirs = append(dirs, m.Dir)
	}
	if runErr == nil && len(dirs) != len(modules) {
		runErr = fmt.Errorf("%d modules instead of %d", len(dirs), len(modules))
	}
	return dirs, runErr
}

// read returns the definitions in the files that match a glob.
func read(glob string) ([]definition, error) {
	names, err := filepath.Glob(glob)
	if err != nil {
		return nil, err
	}
	var out []definition
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for doc := range bytes.SplitSeq(append([]byte("\n"), text...), []byte("\n---")) {
			d, err := parse(doc)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if d.Metadata.Name != "" {
				out = append(out, d)
			}
		}
	}
	if len(out) == 0 {
		return nil, os.ErrNotExist
	}
	return out, nil
}

func parse(doc []byte) (definition, error) {
	text, err := yaml.YAMLToJSON(doc)
	if err != nil {
		return definition{}, err
	}
	d := definition{text: text}
	return d, json.Unmarshal(text, &d)
}
