package fakeapi

import (
	"fmt"
	"os"

	"github.com/kubefake/kubefake/internal/usage"
)

// collectUsage adds what clients have asked of the server to the file of the process in the folder
// of the environment variable FAKEAPI_USAGE_DIR. It prints an error: Close has none.
func (s *Server) collectUsage() {
	if s.config.usageFolder == "" || s.frontEnd || s.first != nil {
		return
	}
	s.collect.Do(func() {
		u, _ := s.api.Control().Usage()
		if len(u.Requests) == 0 {
			return
		}
		if err := usage.Collect(s.config.usageFolder, u); err != nil {
			fmt.Fprintf(os.Stderr, "fakeapi: %s: %v\n", usage.Dir, err)
		}
	})
}
