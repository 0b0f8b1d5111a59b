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
	resource string
	fakeapi.Lag
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
	l.By, durationErr = time.ParseDuration(how)
	l.Revisions, revisionsErr = strconv.ParseInt(how, 10, 64)
	l.Frozen = how == "frozen"
	if durationErr != nil && revisionsErr != nil && !l.Frozen || found && resource == "" {
		return fmt.Errorf("%q is neither a duration, such as 3s, nor a number of revisions, nor frozen", value)
	}
	c.lags = append(c.lags, l)
	return nil
}

// set sets the lag of a server.
func (l lag) set(srv *fakeapi.Server) error { return srv.SetLag(l.resource, l.Lag) }
