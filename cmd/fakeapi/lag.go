package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// A lag is a parsed value of --lag.
type lag struct {
	resource  string
	by        time.Duration
	revisions int64
	frozen    bool
}

// setLag parses "pods=3s", "pods=5" or "pods=frozen", or such a lag for all
// resources: "3s".
func (c *serveCommand) setLag(value string) error {
	l := lag{resource: "*"}
	resource, how, found := strings.Cut(value, "=")
	if found {
		l.resource = resource
	} else {
		how = value
	}
	var durationErr, revisionsErr error
	l.by, durationErr = time.ParseDuration(how)
	l.revisions, revisionsErr = strconv.ParseInt(how, 10, 64)
	l.frozen = how == "frozen"
	if durationErr != nil && revisionsErr != nil && !l.frozen || found && resource == "" {
		return fmt.Errorf("%q is neither a duration, such as 3s, nor a number of revisions, nor frozen", value)
	}
	c.lags = append(c.lags, l)
	return nil
}

// set sets the lag of a server.
func (l lag) set(srv *fakeapi.Server) error {
	switch {
	case l.frozen:
		return srv.Freeze(l.resource)
	case l.revisions != 0:
		return srv.LagRevisions(l.resource, l.revisions)
	default:
		return srv.Lag(l.resource, l.by)
	}
}
