//go:build go1.25

package clusters_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/apitest"
)

// start starts the clusters east and west, and returns their servers.
func start(t *testing.T, options ...fakeapi.Option) (east, west *fakeapi.Server) {
	t.Helper()
	east = fakeapi.Start(t, append(options, fakeapi.WithInMemory(), clusters.With("east"), clusters.With("west"))...)
	return east, clusters.Get(east, "west")
}

// store stores a ConfigMap and returns its UID.
func store(t *testing.T, srv *fakeapi.Server, name, value string) string {
	t.Helper()
	o, err := srv.Store(apitest.ConfigMap(name, value))
	require.NoError(t, err)
	return o["metadata"].(map[string]any)["uid"].(string)
}

// valueOf returns the value of a ConfigMap, "" if it does not exist.
func valueOf(srv *fakeapi.Server, name string) string {
	o, err := srv.Get("configmaps", "default", name)
	if err != nil {
		return ""
	}
	return o["data"].(map[string]any)["key"].(string)
}

func TestClusters(t *testing.T) {
	east, west := start(t)
	assert.Equal(t, []string{"east", "west"}, clusters.Names(west))
	assert.Same(t, east, clusters.Get(west, "east"))
	assert.Same(t, west, clusters.Get(west, "west"))
	store(t, east, "a", "1")
	store(t, west, "b", "2")
	assert.Equal(t, []string{"1", ""}, []string{valueOf(east, "a"), valueOf(east, "b")})
	assert.Equal(t, []string{"", "2"}, []string{valueOf(west, "a"), valueOf(west, "b")})
	assert.PanicsWithValue(t, `clusters: there is no cluster "north" among "east, west"`, func() { clusters.Get(east, "north") })

	replica, err := west.NewReplica()
	require.NoError(t, err)
	assert.Same(t, east, clusters.Get(replica, "east"))

	alone := fakeapi.Start(t, fakeapi.WithInMemory())
	assert.Nil(t, clusters.Names(alone))
	assert.Panics(t, func() { clusters.Get(alone, "east") })
}

// Options of With come after those for all clusters.
func TestOptions(t *testing.T) {
	east := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("v1.36"), fakeapi.WithObjects(apitest.ConfigMap("a", "all")),
		clusters.With("east", fakeapi.WithRelease("v1.35")), clusters.With("west", fakeapi.WithObjects(apitest.ConfigMap("b", "west"))))
	west := clusters.Get(east, "west")
	assert.Contains(t, east.Release(), "v1.35")
	assert.Contains(t, west.Release(), "v1.36")
	assert.Equal(t, []string{"all", ""}, []string{valueOf(east, "a"), valueOf(east, "b")})
	assert.Equal(t, []string{"all", "west"}, []string{valueOf(west, "a"), valueOf(west, "b")})
}

func TestInvalidOptions(t *testing.T) {
	clock := fakeapi.WithManualClock(apitest.Epoch)
	tests := []struct {
		name    string
		options []fakeapi.Option
		want    string
	}{
		{"no name", []fakeapi.Option{clusters.With("")}, `clusters.With: "" is not a name of a cluster`},
		{"a list of names", []fakeapi.Option{clusters.With("a,b")}, `clusters.With: "a,b" is not a name of a cluster`},
		{"one name twice", []fakeapi.Option{clusters.With("a"), clusters.With("a")}, `clusters.With: there are two clusters "a"`},
		{"a clock of its own", []fakeapi.Option{clusters.With("a", clock)}, "clusters share the clock and the seed"},
		{"a seed of its own", []fakeapi.Option{clusters.With("a", fakeapi.WithSeed(1))}, "clusters share the clock and the seed"},
		{"a cluster in a cluster", []fakeapi.Option{clusters.With("a", clusters.With("b"))}, "clusters share the clock and the seed"},
		{"one reader for all", []fakeapi.Option{clusters.With("a"), fakeapi.WithObjects(strings.NewReader(""))}, "only one cluster can read an io.Reader"},
		{"one state for all", []fakeapi.Option{clusters.With("a"), fakeapi.WithState(strings.NewReader(""))}, "only one cluster can read an io.Reader"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fakeapi.New(append(tt.options, fakeapi.WithInMemory())...)
			require.ErrorIs(t, err, fakeapi.ErrInvalidOption)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// With a seed, the UIDs of a cluster depend on the seed and on its name, not on the other clusters.
func TestSeed(t *testing.T) {
	uidsOf := func(options ...fakeapi.Option) map[string]string {
		first := fakeapi.Start(t, append(options, fakeapi.WithInMemory())...)
		out := map[string]string{}
		for _, name := range clusters.Names(first) {
			out[name] = store(t, clusters.Get(first, name), "a", "1")
		}
		return out
	}
	seed, east, west := fakeapi.WithSeed(7), clusters.With("east"), clusters.With("west")
	both := uidsOf(seed, east, west)
	assert.NotEqual(t, both["east"], both["west"])
	assert.Equal(t, both, uidsOf(seed, west, east))
	assert.Equal(t, both["west"], uidsOf(seed, west)["west"])
	assert.NotEqual(t, both["west"], uidsOf(fakeapi.WithSeed(8), west)["west"])
	assert.NotEqual(t, uidsOf(east), uidsOf(east), "without a seed, UIDs are random")
}

// linesOf returns what the lines of a story say that contain a text: the cluster and the rest, without times.
func linesOf(story, text string) (out []string) {
	for _, line := range strings.Split(story, "\n") {
		if strings.Contains(line, text) {
			out = append(out, strings.Join(strings.Fields(line)[1:], " "))
		}
	}
	return out
}

// On a manual clock the controllers of all clusters act at their times, whichever server is asked.
func TestManualClock(t *testing.T) {
	const cronJob = `{apiVersion: batch/v1, kind: CronJob, metadata: {namespace: default, name: %s, creationTimestamp: "2030-01-02T03:04:05Z"},
  spec: {schedule: %q, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}`
	for name, pass := range map[string]func(t *testing.T, west *fakeapi.Server){
		"Advance": func(t *testing.T, west *fakeapi.Server) { require.NoError(t, west.Clock().Advance(4*time.Minute)) },
		"Settle": func(t *testing.T, west *fakeapi.Server) {
			require.NoError(t, west.Settle(t.Context(), fakeapi.SettleOptions{Ahead: 4 * time.Minute}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			east, west := start(t, fakeapi.WithManualClock(apitest.Epoch), fakeapi.WithControllers("cronjob-controller"))
			for srv, job := range map[*fakeapi.Server]string{east: fmt.Sprintf(cronJob, "odd", "1-59/2 * * * *"), west: fmt.Sprintf(cronJob, "even", "*/2 * * * *")} {
				_, err := srv.Store(job)
				require.NoError(t, err)
			}
			pass(t, west)
			assert.Equal(t, west.Clock().Now(), east.Clock().Now())
			var jobs []string
			for _, line := range linesOf(east.Story(), "create jobs.batch") {
				fields := strings.Fields(line)
				jobs = append(jobs, fields[0]+" "+strings.Split(fields[5], "/")[1][:3])
			}
			assert.Equal(t, []string{"east odd", "west eve", "east odd", "west eve"}, jobs)
			for _, srv := range []*fakeapi.Server{east, west} {
				list, err := srv.List("jobs.batch", "")
				require.NoError(t, err)
				assert.Len(t, list, 2)
			}
		})
	}
}

// The story has the order in which things happened, also at one time of a manual clock, and an
// advance of the clock once.
func TestStory(t *testing.T) {
	east, west := start(t, fakeapi.WithManualClock(apitest.Epoch))
	store(t, west, "a", "1")
	store(t, east, "a", "1")
	require.NoError(t, east.Clock().Advance(time.Second))
	store(t, west, "a", "2")
	w, e := west.Revision(), east.Revision()
	want := []string{fmt.Sprintf("west r%d the test", w-1), fmt.Sprintf("east r%d the test", e), "clock: 1s ahead", fmt.Sprintf("west r%d the test", w)}
	for _, srv := range []*fakeapi.Server{east, west} {
		var lines []string
		for _, line := range strings.Split(strings.TrimSpace(srv.Story()), "\n") {
			fields := strings.Fields(line)[1:]
			lines = append(lines, strings.Join(fields[:min(4, len(fields))], " "))
		}
		assert.Equal(t, want, lines[len(lines)-4:], srv.Story())
	}
}

// A failedTest is a test that has failed.
type failedTest struct {
	testing.TB
	cleanups []func()
	log      bytes.Buffer
}

func (f *failedTest) Failed() bool         { return true }
func (f *failedTest) Cleanup(clean func()) { f.cleanups = append(f.cleanups, clean) }
func (f *failedTest) Logf(format string, args ...any) {
	fmt.Fprintf(&f.log, format+"\n", args...)
}

// A failed test logs one story, of all clusters.
func TestFailure(t *testing.T) {
	failed := &failedTest{TB: t}
	east := fakeapi.Start(failed, fakeapi.WithInMemory(), clusters.With("east"), clusters.With("west", fakeapi.WithPace(time.Second)))
	store(t, east, "a", "1")
	store(t, clusters.Get(east, "west"), "b", "1")
	require.Len(t, failed.cleanups, 1)
	failed.cleanups[0]()
	log := failed.log.String()
	assert.Contains(t, log, `clusters.With("east") clusters.With("west", WithPace(1s))`)
	assert.Equal(t, 1, strings.Count(log, "the last events"))
	assert.Len(t, linesOf(log, "default/a"), 1, log)
	assert.Len(t, linesOf(log, "default/b"), 1, log)
}

// A relay is a client that reads a ConfigMap in one cluster and writes a ConfigMap with the next
// number to another one.
func relay(ctx context.Context, from, to *fakeapi.Server, delay time.Duration, last int) error {
	r, err := http.NewRequestWithContext(ctx, "GET", from.URL+"/api/v1/configmaps?watch=1", nil)
	if err != nil {
		return err
	}
	response, err := from.Client().Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	for in := bufio.NewScanner(response.Body); in.Scan(); {
		_, after, ok := strings.Cut(in.Text(), `"name":"n`)
		var n int
		if _, err := fmt.Sscanf(after, "%d", &n); !ok || err != nil || n >= last {
			continue
		}
		time.Sleep(delay)
		body := fmt.Sprintf(`{"metadata":{"name":"n%d"}}`, n+1)
		written, err := to.Client().Post(to.URL+"/api/v1/namespaces/default/configmaps", "application/json", strings.NewReader(body))
		if err != nil {
			return err
		}
		written.Body.Close()
	}
	return ctx.Err()
}

// Clusters settle together: a client that gets an event of one and then writes to another leaves
// neither of them quiet for long enough, whichever server the test asks.
func TestSettle(t *testing.T) {
	for _, ask := range []string{"east", "west"} {
		t.Run(ask, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				east, west := start(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				const last = 8
				for _, pair := range [][2]*fakeapi.Server{{east, west}, {west, east}} {
					go relay(ctx, pair[0], pair[1], 40*time.Millisecond, last)
				}
				time.Sleep(time.Minute) // both watch, and have long begun
				_, err := east.Store(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: default, name: n0}}`)
				require.NoError(t, err)
				require.NoError(t, clusters.Get(east, ask).Settle(ctx))
				_, err = east.Get("configmaps", "default", fmt.Sprintf("n%d", last))
				assert.NoError(t, err, east.Story())
			})
		})
	}
}

// The error of Settle names the cluster that has not settled.
func TestUnsettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		east, west := start(t)
		_, err := west.Inject(faults.Fault{Resource: "pods", Delay: time.Hour})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go get(west, "a/1") // until the server is closed
		synctest.Wait()
		err = east.Settle(ctx)
		assert.ErrorIs(t, err, fakeapi.ErrUnsettled)
		assert.ErrorContains(t, err, "west: GET /api/v1/pods")
	})
}

// get asks a server as a client with a User-Agent.
func get(srv *fakeapi.Server, userAgent string) error {
	r, err := http.NewRequest("GET", srv.URL+"/api/v1/pods", nil)
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", userAgent)
	response, err := srv.Client().Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%d", response.StatusCode)
	}
	return nil
}

func TestPartition(t *testing.T) {
	east, west := start(t)
	for name, inject := range map[string]func([]faults.Fault) (*faults.Injection, error){
		"into its cluster": func(list []faults.Fault) (*faults.Injection, error) { return west.Inject(list...) },
		"by its name": func(list []faults.Fault) (*faults.Injection, error) {
			for i := range list {
				list[i].In = "west"
			}
			return east.Inject(list...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cut, err := inject(faults.Partition("manager/*"))
			require.NoError(t, err)
			assert.Error(t, get(west, "manager/1"))
			assert.NoError(t, get(west, "kubectl/1"))
			assert.NoError(t, get(east, "manager/1"))
			assert.Empty(t, east.Injections())
			cut.Remove()
			assert.NoError(t, get(west, "manager/1"))
		})
	}
}

// Faults that several clusters have are for all, unless they name one.
func TestFaultsIn(t *testing.T) {
	list, err := faults.Parse([]byte("[{resource: pods, code: 503, in: west}, {resource: pods, code: 500, userAgent: all/*}]"))
	require.NoError(t, err)
	east, west := start(t, fakeapi.WithFaults(list...))
	assert.NoError(t, get(east, "a/1"))
	assert.EqualError(t, get(west, "a/1"), "503")
	assert.EqualError(t, get(east, "all/1"), "500")
	assert.Equal(t, "pods in west: 503", west.Injections()[0].Faults()[0].String())

	_, err = east.Inject(faults.Fault{Code: 500, In: "west", ID: "x"}, faults.Fault{Code: 500, In: "north"})
	require.ErrorIs(t, err, faults.ErrInvalid)
	assert.ErrorContains(t, err, `in: there is no cluster "north"`)
	assert.Len(t, west.Injections(), 2, "all or none")

	_, err = fakeapi.New(fakeapi.WithInMemory(), clusters.With("east"), fakeapi.WithFaults(list...))
	assert.ErrorContains(t, err, `in: there is no cluster "west"`)
	_, err = fakeapi.New(fakeapi.WithInMemory(), fakeapi.WithFaults(list...))
	assert.ErrorContains(t, err, `in: there is no cluster "west"`)
}

// A fork has all clusters, with a clock of their own.
func TestFork(t *testing.T) {
	east, west := start(t, fakeapi.WithManualClock(apitest.Epoch))
	store(t, east, "a", "1")
	fork := west.Fork(t)
	other := clusters.Get(fork, "east")
	assert.Same(t, fork, clusters.Get(other, "west"))
	assert.Equal(t, "1", valueOf(other, "a"))
	store(t, other, "a", "2")
	require.NoError(t, fork.Clock().Advance(time.Minute))
	assert.Equal(t, "1", valueOf(east, "a"))
	assert.Equal(t, apitest.Epoch.Add(time.Minute), other.Clock().Now())
	assert.Equal(t, apitest.Epoch, west.Clock().Now())
	assert.Len(t, linesOf(fork.Story(), "clock"), 1)
	fork.Close()
	assert.Error(t, get(other, "a/1"), "closing the fork closes its other clusters")
	assert.NoError(t, get(east, "a/1"))
}

// Closing the server that Start returned closes all; closing another one is the end of its cluster.
func TestClose(t *testing.T) {
	east, west := start(t)
	west.Close()
	assert.Error(t, get(west, "a/1"))
	require.NoError(t, get(east, "a/1"))
	require.NoError(t, east.Settle(t.Context()))

	east, west = start(t)
	east.Close()
	assert.Error(t, get(west, "a/1"))
}

func TestKubeconfig(t *testing.T) {
	east := fakeapi.Start(t, clusters.With("east"), clusters.With("west"))
	west := clusters.Get(east, "west")
	text := string(west.Kubeconfig())
	assert.Contains(t, text, "current-context: \"west\"\n")
	assert.Contains(t, text, "server: \""+east.URL+"\"")
	assert.Contains(t, text, "server: \""+west.URL+"\"")
	assert.Equal(t, 2, strings.Count(text, "token: "))
	assert.Contains(t, string(east.Kubeconfig()), "current-context: \"east\"\n")
}

// Clusters write one audit log.
func TestAuditLog(t *testing.T) {
	var log bytes.Buffer
	east, west := start(t, fakeapi.WithAPIServer(apiserver.Config{AuditLog: &log, AuditPolicy: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]"}))
	done := make(chan error)
	for _, srv := range []*fakeapi.Server{east, west} {
		go func() {
			var err error
			for range 50 {
				err = errors.Join(err, get(srv, "a/1"))
			}
			done <- err
		}()
	}
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	east.Close()
	assert.Equal(t, 100, strings.Count(log.String(), `"ResponseComplete"`))
}

// The clusters have the port of WithAddress and the next ones, unless an option of With says otherwise.
func TestAddress(t *testing.T) {
	var east *fakeapi.Server
	for port := 20_000; ; port++ { // until three ports are free
		var err error
		east, err = fakeapi.New(fakeapi.WithAddress(fmt.Sprintf("127.0.0.1:%d", port)), clusters.With("east"), clusters.With("west"),
			clusters.With("free", fakeapi.WithAddress("127.0.0.1:0")), clusters.With("north"))
		if err == nil {
			break
		}
		require.ErrorContains(t, err, "address already in use")
	}
	defer east.Close()
	portOf := func(name string) int {
		u, err := url.Parse(clusters.Get(east, name).URL)
		require.NoError(t, err)
		n, err := strconv.Atoi(u.Port())
		require.NoError(t, err)
		return n
	}
	first := portOf("east")
	assert.Equal(t, first+1, portOf("west"))
	assert.NotEqual(t, first+2, portOf("free"))
	assert.Equal(t, first+3, portOf("north"))
}
