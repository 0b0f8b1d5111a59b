// Differ plays random stories on a real kube-apiserver and on this server, step by step,
// and compares the answers: status, body, warnings and the headers that clients read. UIDs,
// resource versions and times are compared by their relations only.
//
//	go run ./differ -real https://127.0.0.1:6443 -area crds -seed 7 -steps 10000
//
// A story is a sequence of requests in a namespace and an API group of its own; it depends
// only on the seed, its area and its number, in the area kinds also on the API of the other
// server. It ends at the first step whose answers differ, or before the first one for which
// the real server panics: there is nothing to compare with. Each kind of difference is
// printed once, with the shortest story that still shows it.
//
// Built with the race detector (go run -race ./differ), this server answers 500 where a write changes
// values that other objects share, or keeps an object that is not what decoding it returns.
//
// With -quick, stories are played on this server alone, hundreds of steps in a second. Those in which
// it fails, that is, answers with a server error, are played on the real one too, if -real says which.
//
// With -shard 2/8, or what a test runner sets (see explore.ParseShard), it is one of eight that share the
// stories, and plays an eighth of the steps.
//
// With -real twice, as -real URL -other URL, it compares two real servers: what differs
// then is noise.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/scenarios/explore"
)

func main() {
	var (
		real     = flag.String("real", "", "URL of the real kube-apiserver")
		other    = flag.String("other", "", "URL of the server to compare with it; a server of this process by default")
		gates    = flag.String("gates", "", "feature gates of the server of this process, as those of the real one: A=true,B=false")
		versions = flag.String("runtime-config", "", "API versions of the server of this process, as those of the real one: api/all=true")
		release  = flag.String("release", "", "Kubernetes release of the server of this process, the newest one by default")
		token    = flag.String("token", "admintoken", "bearer token of an administrator of both")
		area     = flag.String("area", "", "only stories of this area: "+strings.Join(slices.Sorted(maps.Keys(areas)), ", "))
		seed     = flag.Uint64("seed", 1, "seed of the stories")
		steps    = flag.Int("steps", 1000, "number of steps, over all areas")
		part     = flag.String("shard", "", "play the stories of a shard, such as 2/8; by default that of a test runner, or all")
		only     = flag.Int("only", -1, "only the story of this number")
		parallel = flag.Int("parallel", 4, "stories at the same time")
		quick    = flag.Bool("quick", false, "look only for answers with server errors")
		verbose  = flag.Bool("v", false, "print every step of the stories that differ")
	)
	flag.Parse()
	ours := func() (*fakeapi.Server, error) { return startOurs(*token, *release, *gates, *versions) }
	shard, err := explore.ParseShard(*part)
	if err == nil {
		err = run(*real, *other, *token, ours, *area, selection{*seed, *steps, *only, *parallel, *verbose, shard}, *quick)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "differ:", err)
		os.Exit(1)
	}
}

// A selection says which stories of an area are played.
type selection struct {
	seed     uint64
	steps    int // over all areas, and over all shards
	only     int // the number of the only story, or -1
	parallel int
	verbose  bool
	shard    explore.Shard
}

// has reports whether the story of a number is played.
func (t *selection) has(number int) bool {
	if t.only >= 0 {
		return number == t.only
	}
	return t.shard.Count == 0 || number%t.shard.Count == t.shard.Index-1
}

func run(real, other, token string, ours func() (*fakeapi.Server, error), area string, which selection, quick bool) error {
	if real == "" && !quick {
		return fmt.Errorf("-real is missing")
	}
	names := slices.Sorted(maps.Keys(areas))
	if area != "" {
		if areas[area] == nil {
			return fmt.Errorf("no area %q; the areas are %s", area, strings.Join(names, ", "))
		}
		names = []string{area}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if other == "" {
		srv, err := ours()
		if err != nil {
			return err
		}
		defer srv.Close()
		other = srv.URL
	}
	var first *server
	if real != "" {
		first = newServer(real, token)
	}
	p, err := newPlayer(fmt.Sprintf("%05x", rand.Uint32()&0xfffff), first, newServer(other, token))
	if err != nil {
		return err
	}
	defer p.close()
	if quick {
		p.way = p.playQuickly
	}
	p.lag, p.patience = 200*time.Millisecond, 5*time.Second
	which.steps /= len(names) * max(which.shard.Count, 1)
	for _, name := range names {
		total, err := p.area(ctx, name, &which)
		if ctx.Err() != nil { // what was played until the interrupt counts
			fmt.Println(total)
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		fmt.Println(total)
	}
	return nil
}

// startOurs starts a server of this process.
func startOurs(token, release, gates, versions string) (*fakeapi.Server, error) {
	settings := apiserver.Config{ServiceClusterIPRanges: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}
	var err error
	if settings.FeatureGates, err = parseSwitches(gates); err != nil {
		return nil, err
	}
	if settings.RuntimeConfig, err = parseSwitches(versions); err != nil {
		return nil, err
	}
	return fakeapi.New(
		fakeapi.WithRBAC(), fakeapi.WithAPIServer(settings), fakeapi.WithRelease(release),
		fakeapi.WithToken(token, fakeapi.User{Name: "admin", UID: "admin", Groups: []string{"system:masters"}}),
	)
}

// parseSwitches parses A=true,B=false.
func parseSwitches(text string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' }) {
		name, value, _ := strings.Cut(part, "=")
		on, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		out[name] = on
	}
	return out, nil
}

// area plays stories of an area until they have had a number of steps.
func (p *player) area(ctx context.Context, name string, which *selection) (*totals, error) {
	total := &totals{area: name, seed: which.seed, kinds: map[string]int{}}
	var (
		wait   sync.WaitGroup
		mu     sync.Mutex
		failed error
		places = make(chan struct{}, which.parallel)
	)
	for number := 0; ctx.Err() == nil; number++ {
		mu.Lock()
		over := total.steps >= which.steps || failed != nil || which.only >= 0 && number > which.only
		mu.Unlock()
		if over {
			break
		}
		if !which.has(number) {
			continue
		}
		places <- struct{}{}
		wait.Add(1)
		go func() {
			defer func() { <-places; wait.Done() }()
			story := newStory(name, p.api, which.seed, number)
			played, d, err := p.way(ctx, story)
			mu.Lock()
			if errors.Is(err, errPanicked) {
				total.panics++
				if which.verbose {
					fmt.Printf("%s story %d: %v\n", name, number, err)
				}
			} else if err != nil {
				failed = fmt.Errorf("story %d: %w", number, err)
			}
			fresh := total.add(played, d)
			mu.Unlock()
			if fresh {
				story, d = p.shrink(ctx, story[:played], d)
				mu.Lock()
				defer mu.Unlock()
				fmt.Printf("%s story %d: %s\n", name, number, d.kind())
				for i, s := range story {
					if which.verbose || i == len(story)-1 || s.changes() {
						fmt.Printf("    %s\n", s)
					}
				}
				fmt.Printf("      %s\n", strings.Join(d.lines, "\n      "))
			}
		}()
	}
	wait.Wait()
	return total, failed
}

// totals are the result of an area.
type totals struct {
	area                         string
	seed                         uint64
	stories, alike, steps, equal int
	panics                       int // stories that end where the real server panics
	failures                     int // stories that end where this server fails and the real one does not
	kinds                        map[string]int
}

// add counts a story. It reports whether its difference is the first of its kind.
func (t *totals) add(played int, d *difference) bool {
	t.stories++
	t.steps += played
	t.equal += played
	if d == nil {
		t.alike++
		return false
	}
	t.equal--
	if d.fails {
		t.failures++
	}
	t.kinds[d.kind()]++
	return t.kinds[d.kind()] == 1
}

// String returns the numbers, after the kinds of difference.
func (t *totals) String() string {
	var b strings.Builder
	kinds := slices.Collect(maps.Keys(t.kinds))
	slices.SortFunc(kinds, func(a, b string) int {
		if fails := strings.HasPrefix(a, failed); fails != strings.HasPrefix(b, failed) {
			return map[bool]int{true: -1, false: 1}[fails]
		}
		return cmp.Or(t.kinds[b]-t.kinds[a], strings.Compare(a, b))
	})
	for _, k := range kinds {
		fmt.Fprintf(&b, "%5d %s\n", t.kinds[k], k)
	}
	fmt.Fprintf(&b, "%s: seed %d: stories %d/%d alike, steps %d/%d (%.2f%%)", t.area, t.seed, t.alike, t.stories, t.equal, t.steps, 100*float64(t.equal)/float64(max(t.steps, 1)))
	fmt.Fprintf(&b, ", %d failures", t.failures)
	if t.panics > 0 {
		fmt.Fprintf(&b, ", of which %d end where the real server panics", t.panics)
	}
	return b.String()
}
