// Package pending keeps lists of tests that cannot pass yet, each with the reason.
// A test that fails must be in the list, and a test in the list must fail.
//
// A list is a text file with lines "name: reason". Blank lines and lines that start
// with # are comments. With the flag -update-pending a run rewrites the lists: tests
// that pass are removed, and tests that fail are added with the reason Unexplained,
// which fails them until it is replaced by a real reason.
package pending

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Unexplained is the reason of a test that -update-pending has added.
const Unexplained = "unexplained"

var update = flag.Bool("update-pending", false, "rewrite the lists of pending tests")

// A List is the set of pending tests. The zero List is empty: every test must pass.
// Its methods may be called concurrently.
type List struct {
	path    string
	comment []byte // the lines before the first entry

	mu      sync.Mutex
	reasons map[string]string
}

// Load reads the list at path. It fails t for entries that are not among names. With
// -update-pending it rewrites the file when t ends.
func Load(t testing.TB, path string, names []string) *List {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := parse(b)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	l.path = path
	for _, name := range slices.Sorted(maps.Keys(l.reasons)) {
		switch {
		case slices.Contains(names, name):
		case *update:
			delete(l.reasons, name)
		default:
			t.Errorf("%s: unknown test %s", path, name)
		}
	}
	if *update {
		t.Cleanup(func() {
			if err := os.WriteFile(path, l.format(), 0o644); err != nil {
				t.Error(err)
			}
		})
	}
	return l
}

func parse(b []byte) (*List, error) {
	l := &List{reasons: map[string]string{}}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			if len(l.reasons) == 0 {
				l.comment = append(append(l.comment, line...), '\n')
			}
			continue
		}
		name, reason, ok := strings.Cut(line, ": ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("line %d: want name: reason", n)
		}
		if l.reasons[name] != "" {
			return nil, fmt.Errorf("line %d: duplicate test %s", n, name)
		}
		l.reasons[name] = strings.TrimSpace(reason)
	}
	return l, lines.Err()
}

func (l *List) format() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.comment)
	for _, name := range slices.Sorted(maps.Keys(l.reasons)) {
		out = fmt.Appendf(out, "%s: %s\n", name, l.reasons[name])
	}
	return out
}

// Has reports whether the named test is pending.
func (l *List) Has(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reasons[name] != ""
}

// Verdict ends the test t, which has the given name in the list. failure describes
// why the test failed; it is empty if the test passed. Verdict passes t, fails it, or
// skips it with the reason in the list.
func (l *List) Verdict(t testing.TB, name, failure string) {
	t.Helper()
	l.mu.Lock()
	reason, listed := l.reasons[name]
	if *update && l.path != "" {
		switch {
		case failure == "":
			delete(l.reasons, name)
			listed = false
		case !listed:
			reason, listed = Unexplained, true
			l.reasons[name] = reason
		}
	}
	l.mu.Unlock()
	switch {
	case listed && failure == "":
		t.Errorf("%s passes now: remove it from %s", name, l.path)
	case reason == Unexplained:
		t.Fatalf("%s is pending in %s without a reason:\n%s", name, l.path, failure)
	case listed:
		t.Skip("pending: " + reason + "\n" + failure)
	case failure != "":
		t.Fatal(failure)
	}
}
