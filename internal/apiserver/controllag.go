package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// Lag has what is read from the watch cache of a resource trail the store from
// now on, and no more with the zero Lag; "" is all resources. Lists and gets of
// any version, or of one that is not older than another, and watches show it;
// consistent reads and writes do not. Events, which have no watch cache, never
// lag.
//
// It fails with ErrNotFound for a resource that is not there, for a lag longer
// than history is kept, and for a last revision that the cache is past.
func (s *Server) Lag(name string, lag mvcc.Lag) error {
	if lag.By < 0 || lag.Revisions < 0 {
		return errors.New("a lag is not negative")
	}
	t, err := s.cachedType(name)
	if err != nil {
		return err
	}
	if at := s.store.CachedRevision(t); lag.Until > 0 && lag.Until < at {
		return fmt.Errorf("version %d has been shown, and no cache goes back to %d", at, lag.Until)
	}
	note := journal.Note{Kind: journal.Lag, Text: lagText(lag), Revision: s.store.Revision()}
	if t != nil {
		note.Resource = strings.Trim(t.Prefix, "/")
	}
	if lag == (mvcc.Lag{}) {
		if len(s.store.Lags()) == 0 {
			return nil
		}
		note.Kind = journal.Thaw
	}
	if err := s.store.SetLag(t, lag); err != nil {
		return err
	}
	s.journal.Note(note)
	return nil
}

// Frozen is the lag that stops a watch cache where it is.
var Frozen = mvcc.Lag{Until: -1}

// cachedType is the type of a resource by name, nil for "".
func (s *Server) cachedType(name string) (*resource.Type, error) {
	if name == "" {
		return nil, nil
	}
	t := s.Registry().Find(name)
	if t == nil || t.Virtual() {
		return nil, fmt.Errorf("%w: resource %s", ErrNotFound, name)
	}
	return t, nil
}

// CachedRevision is the revision that the watch cache of a resource, or with ""
// the newest of them, has come to.
func (s *Server) CachedRevision(name string) (mvcc.Revision, error) {
	t, err := s.cachedType(name)
	if err != nil {
		return 0, err
	}
	return s.store.CachedRevision(t), nil
}

// lagText says how far something trails.
func lagText(lag mvcc.Lag) string {
	if lag == (mvcc.Lag{}) {
		return "behind no more"
	}
	var parts []string
	if lag.By > 0 {
		parts = append(parts, lag.By.String()+" behind")
	}
	if lag.Revisions > 0 {
		parts = append(parts, fmt.Sprintf("%d revisions behind", lag.Revisions))
	}
	switch {
	case lag.Until < 0:
		parts = append(parts, "frozen")
	case lag.Until > 0:
		parts = append(parts, fmt.Sprintf("frozen at %d", lag.Until))
	}
	return strings.Join(parts, ", ")
}

// A lagRequest says what is to lag and how; of several ways the one that holds
// back most counts.
type lagRequest struct {
	Resource  string        `json:"resource,omitempty"`  // "pods", "deployments.apps"; all if ""
	By        string        `json:"by,omitempty"`        // a Go duration: "3s"
	Revisions int64         `json:"revisions,omitempty"` // so many revisions
	Until     mvcc.Revision `json:"until,omitempty"`     // frozen at a revision
	Frozen    bool          `json:"frozen,omitempty"`    // frozen where it is
}

// A lagAnswer is what lags.
type lagAnswer struct {
	lagRequest
	Revision mvcc.Revision `json:"revision"` // where it is
}

func (s *Server) controlLags(*request) (any, error) {
	out := struct {
		Revision mvcc.Revision `json:"revision"`
		Lags     []lagAnswer   `json:"lags"`
	}{s.store.Revision(), []lagAnswer{}}
	for _, l := range s.store.Lags() {
		a := lagAnswer{lagRequest{
			Resource: strings.Trim(l.Prefix, "/"), Revisions: l.Lag.Revisions, Until: l.Lag.Until,
			Frozen: l.Lag.Until > 0 && l.Revision >= l.Lag.Until,
		}, l.Revision}
		if l.Lag.By > 0 {
			a.By = l.Lag.By.String()
		}
		out.Lags = append(out.Lags, a)
	}
	return out, nil
}

func (s *Server) controlLag(r *request) (any, error) {
	var in lagRequest
	if err := r.controlBody(&in); err != nil {
		return nil, err
	}
	lag := mvcc.Lag{Revisions: in.Revisions, Until: in.Until}
	if in.By != "" {
		var err error
		if lag.By, err = time.ParseDuration(in.By); err != nil {
			return nil, status.BadRequest(fmt.Sprintf("by: %q is no duration, such as 3s", in.By))
		}
	}
	if in.Frozen {
		lag.Until = Frozen.Until
	}
	if err := s.Lag(in.Resource, lag); err != nil {
		return nil, lagStatus(err)
	}
	return s.controlLags(r)
}

func (s *Server) controlThaw(r *request) (any, error) {
	if err := s.Lag(r.query().Get("resource"), mvcc.Lag{}); err != nil {
		return nil, lagStatus(err)
	}
	return s.controlLags(r)
}

// lagStatus is the answer to a lag that cannot be.
func lagStatus(err error) error {
	if errors.Is(err, ErrNotFound) {
		return status.Failure(http.StatusNotFound, status.ReasonNotFound, err.Error(), nil)
	}
	return status.BadRequest(err.Error())
}
