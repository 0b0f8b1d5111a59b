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
	"github.com/kubefake/kubefake/mvcc"
)

// A Selection is the part of a resource that a list or a watch wants. The zero
// value is all of it.
type Selection struct {
	// Namespace bounds it to one namespace, unless "".
	Namespace string
	// Name bounds it to one object, unless "".
	Name string
	// Match bounds it to the objects it accepts, unless nil.
	Match func(*Object) bool
}

// everything reports whether the selection leaves out no object of its
// namespace, so that the rest of a page can be counted without looking.
func (s *Selection) everything() bool { return s.Name == "" && s.Match == nil }

func (s *Selection) matches(o *Object) bool {
	return (s.Name == "" || o.Name == s.Name) && (s.Match == nil || s.Match(o))
}

// prefix bounds the keys among which the selection lies; exact tells that it
// is a whole key.
func (s *Selection) prefix(t *resource.Type) (prefix string, exact bool) {
	if s.Name != "" && (s.Namespace != "" || !t.Namespaced) {
		return t.Key(s.Namespace, s.Name), true
	}
	return t.KeyPrefix(s.Namespace), false
}

// How the version of a list is meant.
const (
	MatchUnset        = ""
	MatchNotOlderThan = "NotOlderThan"
	MatchExact        = "Exact"
)

// A Query is a list request, its options already validated against each other.
type Query struct {
	Selection
	Version  string // resourceVersion
	Match    string // resourceVersionMatch: one of the Match constants
	Limit    int64  // at most so many items; none if not positive
	Continue string // the token of an earlier page
}

// A Page is the answer to a Query.
type Page struct {
	Revision mvcc.Revision
	// Items are the objects in the order of their keys, read as they are
	// walked, all of one snapshot. They can be walked once or more.
	Items iter.Seq[*Object]
	// Continue is the token for the next page, "" on the last.
	Continue string
	// Remaining counts the objects after this page; -1 if that is not known.
	Remaining int64
}

// Empty reports whether the page has no items.
func (p *Page) Empty() bool {
	for range p.Items {
		return false
	}
	return true
}

// List answers a query.
//
// Errors: *VersionError, *TooLargeError, *ExpiredError, *ContinueError, and
// the context's.
func (s *Store) List(ctx context.Context, t *resource.Type, q Query) (*Page, error) {
	prefix, exact := q.prefix(t)
	from := prefix
	var view *mvcc.View[*Object]
	var err error
	if q.Continue != "" && !exact {
		if from, view, err = s.resume(t, q, prefix); err != nil {
			return nil, err
		}
	} else if view, err = s.resolve(ctx, t, q, exact); err != nil {
		return nil, err
	}
	page := &Page{Revision: view.Revision(), Remaining: -1}
	if exact {
		page.Items, err = q.walk(ctx, t, func(yield func(*mvcc.Item[*Object]) bool) {
			if item, ok := view.Get(prefix); ok {
				yield(item)
			}
		})
		return page, err
	}
	end := mvcc.PrefixEnd(prefix)
	limit := q.Limit
	if q.Version == "0" && !t.Uncached {
		limit = 0 // the watch cache answers "any version" whole
	}
	if limit <= 0 {
		page.Items, err = q.walk(ctx, t, view.Range(from, end))
		return page, err
	}
	var items []*Object
	var last string
	more := false
	for item := range view.Range(from, end) {
		if int64(len(items)) == limit {
			more = true
			break
		}
		o, err := item.Value.In(ctx, t)
		if err != nil {
			return nil, err
		}
		if q.matches(o) {
			items = append(items, o)
			last = item.Key
		}
	}
	page.Items = slices.Values(items)
	if more {
		next := last + "\x00"
		page.Continue = encodeContinue(next, prefix, int64(page.Revision))
		if q.everything() {
			page.Remaining = int64(view.Count(next, end))
		}
	}
	return page, nil
}

// walk returns the objects of items that the selection wants, as t shows them.
// Objects of a type without versions are read as they are walked.
func (s *Selection) walk(ctx context.Context, t *resource.Type, items iter.Seq[*mvcc.Item[*Object]]) (iter.Seq[*Object], error) {
	if t.Versions == nil {
		return func(yield func(*Object) bool) {
			for item := range items {
				if s.matches(item.Value) && !yield(item.Value) {
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

// resume is the state that a continue token is of, and the key to go on at.
func (s *Store) resume(t *resource.Type, q Query, prefix string) (from string, view *mvcc.View[*Object], err error) {
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

// resolve is the state that a query without a continue token reads: that of a
// version if it asks for just that, the present if it asks for none, else that
// of the watch cache.
//
// Differs from kube-apiserver: where its cache lags, that waits for the cache
// to catch up, for up to three seconds, before it reads the present from etcd.
func (s *Store) resolve(ctx context.Context, t *resource.Type, q Query, exact bool) (*mvcc.View[*Object], error) {
	rev, err := ParseVersion(q.Version)
	if err != nil {
		return nil, &VersionError{Value: q.Version, Err: err}
	}
	legacyExact := q.Match == MatchUnset && q.Limit > 0 && rev > 0 && !exact
	if q.Match != MatchExact && !legacyExact {
		return s.atLeast(ctx, t, q.Version)
	}
	if rev > uint64(s.Revision()) {
		if _, err := s.await(ctx, t, s.Replica(), rev); err != nil {
			return nil, err
		}
	}
	return s.at(t, rev)
}

// at is the view of t at a version, 0 being the newest.
func (s *Store) at(t *resource.Type, rev uint64) (*mvcc.View[*Object], error) {
	if rev != 0 && rev < uint64(s.oldest(t)) {
		return nil, &ExpiredError{}
	}
	if rev != 0 && rev < uint64(t.Since) && int64(rev) < s.compacted.Load() {
		return nil, &ExpiredError{} // the watch cache does not go back so far
	}
	if rev > uint64(s.Revision()) {
		return nil, &TooLargeError{Requested: rev, Current: s.Revision()}
	}
	view, err := s.View(mvcc.Revision(rev))
	if err != nil {
		return nil, &ExpiredError{}
	}
	return view, nil
}

// A continueToken is what a continue token holds, as in kube-apiserver: a
// negative version goes on at the newest.
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

// ExpireContinue is the error of a list that goes on from a token whose version
// is compacted: an *ExpiredError, or a *ContinueError if it is no token.
func ExpireContinue(token string) error {
	const prefix = "/" // any will do: it is taken from the key again
	from, _, err := decodeContinue(token, prefix)
	if err != nil {
		return err
	}
	return &ExpiredError{Continue: encodeContinue(from, prefix, -1)}
}
