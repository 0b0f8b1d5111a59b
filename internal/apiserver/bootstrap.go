package apiserver

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/bootstrap"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// systemNamespaces are those that every cluster has.
var systemNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// bootstrap makes the objects that a fresh cluster has beside the seeds.
//
// Differs from kube-apiserver: the Service kubernetes in the namespace default,
// its endpoints and its address, and the ServiceCIDR kubernetes are not made.
func (s *Server) bootstrap() error {
	namespaces := s.Registry().Lookup("", "v1", "namespaces")
	if namespaces == nil {
		return fmt.Errorf("profile %s serves no namespaces", s.surface.profile.Name())
	}
	for _, name := range systemNamespaces {
		if err := s.make(namespaces, map[string]any{"metadata": map[string]any{"name": name}}); err != nil {
			return err
		}
	}
	return nil
}

// make creates an object on the server's own behalf.
func (s *Server) make(t *resource.Type, obj map[string]any) error {
	r := s.internalRequest(t, "create")
	o := &writeOptions{}
	_, err := r.createNamed(r.tracked().Update(nil, completed(t, obj), r.fieldOptions(o)), o)
	return err
}

// bootstrapRoles are the roles and bindings of a fresh cluster, a line each
// after the first.
//
// Differs from kube-apiserver: they are those of v1.36, whatever the release.
//
//go:generate go run ./gen -server $KUBE_APISERVER -token $KUBE_TOKEN -version v1.36.3 -out bootstrap.jsonl
//go:embed bootstrap.jsonl
var bootstrapRoles []byte

// seeds are what every server of a surface starts with: roles and bindings, flow
// schemas and priority levels, priority classes and API services.
// They are many, and the same but for the time, so servers share them: all that
// start in the same second fork one store.
type seeds struct {
	drafts func() ([]seed, error)
	newest atomic.Pointer[seeded]
}

// A seed is an object without a version, whose times are seedTime.
type seed struct {
	key   string
	draft *storage.Object
}

// seedTime stands in seeds where the time of their creation is to be. It is as
// long as any.
const seedTime = "0000-00-00T00:00:00Z"

// A seeded store holds the seeds, made at a time.
type seeded struct {
	at    string
	keep  time.Duration
	store *storage.Store
}

func newSeeds(registry *resource.Registry, served []resource.GroupVersion) *seeds {
	return &seeds{drafts: sync.OnceValues(func() ([]seed, error) {
		var out []seed
		for line := range bytes.Lines(bootstrapRoles[bytes.IndexByte(bootstrapRoles, '\n')+1:]) {
			s, err := readSeed(registry, line)
			if err != nil {
				return nil, fmt.Errorf("bootstrap roles: %w", err)
			}
			if s != nil {
				out = append(out, *s)
			}
		}
		for _, obj := range slices.Concat(bootstrap.Objects(), bootstrap.APIServices(served)) {
			if s := newSeed(registry, object.Copy(obj)); s != nil {
				out = append(out, *s)
			}
		}
		return out, nil
	})}
}

// newSeed makes a seed of an object as a client would create it; nil if its kind
// is not served.
func newSeed(registry *resource.Registry, obj map[string]any) *seed {
	gv, err := parseGroupVersion(object.String(obj, "apiVersion"))
	if err != nil {
		return nil
	}
	t := registry.ForKind(resource.Kind{GroupVersion: gv, Kind: object.String(obj, "kind")})
	if t == nil || t.Virtual() {
		return nil
	}
	meta := object.Meta(completed(t, obj))
	key := t.Key("", object.String(meta, "name"))
	meta["uid"], meta["creationTimestamp"] = seedUID(key), seedTime
	if t.Generation != nil {
		meta["generation"] = int64(1)
	}
	t.Prepare(obj, nil)
	if t.Kind == "FlowSchema" {
		obj["status"] = map[string]any{"conditions": []any{map[string]any{
			"type": "Dangling", "status": "False", "reason": "Found", "lastTransitionTime": seedTime,
			"message": fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", object.String(obj, "spec", "priorityLevelConfiguration", "name")),
		}}}
	}
	return &seed{key, storage.New(t, obj)}
}

// readSeed reads one of the bootstrapRoles; nil if its kind is not served.
func readSeed(registry *resource.Registry, line []byte) (*seed, error) {
	kind, err := kindOf(line)
	if err != nil {
		return nil, err
	}
	t := registry.ForKind(kind)
	if t == nil || t.Virtual() {
		return nil, nil
	}
	obj, _, err := t.Codec.Decode(line, true)
	if err != nil {
		return nil, err
	}
	meta := object.Meta(completed(t, obj))
	key := t.Key(object.String(meta, "namespace"), object.String(meta, "name"))
	meta["uid"], meta["creationTimestamp"] = seedUID(key), seedTime
	return &seed{key, storage.New(t, obj)}, nil
}

// seedUID makes a UID of a key, the same for every server.
func seedUID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return uuid([16]byte(sum[:16]))
}

// store returns a store of its own that holds the seeds.
func (s *seeds) store(c *clock.Clock, keep time.Duration) (*storage.Store, error) {
	now := timestamp(c.Now())
	have := s.newest.Load()
	if have == nil || have.at != now || have.keep != keep {
		drafts, err := s.drafts()
		if err != nil {
			return nil, err
		}
		have = &seeded{now, keep, storage.NewStore(c, keep)}
		_, err = have.store.Update(func(tx *mvcc.Txn[*storage.Object]) error {
			for _, d := range drafts {
				tx.Put(d.key, d.draft.Dated(seedTime, now).At(tx.Revision()))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		s.newest.Store(have)
	}
	return have.store.Fork(c), nil
}
