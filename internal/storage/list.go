package storage

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/sharding"
	"github.com/kubefake/kubefake/mvcc"
)

// A Selection is the set of objects that a list or a watch returns. The zero value
// selects all objects of a resource.
type Selection struct {
	// Namespace, if not "", selects the objects in a namespace.
	Namespace string
	// Name, if not "", selects the objects with a name.
	Name string
	// Match, if not nil, selects the objects for which it returns true.
	Match func(*Object) bool
	// Shards selects the objects of some shards. The objects that follow a page are counted
	// without regard to it.
	Shards sharding.Selector
}

// everything reports whether the selection has all objects of its namespace that are in
// its shards, so that they can be counted without reading them.
func (s *Selection) everything() bool { return s.Name == "" && s.Match == nil }

func (s *Selection) matches(o *Object) bool {
	return (s.Name == "" || o.Name == s.Name) && s.Shards.Matches(o.UID, o.Namespace) && (s.Match == nil || s.Match(o))
}

// prefix returns the prefix of the keys of the selection. exact reports whether it is
// a complete key.
func (s *Selection) prefix(t *resource.Type) (prefix string, exact bool) {
	if s.Name != "" && (s.Namespace != "" || !t.Namespaced) {
		return t.Key(s.Namespace, s.Name), true
	}
	return t.KeyPrefix(s.Namespace), false
}

// A VersionMatch is a value of resourceVersionMatch.
type VersionMatch string

const (
	MatchUnset        VersionMatch = ""
	MatchNotOlderThan VersionMatch = "NotOlderThan"
	MatchExact        VersionMatch = "Exact"
)

// A Query is a list request. Its options must be valid in combination.
type Query struct {
	Selection
	Version  string // resourceVersion
	Match    VersionMatch
	Limit    int64  // the maximum number of items; no limit if not positive
	Continue string // the token of the previous page, or ""
	// EtcdSnapshots reads exact versions and further pages from etcd, as servers without the
	// gate ListFromCacheSnapshot do: the watch cache has none of them.
	EtcdSnapshots bool
}

// A Page is the result of a Query.
type Page struct {
	Revision mvcc.Revision
	// Items are the objects of one snapshot, sorted by key. They can be iterated
	// more than once.
	Items iter.Seq[*Object]
	// Continue is the token of the next page, "" on the last page.
	Continue string
	// Remaining is the number of objects after this page, or -1 if unknown.
	Remaining int64
	// Shards are those that the items were selected from.
	Shards sharding.Selector
}

// Empty reports whether the page has no items.
func (p *Page) Empty() bool {
	for range p.Items {
		return false
	}
	return true
}

// List runs a query.
//
// Errors: *VersionError, *TooLargeError, *ExpiredError, *ContinueError,
// *ConversionError, *UnreadableError, and the context's.
func (s *Store) List(ctx context.Context, t *resource.Type, q Query) (*Page, error) {
	prefix, exact := q.prefix(t)
	from, view, err := s.begin(ctx, t, q, prefix, exact)
	if err != nil {
		return nil, err
	}
	page, err := s.page(ctx, t, q, view, from, prefix, exact)
	var failed *ConversionError
	if !errors.As(err, &failed) {
		return page, err
	}
	to, cached := mvcc.PrefixEnd(prefix), q.Limit <= 0 && q.Continue == "" && q.Match != MatchExact
	if cached {
		from, to = t.Prefix, mvcc.PrefixEnd(t.Prefix)
	}
	if all := FindUnreadable(ctx, t, view, from, to, failed); all != nil {
		all.Cached = cached
		return nil, all
	}
	return nil, err
}

// page returns the page of a query in a view, from a key on.
func (s *Store) page(ctx context.Context, t *resource.Type, q Query, view View, from, prefix string, exact bool) (_ *Page, err error) {
	page := &Page{Revision: view.Revision(), Remaining: -1, Shards: q.Shards}
	if exact {
		page.Items, err = q.walk(ctx, t, func(yield func(*mvcc.Item[*Object]) bool) {
			if item, ok := view.Get(prefix); ok {
				yield(item)
			}
		})
		return page, err
	}
	fromCache := q.Version == "0" && !t.NoWatchCache && (q.Continue == "" || !q.EtcdSnapshots)
	if q.Limit > 0 && !fromCache { // the watch cache returns all items for "any version"
		return page, s.fill(ctx, t, q, page, view, from, prefix)
	}
	page.Items, err = q.walk(ctx, t, view.Range(from, mvcc.PrefixEnd(prefix)))
	return page, err
}

// begin returns the state that a query reads and the key at which the page starts. exact
// reports whether prefix is a complete key.
func (s *Store) begin(ctx context.Context, t *resource.Type, q Query, prefix string, exact bool) (from string, view View, err error) {
	if q.Continue != "" && !exact {
		return s.resume(t, q, prefix)
	}
	if view, err = s.resolve(ctx, t, q, exact); err != nil {
		return "", nil, err
	}
	if q.Continue != "" { // of one object: the token has no effect
		_, _, err = decodeContinue(q.Continue, prefix)
	}
	return prefix, view, err
}

// fill fills a page with the first q.Limit objects of a view from a key on.
func (s *Store) fill(ctx context.Context, t *resource.Type, q Query, page *Page, view View, from, prefix string) error {
	end := mvcc.PrefixEnd(prefix)
	items := make([]*Object, 0, min(q.Limit, 512))
	var last string
	more := false
	for item := range view.Range(from, end) {
		if int64(len(items)) == q.Limit {
			more = true
			break
		}
		o, err := item.Value.In(ctx, t)
		if err != nil {
			return err
		}
		if q.matches(o) {
			items = append(items, o)
			last = item.Key
		}
	}
	page.Items = slices.Values(items)
	if more {
		next := last + "\x00"
		page.Continue = encodeContinue(next, q.tokenPrefix(t, prefix), int64(page.Revision))
		if q.everything() {
			page.Remaining = int64(s.CountAfter(view, from, next, end, len(items)))
		}
	}
	return nil
}

// tokenPrefix returns what continue tokens leave out of keys with the prefix. Those of
// kube-apiserver's watch cache keep the slash at its end.
func (q *Query) tokenPrefix(t *resource.Type, prefix string) string {
	if t.NoWatchCache || q.EtcdSnapshots {
		return prefix
	}
	return strings.TrimSuffix(prefix, "/")
}

// walk returns the objects of items that match the selection, in t's version. For a
// type without versions it reads the items during the iteration: their conversion from
// another release does not fail.
func (s *Selection) walk(ctx context.Context, t *resource.Type, items iter.Seq[*mvcc.Item[*Object]]) (iter.Seq[*Object], error) {
	if t.Versions == nil {
		return func(yield func(*Object) bool) {
			for item := range items {
				o := item.Value
				if !o.IsOf(t) {
					var err error
					if o, err = o.In(ctx, t); err != nil {
						panic("storage: an object of another release does not decode: " + err.Error()) // unreachable: fields keep their types
					}
				}
				if s.matches(o) && !yield(o) {
					return
				}
			}
		}, nil
	}
	var all []*Object
	for item := range items {
		all = append(all, item.Value)
	}
	all, err := In(ctx, t, all)
	if err != nil {
		return nil, err
	}
	return func(yield func(*Object) bool) {
		for _, o := range all {
			if s.matches(o) && !yield(o) {
				return
			}
		}
	}, nil
}

// resume returns the state that a continue token refers to and the key at which the
// page starts.
func (s *Store) resume(t *resource.Type, q Query, prefix string) (from string, view View, err error) {
	from, at, err := decodeContinue(q.Continue, prefix)
	if err != nil {
		return "", nil, err
	}
	if q.Version != "" && q.Version != "0" {
		return "", nil, &ContinueError{"specifying resource version is not allowed when using continue"}
	}
	if view, err = s.at(t, at); errors.As(err, new(*ExpiredError)) {
		err = &ExpiredError{Continue: encodeContinue(from, prefix, -1)}
	}
	return from, view, err
}

// resolve returns the state that a query without a continue token reads: the state at
// an exact version, the newest state if the query has no version, or else the state of
// the watch cache.
//
// Differs from kube-apiserver: reads of the newest state while a watch cache
// lags: kube-apiserver waits up to three seconds for its cache before it reads
// etcd. Here the read does not wait. Request: GET of a list without
// resourceVersion.
func (s *Store) resolve(ctx context.Context, t *resource.Type, q Query, exact bool) (View, error) {
	rev, err := ParseVersion(q.Version)
	if err != nil {
		return nil, &VersionError{Value: q.Version, Err: err}
	}
	legacyExact := q.Match == MatchUnset && q.Limit > 0 && rev > 0 && !exact
	if q.Match != MatchExact && !legacyExact {
		return s.atLeast(ctx, t, q.Version)
	}
	if rev > uint64(s.Revision()) && !q.EtcdSnapshots {
		if _, err := s.await(ctx, t, s.Replica(), rev); err != nil {
			return nil, err
		}
	}
	return s.at(t, rev)
}

// at returns the view of t at a version. 0 is the newest.
func (s *Store) at(t *resource.Type, rev uint64) (View, error) {
	if rev != 0 && rev < uint64(s.oldest(t)) {
		return nil, &ExpiredError{}
	}
	if rev != 0 && rev < uint64(t.Since) && int64(rev) < s.compactedEtcd.Load() {
		return nil, &ExpiredError{} // the watch cache starts later
	}
	if rev > uint64(s.Revision()) {
		return nil, &TooLargeError{Requested: rev, Current: s.Revision(), FromEtcd: true}
	}
	view, err := s.View(mvcc.Revision(rev))
	if err != nil {
		return nil, &ExpiredError{}
	}
	return view, nil
}

// A continueToken is a decoded continue token, in kube-apiserver's format. A negative
// version means the newest one.
type continueToken struct {
	APIVersion string `json:"v"`
	Version    int64  `json:"rv"`
	Start      string `json:"start"`
}

const tokenVersion = "meta.k8s.io/v1"

func encodeContinue(key, prefix string, version int64) string {
	b, err := json.Marshal(continueToken{tokenVersion, version, strings.TrimPrefix(key, prefix)})
	if err != nil {
		panic("storage: continue token: " + err.Error()) // unreachable: strings and a number
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodeContinue(token, prefix string) (from string, version uint64, err error) {
	const invalid = "invalid continue token: continue key is not valid: "
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", 0, &ContinueError{invalid + err.Error()}
	}
	var t continueToken
	if err := json.Unmarshal(b, &t); err != nil {
		return "", 0, &ContinueError{invalid + err.Error()}
	}
	switch {
	case t.APIVersion != tokenVersion:
		return "", 0, &ContinueError{invalid + "server does not recognize this encoded version " + t.APIVersion}
	case t.Version == 0:
		return "", 0, &ContinueError{fmt.Sprintf("%sincorrect encoded start resourceVersion (version %s)", invalid, tokenVersion)}
	case t.Start == "":
		return "", 0, &ContinueError{fmt.Sprintf("%sencoded start key empty (version %s)", invalid, tokenVersion)}
	}
	key := t.Start
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	if path.Clean(key) != key {
		return "", 0, &ContinueError{invalid + t.Start}
	}
	return prefix + key[1:], uint64(max(t.Version, 0)), nil
}

// ExpireContinue returns the error of a list with a continue token whose version is
// compacted: an *ExpiredError, or a *ContinueError for an invalid token.
func ExpireContinue(token string) error {
	const prefix = "/" // any prefix: encodeContinue removes it again
	from, _, err := decodeContinue(token, prefix)
	if err != nil {
		return err
	}
	return &ExpiredError{Continue: encodeContinue(from, prefix, -1)}
}
