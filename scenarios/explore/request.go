package explore

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/route"
)

// A request is a request of the system.
type request struct {
	of      *incarnation
	in      string // the cluster, if there are several
	route   route.Route
	client  string
	path    string // with the selectors of a watch
	began   time.Time
	ended   time.Time // zero while it is served
	code    int
	point   int  // index in trial.points; -1 if it is none
	decided bool // a decision concerned it
	crash   bool // the system crashes when it is committed
	lose    bool // its answer is lost

	revision int64  // of the server when it came
	told     int    // the number of elements of trial.tells then
	made     string // UID of the object in the answer
}

// requestKey is the key of a request in its context.
type requestKey struct{}

// gate is the handler of an incarnation's front end. It refuses the requests of a crashed
// incarnation, and records the others.
func (t *trial) gate(i *incarnation, cluster string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.dead.Load() {
			panic(http.ErrAbortHandler)
		}
		to := route.Parse(r.Method, r.URL)
		inTurns := t.turns != nil && to.IsResource
		if inTurns && !t.system.Unordered && (!t.turns.serve(r, cluster) || i.dead.Load()) {
			panic(http.ErrAbortHandler)
		}
		q := &request{of: i, in: cluster, route: to, client: clientOf(r.UserAgent()), path: r.URL.Path, began: time.Now(), point: -1}
		if cluster != "" {
			q.path = cluster + ":" + q.path
		}
		query := r.URL.Query()
		for _, selector := range []string{"labelSelector", "fieldSelector"} {
			if v := query.Get(selector); v != "" {
				q.path += "?" + selector + "=" + v
			}
		}
		t.mu.Lock()
		q.revision, q.told = t.target.revision(), len(t.tells)
		t.requests = append(t.requests, q)
		n := len(t.requests)
		t.mu.Unlock()
		if n%harvestInterval == 0 && t.target.forgets() {
			t.harvest()
		}
		if inTurns {
			t.runControllers(r.Context())
		}
		answer := &answerWriter{ResponseWriter: w}
		defer func() {
			t.mu.Lock()
			q.ended, q.code = time.Now(), answer.code
			t.answeredLocked(q, answer.code)
			t.mu.Unlock()
		}()
		next.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), requestKey{}, q)))
	})
}

// clientOf returns a user agent without what follows the first space.
func clientOf(userAgent string) string {
	client, _, _ := strings.Cut(userAgent, " ")
	return client
}

// An answerWriter notes the status code of an answer.
type answerWriter struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements [http.ResponseWriter].
func (w *answerWriter) WriteHeader(code int) {
	if w.code == 0 && code >= http.StatusOK {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements [http.ResponseWriter].
func (w *answerWriter) Write(b []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// fromSystem reports whether a request is the system's.
func fromSystem(r *http.Request) bool { return requestOf(r) != nil }

func requestOf(r *http.Request) *request {
	q, _ := r.Context().Value(requestKey{}).(*request)
	return q
}

// isBackground reports whether a resource changes without an end, as leases and events do,
// or is named by an address that the server has allocated.
func isBackground(resource string) bool {
	switch resource {
	case "events", "events.events.k8s.io", "leases.coordination.k8s.io", "ipaddresses.networking.k8s.io":
		return true
	}
	return false
}

// watchesAt reports whether a watch is open at the end of a run, or has ended shortly before
// after some time: clients open watches again that have reached their timeout. A watch that
// was opened at the very end may be about to fail.
func (q *request) watchesAt(end time.Time, pace Pace) bool {
	if q.ended.IsZero() {
		return end.Sub(q.began) >= pace.shortWatch()
	}
	return q.ended.After(end.Add(-pace.Quiet/4)) && q.ended.Sub(q.began) > pace.Quiet/4
}

func (q *request) isWrite() bool {
	return q.route.IsResource && Point{Verb: q.route.Verb}.isWrite() && !isReview(q.route.Group)
}

func (q *request) counts() bool { return !isBackground(q.resource()) }

func (q *request) key() objectKey {
	return objectKey{q.resource(), q.route.Namespace, q.route.Name, q.in}
}

// resource returns the resource in the form of Fault.Resource, without a subresource.
func (q *request) resource() string {
	if q.route.Group == "" {
		return q.route.Resource
	}
	return q.route.Resource + "." + q.route.Group
}

// isReview reports whether creating an object of a group stores nothing.
func isReview(group string) bool {
	return group == "authorization.k8s.io" || group == "authentication.k8s.io"
}
