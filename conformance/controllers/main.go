// Controllers plays random stories on a real kube-apiserver with a real
// kube-controller-manager and on this server with its own controllers, and compares
// the states that result: objects, owner references, finalizers, conditions, and Events by
// reason and count. Times, UIDs, addresses and random names are not compared.
//
//	go run ./controllers -real https://127.0.0.1:6443 -token TOKEN -seed 7 -stories 100
//
// A story happens in a namespace of its own. After each of its steps both clusters settle.
// A puppet, the same for both, stands for the scheduler and the kubelets: it binds Pods
// to nodes and makes them run, succeed or fail as their annotation "puppet" says.
// Stories about taints and drains have a node of their own.
// The script controllermanager starts kube-controller-manager.
//
// Controllers race. With -twice the real cluster is compared with itself: what it does not do
// alike twice is no rule.
//
// With -record FILE it writes the stories and the states of the real cluster.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

func main() {
	var (
		real     = flag.String("real", "", "URL of the real kube-apiserver")
		token    = flag.String("token", "admintoken", "bearer token of an administrator of the real kube-apiserver")
		seed     = flag.Uint64("seed", 1, "seed of the stories")
		stories  = flag.Int("stories", 20, "number of stories")
		group    = flag.String("group", "", "only stories of this group: basic or workloads")
		only     = flag.Int("only", -1, "only the story of this number")
		parallel = flag.Int("parallel", 8, "stories at the same time")
		verbose  = flag.Bool("v", false, "print every difference")
		print    = flag.Bool("print", false, "print the stories and play none")
		twice    = flag.Bool("twice", false, "compare the real cluster with itself: what differs is a race")
		prefix   = flag.String("prefix", "s", "prefix of the names of namespaces, to play a story again")
		record   = flag.String("record", "", "write the stories and the states of the real cluster to this file")
	)
	flag.Parse()
	if *print {
		for i := range *stories {
			if *only < 0 || i == *only {
				b, _ := json.Marshal(newStory(*seed, i, *group))
				fmt.Printf("%s\n", b)
			}
		}
		return
	}
	if *real == "" {
		fmt.Fprintln(os.Stderr, "-real is missing")
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	run := &comparison{
		real:  &cluster{url: *real, token: *token, prefix: *prefix, quiet: 2 * time.Second},
		whole: *record != "",
	}
	if *twice {
		again := *run.real
		again.prefix += "again"
		run.ours = &again
	} else {
		ours, err := startOurs()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer ours.Close()
		run.ours = &cluster{url: ours.URL, prefix: *prefix, quiet: 1500 * time.Millisecond} // longer than a Job waits for more changes
	}
	if err := run.prepare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	var (
		wait    sync.WaitGroup
		mu      sync.Mutex
		results []result
		tokens  = make(chan struct{}, *parallel)
	)
	for i := range *stories {
		if *only >= 0 && i != *only {
			continue
		}
		s := newStory(*seed, i, *group)
		tokens <- struct{}{}
		wait.Add(1)
		go func() {
			defer func() { <-tokens; wait.Done() }()
			r := run.play(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			results = append(results, r)
			if r.err != nil || len(r.differences) > 0 {
				fmt.Printf("story %d (%s): %s\n", s.Number, s.Kind, r.summary())
				if *verbose {
					fmt.Println(strings.Join(r.differences, "\n"))
				}
			}
		}()
	}
	wait.Wait()
	slices.SortFunc(results, func(a, b result) int { return a.story.Number - b.story.Number })
	report(results)
	if *record != "" {
		if err := writeRecording(*record, results); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// startOurs starts this server with its controllers.
func startOurs() (*fakeapi.Server, error) {
	return fakeapi.New(fakeapi.WithControllers(selection), fakeapi.WithTLS())
}

// selection are the controllers of this server: those that kube-controller-manager
// runs, without those that need the heartbeats of nodes.
const selection = "*,-scheduler,-kubelet,-storage-provisioner,-node-lifecycle-controller"

// A result is what came of one story.
type result struct {
	story       *Story
	settled     []state // of the real cluster, after each step
	differences []string
	err         error
}

func (r *result) summary() string {
	if r.err != nil {
		return r.err.Error()
	}
	return fmt.Sprintf("%d differences: %s", len(r.differences), strings.SplitN(r.differences[0], "\n", 2)[0])
}

// report prints how many stories were alike, and the kinds of differences.
func report(results []result) {
	alike, played := map[string]int{}, map[string]int{}
	kinds := map[string]int{}
	for _, r := range results {
		played[r.story.Group]++
		if r.err == nil && len(r.differences) == 0 {
			alike[r.story.Group]++
		}
		seen := map[string]bool{}
		for _, d := range r.differences {
			kind := differenceKind(d)
			if !seen[kind] {
				seen[kind] = true
				kinds[kind]++
			}
		}
	}
	names := make([]string, 0, len(kinds))
	for k := range kinds {
		names = append(names, k)
	}
	slices.SortFunc(names, func(a, b string) int { return kinds[b] - kinds[a] })
	for _, k := range names {
		fmt.Printf("%4d %s\n", kinds[k], k)
	}
	for _, g := range []string{groupBasic, groupWorkloads} {
		if played[g] > 0 {
			fmt.Printf("%s: %d of %d stories alike (%.1f%%)\n", g, alike[g], played[g], 100*float64(alike[g])/float64(played[g]))
		}
	}
}

// A recording is a story and the states of the real cluster after each of its steps.
type recording struct {
	Story  *Story  `json:"story"`
	States []state `json:"states"`
}

func writeRecording(path string, results []result) error {
	var out []recording
	for _, r := range results {
		if r.err == nil {
			out = append(out, recording{r.story, r.settled})
		}
	}
	b, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
