package server

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/serving"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

const (
	// defaultWatchTimeout is the default of Config.MinWatchTimeout.
	defaultWatchTimeout = 30 * time.Minute

	// bookmarkInterval is the time between the bookmarks of a watch that allows
	// them. The last one is sent bookmarkLead before its end.
	bookmarkInterval = time.Minute
	bookmarkLead     = 2 * time.Second

	// progressInterval is the time between the bookmarks of a watch of a resource without a
	// watch cache: that of etcd's progress notifications.
	progressInterval = 10 * time.Minute

	// watchBatch is about the number of events that are written before the watch
	// checks whether it is over.
	watchBatch = 256
)

// watch serves a watch: it streams the changes of a selection from the requested
// version, or from the present state, which it sends first as ADDED events.
//
// See https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-watch.
func (r *request) watch() error {
	o, err := r.listOptions()
	if err != nil {
		return err
	}
	version, err := storage.ParseVersion(o.Version)
	if err != nil {
		return &storage.VersionError{Value: o.Version, Err: err}
	}
	shape, err := r.representation(r.typ, false)
	if err != nil {
		return err
	}
	if r.out, err = r.offer().Stream(r.out); err != nil {
		return err
	}
	st := &watchStream{request: r, options: o, shape: shape, deadline: r.server.config.Clock.Now().Add(r.watchTimeout(o)), turn: turn{to: r.w}}
	initial, err := st.open(version)
	if st.cursor != nil {
		defer func() { st.cursor.Close() }()
	}
	st.queue, _ = r.w.ResponseWriter.(fault.Queue)
	defer st.noteEnd()
	var unreadable *storage.UnreadableError
	if errors.As(err, &unreadable) && r.surface.Release().Enabled("AllowUnsafeMalformedObjectDeletion") {
		return err // the watch cache does not start
	}
	setContentType(r.w.Header(), r.out.ContentType())
	r.w.WriteHeader(http.StatusOK)
	if flushErr := r.w.flush(); flushErr != nil {
		return nil
	}
	st.w = getBuffer(&st.turn)
	defer st.turn.give()
	switch {
	case err != nil:
		err = st.fail(err)
	case valueOf(o.timeoutSeconds) < 0:
		st.ended = timeUp
	default:
		err = st.run(initial)
	}
	if err == nil {
		st.w.Flush()
	}
	putBuffer(st.w)
	return nil // the header is sent
}

// noteEnd records why the watch ended.
func (st *watchStream) noteEnd() {
	if st.ended == "" && context.Cause(st.ctx()) == fault.ErrEnded {
		st.ended = fault.ErrEnded.Error()
	}
	st.lost = st.ended != "" && st.ended != timeUp
	code := 0
	if f := st.request.w.failure; f != nil {
		code = int(f.Code)
	}
	st.log.End(st.ended, code)
}

// A watchStream writes the answer of one watch.
type watchStream struct {
	*request
	options  *listOptions
	store    *storage.Store // with the watch caches of the client
	cursor   *storage.Watch
	shape    representation
	deadline time.Time
	w        *bufio.Writer // nil while the watch waits
	gatherer gatherer
	turn     turn
	queue    fault.Queue // of the writer; nil if no fault can slow it
	log      *journal.OpenWatch
	ended    string // why the server ended it; "" if the client did
}

// open starts the watch. initial are its initial events, nil without any. Errors
// are sent in the stream.
func (st *watchStream) open(version uint64) (initial *storage.Page, err error) {
	o, s := st.options, st.request.store()
	st.store = s
	after, initial, err := st.start(version)
	st.log = st.server.cluster.Journal().Open(journal.Watch{
		User: st.user.Name, UserAgent: st.userAgent, URI: st.http.URL.RequestURI(),
		Resource: strings.Trim(st.typ.Prefix, "/"), Namespace: o.Namespace, Name: o.Name, From: after,
	})
	if err != nil {
		return nil, err
	}
	if st.cursor, err = s.Watch(st.ctx(), st.typ, o.Selection, after); err != nil && !st.typ.NoWatchCache {
		return nil, status.Expired(fmt.Sprintf("too old resource version: %d (%d)", version, max(s.Compacted(), s.Began())))
	}
	if err != nil {
		return nil, status.WatchExpired()
	}
	return initial, nil
}

// start returns the revision after which the watch starts. With initial events
// that is the revision of the returned page.
func (st *watchStream) start(version uint64) (after mvcc.Revision, initial *storage.Page, err error) {
	o, s := st.options, st.store
	switch {
	case o.streamsList() || o.sendInitialEvents == nil && version == 0:
		q := storage.Query{Selection: o.Selection, Version: o.Version, Match: storage.MatchNotOlderThan}
		if q.Version == "" { // the present, once the watch cache has reached it
			q.Version = storage.FormatVersion(s.Revision())
		}
		if initial, err = s.List(st.ctx(), st.typ, q); err != nil {
			return 0, nil, err
		}
		return initial.Revision, initial, nil
	case o.Version == "":
		return s.Revision(), nil, nil
	case version == 0:
		return s.CachedRevision(st.typ), nil, nil
	}
	return mvcc.Revision(version), nil, nil
}

// streamsList reports whether a watch begins with a streaming list, which a bookmark
// ends.
func (o *listOptions) streamsList() bool { return valueOf(o.sendInitialEvents) }

// run writes events until the timeout, until the client hangs up or the server
// closes, or until compaction overtakes the watch.
func (st *watchStream) run(initial *storage.Page) error {
	ctx, cancel := st.server.config.Clock.WithDeadline(st.ctx(), st.deadline)
	defer cancel()
	defer context.AfterFunc(st.server.streams, cancel)()
	if err := st.writeInitial(initial); err != nil {
		return err
	}
	w := st.newWakeups()
	defer func() { w.bookmark.Stop() }()
	tracked := st.server.activity.Open(st.http, st.isIdle)
	defer tracked.Close()
	if st.queue != nil {
		st.queue.OnSent(tracked.Sent)
	}
	sent := true // the initial events, or that there are none
	for {
		changes, changed, err := st.writeChanges(ctx)
		if err != nil {
			return err
		}
		sent = sent || changes > 0
		if w.gone {
			st.ended = cmp.Or(st.ended, "the resource is not served any more")
			return nil
		}
		if w.due { // all events are written
			if err := st.bookmark(st.cursor.Revision(), false); err != nil {
				return err
			}
			w.bookmark.Stop()
			w.bookmark, w.due = st.nextBookmark(), false
		}
		if err := st.send(); err != nil {
			return err
		}
		st.turn.give()
		st.gatherer.sentChanges(changes)
		// A waiting watch holds no buffer.
		putBuffer(st.w)
		tracked.Wait(sent)
		over := st.wait(ctx, changed, w)
		tracked.Work()
		sent, st.w = false, getBuffer(&st.turn)
		if over {
			return nil
		}
	}
}

// writeInitial writes the initial events, and the bookmark after them. A nil page has none.
func (st *watchStream) writeInitial(initial *storage.Page) error {
	if initial == nil {
		return nil
	}
	for o := range initial.Items {
		if err := st.event(string(storage.Added), o); err != nil {
			return err
		}
	}
	if st.options.bookmarks && st.options.streamsList() {
		return st.bookmark(initial.Revision, true)
	}
	return nil
}

// writeChanges writes the events of all changes that the watch has not seen yet, unless ctx
// ends. It returns how many there were, and what is closed when there are more.
func (st *watchStream) writeChanges(ctx context.Context) (written int, changed <-chan struct{}, err error) {
	for more := true; more; more = isClosed(changed) && ctx.Err() == nil {
		if err := st.follow(); err != nil {
			return 0, nil, st.fail(watchError(err))
		}
		changes, err := st.cursor.Poll(watchBatch)
		if err != nil {
			return 0, nil, st.fail(watchError(err))
		}
		for _, change := range changes {
			if err := st.change(change); err != nil {
				return 0, nil, err
			}
		}
		written += len(changes)
		changed = st.cursor.Wait()
	}
	return written, changed, nil
}

// wakeups are what wakes a watch up beside changes, and what it has to do then.
type wakeups struct {
	bookmark *clock.Timer
	grown    <-chan struct{}  // of the history; nil without bookmarks
	surface  *serving.Surface // of the watch
	replaced <-chan struct{}  // of surface

	due  bool // a bookmark is
	gone bool // the resource is, once the events that are left are written
}

func (st *watchStream) newWakeups() *wakeups {
	w := &wakeups{bookmark: st.nextBookmark(), surface: st.surface, replaced: st.surface.Replaced(st.typ)}
	if st.options.bookmarks {
		w.grown = st.server.cluster.Store().Grown()
	}
	return w
}

// wait waits until there is something to do. It reports whether the watch is over.
func (st *watchStream) wait(ctx context.Context, changed <-chan struct{}, w *wakeups) (over bool) {
	select {
	case <-changed:
		st.gatherer.gather(ctx, st.cursor.Peers)
		st.turn.take(ctx, st.server.turns, st.cursor.Peers)
	case <-w.bookmark.C:
		w.due = true
	case <-w.grown:
		w.due, w.grown = true, st.server.cluster.Store().Grown()
	case <-w.replaced:
		w.surface = st.server.replica.Surface()
		w.replaced = w.surface.Replaced(st.typ)
		w.gone = !w.surface.Serves(st.typ)
		if w.surface.Release() != st.surface.Release() {
			st.ended = "the server restarted with another release"
		}
	case <-ctx.Done():
		st.ended = st.whyOver()
		return true
	}
	return false
}

// timeUp is why a watch ended whose client opens the next one at once.
const timeUp = "its time was up"

// whyOver says why a watch is over that could go on, "" if the client hung up.
func (st *watchStream) whyOver() string {
	switch {
	case st.server.streams.Err() != nil:
		return "the server was closed"
	case st.ctx().Err() != nil:
		return ""
	}
	return timeUp
}

// follow continues the watch from the watch caches that serve the client, which change
// when it gets a lag of its own.
func (st *watchStream) follow() error {
	s := st.request.store()
	if s == st.store {
		return nil
	}
	cursor, err := s.Watch(st.ctx(), st.typ, st.options.Selection, st.cursor.Revision())
	if err != nil {
		return err
	}
	st.cursor.Close()
	st.cursor, st.store = cursor, s
	return nil
}

// isIdle reports whether a watch that waits has no events to send.
func (st *watchStream) isIdle() bool {
	if st.queue != nil && !st.queue.Idle() {
		return false
	}
	return !isClosed(st.cursor.Wait())
}

// isClosed reports whether a channel is closed to which nobody sends.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// watchError returns the error that a running watch ends with.
func watchError(err error) error {
	if errors.As(err, new(*storage.ExpiredError)) {
		return status.WatchExpired()
	}
	return err
}

// watchTimeout returns how long the watch lasts.
func (r *request) watchTimeout(o *listOptions) time.Duration {
	if n := valueOf(o.timeoutSeconds); n != 0 {
		return time.Duration(min(n, int64(1<<31))) * time.Second
	}
	shortest := r.server.config.minWatchTimeout()
	return shortest + time.Duration(r.server.random.Fraction()*float64(shortest))
}

// nextBookmark returns a timer that fires when the next bookmark is due: shortly
// before the end, or after the interval. It never fires if the client does not
// allow bookmarks. Without a watch cache there is none before the end.
func (st *watchStream) nextBookmark() *clock.Timer {
	c := st.server.config.Clock
	if !st.options.bookmarks {
		return clock.Never()
	}
	if st.typ.NoWatchCache {
		return c.After(progressInterval)
	}
	wait := bookmarkInterval
	if last := st.deadline.Sub(c.Now()) - bookmarkLead; last > 0 {
		wait = min(wait, last)
	}
	return c.After(wait)
}

// send sends what is buffered and records what the client has seen: before it is
// sent, or, if a fault slows the watch, when the fault lets it pass.
func (st *watchStream) send() error {
	rev, at := st.cursor.Polled()
	if st.queue == nil || !st.queue.Queues() {
		st.log.Reached(rev, at)
		return st.flush()
	}
	if err := st.flush(); err != nil {
		return err
	}
	st.queue.WhenSent(func() { st.log.Reached(rev, st.server.config.Clock.Now()) })
	return nil
}

func (st *watchStream) flush() error {
	if st.w.Buffered() == 0 {
		return nil
	}
	if err := st.w.Flush(); err != nil {
		return err
	}
	return st.request.w.flush()
}

// errNoEvent ends a watch whose client asks for events as lists.
var errNoEvent = errors.New("an event is no list")
