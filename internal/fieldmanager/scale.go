package fieldmanager

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
)

// scaleVersion is the version of the objects that /scale takes and gives.
const scaleVersion = "autoscaling/v1"

// replicas is the field of a Scale that stands for one of its parent.
var replicas = fieldpath.MakePathOrDie("spec", "replicas")

// A Scale translates the managedFields between a resource and its subresource
// scale, which has a field of the resource under another path. It is immutable
// and safe for concurrent use.
type Scale struct {
	apiVersion string
	paths      map[string]fieldpath.Path
}

// NewScale returns the translation for requests in one version of a resource.
// paths has the place of the number of replicas by API version, field names
// joined by dots as in "spec.replicas"; "" is for versions that have no scale.
// Entries in versions that it does not have are dropped.
func NewScale(apiVersion string, paths map[string]string) *Scale {
	s := &Scale{apiVersion, make(map[string]fieldpath.Path, len(paths))}
	for version, path := range paths {
		s.paths[version] = parsePath(path)
	}
	return s
}

// Show returns the managedFields of the Scale of an object: for each of the
// object's entries that owns the number of replicas, one that owns that alone.
func (s *Scale) Show(list []any) ([]any, error) {
	parent, err := names(nil).parseManaged(list)
	if err != nil {
		return nil, err
	}
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
	return scale.format(), nil
}

// Merge returns the managedFields of an object whose Scale has been written and
// has the managedFields scale now: who has lost the number of replicas there has
// lost it in the object, and who has won it owns it in an entry without a time.
func (s *Scale) Merge(list, scale []any) ([]any, error) {
	parent, err := names(nil).parseManaged(list)
	if err != nil {
		return nil, err
	}
	written, err := names(nil).parseManaged(scale)
	if err != nil {
		return nil, fmt.Errorf("scale: %w", err)
	}
	return s.merge(parent, written).format(), nil
}

func (s *Scale) merge(parent, scale *managed) *managed {
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
