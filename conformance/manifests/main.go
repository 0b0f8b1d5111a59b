// Manifests compares what package manifests says about objects with what a real kube-apiserver
// answers to `kubectl apply --server-side --dry-run=server`: status, reason, message and warnings.
//
//	go run ./manifests -real https://127.0.0.1:6443 -release 1.36 -mutations 2 -seed 7 DIR...
//
// The objects are those of the YAML and JSON files, and variants of them with one or two faults,
// which depend only on the seed. Objects that take effect on others, such as definitions and
// policies, are stored, also in the real server: each run needs a fresh one, started with
// --disable-admission-plugins=ServiceAccount. Webhook configurations and APIServices are left out:
// nobody serves them.
//
// A real server visits maps in random order: its messages have their parts in any order, and the
// first fault of a map may hide others. So parts are compared without their order, and an object
// whose answers differ is sent again, up to fifty times: an answer that has nothing but errors of
// these answers, and all that each of them has, is one of them.
//
// With -base DIR, the objects of DIR are stored in both before, and the states and the changes of the
// objects are compared too: as updates, the same objects with -mutations try the rules for updates of
// their kinds. DIR must not have quotas: nothing computes them there.
//
// Each kind of difference is printed once, with the object. The exit status is 1 if there are any.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/manifests"
)

func main() {
	var o options
	flag.StringVar(&o.real, "real", "", "`URL` of the real kube-apiserver")
	flag.StringVar(&o.token, "token", "admintoken", "bearer `token` of an administrator of the real one")
	flag.StringVar(&o.release, "release", "", "Kubernetes `release` of the real one; the newest one by default")
	flag.StringVar(&o.base, "base", "", "`folder` of the objects that are stored before")
	flag.IntVar(&o.mutations, "mutations", 0, "variants of each object")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the variants")
	flag.IntVar(&o.parallel, "parallel", 8, "requests at the same time")
	flag.DurationVar(&o.patience, "patience", 3*time.Second, "how long the real server takes to see policies and quotas")
	flag.Parse()
	if o.real == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	different, err := o.run(ctx, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
	if different > 0 {
		os.Exit(1)
	}
}

type options struct {
	real, token, release string
	base                 string
	mutations, parallel  int
	seed                 uint64
	patience             time.Duration
}

// run compares the objects of paths, and returns how many answers differ.
func (o *options) run(ctx context.Context, paths []string) (different int, err error) {
	objects, err := read(paths)
	if err != nil {
		return 0, err
	}
	objects = append(objects, variants(objects, o.mutations, o.seed)...)
	var base []*object
	if o.base != "" {
		if base, err = read([]string{o.base}); err != nil {
			return 0, err
		}
	}
	ours, err := o.ours(ctx, base, objects)
	if err != nil {
		return 0, err
	}
	theirs, err := o.theirs(ctx, base, objects, ours)
	if err != nil {
		return 0, err
	}
	kinds, verdicts := map[string]int{}, 0
	for i, object := range objects {
		difference := compare(theirs[i], ours[i])
		if difference == "" {
			continue
		}
		different++
		if theirs[i].accepted() != ours[i].accepted() {
			verdicts++
		}
		kind := kindOf(object, difference)
		if kinds[kind]++; kinds[kind] == 1 {
			fmt.Printf("%s\n    %s\n%s\n", object.origin, object.body, difference)
		}
	}
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return kinds[b] - kinds[a] }) {
		fmt.Printf("%5d %s\n", kinds[kind], kind)
	}
	refused := 0
	for _, a := range theirs {
		if !a.accepted() {
			refused++
		}
	}
	fmt.Printf("release %s, seed %d: %d objects, %d of them refused: %d alike (%.2f%%), %d verdicts differ\n", o.release, o.seed,
		len(objects), refused, len(objects)-different, 100*float64(len(objects)-different)/float64(len(objects)), verdicts)
	return different, nil
}

// ours returns what package manifests answers.
func (o *options) ours(ctx context.Context, base, objects []*object) ([]answer, error) {
	dir, err := writeObjects(objects)
	defer os.RemoveAll(dir)
	if err != nil {
		return nil, err
	}
	c := manifests.Config{Options: []fakeapi.Option{
		fakeapi.WithAPIServer(apiserver.Config{DisableAdmissionPlugins: []string{"ServiceAccount"}}),
		fakeapi.WithRelease(o.release),
	}}
	if base != nil {
		c.Base, err = writeObjects(base)
		defer os.RemoveAll(c.Base)
		if err != nil {
			return nil, err
		}
	}
	answers := make([]answer, len(objects))
	for r, err := range manifests.Validate(ctx, c, dir) {
		if err != nil {
			return nil, err
		}
		if r.FromBase {
			continue
		}
		var i int
		if _, err := fmt.Sscanf(filepath.Base(r.File), fileName, &i); err != nil {
			return nil, err
		}
		switch {
		case r.Outcome == manifests.MissingKind:
			answers[i] = missingKind
		case len(r.Answers) == 1:
			a := r.Answers[0]
			answers[i] = answer{code: a.Code, reason: a.Reason, message: a.Message, warnings: a.Warnings}
			if base != nil && answers[i].accepted() {
				answers[i].state, answers[i].changes = a.State, objects[i].changes(a.Changes)
			}
		default:
			return nil, fmt.Errorf("%s: %s: %+v", objects[i].origin, r.Outcome, r.Findings)
		}
	}
	return answers, nil
}

// An answer is that of a server.
type answer struct {
	code            int
	reason, message string
	warnings        []string

	state   manifests.State // of an object that is accepted, with a base
	changes string
}

// missingKind is the answer for an object whose kind no server has.
var missingKind = answer{message: "no definition of the kind"}

func (a answer) accepted() bool { return a.code >= 200 && a.code < 300 }

// compare returns how two answers differ, "" if they do not. The order of the parts of the messages
// does not count.
func compare(theirs, ours answer) string {
	var out strings.Builder
	differ := func(what string, theirs, ours any) {
		if t, o := fmt.Sprint(theirs), fmt.Sprint(ours); t != o {
			fmt.Fprintf(&out, "  %s\n    there %s\n    here  %s\n", what, t, o)
		}
	}
	if theirs.accepted() != ours.accepted() || !theirs.accepted() {
		differ("status", theirs.code, ours.code) // 200 or 201 depends on what is stored
	}
	differ("reason", theirs.reason, ours.reason)
	if !slices.Equal(parts(theirs.message), parts(ours.message)) {
		differ("message", theirs.message, ours.message)
	}
	differ("warnings", theirs.warnings, ours.warnings)
	differ("state", theirs.state, ours.state)
	differ("changes", normalized(theirs.changes), normalized(ours.changes))
	return out.String()
}

var (
	uids  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	addrs = regexp.MustCompile(`10\.0\.0\.\d+`)
	ports = regexp.MustCompile(`(nodePort"[^}]*?):\d+`)
	names = regexp.MustCompile(`"kube-apiserver-[\d.]+"`) // of executables, which are field managers
)

// normalized returns a text without what differs from server to server: UIDs, addresses and ports
// that it has made, and the name of its executable.
func normalized(text string) string {
	text = names.ReplaceAllString(text, `"kube-apiserver"`)
	return ports.ReplaceAllString(addrs.ReplaceAllString(uids.ReplaceAllString(text, "<uid>"), "<ip>"), "$1:<port>")
}

// typedErrors matches the beginning of a message about one or more errors of typed values.
var typedErrors = regexp.MustCompile(`^(failed to create typed patch object \([^)]*\): )(?:errors:)?`)

// parts returns the sorted errors of which a message consists.
func parts(message string) []string {
	message = typedErrors.ReplaceAllString(normalized(message), "$1\n")
	out := strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune(",\n[]", r) })
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	slices.Sort(out)
	return out
}

var values = regexp.MustCompile(`"[^"]*"|[0-9]+`)

// kindOf returns a difference without names and numbers.
func kindOf(o *object, difference string) string {
	text := values.ReplaceAllString(strings.ReplaceAll(difference, o.name, "_"), "_")
	text = strings.Join(strings.Fields(text), " ")
	return o.kind + ": " + text[:min(len(text), 200)]
}
