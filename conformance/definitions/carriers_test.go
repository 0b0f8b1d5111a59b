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

// carriers are the modules that carry definitions, and where these are in them.
var carriers = []struct {
	module string // with its version
	globs  []string
}{
	{"github.com/cert-manager/cert-manager@v1.21.2", []string{"deploy/crds/*.yaml"}},
	{"github.com/kubernetes-csi/external-snapshotter/client/v8@v8.7.0", []string{"config/crd/*_*.yaml"}},
	{"github.com/prometheus-operator/prometheus-operator@v0.85.0", []string{"example/prometheus-operator-crd-full/*.yaml"}},
	{"istio.io/api@v1.31.1", []string{"kubernetes/customresourcedefinitions.gen.yaml"}},
	{"sigs.k8s.io/cluster-api@v1.14.2", []string{"core/config/crd/bases/*.yaml", "*/kubeadm/config/crd/bases/*.yaml"}},
	{"sigs.k8s.io/gateway-api@v1.4.1", []string{"config/crd/experimental/gateway.*.yaml"}},
	{"sigs.k8s.io/karpenter@v1.8.2", []string{"pkg/apis/crds/*.yaml"}},
}

// A definition is a CustomResourceDefinition, as far as tests look into it.
type definition struct {
	Metadata struct{ Name string }
	Spec     struct {
		Group, Scope string
		Names        struct{ Plural, Kind string }
		Versions     []version
	}
	text []byte // all of it, as JSON
}

// A version is one of a definition's versions.
type version struct {
	Name    string
	Served  bool
	Storage bool
	Schema  struct{ OpenAPIV3Schema map[string]any }
}

// definitions are those of all carriers, in the order of their names.
var definitions = sync.OnceValues(func() ([]definition, error) {
	dirs, err := download()
	if err != nil {
		return nil, err
	}
	var all []definition
	for i, dir := range dirs {
		for _, glob := range carriers[i].globs {
			found, err := read(filepath.Join(dir, glob))
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", carriers[i].module, glob, err)
			}
			all = append(all, found...)
		}
	}
	slices.SortFunc(all, func(a, b definition) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	return all, nil
})

// download brings the carriers into the module cache and returns where each is.
func download() ([]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, c := range carriers {
		args = append(args, c.module)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Dir = os.TempDir() // what go.sum of this module lists stays as it is
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
	if runErr == nil && len(dirs) != len(carriers) {
		runErr = fmt.Errorf("%d modules instead of %d", len(dirs), len(carriers))
	}
	return dirs, runErr
}

// read reads the definitions in the files that a glob matches.
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
