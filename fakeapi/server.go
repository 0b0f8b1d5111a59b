package fakeapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/apiserver"
	"github.com/kubefake/kubefake/internal/storage"
	"github.com/kubefake/kubefake/mvcc"
)

// A Server is a running API server. Its methods may be called by any number of
// goroutines.
type Server struct {
	// URL is where clients reach the server, without a slash at the end. Do
	// not change it.
	URL string

	api    *apiserver.Server
	http   *httptest.Server
	config *config
}

// New starts a server outside of a test; Close it when done. A test calls Start
// instead.
//
// It fails if an option names something that is not there, an object cannot be
// put, or the address cannot be listened on.
func New(options ...Option) (*Server, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	api, err := apiserver.New(c.server)
	if err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	s, err := serve(api, c)
	if err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func serve(api *apiserver.Server, c *config) (*Server, error) {
	h, err := httptest.Start(api, c.http)
	if err != nil {
		api.Close()
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	return &Server{URL: h.URL, api: api, http: h, config: c}, nil
}

// Close ends the server: open watches end, connections are closed, and when it
// returns nothing of the server runs any more. Calls after the first do
// nothing.
func (s *Server) Close() {
	s.api.Close()
	s.http.Close()
}

// NewFork is Fork outside of a test; Close the server it returns.
func (s *Server) NewFork() (*Server, error) {
	c := *s.config
	c.http.Addr = "" // the parent has it
	return serve(s.api.Fork(), &c)
}

// Client is an HTTP client that reaches the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// Transport reaches the server and, with TLS, trusts it. Use it as the
// Transport of a rest.Config together with Host: srv.URL.
func (s *Server) Transport() http.RoundTripper { return s.http.Transport() }

// CACertificate is what a client of a TLS server must trust, in PEM; nil
// without TLS.
func (s *Server) CACertificate() []byte { return s.http.CACertificate() }

// Kubeconfig is the content of a kubeconfig file for the server. Where tokens
// are known, it has one of a member of system:masters, if there is any.
func (s *Server) Kubeconfig() []byte { return s.kubeconfig().YAML() }

// WriteKubeconfig writes Kubeconfig to a file that only its owner may read.
func (s *Server) WriteKubeconfig(path string) error { return s.kubeconfig().WriteFile(path) }

func (s *Server) kubeconfig() httptest.Kubeconfig {
	k := httptest.Kubeconfig{Server: s.URL, CertificateAuthority: s.CACertificate()}
	for token, user := range s.config.server.Auth.Tokens {
		if slices.Contains(user.Groups, "system:masters") && (k.Token == "" || token < k.Token) {
			k.Token = token
		}
	}
	return k
}

// Revision is the version of the newest write, as lists carry it in their
// metadata.resourceVersion.
func (s *Server) Revision() int64 { return int64(s.api.Store().Revision()) }

// Compact forgets every version but the newest: reads of an older one, and
// watches and continue tokens from one, fail with 410 from here on, as do open
// watches that have not read everything yet.
func (s *Server) Compact() {
	if err := s.api.Compact(); err != nil && !errors.Is(err, mvcc.ErrCompacted) {
		panic("fakeapi: " + err.Error()) // unreachable: the newest version can be compacted to
	}
}

// Expire has every client start over: it compacts, and ends every open watch
// with 410, those that have read everything too. Count tells how many there were.
func (s *Server) Expire() *Injected {
	s.Compact()
	return s.Inject(ExpireOpenWatches("*"))
}

// A Snapshot is the state of a server at a moment.
type Snapshot struct{ store *storage.Store }

// Snapshot keeps the present state for Restore. It takes constant time.
func (s *Server) Snapshot() Snapshot { return Snapshot{s.api.Snapshot()} }

// Restore brings back the state of a snapshot of this server or of one that it
// was forked from. It is one write that changes what differs: watchers see the
// changes as events, and versions go on rising.
func (s *Server) Restore(to Snapshot) error { return s.api.Restore(to.store) }

// Reset brings back the state that the server was started with, without the
// objects of its options, and has nothing lag or fail any more.
func (s *Server) Reset() error { return s.api.Reset() }

// Clock is the server's time.
func (s *Server) Clock() Clock { return Clock{s.api} }

// Requests tells what was asked of the server and what it answered, oldest
// first: the newest 4,096 requests whose answer has ended.
func (s *Server) Requests() []Request {
	log := s.api.Requests()
	out := make([]Request, len(log))
	for i, r := range log {
		out[i] = Request(r)
	}
	return out
}

// Log tells what was written from a revision on, oldest first, as far back as
// history is kept. It knows the writers of the newest 4,096 revisions.
func (s *Server) Log(from int64) []Revision {
	log := s.api.Log(mvcc.Revision(from))
	out := make([]Revision, len(log))
	for i, r := range log {
		out[i] = Revision{Revision: int64(r.Revision), Time: r.Time, Writer: Writer(r.Writer)}
		for _, c := range r.Changes {
			out[i].Changes = append(out[i].Changes, Change(c))
		}
	}
	return out
}

var _ http.Handler = (*Server)(nil)

// ServeHTTP serves the API to a handler or server of one's own.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }
