package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/generate"
)

// Changes returns a workload for the custom resource that a file defines: it creates an object, changes it n times
// to another one, each valid as [Objects] has them, and deletes it. What the server refuses, because of
// webhooks or of rules about changes, is left out. The object has the same history in every run with a
// seed. The system has ten seconds after each change; see [Pace].
//
// With this workload more oracles judge the system before it is explored: [Path], [Idempotent] and, if the
// definition serves several versions, [Converts].
//
// The definition must be in the server: use fakeapi.WithCRDs in System.Options.
func Changes(crd string, seed uint64, n int) Workload {
	h := &history{crd: crd, choices: generate.Random(seed), length: n + 1}
	return h.run
}

// A history is what happens to the object of Changes.
type history struct {
	crd     string
	choices *generate.Choices
	length  int

	mu       sync.Mutex // guards the fields below
	resource *customResource
	objects  []fakeapi.Object // that the server of the first run has accepted
}

// maxRefused is how many objects in a row the server may refuse.
const maxRefused = 100

func (h *history) run(ctx context.Context, srv *fakeapi.Server) error {
	r, err := h.readOnce()
	if err != nil {
		return fmt.Errorf("changes: %w", err)
	}
	m := r.mutator(srv, r.version)
	t, explored := ctx.Value(pauseKey{}).(*trial)
	if explored {
		t.begins(r.others)
	}
	for i := range h.length {
		if explored && t.leavesOut() {
			continue
		}
		if err := h.change(i, func(obj fakeapi.Object) error { return r.write(ctx, m, obj) }); err != nil {
			return fmt.Errorf("changes: %w", err)
		}
		if explored && t.writesBack() {
			version := t.course.version
			if err := r.writeBack(ctx, srv, version); err != nil {
				return fmt.Errorf("changes: a client of %s: %w", version, err)
			}
		}
		if err := m.pause(ctx); err != nil {
			return err
		}
	}
	if err := m.send(ctx, http.MethodDelete, m.url+"/"+generatedName, "application/json", nil); err != nil {
		return fmt.Errorf("changes: %w", err)
	}
	return m.pause(ctx)
}

func (h *history) readOnce() (*customResource, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.resource != nil {
		return h.resource, nil
	}
	r, err := readResource(h.crd)
	if err == nil {
		h.resource = r
	}
	return r, err
}

// change makes the change with a number, from 0. In the first run it looks for one that the server accepts.
func (h *history) change(i int, write func(obj fakeapi.Object) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i < len(h.objects) {
		return write(h.objects[i])
	}
	var refused error
	for range maxRefused {
		obj, ok := h.resource.generator.Object(h.choices, generatedName)
		if !ok {
			return fmt.Errorf("%s: no valid object was found", h.crd)
		}
		if refused = write(obj); refused == nil {
			h.objects = append(h.objects, obj)
			return nil
		}
		if !errors.Is(refused, errRefused) {
			return refused
		}
	}
	return refused
}

// write creates an object or, if it exists, replaces all of it but its metadata and status.
func (r *customResource) write(ctx context.Context, m *mutator, obj fakeapi.Object) error {
	return m.save(ctx, func(present fakeapi.Object) (fakeapi.Object, error) {
		next := maps.Clone(obj)
		if present != nil {
			next["metadata"] = present["metadata"]
			if status, ok := present["status"]; ok {
				next["status"] = status
			}
		}
		return next, nil
	})
}

// writeBack reads the object in a version and replaces it by what was read.
func (r *customResource) writeBack(ctx context.Context, srv *fakeapi.Server, version string) error {
	stored := r.mutator(srv, r.version)
	return r.mutator(srv, version).save(ctx, func(present fakeapi.Object) (fakeapi.Object, error) {
		if present != nil {
			return present, nil
		}
		if exists, err := stored.get(ctx, stored.url+"/"+generatedName); err != nil || exists == nil {
			return nil, err
		}
		return nil, fmt.Errorf("the object cannot be read in %s", version)
	})
}

// save creates the generated object or, if it exists, replaces it: by what next makes of the present one,
// which is nil if there is none. It writes nothing if next returns nil, and tries again if the object changes
// meanwhile.
func (m *mutator) save(ctx context.Context, next func(present fakeapi.Object) (fakeapi.Object, error)) error {
	for {
		present, err := m.get(ctx, m.url+"/"+generatedName)
		if err != nil {
			return err
		}
		method, url := http.MethodPost, m.url
		if present != nil {
			method, url = http.MethodPut, m.url+"/"+generatedName
		}
		obj, err := next(present)
		if err != nil || obj == nil {
			return err
		}
		body, err := json.Marshal(obj)
		if err != nil {
			return err
		}
		if err = m.send(ctx, method, url, "application/json", body); !errors.Is(err, errConflict) {
			return err
		}
	}
}

// mutator returns a mutator of the objects of the resource in a version.
func (r *customResource) mutator(srv *fakeapi.Server, version string) *mutator {
	return &mutator{srv: srv, url: collectionURL(srv, r.group+"/"+version, r.namespace, r.plural)}
}
