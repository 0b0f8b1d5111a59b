package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/release"
)

// An upgrade is a parsed value of --upgrade-after.
type upgrade struct {
	after   time.Duration
	release string
}

// setUpgrade parses "30s=v1.36", or "30s" for the default release.
func (c *serveCommand) setUpgrade(value string) error {
	text, name, named := strings.Cut(value, "=")
	after, err := time.ParseDuration(text)
	if err != nil || after < 0 || named && name == "" {
		return fmt.Errorf("%q is neither a duration, such as 30s, nor one with a release, such as 30s=v1.36", value)
	}
	r, err := release.Open(name)
	if err != nil {
		return err
	}
	c.upgrades = append(c.upgrades, upgrade{after, r.Name()})
	return nil
}

// upgradeLater upgrades the server at the times of --upgrade-after, until ctx ends. It logs
// upgrades to stderr. The function that it returns ends that.
func (c *serveCommand) upgradeLater(ctx context.Context, srv *fakeapi.Server, stderr io.Writer) (wait func()) {
	ctx, cancel := context.WithCancel(ctx)
	started := srv.Clock().Now()
	var running sync.WaitGroup
	for _, u := range c.upgrades {
		running.Add(1)
		go func() {
			defer running.Done()
			if srv.Clock().SleepUntil(ctx, started.Add(u.after)) != nil {
				return
			}
			if err := srv.Upgrade(u.release); err != nil {
				fmt.Fprintf(stderr, "E%s fakeapi: \"upgrading\" err=%q\n", time.Now().Format(logTime), message(err))
				return
			}
			fmt.Fprintf(stderr, "I%s fakeapi: \"upgraded\" release=%q\n", time.Now().Format(logTime), srv.Release())
		}()
	}
	return func() {
		cancel()
		running.Wait()
	}
}
