package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// controlPrefix begins the paths by which tests in any language, and the
// command line, do to the server what no kube-apiserver does.
const controlPrefix = "/debug/fakeapi/"

// controls are the control endpoint: GET reads, POST acts, DELETE takes back, in
// JSON but for an htmlPage.
//
// Differs from kube-apiserver: it has no such endpoint.
var controls = map[string]map[string]func(*Server, *request) (any, error){
	"compact":  {http.MethodPost: (*Server).controlCompact},
	"reset":    {http.MethodPost: (*Server).controlReset},
	"snapshot": {http.MethodPost: (*Server).controlSnapshot},
	"restore":  {http.MethodPost: (*Server).controlRestore},
	"lag":      {http.MethodGet: (*Server).controlLags, http.MethodPost: (*Server).controlLag, http.MethodDelete: (*Server).controlThaw},
	"objects":  {http.MethodPost: (*Server).controlObjects},
	"clock":    {http.MethodGet: (*Server).controlClock, http.MethodPost: (*Server).controlAdvance},
	"writes":   {http.MethodGet: (*Server).controlWrites},
	"requests": {http.MethodGet: (*Server).controlRequests},
	"story":    {http.MethodGet: (*Server).controlStory},
	"faults":   {http.MethodGet: (*Server).controlFaults, http.MethodPost: (*Server).controlInject, http.MethodDelete: (*Server).controlRemoveFaults},
}

func (r *request) isControl() bool {
	return strings.HasPrefix(r.Path, controlPrefix) && !r.server.config.NoControl
}

// control serves the control endpoint. Only administrators may use it.
func (s *Server) control(r *request) error {
	if s.config.Auth.RBAC && !r.user.InGroup(authn.MastersGroup) {
		return authz.Forbidden(r.user, r.attributes(), "")
	}
	methods, ok := controls[strings.TrimPrefix(r.Path, controlPrefix)]
	if !ok {
		return errNoPage
	}
	do, ok := methods[r.http.Method]
	if !ok {
		return status.MethodNotAllowed()
	}
	out, err := do(s, r)
	if err != nil {
		return err
	}
	if page, ok := out.(htmlPage); ok {
		r.write(http.StatusOK, "text/html; charset=utf-8", page)
		return nil
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	r.writeJSON(http.StatusOK, append(b, '\n'))
	return nil
}

// controlBody reads a JSON body into v. No body is {}.
func (r *request) controlBody(v any) error {
	body, err := r.readBody()
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return nil
	}
	if err := json.Unmarshal(body, v); err != nil {
		return status.BadRequest(err.Error())
	}
	return nil
}

type revisionAnswer struct {
	Revision mvcc.Revision `json:"revision"`
}

// Snapshot returns the state of now, to which Restore goes back.
func (s *Server) Snapshot() *storage.Store { return s.store.Fork(s.clock) }

// Restore brings back the state of a snapshot, in one transaction that changes
// what differs: watchers see the changes, and versions go on rising.
func (s *Server) Restore(to *storage.Store) error {
	before := s.store.Revision()
	if err := s.store.Restore(to); err != nil {
		return err
	}
	s.leaseSince(before)
	s.journal.RecordNote(journal.Note{Kind: journal.State, Text: "an earlier state was brought back", Revision: s.store.Revision()})
	s.configure()
	s.settle(nil)
	return nil
}

// Reset brings back the state of a fresh server, as Restore does, and has
// nothing lag or fail any more.
func (s *Server) Reset() error {
	s.faults.Clear()
	if err := s.Lag(AllResources, mvcc.Lag{}); err != nil {
		return err
	}
	return s.Restore(s.initial)
}

func (s *Server) controlReset(*request) (any, error) {
	return revisionAnswer{s.store.Revision()}, s.Reset()
}

type snapshotName struct {
	Name string `json:"name"`
}

func (s *Server) controlSnapshot(r *request) (any, error) {
	var in snapshotName
	if err := r.controlBody(&in); err != nil {
		return nil, err
	}
	snapshot := s.Snapshot()
	s.snapshots.Store(in.Name, snapshot)
	return revisionAnswer{snapshot.Revision()}, nil
}

func (s *Server) controlRestore(r *request) (any, error) {
	var in snapshotName
	if err := r.controlBody(&in); err != nil {
		return nil, err
	}
	snapshot, ok := s.snapshots.Load(in.Name)
	if !ok {
		return nil, status.Failure(http.StatusNotFound, status.ReasonNotFound, fmt.Sprintf("no snapshot is named %q", in.Name), nil)
	}
	if err := s.Restore(snapshot.(*storage.Store)); err != nil {
		return nil, err
	}
	return revisionAnswer{s.store.Revision()}, nil
}

type clockAnswer struct {
	Now     time.Time `json:"now"`
	Manual  bool      `json:"manual"`
	Waiting int       `json:"waiting"` // how many things wait for a moment of it
}

func (s *Server) controlClock(*request) (any, error) {
	return clockAnswer{s.clock.Now(), s.clock.Manual(), s.clock.Waiting()}, nil
}

func (s *Server) controlAdvance(r *request) (any, error) {
	var in struct {
		Advance string `json:"advance"` // a Go duration: "90s", "10m"
	}
	if err := r.controlBody(&in); err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(in.Advance)
	if err != nil || d < 0 {
		return nil, status.BadRequest(fmt.Sprintf("advance: %q is no duration forward, such as 90s", in.Advance))
	}
	s.Advance(d)
	return s.controlClock(r)
}

// Advance moves the clock ahead. It panics if d is negative.
func (s *Server) Advance(d time.Duration) {
	s.journal.RecordNote(journal.Note{Kind: journal.Clock, Text: d.String() + " ahead"})
	s.clock.Advance(d)
}

func (s *Server) controlWrites(r *request) (any, error) {
	from, err := storage.ParseVersion(r.query().Get("from"))
	if err != nil {
		return nil, status.BadRequest(err.Error())
	}
	return s.Writes(mvcc.Revision(from)), nil
}

func (s *Server) controlRequests(*request) (any, error) { return s.Requests(), nil }
