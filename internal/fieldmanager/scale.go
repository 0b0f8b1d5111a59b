package fieldmanager

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// scaleVersion is the API version of Scale objects.
const scaleVersion = "autoscaling/v1"

// replicas is the field of a Scale that corresponds to a field of its parent.
var replicas = fieldpath.MakePathOrDie("spec", "replicas")

// A ScaleHandler translates managedFields between a resource and its
// subresource scale, in which the number of replicas has another path. It is
// immutable and safe for concurrent use.
type ScaleHandler struct {
	apiVersion string
	paths      map[string]fieldpath.Path
}

// NewScaleHandler returns the handler for requests in one version of a
// resource. paths has the path of the number of replicas by API version, field
// names joined by dots as in "spec.replicas"; "" is for versions without a
// scale subresource. Entries in versions that paths does not have are dropped.
func NewScaleHandler(apiVersion string, paths map[string]string) *ScaleHandler {
	s := &ScaleHandler{apiVersion, make(map[string]fieldpath.Path, len(paths))}
	for version, path := range paths {
		s.paths[version] = parsePath(path)
	}
	return s
}

// ToSubresource returns the managedFields of an object's Scale: one entry for
// each entry of the object that owns the number of replicas, which owns only
// that.
func (s *ScaleHandler) ToSubresource(list []any) ([]any, error) {
	read, err := parseOwners(list, nil)
	if err != nil {
		return nil, err
	}
	parent := read.managed(nil)
	scale := newManaged(nil, len(list))
	for id, vs := range parent.sets {
		path := s.paths[string(vs.APIVersion())]
		if len(path) == 0 || !vs.Set().Has(path) {
			continue
		}
		scale.sets[id] = fieldpath.NewVersionedSet(fieldpath.NewSet(replicas), scaleVersion, vs.Applied())
		e := *parent.entries[id]
		scale.entries[id] = &e
	}
	return scale.owners().format(), nil
}

// ToParent returns the managedFields of an object after a write to its Scale,
// whose managedFields are scale now. Managers that lost the number of replicas
// there lose it in the object. Managers that gained it own it in an entry
// without a time.
func (s *ScaleHandler) ToParent(list, scale []any) ([]any, error) {
	parent, err := parseOwners(list, nil)
	if err != nil {
		return nil, err
	}
	written, err := parseOwners(scale, nil)
	if err != nil {
		return nil, fmt.Errorf("scale: %w", err)
	}
	return s.merge(parent.managed(nil), written.managed(nil)).owners().format(), nil
}

func (s *ScaleHandler) merge(parent, scale *managed) *managed {
	out := newManaged(nil, len(parent.sets)+len(scale.sets))
	for id, vs := range parent.sets {
		path, known := s.paths[string(vs.APIVersion())]
		if !known {
			continue
		}
		if len(path) > 0 && vs.Set().Has(path) {
			if _, kept := scale.sets[id]; kept {
				delete(scale.sets, id)
			} else {
				rest := vs.Set().Difference(fieldpath.NewSet(path))
				if rest.Empty() {
					continue
				}
				vs = fieldpath.NewVersionedSet(rest, vs.APIVersion(), vs.Applied())
			}
		}
		out.sets[id], out.entries[id] = vs, parent.entries[id]
	}
	own := fieldpath.NewSet(s.paths[s.apiVersion])
	for id, vs := range scale.sets {
		if !vs.Set().Has(replicas) {
			continue
		}
		e := *scale.entries[id]
		e.time = ""
		if before := parent.entries[id]; before != nil {
			e.time = before.time
		}
		out.sets[id] = fieldpath.NewVersionedSet(own, fieldpath.APIVersion(s.apiVersion), vs.Applied())
		out.entries[id] = &e
	}
	return out
}
