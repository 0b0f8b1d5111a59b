package usage

import (
	"net/http"

	"github.com/kubefake/kubefake/fakeapi/journal"
	"github.com/kubefake/kubefake/internal/backdoor"
)

// A Server is a *fakeapi.Server.
type Server interface {
	http.Handler
	Requests() []journal.Request
	Writes(from int64) []journal.Write
}

// Start counts the requests to a server from now on, from zero.
func Start(srv Server) { backdoor.Of(srv).StartUsage() }

// Of returns what clients have asked since Start; nil without Start. Requests to forks and those of
// the controllers of the server do not count.
func Of(srv Server) *Usage {
	u, counting := backdoor.Of(srv).Usage()
	if !counting {
		return nil
	}
	return u.(*Usage)
}
