package fieldmanager

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/validation"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
)

// kubectl is the manager whose applies take over the fields of client-side
// apply.
const kubectl = "kubectl"

// lastApplied is the annotation in which client-side apply stores the last
// applied configuration.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// applyOverLastApplied applies a configuration. The manager kubectl takes
// fields from others without force if client-side apply set them: if they are
// in the last-applied annotation with the value that they still have.
func (t *Type) applyOverLastApplied(live, applied map[string]any, before owners, o Options) (map[string]any, owners, error) {
	out, after, err := t.apply(live, applied, before, o)
	var conflicts merge.Conflicts
	if !errors.As(err, &conflicts) {
		return out, after, err
	}
	if o.Manager != kubectl {
		return nil, nil, before.conflictError(conflicts)
	}
	set := t.clientApplied(live)
	if set == nil {
		return nil, nil, before.conflictError(conflicts)
	}
	if others := without(conflicts, set); len(others) > 0 {
		return nil, nil, before.conflictError(others)
	}
	o.Force = true
	return t.apply(live, applied, before, o)
}

// clientApplied returns the set of fields that client-side apply has set, nil
// if it cannot be determined: the annotation must be an object of the same kind.
func (t *Type) clientApplied(live map[string]any) *fieldpath.Set {
	text := object.String(live, "metadata", "annotations", lastApplied)
	if text == "" {
		return nil
	}
	var obj map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&obj) != nil || d.More() || obj["apiVersion"] != t.apiVersion || obj["kind"] != live["kind"] {
		return nil
	}
	obj = object.Integers(obj)
	if t.mismatch(obj, false) != nil || t.mismatch(live, false) != nil {
		return nil
	}
	c := newComparer(nil)
	defer c.release()
	fields, err := c.fields(t.compiled().types, obj, false)
	if err != nil {
		return nil
	}
	differences, err := t.compare(obj, live, c)
	if err != nil {
		return nil
	}
	differences.normalize(nil)
	return t.compiled().names.set(fields.minus(differences.changed).minus(differences.removed))
}

func hasLastApplied(obj map[string]any) bool {
	return object.String(obj, "metadata", "annotations", lastApplied) != ""
}

// rewriteLastApplied sets the last-applied annotation of obj. It removes the annotation
// if the annotations then exceed their maximum size. The caller must own obj's metadata.
func rewriteLastApplied(obj map[string]any, text string) {
	annotations := maps.Clone(object.Map(obj, "metadata", "annotations"))
	obj["metadata"].(map[string]any)["annotations"] = annotations
	annotations[lastApplied] = text
	size := 0
	for name, v := range annotations {
		s, _ := v.(string)
		size += len(name) + len(s)
	}
	if size > validation.AnnotationsMaxSize {
		delete(annotations, lastApplied)
	}
}

// lastAppliedText encodes a configuration for the annotation: as JSON, without
// the annotation itself, and with the annotations as strings: a null is an empty one.
func lastAppliedText(applied map[string]any) string {
	if old, ok := metadata(applied)["annotations"]; ok {
		applied = object.ShallowCopy(applied)
		meta := object.ShallowCopy(metadata(applied))
		applied["metadata"] = meta
		if annotations, ok := old.(map[string]any); ok {
			meta["annotations"] = annotationTexts(annotations)
		} else {
			delete(meta, "annotations")
		}
	}
	text, err := json.Marshal(applied)
	if err != nil {
		panic("fieldmanager: " + err.Error()) // unreachable: objects hold JSON values only
	}
	return string(text) + "\n"
}

// annotationTexts returns annotations as strings, without the last-applied one.
func annotationTexts(annotations map[string]any) map[string]any {
	out := make(map[string]any, len(annotations))
	for name, v := range annotations {
		if name == lastApplied {
			continue
		}
		text, _ := v.(string)
		out[name] = text
	}
	return out
}
