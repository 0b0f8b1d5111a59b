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

// Dir is the name of the environment variable that names a folder. With it, all servers of a process
// count requests from their start, and the process adds them up in a file of the folder, which is
// written when a server closes. [Read] reads these files. The folder is created.
const Dir = "FAKEAPI_USAGE_DIR"

// Start counts the requests to a server from now on. It does nothing if they are counted already,
// as those to every server are with the environment variable [Dir].
func Start(srv Server) { backdoor.Of(srv).StartUsage() }

// Of returns what clients have asked since Start; nil without Start. A fork counts its own requests, from
// zero, if the server that it is a fork of does. Requests of the controllers of the server do not
// count.
func Of(srv Server) *Usage {
	u, counting := backdoor.Of(srv).Usage()
	if !counting {
		return nil
	}
	return u.(*Usage)
}
