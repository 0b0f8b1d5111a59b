//go:build go1.24

package mvcc_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/kubefake/kubefake/mvcc"
)

// load returns a store with n keys in one transaction, and the keys, shuffled.
func load(tb testing.TB, n int, opts mvcc.Options) (*mvcc.Store[int], []string) {
	tb.Helper()
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("/registry/pods/namespace-%03d/pod-%07d", i*100/n, i)
	}
	s := mvcc.New[int](opts)
	_, err := s.Update(func(tx *mvcc.Txn[int]) error {
		for i, key := range keys {
			tx.Put(key, i)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return s, keys
}

func put[V any](tb testing.TB, s *mvcc.Store[V], key string, value V) {
	_, err := s.Update(func(tx *mvcc.Txn[V]) error {
		tx.Put(key, value)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkPut replaces the value of a random key. The cost may grow with the logarithm
// of the number of keys and with cache misses.
func BenchmarkPut(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			s, keys := load(b, n, mvcc.Options{KeepRevisions: 1000})
			runtime.GC()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				put(b, s, keys[i%n], i)
			}
		})
	}
}

// BenchmarkPutAfterRead makes each put copy the nodes that a reader may use.
func BenchmarkPutAfterRead(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			s, keys := load(b, n, mvcc.Options{KeepRevisions: 1000})
			runtime.GC()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := s.View(0); err != nil {
					b.Fatal(err)
				}
				put(b, s, keys[i%n], i)
			}
		})
	}
}

// BenchmarkRange walks a tenth of the keys, at the newest revision and at revisions
// before half or all of the changes.
func BenchmarkRange(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		s, keys := load(b, n, mvcc.Options{})
		loaded := s.Revision()
		for i, key := range keys {
			put(b, s, key, -i)
		}
		for _, at := range []struct {
			name string
			rev  mvcc.Revision
		}{{"newest", 0}, {"middle", loaded + mvcc.Revision(n)/2}, {"oldest", loaded}} {
			b.Run(fmt.Sprintf("keys=%d/at=%s", n, at.name), func(b *testing.B) {
				b.ReportAllocs()
				prefix := "/registry/pods/namespace-00"
				items := 0
				for b.Loop() {
					v, err := s.View(at.rev)
					if err != nil {
						b.Fatal(err)
					}
					items = v.Count(prefix, mvcc.PrefixEnd(prefix))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(items), "ns/item")
			})
		}
	}
}

// BenchmarkGet reads one key, at the newest and at the oldest revision.
func BenchmarkGet(b *testing.B) {
	s, keys := load(b, 100_000, mvcc.Options{})
	loaded := s.Revision()
	for i, key := range keys {
		put(b, s, key, -i)
	}
	for _, at := range []struct {
		name string
		rev  mvcc.Revision
	}{{"newest", 0}, {"oldest", loaded}} {
		b.Run("at="+at.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				v, err := s.View(at.rev)
				if err != nil {
					b.Fatal(err)
				}
				if _, ok := v.Get(keys[i%len(keys)]); !ok {
					b.Fatal("lost a key")
				}
			}
		})
	}
}

// BenchmarkWatch puts while watchers of other keys wait, all with one prefix or each with
// its own.
func BenchmarkWatch(b *testing.B) {
	for _, n := range []int{0, 100, 10_000} {
		for _, distinct := range []bool{false, true} {
			name := fmt.Sprintf("watchers=%d", n)
			if distinct {
				name += "/prefixes=distinct"
			} else {
				name += "/prefixes=same"
			}
			b.Run(name, func(b *testing.B) {
				s, keys := load(b, 1_000, mvcc.Options{KeepRevisions: 1000})
				for i := range n {
					prefix := "/registry/pods/elsewhere/"
					if distinct {
						prefix = fmt.Sprintf("/registry/pods/namespace-000/pod-none-%d", i)
					}
					w, err := s.Watch(prefix, 0)
					if err != nil {
						b.Fatal(err)
					}
					defer w.Close()
					w.Wait()
				}
				runtime.GC()
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					put(b, s, keys[i%len(keys)], i)
				}
			})
		}
	}
}

// BenchmarkDeliver returns each event to one watcher through Wait.
func BenchmarkDeliver(b *testing.B) {
	s, keys := load(b, 1_000, mvcc.Options{KeepRevisions: 1000})
	w, err := s.Watch("/registry/pods/", 0)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		wait := w.Wait()
		put(b, s, keys[i%len(keys)], i)
		<-wait
		if events, err := w.Poll(0); err != nil || len(events) != 1 {
			b.Fatal(events, err)
		}
	}
}

// BenchmarkFork forks a store and writes to the fork, which makes the first copies.
func BenchmarkFork(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			s, keys := load(b, n, mvcc.Options{})
			runtime.GC()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				put(b, s.Fork(mvcc.Options{}), keys[i%n], i)
			}
		})
	}
}
