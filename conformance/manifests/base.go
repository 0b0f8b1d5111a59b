package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/fakeapi/manifests"
)

// writeObjects writes objects to a new folder, in files with the names of fileName.
func writeObjects(objects []*object) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "manifests"); err != nil {
		return "", err
	}
	for i, object := range objects {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf(fileName, i)), object.body, 0o600); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

// fileName is the format of the names of the files of writeObjects.
const fileName = "%06d.json"

// refusing are the kinds of effective that only refuse others. Those of a base are stored last.
func refusing(kind string) bool {
	return strings.HasPrefix(kind, "Validating") || kind == "ResourceQuota"
}

// podSecurity matches a label of PodSecurity. Namespaces get them at last.
var podSecurity = regexp.MustCompile(`"pod-security\.kubernetes\.io/[^"]*":"[^"]*",?`)

// storeBase stores the objects of a base as package manifests does, and keeps those that others
// will update.
func (s *realServer) storeBase(ctx context.Context, o *options, objects, updates []*object) error {
	store := func(which func(*object) bool) error {
		for _, object := range objects {
			if !which(object) {
				continue
			}
			if err := s.discover(ctx, object.apiVersion); err != nil {
				return err
			}
			if err := s.createNamespace(ctx, object); err != nil {
				return err
			}
			first := *object
			if object.kind == "Namespace" {
				first.body = podSecurity.ReplaceAll(object.body, nil)
			}
			a, err := s.apply(ctx, &first, false)
			if err != nil {
				return err
			}
			if !a.accepted() {
				fmt.Fprintf(os.Stderr, "base: %s: %d %s\n", object.origin, a.code, a.message)
				continue
			}
			if object.kind == "PersistentVolumeClaim" {
				if err := s.bind(ctx, object); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, kind := range effective {
		if refusing(kind) {
			continue
		}
		if err := store(func(o *object) bool { return o.kind == kind }); err != nil {
			return err
		}
		if kind == "CustomResourceDefinition" {
			if err := sleep(ctx, o.patience); err != nil {
				return err
			}
			clear(s.resources)
		}
	}
	if err := store(func(o *object) bool { return !takesEffect(o) }); err != nil {
		return err
	}
	if err := store(func(o *object) bool { return refusing(o.kind) }); err != nil {
		return err
	}
	for _, object := range objects {
		if object.kind == "Namespace" {
			if _, err := s.apply(ctx, object, false); err != nil {
				return err
			}
		}
	}
	s.before = map[string]map[string]any{}
	for _, object := range updates {
		if err := s.discover(ctx, object.apiVersion); err != nil {
			return err
		}
		path := s.path(object)
		before, err := s.get(ctx, path)
		if err != nil {
			return err
		}
		s.before[path] = before
	}
	return nil
}

// bind gives a PersistentVolumeClaim a volume, as a cluster does.
func (s *realServer) bind(ctx context.Context, o *object) error {
	path := s.path(o)
	claim, err := s.get(ctx, path)
	if err != nil {
		return err
	}
	metadata, _ := claim["metadata"].(map[string]any)
	spec, _ := claim["spec"].(map[string]any)
	resources, _ := spec["resources"].(map[string]any)
	if err := s.mergePatch(ctx, path, map[string]any{"spec": map[string]any{"volumeName": fmt.Sprint("pvc-", metadata["uid"])}}); err != nil {
		return err
	}
	return s.mergePatch(ctx, path+"/status", map[string]any{
		"status": map[string]any{"phase": "Bound", "accessModes": spec["accessModes"], "capacity": resources["requests"]},
	})
}

// get returns a stored object, nil if there is none.
func (s *realServer) get(ctx context.Context, path string) (map[string]any, error) {
	code, _, body, err := s.send(ctx, http.MethodGet, path, "", nil)
	if err != nil || code != http.StatusOK {
		return nil, err
	}
	return decode(body)
}

// decode decodes an object. Numbers keep their digits.
func decode(body []byte) (o map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	err = d.Decode(&o)
	return o, err
}

// update returns what a request that was accepted does to the stored object.
func (o *object) update(before map[string]any, body []byte) (manifests.State, string, error) {
	if before == nil {
		return manifests.Created, "", nil
	}
	after, err := decode(body)
	if err != nil {
		return "", "", err
	}
	changes := manifests.Diff(before, after)
	if len(changes) == 0 {
		return manifests.Unchanged, "", nil
	}
	return manifests.Changed, o.changes(changes), nil
}

// changes returns changes as text: of Secrets, only which fields they are.
func (o *object) changes(changes []manifests.Change) string {
	lines := map[string]bool{}
	for _, c := range changes {
		text, err := json.Marshal(c)
		if err != nil { // unreachable: it is decoded JSON
			continue
		}
		if o.kind == "Secret" {
			text = []byte(c.Path)
		}
		lines[string(text)] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(lines)), "\n")
}
