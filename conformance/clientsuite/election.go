package clientsuite

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
)

// LeaderElection runs two candidates for one Lease. The second becomes leader
// after the first has released the Lease, and after the first has lost its
// connection to the server. It fails if both lead at once.
func LeaderElection(t *testing.T) {
	t.Run("released", func(t *testing.T) { Encodings(t, testRelease) })
	t.Run("lost", func(t *testing.T) { Encodings(t, testLoss) })
}

func testRelease(t *testing.T, _ *target.Server, cfg *rest.Config) {
	e := newElection(t, cfg)
	first := e.join(t, "first")
	e.waitForLeader(t, "first")
	e.join(t, "second")
	first.resign()
	e.waitForLeader(t, "second")
	assert.Equal(t, int32(1), e.transitions(t))
}

func testLoss(t *testing.T, _ *target.Server, cfg *rest.Config) {
	e := newElection(t, cfg)
	first := e.join(t, "first")
	e.waitForLeader(t, "first")
	e.join(t, "second")
	first.cutOff.Store(true)
	e.waitForLeader(t, "second")
	assert.Equal(t, int32(1), e.transitions(t))
}

// An election has the candidates for one Lease.
type election struct {
	cfg       *rest.Config
	client    kubernetes.Interface
	namespace string
	leads     chan string // the identity of each new leader
	leading   atomic.Int32
}

const leaseName = "election"

func newElection(t *testing.T, cfg *rest.Config) *election {
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	return &election{
		cfg:       cfg,
		client:    client,
		namespace: Namespace(t, cfg),
		leads:     make(chan string, 8),
	}
}

// A candidate runs until it resigns or the test ends.
type candidate struct {
	resign context.CancelFunc
	cutOff atomic.Bool // its requests no longer reach the server
}

func (e *election) join(t *testing.T, identity string) *candidate {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &candidate{resign: cancel}
	cfg := rest.CopyConfig(e.cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if c.cutOff.Load() {
				return nil, http.ErrServerClosed
			}
			return next.RoundTrip(req)
		})
	})
	client, err := kubernetes.NewForConfig(cfg)
	require.NoError(t, err)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Name: leaseName,
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: e.namespace, Name: leaseName},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration:   2 * time.Second,
		RenewDeadline:   time.Second,
		RetryPeriod:     100 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				assert.Equal(t, int32(1), e.leading.Add(1), "number of leaders")
				e.leads <- identity
				<-ctx.Done()
				e.leading.Add(-1)
			},
			OnStoppedLeading: func() {},
		},
	})
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() { elector.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return c
}

func (e *election) waitForLeader(t *testing.T, identity string) {
	t.Helper()
	select {
	case got := <-e.leads:
		require.Equal(t, identity, got)
	case <-time.After(patience):
		t.Fatalf("%s does not lead", identity)
	}
}

// transitions returns spec.leaseTransitions of the Lease.
func (e *election) transitions(t *testing.T) int32 {
	t.Helper()
	lease, err := e.client.CoordinationV1().Leases(e.namespace).Get(t.Context(), leaseName, metav1.GetOptions{})
	require.NoError(t, err)
	require.NotNil(t, lease.Spec.LeaseTransitions)
	return *lease.Spec.LeaseTransitions
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
