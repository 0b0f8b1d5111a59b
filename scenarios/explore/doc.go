// Package explore searches for schedules under which a controller misbehaves.
//
//	func TestController(t *testing.T) {
//		explore.Run(t, explore.System{
//			Start: func(ctx context.Context, srv *fakeapi.Server) error {
//				return newManager(restconfig.For(srv)).Start(ctx)
//			},
//			Workload: explore.Scenario("testdata/scale-up-and-down.yaml"),
//		})
//	}
//
// Run first runs the system with its workload and without faults. This reference run
// gives the end state and the decision points: each write of the system, each delivery of
// an event to one of its watches, and each of its lists. Then Run repeats the run with
// plans. A plan makes decisions at points: the system crashes and starts again before or
// after a write, an answer is lost, an update conflicts, an event comes late, a watch
// expires, history is compacted, the system starts with an old view of the cluster. First
// come all plans with one decision, then those with two that concern the same objects, then
// random ones with up to three.
//
// After the workload everything heals: what was held is sent, and a stopped system starts
// again. When nothing is written any more, oracles compare the run with the reference:
// see [Oracle]. A plan whose run fails is shrunk to the decisions that are needed, and
// written to a file. The next go test plays the files first.
//
// # Time
//
// With Go 1.25 and a *testing.T, each run has a testing/synctest bubble: time passes only
// when the system waits, so that minutes cost milliseconds, and the same seed gives the
// same plans and the same runs: requests of the system are served and events delivered one
// after the other, each when the system has nothing left to do; see [System.Unordered]. The
// system must use Transport of the server that Start gets, which restconfig.For does, and
// its goroutines must end when the context ends. In a bubble, set ErrorHandlers of
// k8s.io/apimachinery/pkg/util/runtime to its first element; see fakeapi.WithInMemory. In
// other cases runs take real time; see [Pace].
//
// # Shards
//
// A search may be split among machines: see [Shard]. What each of them leaves in its directory
// is united by [Merge].
//
// # Limits
//
// A decision is recognized by client, verb, resource, object and number, not by time. A
// panic in a goroutine other than that of Start ends the process, as Go requires; the
// file of the plan that was running remains and is played first the next time. In real
// time, goroutines of one run may interleave differently in another; a finding says how
// often its plan failed when it was repeated.
package explore
