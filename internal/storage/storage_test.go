//go:build go1.25

package storage

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/wire"
	"github.com/kubefake/kubefake/mvcc"
)

// plain is the codec of a type with a few members.
type plain struct{ resource.Codec }

func (plain) DecodeStored(stored *wire.Encoded, version int64, _ map[string]any, _ *wire.Encoded) (obj map[string]any, err error) {
	return obj, json.Unmarshal(stored.Append(nil, version), &obj)
}

func (plain) Normalize(obj map[string]any, _ bool) (map[string]any, []error, error) {
	return obj, nil, nil
}

func (plain) IsStored(_, _ map[string]any) bool { return true }

func (plain) Wire() *wire.Type { return nil }

func (plain) Append(dst []byte, obj map[string]any) []byte {
	return wire.AppendCustom(dst, asThing(obj))
}

func (plain) EncodeStored(obj, live map[string]any, old *wire.Encoded) wire.Encoded {
	return wire.EncodeCustom(asThing(obj), live, old)
}

// asThing returns a thing with its kind.
func asThing(obj map[string]any) map[string]any {
	return map[string]any{"kind": "Thing", "apiVersion": "v1", "metadata": obj["metadata"], "data": object.String(obj, "data")}
}

func thing(uncached bool) *resource.Type {
	return &resource.Type{
		Name: "things", Kind: "Thing", Namespaced: true, Prefix: "/things/", Codec: plain{},
		Strategy: &resource.Strategy{
			NoWatchCache:     uncached,
			SelectableFields: []resource.Field{{Label: "data", Value: func(obj map[string]any) string { return object.String(obj, "data") }}},
		},
	}
}

func build(namespace, name, data, label string) map[string]any {
	meta := map[string]any{"name": name, "namespace": namespace, "uid": "uid-" + name}
	if label != "" {
		meta["labels"] = map[string]any{"l": label}
	}
	return map[string]any{"metadata": meta, "data": data}
}

type history struct {
	t *testing.T
	s *Store
	k *resource.Type
}

func newHistory(t *testing.T, uncached bool) *history {
	return &history{t, NewStore(clock.NewManual(time.Unix(0, 0)), Limits{}), thing(uncached)}
}

func (h *history) put(namespace, name, data, label string) mvcc.Revision {
	rev, err := h.s.Update(func(tx Txn) error {
		key := h.k.Key(namespace, name)
		var old *Object
		if item, ok := tx.Get(key); ok {
			old = item.Value
		}
		tx.Put(key, New(h.k, build(namespace, name, data, label), old).At(tx.Revision()))
		return nil
	})
	require.NoError(h.t, err)
	return rev
}

func (h *history) delete(namespace, name string) mvcc.Revision {
	rev, err := h.s.Update(func(tx Txn) error {
		tx.Delete(h.k.Key(namespace, name))
		return nil
	})
	require.NoError(h.t, err)
	return rev
}

func (h *history) list(q Query) (*Page, error) {
	return h.s.List(context.Background(), h.k, q)
}

// names returns the objects that a query returns: "a=1 b=2".
func (h *history) names(q Query) string {
	page, err := h.list(q)
	require.NoError(h.t, err)
	return names(page)
}

func names(page *Page) string {
	var out []string
	for o := range page.Items {
		out = append(out, o.Name+"="+o.Fields.At(0))
	}
	return strings.Join(out, " ")
}

func TestObject(t *testing.T) {
	k := thing(false)
	draft := New(k, build("ns", "a", `tricky "uid":"uid-a"`, "x"), nil)
	assert.NotContains(t, string(draft.JSON()), "resourceVersion")

	stored := draft.At(41)
	assert.Equal(t, mvcc.Revision(41), stored.Revision)
	assert.JSONEq(t, `{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","uid":"uid-a","resourceVersion":"41","labels":{"l":"x"}},"data":"tricky \"uid\":\"uid-a\""}`, string(stored.JSON()))
	assert.True(t, strings.HasSuffix(string(stored.JSON()), "}\n"))
	assert.Equal(t, map[string]string{"l": "x"}, stored.Labels)

	assert.True(t, draft.Same(stored), "the version is not content")
	assert.True(t, stored.Same(stored.At(1000)))
	assert.False(t, stored.Same(New(k, build("ns", "a", "other", "x"), nil)))

	braces := New(k, build("ns", `a`, "x", `}"{\`), nil).At(5)
	var meta map[string]any
	require.NoError(t, json.Unmarshal(braces.Metadata(), &meta))
	assert.Equal(t, map[string]any{"l": `}"{\`}, meta["labels"])
	assert.Equal(t, "5", meta["resourceVersion"])

	written := func(write func(w *bufio.Writer) error) string {
		var out strings.Builder
		w := bufio.NewWriter(&out)
		require.NoError(t, write(w))
		require.NoError(t, w.Flush())
		return out.String()
	}
	item := written(func(w *bufio.Writer) error { return stored.WriteItem(w, false) })
	assert.True(t, strings.HasPrefix(item, `{"metadata":`), "items of a list have no kind")
	deleted := written(func(w *bufio.Writer) error { return stored.WriteAt(w, 12345) })
	assert.Contains(t, deleted, `"resourceVersion":"12345"`)
	assert.Equal(t, string(stored.At(12345).JSON()), deleted+"\n")
	assert.Equal(t, "41", object.String(stored.Decode(k), "metadata", "resourceVersion"))
}

// TestNewShares shows what an object shares with another version of it.
func TestNewShares(t *testing.T) {
	k := thing(false)
	old := New(k, build("ns", "a", "x", "1"), nil).At(7)
	same := New(k, build("ns", "a", "x", "1"), old)
	assert.True(t, same.Same(old))
	assert.Equal(t, reflect.ValueOf(old.Labels).Pointer(), reflect.ValueOf(same.Labels).Pointer())
	assert.Zero(t, same.Revision)
	assert.EqualValues(t, old.Size()-objectBytes, old.SharedWith(same))

	changed := New(k, build("ns", "a", "y", "2"), old)
	assert.Equal(t, map[string]string{"l": "2"}, changed.Labels)
	assert.Equal(t, "y", changed.Fields.At(0))
	assert.Zero(t, old.SharedWith(changed))
}

// exampleHistory returns a store with this history:
//
//	2  a=1
//	3  b=1
//	4  c=1
//	5  a=2
//	6  b deleted
//	7  d=1
func exampleHistory(t *testing.T, uncached bool) *history {
	h := newHistory(t, uncached)
	h.put("ns", "a", "1", "x")
	h.put("ns", "b", "1", "y")
	h.put("ns", "c", "1", "x")
	h.put("ns", "a", "2", "x")
	h.delete("ns", "b")
	h.put("ns", "d", "1", "")
	return h
}

func TestListVersions(t *testing.T) {
	const newest = "a=2 c=1 d=1"
	for _, row := range []struct {
		name  string
		query Query
		want  string
		rev   mvcc.Revision
	}{
		{"unset", Query{}, newest, 7},
		{"zero", Query{Version: "0"}, newest, 7},
		{"zero, not older", Query{Version: "0", Match: MatchNotOlderThan}, newest, 7},
		{"N without a match", Query{Version: "3"}, newest, 7},
		{"N, not older", Query{Version: "3", Match: MatchNotOlderThan}, newest, 7},
		{"N, exact", Query{Version: "3", Match: MatchExact}, "a=1 b=1", 3},
		{"N, exact, deleted since", Query{Version: "5", Match: MatchExact}, "a=2 b=1 c=1", 5},
		{"N, exact, the newest", Query{Version: "7", Match: MatchExact}, newest, 7},
		{"limit alone", Query{Limit: 2}, "a=2 c=1", 7},
		{"limit, zero", Query{Limit: 2, Version: "0"}, newest, 7},
		{"limit, N without a match is exact", Query{Limit: 2, Version: "4"}, "a=1 b=1", 4},
		{"limit, N not older", Query{Limit: 2, Version: "4", Match: MatchNotOlderThan}, "a=2 c=1", 7},
		{"limit, N exact", Query{Limit: 2, Version: "4", Match: MatchExact}, "a=1 b=1", 4},
		{"negative limit", Query{Limit: -1}, newest, 7},
		{"one by name", Query{Selection: Selection{Namespace: "ns", Name: "a"}}, "a=2", 7},
		{"one by name, exact", Query{Selection: Selection{Namespace: "ns", Name: "a"}, Version: "2", Match: MatchExact}, "a=1", 2},
		{"name in all namespaces", Query{Selection: Selection{Name: "a"}}, "a=2", 7},
		{"another namespace", Query{Selection: Selection{Namespace: "n"}}, "", 7},
	} {
		t.Run(row.name, func(t *testing.T) {
			page, err := exampleHistory(t, false).list(row.query)
			require.NoError(t, err)
			assert.Equal(t, row.want, names(page))
			assert.Equal(t, row.rev, page.Revision)
		})
	}
}

func TestLimitAtVersionZeroWithoutWatchCache(t *testing.T) {
	assert.Equal(t, "a=2 c=1", exampleHistory(t, true).names(Query{Limit: 2, Version: "0"}))
}

func TestPages(t *testing.T) {
	h := exampleHistory(t, false)
	first, err := h.list(Query{Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, "a=2", names(first))
	assert.EqualValues(t, 2, first.Remaining)

	h.put("ns", "b", "late", "")
	h.delete("ns", "c")
	second, err := h.list(Query{Limit: 1, Continue: first.Continue})
	require.NoError(t, err)
	assert.Equal(t, "c=1", names(second), "pages are of one snapshot")
	assert.Equal(t, first.Revision, second.Revision)
	assert.EqualValues(t, 1, second.Remaining)

	last, err := h.list(Query{Limit: 1, Continue: second.Continue})
	require.NoError(t, err)
	assert.Equal(t, "d=1", names(last))
	assert.Empty(t, last.Continue)
	assert.EqualValues(t, -1, last.Remaining)
}

func TestRemainingOfSelection(t *testing.T) {
	h := exampleHistory(t, false)
	q := Query{Selection: Selection{Match: func(o *Object) bool { return o.Labels["l"] == "x" }}, Limit: 2}
	page, err := h.list(q)
	require.NoError(t, err)
	assert.Equal(t, "a=2 c=1", names(page))
	assert.EqualValues(t, -1, page.Remaining)
	require.NotEmpty(t, page.Continue, "the list does not know whether d matches")
	q.Continue = page.Continue
	assert.Empty(t, h.names(q))
}

// The tokens of kube-apiserver's watch cache begin with a slash, those of etcd do not.
func TestContinueTokens(t *testing.T) {
	h := exampleHistory(t, false)
	start := func(q Query) string {
		q.Limit = 1
		page, err := h.list(q)
		require.NoError(t, err)
		b, err := base64.RawURLEncoding.DecodeString(page.Continue)
		require.NoError(t, err)
		var token continueToken
		require.NoError(t, json.Unmarshal(b, &token))
		return token.Start
	}
	assert.Equal(t, "/ns/a\x00", start(Query{}))
	assert.Equal(t, "ns/a\x00", start(Query{EtcdSnapshots: true}))
}

func TestExpiredContinue(t *testing.T) {
	h := exampleHistory(t, true)
	first, err := h.list(Query{Limit: 1})
	require.NoError(t, err)
	h.put("ns", "b", "late", "")
	h.s.CompactEtcd(h.s.Revision())

	_, err = h.list(Query{Limit: 1, Continue: first.Continue})
	var expired *ExpiredError
	require.ErrorAs(t, err, &expired)
	rest, err := h.list(Query{Continue: expired.Continue})
	require.NoError(t, err, "the error's token continues at the newest version")
	assert.Equal(t, "b=late c=1 d=1", names(rest))
}

func TestCompactionOfEtcd(t *testing.T) {
	for _, row := range []struct {
		name     string
		uncached bool
		compact  func(*Store) error
		expired  bool
	}{
		{"etcd alone, cached", false, func(s *Store) error { s.CompactEtcd(7); return nil }, false},
		{"etcd alone, uncached", true, func(s *Store) error { s.CompactEtcd(7); return nil }, true},
		{"all, cached", false, func(s *Store) error { return s.Compact(7) }, true},
		{"all, uncached", true, func(s *Store) error { return s.Compact(7) }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := exampleHistory(t, row.uncached)
			require.NoError(t, row.compact(h.s))
			_, listErr := h.list(Query{Version: "3", Match: MatchExact})
			_, watchErr := h.s.Watch(t.Context(), h.k, Selection{}, 3)
			if row.expired {
				assert.ErrorAs(t, listErr, new(*ExpiredError))
				assert.ErrorAs(t, watchErr, new(*ExpiredError))
			} else {
				assert.NoError(t, listErr)
				assert.NoError(t, watchErr)
			}
			assert.Equal(t, "a=2 c=1 d=1", h.names(Query{Version: "3"}), "a read that is not older than 3 still works")
		})
	}
}

func TestBadQueries(t *testing.T) {
	h := exampleHistory(t, false)
	token := func(v any) string {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		return base64.RawURLEncoding.EncodeToString(b)
	}
	for _, row := range []struct {
		name  string
		query Query
		want  string
	}{
		{"version", Query{Version: "x"}, `resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax`},
		{"token, no base64", Query{Continue: "!"}, "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"},
		{"token, no version", Query{Continue: token(map[string]any{})}, "invalid continue token: continue key is not valid: server does not recognize this encoded version "},
		{"token, no revision", Query{Continue: token(continueToken{tokenVersion, 0, "a"})}, "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)"},
		{"token, no key", Query{Continue: token(continueToken{tokenVersion, 5, ""})}, "invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"},
		{"token, parent directory", Query{Continue: token(continueToken{tokenVersion, 5, "../x"})}, "invalid continue token: continue key is not valid: ../x"},
		{"token and version", Query{Continue: token(continueToken{tokenVersion, 5, "a"}), Version: "5"}, "specifying resource version is not allowed when using continue"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := h.list(row.query)
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestFutureVersion(t *testing.T) {
	var tooLarge *TooLargeError
	_, err := exampleHistory(t, true).list(Query{Version: "9"})
	require.ErrorAs(t, err, &tooLarge)
	assert.Equal(t, TooLargeError{Requested: 9, Current: 7}, *tooLarge, "an uncached resource does not wait")

	synctest.Test(t, func(t *testing.T) {
		h := &history{t, NewStore(clock.New(), Limits{}), thing(false)}
		started := time.Now()
		_, _, err := h.s.Get(t.Context(), h.k, "ns", "a", "2")
		require.ErrorAs(t, err, &tooLarge)
		assert.True(t, tooLarge.Waited)
		assert.Equal(t, freshnessWait, time.Since(started))

		go func() {
			time.Sleep(time.Second)
			h.put("ns", "a", "1", "")
		}()
		got, rev, err := h.s.Get(t.Context(), h.k, "ns", "a", "2")
		require.NoError(t, err, "the version comes while the read waits")
		assert.Equal(t, "a", got.Name)
		assert.Equal(t, mvcc.Revision(2), rev)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = h.s.Get(ctx, h.k, "ns", "a", "99")
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// An object enters and leaves a selection:
//
//	2  a with label x     ADDED
//	3  a with label y     DELETED, in the state with x
//	4  a with label z     no event
//	5  a with label x     ADDED
//	6  a=2 with label x   MODIFIED
//	7  a deleted          DELETED
func TestWatchTransitions(t *testing.T) {
	h := newHistory(t, false)
	w, err := h.s.Watch(t.Context(), h.k, Selection{Match: func(o *Object) bool { return o.Labels["l"] == "x" }}, 1)
	require.NoError(t, err)
	defer w.Close()
	h.put("ns", "a", "1", "x")
	h.put("ns", "a", "1", "y")
	h.put("ns", "a", "1", "z")
	h.put("ns", "a", "1", "x")
	h.put("ns", "a", "2", "x")
	h.delete("ns", "a")

	var got []string
	for {
		changes, err := w.Poll(2)
		require.NoError(t, err)
		if len(changes) == 0 {
			break
		}
		for _, c := range changes {
			got = append(got, fmt.Sprintf("%d %s %s %s", c.Revision, c.Type, c.Object.Fields.At(0), c.Object.Labels["l"]))
		}
	}
	assert.Equal(t, []string{"2 ADDED 1 x", "3 DELETED 1 x", "5 ADDED 1 x", "6 MODIFIED 2 x", "7 DELETED 2 x"}, got)
	assert.Equal(t, h.s.Revision(), w.Revision())

	h.put("ns", "b", "1", "y")
	h.put("ns", "b", "2", "y")
	require.NoError(t, h.s.Compact(h.s.Revision()))
	_, err = w.Poll(1)
	assert.ErrorAs(t, err, new(*ExpiredError), "a change was compacted before it was polled")
}

func TestRestore(t *testing.T) {
	h := exampleHistory(t, false)
	was := h.s.Snapshot()
	h.put("ns", "a", "3", "")
	h.delete("ns", "c")
	h.put("ns", "e", "1", "")
	before := h.s.Revision()

	first, last, err := h.s.Restore(was)
	require.NoError(t, err)
	assert.Equal(t, before+1, first)
	assert.Equal(t, before+3, last, "a revision for each object that differs")
	assert.Equal(t, last, h.s.Revision())
	assert.Equal(t, "a=2 c=1 d=1", h.names(Query{}))
	page, err := h.list(Query{Selection: Selection{Namespace: "ns", Name: "a"}})
	require.NoError(t, err)
	for o := range page.Items {
		assert.Contains(t, string(o.JSON()), `"resourceVersion":"`+FormatVersion(before+2)+`"`)
	}

	_, last, err = h.s.Restore(was)
	require.NoError(t, err)
	assert.Equal(t, before+3, last, "a restore without differences writes nothing")
}

func FuzzContinue(f *testing.F) {
	f.Add("")
	f.Add("e30")
	f.Add(encodeContinue("/things/ns/a\x00", "/things/", 5))
	f.Fuzz(func(t *testing.T, token string) {
		from, _, err := decodeContinue(token, "/things/ns/")
		if err != nil {
			var bad *ContinueError
			if !errors.As(err, &bad) {
				t.Fatalf("unexpected error: %v", err)
			}
			return
		}
		if !strings.HasPrefix(from, "/things/ns/") {
			t.Fatalf("the key is outside of the collection: %q", from)
		}
	})
}
