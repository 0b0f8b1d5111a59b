package report

import (
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/printable"
)

// A yamlWriter prints the objects that the server would store, as a stream of YAML.
type yamlWriter struct{ w io.Writer }

func newYAML(w io.Writer, _ Options) Writer { return &yamlWriter{w} }

func (y *yamlWriter) Write(r *manifests.Result) error {
	for _, a := range r.Answers {
		if a.Object == nil {
			continue
		}
		text, err := yaml.Marshal(stable(a.Object))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(y.w, "---\n# Source: %s, %s\n%s", printable.Line(sourceOf(r)), a.Release, text); err != nil {
			return err
		}
	}
	return nil
}

func (y *yamlWriter) Close(End) error { return nil }

// stable returns a stored object without what is different in every write.
func stable(o map[string]any) map[string]any {
	o = object.Copy(o)
	meta := object.Meta(o)
	for _, name := range []string{"managedFields", "uid", "creationTimestamp", "resourceVersion", "generation"} {
		delete(meta, name)
	}
	return o
}
