package manifests

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"sync"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/backdoor"
	generic "github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
)

// An upgrade of a cluster, release by release, is a store with a server of each release: that of
// Config.From writes the objects, and each later one, which was upgraded in place, reads what is
// stored and is asked to write it again. An object that takes no effect on others is in the store
// while it is validated, so memory does not grow with the number of objects.

// upgradeReleases returns the names of the releases of an upgrade: Config.From, the minor releases
// between, and Config.To.
func (c *Config) upgradeReleases() ([]string, error) {
	from, err := release.Open(c.From)
	if err != nil {
		return nil, fmt.Errorf("%w: From: %w", fakeapi.ErrInvalidOption, err)
	}
	to, err := release.Open(c.To)
	if err != nil {
		return nil, fmt.Errorf("%w: To: %w", fakeapi.ErrInvalidOption, err)
	}
	if from.Minor() >= to.Minor() {
		return nil, fmt.Errorf("%w: an upgrade from %s to %s: From is not the older release", fakeapi.ErrInvalidOption, from.Name(), to.Name())
	}
	names := []string{from.Name()}
	for _, name := range release.Names() {
		r, err := release.Open(name)
		if err != nil {
			return nil, err
		}
		hasAll := func(r *release.Release) bool { return r.Name() != r.Version() }
		if r.Minor() > from.Minor() && r.Minor() < to.Minor() && hasAll(r) == hasAll(from) {
			names = append(names, name)
		}
	}
	return append(names, to.Name()), nil
}

// newUpgrade starts the servers of an upgrade, over one store.
func newUpgrade(c *Config, schemas *catalog) ([]*target, error) {
	if len(c.Releases) > 0 || c.Base != "" {
		return nil, fmt.Errorf("%w: an upgrade has From and To, and neither Releases nor Base", fakeapi.ErrInvalidOption)
	}
	if c.From == "" {
		return nil, fmt.Errorf("%w: To needs From", fakeapi.ErrInvalidOption)
	}
	names, err := c.upgradeReleases()
	if err != nil {
		return nil, err
	}
	first, err := newTarget(c, names[0], schemas)
	if err != nil {
		return nil, err
	}
	targets := []*target{first}
	for _, name := range names[1:] {
		srv, err := first.srv.NewReplica()
		if err == nil {
			err = srv.Upgrade(name)
		}
		if err != nil {
			first.srv.Close()
			return nil, err
		}
		t := first.of(srv)
		t.first = first
		targets = append(targets, t)
	}
	return targets, nil
}

// isStored reports whether the object is one that a cluster has stored, not a document that somebody
// applies.
func (o *object) isStored() bool { return o.uid != "" }

// canBeStored reports whether a release that gives a reply to the object as a new one stores it: a
// document that is accepted, and each object of a cluster whose kind is served.
func (o *object) canBeStored(r *reply) bool { return !r.missing && (o.isStored() || r.Code < 300) }

// asNew returns the object as somebody would create it again: without what a cluster has set.
func (o *object) asNew() *object {
	if !o.isStored() {
		return o
	}
	fresh := *o
	var body map[string]json.RawMessage
	var meta map[string]json.RawMessage
	if json.Unmarshal(o.body, &body) != nil || json.Unmarshal(body["metadata"], &meta) != nil {
		return o // the server says what is wrong
	}
	delete(body, "status")
	for _, name := range generic.ServerMetadata {
		delete(meta, name)
	}
	text, err := json.Marshal(meta)
	if err == nil {
		body["metadata"] = text
		text, err = json.Marshal(body)
	}
	if err != nil { // unreachable: it is decoded JSON
		return o
	}
	fresh.body = text
	return &fresh
}

// Locks of objects, of which the store has one of a name at a time.
type locks [64]sync.Mutex

// lock locks the name of an object. All Services have one lock, with the IPAddresses: what one of
// them has allocated is refused to the others.
func (l *locks) lock(o *object) (unlock func()) {
	h := fnv.New32a()
	if o.kind != "Service" && o.kind != "IPAddress" {
		h.Write([]byte(o.kind + "/" + o.name)) // the namespace may be the one of Config.Namespace
	}
	m := &l[h.Sum32()%uint32(len(l))]
	m.Lock()
	return m.Unlock
}

// create returns what the server of each release answers to an object that the store does not have.
func (v *validator) create(ctx context.Context, o *object) []*reply {
	replies := make([]*reply, len(v.targets))
	for i, t := range v.targets {
		replies[i] = t.write(ctx, o.asNew(), write{dryRun: true, user: v.config.User, create: o.isStored()})
	}
	return replies
}

// put stores an object, past admission: one of a cluster as it is, otherwise what the oldest release
// would store, which created has.
func (v *validator) put(o *object, created *reply) (fakeapi.Object, error) {
	body := o.body
	if !o.isStored() {
		body = created.text
	}
	return v.targets[0].srv.Store(body)
}

// storeOld stores an object that takes effect on others, for all of the run.
func (v *validator) storeOld(ctx context.Context, o *object) {
	created := v.create(ctx, o)
	v.effects[o.place()] = created
	if o.canBeStored(created[0]) {
		if _, err := v.put(o, created[0]); err == nil {
			v.targets[0].stored(ctx, o, write{})
		}
	}
}

// A step is what the server of a release answers when an object is stored.
type step struct {
	served  *response // of a read; nil if the release does not have the version
	updated *reply    // to a write of what is served
	applied *reply    // to the document as it is applied again; nil for objects of a cluster
}

// askUpgrade sets the outcome and the findings of an object from the answers of the servers of an
// upgrade.
func (v *validator) askUpgrade(ctx context.Context, o *object, r *found) {
	defer v.locks.lock(o)()
	created := v.effects[o.place()]
	takesEffect := created != nil
	if !takesEffect {
		created = v.create(ctx, o)
	}
	if v.config.Objects {
		_ = json.Unmarshal(o.body, &r.Object) // it is JSON
	}
	for _, reply := range created {
		r.Answers = append(r.Answers, reply.Answer)
		if reply.key != (objectKey{}) {
			r.key, r.Namespace = reply.key, cmp.Or(r.Namespace, reply.key.namespace)
		}
	}
	j := &judge{config: v.config, object: o, targets: v.targets, created: created}
	if o.canBeStored(created[0]) {
		at := objectName{r.key.namespace, o.name}
		if !takesEffect {
			was := v.stored(ctx, o, at)
			stored, err := v.put(o, created[0])
			if err != nil {
				j.refuse(err)
			} else {
				at = objectName{stored.Namespace(), stored.Name()}
				defer v.restore(o, at, was)
			}
		}
		for _, t := range v.targets {
			j.steps = append(j.steps, t.step(ctx, o, at))
		}
	}
	r.Outcome, r.Findings = j.results(ctx)
}

// An objectName is that of an object of a kind.
type objectName struct{ namespace, name string }

// stored returns the object of a name in the store, nil if there is none: a cluster has some objects
// from the beginning.
func (v *validator) stored(ctx context.Context, o *object, at objectName) fakeapi.Object {
	t := v.targets[0]
	res, err := t.lookup(ctx, o.apiVersion, o.kind)
	if err != nil || at.name == "" {
		return nil
	}
	was, err := t.srv.Get(res.Resource+"."+o.group(), at.namespace, at.name)
	if err != nil {
		return nil
	}
	return was
}

// restore removes an object from the store, or puts what was there in its place.
func (v *validator) restore(o *object, at objectName, was fakeapi.Object) {
	first := v.targets[0].srv
	if was != nil {
		_, _ = first.Store(was) // it was there
		return
	}
	_ = backdoor.Of(first).RemoveObject(map[string]any{ // it is there
		"apiVersion": o.apiVersion, "kind": o.kind, "metadata": map[string]any{"namespace": at.namespace, "name": at.name},
	})
}

// step asks the server of a release to read and to write a stored object.
func (t *target) step(ctx context.Context, o *object, at objectName) *step {
	res, err := t.lookup(ctx, o.apiVersion, o.kind)
	if err != nil {
		return &step{}
	}
	path := resourcePath(o, res, at.namespace) + "/" + at.name
	s := &step{served: t.send(ctx, &request{method: http.MethodGet, path: path})}
	if s.served.code != http.StatusOK {
		return s
	}
	s.updated = t.replyOf(t.send(ctx, &request{
		method: http.MethodPut, path: path, contentType: "application/json", body: s.served.body.Bytes(),
		query: url.Values{"dryRun": {"All"}, "fieldManager": {"kubectl"}, "fieldValidation": {"Warn"}},
	}))
	if !o.isStored() && !t.config.Create && o.name != "" {
		s.applied = t.write(ctx, o, write{dryRun: true, user: t.config.User})
	}
	return s
}
