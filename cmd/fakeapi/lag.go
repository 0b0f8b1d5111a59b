package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// A lag is what --lag asks for.
type lag struct {
	scope     fakeapi.Scope
	by        time.Duration
	revisions int64
	frozen    bool
}

// setLag takes "pods=3s", "pods=5", "pods=frozen", or one of these for all
// resources: "3s".
func (c *serveCommand) setLag(value string) error {
	var l lag
	resource, how, found := strings.Cut(value, "=")
	if found {
		l.scope = fakeapi.Resource(resource)
	} else {
		how = value
	}
	var noDuration, noNumber error
	l.by, noDuration = time.ParseDuration(how)
	l.revisions, noNumber = strconv.ParseInt(how, 10, 64)
	l.frozen = how == "frozen"
	if noDuration != nil && noNumber != nil && !l.frozen || found && resource == "" {
		return fmt.Errorf("%q is neither a time, such as 3s, nor a number of revisions, nor frozen", value)
	}
	c.lags = append(c.lags, l)
	return nil
}

// set has the server lag.
func (l lag) set(srv *fakeapi.Server) error {
	switch {
	case l.frozen:
		return srv.Freeze(l.scope)
	case l.revisions != 0:
		return srv.LagRevisions(l.scope, l.revisions)
	default:
		return srv.Lag(l.scope, l.by)
	}
}
