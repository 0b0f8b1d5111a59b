// Package filewatch reads files again when they change, by polling.
package filewatch

import (
	"bytes"
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/kubefake/kubefake/internal/inputfile"
)

// Interval is the time between two looks at the files. It is of the wall clock: files change in
// real time, whatever the clock of a server shows.
const Interval = 200 * time.Millisecond

// settled is the age of a file from which on a write changes its modification time.
const settled = 2 * time.Second

// A Group is files whose contents belong together, such as a certificate and its key.
type Group struct {
	// Names are the names of the files.
	Names []string

	// List returns the names of the files at each look, for files that come and go. It takes
	// the place of Names. Nil for none.
	List func() ([]string, error)

	// Changed gets the contents of the files, in the order of their names, when one of them
	// has changed. It must not change them. It is not called for what Add got.
	Changed func(contents [][]byte)

	// Unreadable gets the error if a file cannot be read. It is called once until the files
	// can be read, or until the error is another.
	Unreadable func(err error)
}

// A Watcher looks at files. It is safe for concurrent use.
type Watcher struct {
	polling sync.Mutex // held during Poll

	mu     sync.Mutex // guards groups
	groups []*group
}

type group struct {
	Group
	seen     []os.FileInfo // of the last contents; nil if they must be read
	contents [][]byte
	err      string // of the last read, "" if it was successful
}

// Add adds files whose contents are known. A running Poll does not look at them.
func (w *Watcher) Add(g Group, contents ...[]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.groups = append(w.groups, &group{Group: g, contents: contents})
}

// Len returns the number of groups.
func (w *Watcher) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.groups)
}

// Run polls every Interval until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.Poll()
		}
	}
}

// Poll looks at all files, and calls the functions of groups that have changed.
func (w *Watcher) Poll() {
	w.polling.Lock()
	defer w.polling.Unlock()
	w.mu.Lock()
	groups := slices.Clone(w.groups)
	w.mu.Unlock()
	for _, g := range groups {
		g.poll(time.Now())
	}
}

func (g *group) poll(now time.Time) {
	names := g.Names
	if g.List != nil {
		var err error
		if names, err = g.List(); err != nil {
			g.failed(err)
			return
		}
	}
	infos := make([]os.FileInfo, 0, len(names))
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			g.failed(err)
			return
		}
		infos = append(infos, info)
	}
	if g.seen != nil && slices.EqualFunc(g.seen, infos, isSame) {
		return
	}
	contents := make([][]byte, len(names))
	for i, name := range names {
		var err error
		if contents[i], err = inputfile.Read(name); err != nil {
			g.failed(err)
			return
		}
	}
	g.err, g.seen = "", infos
	recent := func(info os.FileInfo) bool { return now.Sub(info.ModTime()) < settled }
	if slices.ContainsFunc(infos, recent) {
		g.seen = nil
	}
	if !slices.EqualFunc(g.contents, contents, bytes.Equal) {
		g.contents = contents
		g.Changed(contents)
	}
}

// failed notes that a file cannot be read.
func (g *group) failed(err error) {
	g.seen = nil
	if g.err != err.Error() {
		g.err = err.Error()
		g.Unreadable(err)
	}
}

// isSame reports whether a file has not changed.
func isSame(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
