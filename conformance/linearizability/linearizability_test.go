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

// A request is one call of a client. Requests read the whole store or write a transaction,
// so the model also checks the order of revisions.
type request struct {
	kind  string // "list", "swap" or "move"
	key   string
	other string        // move: the destination
	value int           // swap: the new value, -1 to delete
	ifAt  mvcc.Revision // swap: the revision that the key must have
}

// A response is the result of a request.
type response struct {
	rev  mvcc.Revision
	have mvcc.Revision // swap: the revision of the key if ok is false
	ok   bool
	list string // list: all keys, values and revisions
}

// state is the state of the model: the store at one revision. It is immutable.
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
			n := s.next(func(items map[string]item, _ mvcc.Revision) { delete(items, req.key) })
			n = n.next(func(items map[string]item, rev mvcc.Revision) { items[req.other] = item{had.value, rev} })
			return res.ok && res.rev == n.rev, n

		default: // the key to delete or move does not exist
			return res.ok && res.rev == s.rev, s
		}
	},
	Equal: func(a, b any) bool {
		return a.(state).rev == b.(state).rev && a.(state).String() == b.(state).String()
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
}

var keys = []string{"a", "b", "c"}

// errModified ends a swap of a key that has another revision.
var errModified = errors.New("modified")

// do executes a request.
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
		var have mvcc.Revision
		rev, err := s.Update(func(tx *mvcc.Txn[int]) error {
			if it, ok := tx.Get(req.key); ok {
				have = it.Modified
			}
			if have != req.ifAt {
				return errModified
			}
			if req.value < 0 {
				tx.Delete(req.key)
			} else {
				tx.Put(req.key, req.value)
			}
			return nil
		})
		if err != nil {
			return response{have: have}
		}
		return response{rev: rev, ok: true}

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

// TestLinearizable runs clients that make random requests concurrently. It checks that a
// sequential store gives the same responses for some order of the requests in which each
// takes effect between its call and its return.
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
					known := map[string]mvcc.Revision{} // the last revisions that the client has seen
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
		// The destination is another key: moving a key to itself would delete it and
		// put it again.
		other := keys[(slices.Index(keys, key)+1)%len(keys)]
		return request{kind: "move", key: key, other: other}
	default:
		return request{kind: "swap", key: key, value: random.IntN(10) - 1, ifAt: known[key]}
	}
}

// TestModel checks that the model rejects invalid histories.
func TestModel(t *testing.T) {
	put := request{kind: "swap", key: "a", value: 1}
	list := request{kind: "list"}
	for _, row := range []struct {
		name string
		ops  []porcupine.Operation
		want bool
	}{
		{"read after put", []porcupine.Operation{
			{Input: put, Call: 1, Output: response{rev: 2, ok: true}, Return: 2},
			{Input: list, Call: 3, Output: response{rev: 2, ok: true, list: "a=1@2 "}, Return: 4},
		}, true},
		{"stale read after a put returned", []porcupine.Operation{
			{Input: put, Call: 1, Output: response{rev: 2, ok: true}, Return: 2},
			{Input: list, Call: 3, Output: response{rev: 1, ok: true}, Return: 4},
		}, false},
		{"stale read during a put", []porcupine.Operation{
			{ClientId: 0, Input: put, Call: 1, Output: response{rev: 2, ok: true}, Return: 4},
			{ClientId: 1, Input: list, Call: 2, Output: response{rev: 1, ok: true}, Return: 3},
		}, true},
		{"key created twice", []porcupine.Operation{
			{ClientId: 0, Input: put, Call: 1, Output: response{rev: 2, ok: true}, Return: 4},
			{ClientId: 1, Input: put, Call: 2, Output: response{rev: 3, ok: true}, Return: 3},
		}, false},
		{"two transactions with the same revision", []porcupine.Operation{
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
