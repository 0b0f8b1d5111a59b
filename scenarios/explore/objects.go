package explore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/backdoor"
	"github.com/kubefake/kubefake/internal/generate"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/schema"
)

// Objects returns objects of the custom resource that a file, in YAML or JSON, defines, without an end
// and always the same for a seed. They are valid by the schema, with its defaults, and by the validation
// rules of the definition; webhooks and policies are not asked. Many are at a boundary: fields that are
// absent or empty, the least and the greatest numbers, the longest texts, each value of an enum, each arm of a
// union. They have the version that is stored, the name "generated" and neither a namespace nor a status.
//
// Objects fails for a file that has no definition which a server would serve, and for one that no object
// was found for.
func Objects(crd string, seed uint64) (iter.Seq[fakeapi.Object], error) {
	r, err := readResource(crd)
	if err != nil {
		return nil, err
	}
	if _, ok := r.generator.Object(generate.Random(seed), generatedName); !ok {
		return nil, fmt.Errorf("%s: no valid object was found", crd)
	}
	return func(yield func(fakeapi.Object) bool) {
		choices := generate.Random(seed)
		for {
			if obj, ok := r.generator.Object(choices, generatedName); ok && !yield(obj) {
				return
			}
		}
	}, nil
}

// NearlyValid returns objects as Objects does, each with a change that makes it invalid, and the error
// that a server returns for it.
func NearlyValid(crd string, seed uint64) (iter.Seq2[fakeapi.Object, error], error) {
	r, err := readResource(crd)
	if err != nil {
		return nil, err
	}
	return func(yield func(fakeapi.Object, error) bool) {
		choices := generate.Random(seed)
		for {
			obj, ok := r.generator.Object(choices, generatedName)
			if !ok {
				continue
			}
			if errs := r.generator.Spoil(choices, obj); len(errs) > 0 && !yield(obj, errors.New(errs.Message())) {
				return
			}
		}
	}, nil
}

// Fuzz fuzzes check with objects as Objects has them. Like f.Fuzz, it must be the last call of a fuzz
// test. The corpus of go test -fuzz keeps the bytes that an object is made of; fewer and smaller bytes
// make a simpler object, so that a failing one is made smaller.
//
//	func FuzzDefaults(f *testing.F) {
//		explore.Fuzz(f, "config/crd/widgets.yaml", func(t *testing.T, obj fakeapi.Object) { ... })
//	}
func Fuzz(f *testing.F, crd string, check func(t *testing.T, obj fakeapi.Object)) {
	f.Helper()
	r, err := readResource(crd)
	if err != nil {
		f.Fatalf("explore: %v", err)
	}
	random := rand.New(rand.NewPCG(1, 0))
	for _, n := range []int{0, 8, 32, 128, 512} {
		var data []byte
		for len(data) < n {
			data = binary.LittleEndian.AppendUint64(data, random.Uint64())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, ok := r.generator.Object(generate.Fuzzed(data), generatedName)
		if !ok {
			t.Skip("no valid object was found")
		}
		check(t, obj)
	})
}

const generatedName = "generated"

// A customResource is a custom resource of which objects are generated.
type customResource struct {
	generator              *generate.Generator
	group, version, plural string
	others                 []string // served versions beside version
	namespace              string   // of the objects; "" for a resource without namespaces
}

// readResource reads a file with a CustomResourceDefinition.
func readResource(crd string) (*customResource, error) {
	text, err := inputfile.Read(crd)
	if err != nil {
		return nil, err
	}
	var named struct{ Metadata struct{ Name string } }
	if err := yaml.Unmarshal(text, &named); err != nil {
		return nil, fmt.Errorf("%s: %w", crd, err)
	}
	srv, err := fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithObjects(string(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", crd, err)
	}
	defer srv.Close()
	definition, err := srv.Get("customresourcedefinitions", "", named.Metadata.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", crd, err)
	}
	r := &customResource{
		group:  object.String(definition, "spec", "group"),
		plural: object.String(definition, "spec", "names", "plural"),
	}
	if object.String(definition, "spec", "scope") == "Namespaced" {
		r.namespace = "default"
	}
	for v := range object.Each(object.Value(definition, "spec", "versions")) {
		if v["storage"] != true {
			if v["served"] == true {
				r.others = append(r.others, object.String(v, "name"))
			}
			continue
		}
		r.version = object.String(v, "name")
		validate := backdoor.Of(srv).Validator(r.group, r.version, r.plural)
		if validate == nil {
			return nil, fmt.Errorf("%s: version %s of %s.%s is not served", crd, r.version, r.plural, r.group)
		}
		s, err := schema.FromProps(object.Map(v, "schema", "openAPIV3Schema"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", crd, err)
		}
		var omit []string
		if object.Map(v, "subresources", "status") != nil {
			omit = []string{"status"} // a creation has none
		}
		r.generator = generate.New(r.group+"/"+r.version, object.String(definition, "spec", "names", "kind"), s, omit, validate)
	}
	return r, nil
}
