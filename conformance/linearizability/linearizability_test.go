package linearizability

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/kubefake/kubefake/mvcc"
)

// A request is one call of a client. All of them are transactions or reads of
// the whole store, so that the model cannot be split by key, and the order of
// revisions is judged as well.
type request struct {
	kind  string // "list", "swap" or "move"
	key   string
	other string        // move: where to
	value int           // swap: what to put, -1 to delete
	ifAt  mvcc.Revision // swap: the revision that key must have
}

// A response is what the client got.
type response struct {
	rev  mvcc.Revision
	have mvcc.Revision // swap: the revision that key had instead, if ok is false
	ok   bool
	list string // list: every key, value and revision
}

// state is what the model knows: the store at one moment. It is never changed.
type state struct {
	rev   mvcc.Revision
	items map[string]item
}

type item struct {
	value    int
	modified mvcc.Revision
}

func (s state) String() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s.items)) {
		fmt.Fprintf(&b, "%s=%d@%d ", key, s.items[key].value, s.items[key].modified)
	}
	return b.String()
}

// next returns the state after one more transaction.
func (s state) next(change func(items map[string]item, rev mvcc.Revision)) state {
	n := state{s.rev + 1, maps.Clone(s.items)}
	change(n.items, n.rev)
	return n
}

var model = porcupine.Model{
	Init: func() any { return state{1, map[string]item{}} },
	Step: func(st, in, out any) (bool, any) {
		s, req, res := st.(state), in.(request), out.(response)
		had, exists := s.items[req.key]
		switch {
		case req.kind == "list":
			return res.rev == s.rev && res.list == s.String(), s

		case req.kind == "swap" && had.modified != req.ifAt:
			return !res.ok && res.have == had.modified, s

		case req.kind == "swap" && req.value < 0 && exists:
			n := s.next(func(items map[string]item, _ mvcc.Revision) { delete(items, req.key) })
			return res.ok && res.rev == n.rev, n

		case req.kind == "swap" && req.value >= 0:
			n := s.next(func(items map[string]item, rev mvcc.Revision) { items[req.key] = item{req.value, rev} })
			return res.ok && res.rev == n.rev, n

		case req.kind == "move" && exists:
			n := s.next(func(items map[string]item, rev mvcc.Revision) {
				delete(items, req.key)
				items[req.other] = item{had.value, rev}
			})
			return res.ok && res.rev == n.rev, n

		default: // there was nothing to delete or to move
			return res.ok && res.rev == s.rev, s
		}
	},
	Equal: func(a, b any) bool {
		return a.(state).rev == b.(state).rev && a.(state).String() == b.(state).String()
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
}

var keys = []string{"a", "b", "c"}

// do makes one request of a store.
func do(s *mvcc.Store[int], req request) response {
	switch req.kind {
	case "list":
		v, err := s.View(0)
		if err != nil {
			panic(err)
		}
		seen := state{v.Revision(), map[string]item{}}
		for it := range v.Range("", "") {
			seen.items[it.Key] = item{it.Value, it.Modified}
		}
		return response{rev: seen.rev, ok: true, list: seen.String()}

	case "swap":
		op := mvcc.Op[int]{Key: req.key, Value: req.value}
		if req.value < 0 {
			op.Type = mvcc.Delete
		}
		rev, err := s.Commit([]mvcc.Compare{{Key: req.key, Modified: req.ifAt}}, op)
		if conflict := (*mvcc.ConflictError)(nil); errors.As(err, &conflict) {
			return response{have: conflict.Have}
		}
		return response{rev: rev, ok: err == nil}

	default:
		rev, err := s.Update(func(tx *mvcc.Txn[int]) error {
			if it, ok := tx.Get(req.key); ok {
				tx.Delete(req.key)
				tx.Put(req.other, it.Value)
			}
			return nil
		})
		return response{rev: rev, ok: err == nil}
	}
}

// TestLinearizable has clients make random requests at once, and asks whether
// there is an order of them, each between its call and its return, in which a
// store that does one thing at a time would have answered the same.
func TestLinearizable(t *testing.T) {
	const clients, requests = 5, 60
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			s := mvcc.New[int](mvcc.Options{KeepRevisions: 3})
			var clock atomic.Int64 // orders calls and returns
			histories := make([][]porcupine.Operation, clients)
			var group sync.WaitGroup
			for client := range clients {
				random := rand.New(rand.NewPCG(seed, uint64(client)))
				group.Go(func() {
					known := map[string]mvcc.Revision{} // the newest revisions the client knows of
					for range requests {
						req := choose(random, known)
						call := clock.Add(1)
						res := do(s, req)
						histories[client] = append(histories[client], porcupine.Operation{
							ClientId: client, Input: req, Call: call, Output: res, Return: clock.Add(1),
						})
						if req.kind == "swap" {
							known[req.key] = res.have
							if res.ok && req.value >= 0 {
								known[req.key] = res.rev
							}
						}
					}
				})
			}
			group.Wait()
			history := slices.Concat(histories...)
			if result := porcupine.CheckOperationsTimeout(model, history, time.Minute); result != porcupine.Ok {
				for _, op := range history {
					t.Logf("client %d [%d, %d] %s", op.ClientId, op.Call, op.Return, model.DescribeOperation(op.Input, op.Output))
				}
				t.Fatalf("the history is not linearizable: %v", result)
			}
		})
	}
}

func choose(random *rand.Rand, known map[string]mvcc.Revision) request {
	key := keys[random.IntN(len(keys))]
	switch random.IntN(6) {
	case 0:
		return request{kind: "list"}
	case 1:
		// To another key: a transaction that moves a key to itself would
		// delete it and put it again.
		other := keys[(slices.Index(keys, key)+1)%len(keys)]
		return request{kind: "move", key: key, other: other}
	default:
		return request{kind: "swap", key: key, value: random.IntN(10) - 1, ifAt: known[key]}
	}
}

// TestModelFindsFaults shows the model histories that no store may produce.
func TestModelFindsFaults(t *testing.T) {
	put := request{kind: "swap", key: "a", value: 1}
	list := request{kind: "list"}
	for _, row := range []struct {
		name string
		ops  []porcupine.Operation
		want bool
	}{
		{"put, then read", []porcupine.Operation{
			{Input: put, Call: 1, Output: response{rev: 2, ok: true}, Return: 2},
			{Input: list, Call: 3, Output: response{rev: 2, ok: true, list: "a=1@2 "}, Return: 4},
		}, true},
		{"read from before a put that has returned", []porcupine.Operation{
			{Input: put, Call: 1, Output: response{rev: 2, ok: true}, Return: 2},
			{Input: list, Call: 3, Output: response{rev: 1, ok: true}, Return: 4},
		}, false},
		{"read from before a put that has not returned", []porcupine.Operation{
			{ClientId: 0, Input: put, Call: 1, Output: response{rev: 2, ok: true}, Return: 4},
			{ClientId: 1, Input: list, Call: 2, Output: response{rev: 1, ok: true}, Return: 3},
		}, true},
		{"two creations of a key", []porcupine.Operation{
			{ClientId: 0, Input: put, Call: 1, Output: response{rev: 2, ok: true}, Return: 4},
			{ClientId: 1, Input: put, Call: 2, Output: response{rev: 3, ok: true}, Return: 3},
		}, false},
		{"two transactions with one revision", []porcupine.Operation{
			{ClientId: 0, Input: put, Call: 1, Output: response{rev: 2, ok: true}, Return: 4},
			{ClientId: 1, Input: request{kind: "swap", key: "b", value: 1}, Call: 2, Output: response{rev: 2, ok: true}, Return: 3},
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := porcupine.CheckOperations(model, row.ops); got != row.want {
				t.Errorf("linearizable: %v, want %v", got, row.want)
			}
		})
	}
}
