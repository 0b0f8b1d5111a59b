package fakeapi

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/control"
	"github.com/kubefake/kubefake/internal/ids"
	"github.com/kubefake/kubefake/internal/release"
)

// A namedCluster is an argument of clusters.With: a cluster with options of its own.
type namedCluster struct {
	name    string
	options []Option
}

// withCluster is clusters.With.
func withCluster(name string, options []Option) Option {
	args := make([]any, 0, 1+len(options))
	args = append(args, name)
	for _, o := range options {
		args = append(args, o)
	}
	return newOption("clusters.With", func(c *config) { c.clusters = append(c.clusters, namedCluster{name, options}) }, args...)
}

// newConfigs applies the options. It returns the configuration of each cluster: one without a name,
// unless clusters.With is among the options.
func newConfigs(options []Option) ([]*config, error) {
	all := applied(options)
	if len(all.clusters) == 0 {
		if err := all.complete(nil); err != nil {
			return nil, err
		}
		all.server.Group = control.NewGroup(all.server.Clock)
		return []*config{all}, nil
	}
	if err := all.checkClusters(); err != nil {
		return nil, fmt.Errorf("fakeapi: %w", err)
	}
	var group *control.Group
	out := make([]*config, len(all.clusters))
	for i, cluster := range all.clusters {
		var shared *clock.Clock
		if group != nil {
			shared = group.Clock()
		}
		c := applied(slices.Concat(options, cluster.options))
		if err := c.complete(shared); err != nil {
			return nil, err
		}
		if group == nil {
			group = control.NewGroup(c.server.Clock)
		}
		out[i] = c
		c.options = options
		c.server.Name, c.server.Seed, c.server.Group = cluster.name, ids.SeedOf(c.server.Seed, cluster.name), group
		c.server.Faults = slices.DeleteFunc(c.server.Faults, func(f faults.Fault) bool { return f.In != "" && f.In != cluster.name })
		own := applied(cluster.options)
		if own.http.Addr == "" {
			c.http.Addr = nthAddress(c.http.Addr, i)
			c.server.Port = portOf(c.http.Addr)
		}
		if i > 0 && own.auditWriter == nil && applied(all.clusters[0].options).auditWriter == nil {
			c.server.Audit = out[0].server.Audit // one log, with one lock
		}
	}
	return out, nil
}

// applied returns the values of options, unchecked.
func applied(options []Option) *config {
	c := &config{options: options, runtimeConfig: release.RuntimeConfig{}}
	for _, o := range options {
		o.apply(c)
	}
	return c
}

// checkClusters checks the options of several clusters.
func (c *config) checkClusters() error {
	var names []string
	for _, cluster := range c.clusters {
		own := applied(cluster.options)
		switch {
		case cluster.name == "" || strings.ContainsAny(cluster.name, " ,\t\r\n"):
			return optionError(fmt.Errorf("clusters.With: %q is not a name of a cluster", cluster.name))
		case slices.Contains(names, cluster.name):
			return optionError(fmt.Errorf("clusters.With: there are two clusters %q", cluster.name))
		case own.start != nil || own.server.Seed != 0 || own.clusters != nil:
			return optionError(errors.New("clusters.With: clusters share the clock and the seed: WithManualClock and WithSeed are options of all"))
		}
		names = append(names, cluster.name)
	}
	if c.state != nil || slices.ContainsFunc(c.objects, func(o any) bool { _, reads := o.(io.Reader); return reads }) {
		return optionError(errors.New("only one cluster can read an io.Reader: give the option to clusters.With"))
	}
	for _, f := range c.server.Faults {
		if f.In != "" && !slices.Contains(names, f.In) {
			return fmt.Errorf("%w (%s): in: there is no cluster %q", faults.ErrInvalid, f, f.In)
		}
	}
	return nil
}

// nthAddress returns a TCP address with a port that is n higher, unless the port is free.
func nthAddress(addr string, n int) string {
	host, _, err := net.SplitHostPort(addr)
	port := portOf(addr)
	if err != nil || port == 0 {
		return addr
	}
	return net.JoinHostPort(host, strconv.Itoa(port+n))
}

// A clusterSet has the clusters that share a clock, by their first API servers. The set of a server
// without clusters.With has one, without a name.
type clusterSet struct {
	mu      sync.Mutex // guards servers
	servers []*Server
	main    *Server // that New or Fork returns: closing it closes all
}

// all returns the servers, in the order of the options.
func (c *clusterSet) all() []*Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.servers)
}

// add adds a server, which is the main one if main is set.
func (c *clusterSet) add(s *Server, main bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers = append(c.servers, s)
	if main {
		c.main = s
	}
}

// close closes all servers.
func (c *clusterSet) close() {
	for _, s := range c.all() {
		s.closeCluster()
	}
}

// clusterNames returns the names of the clusters, nil without clusters.With.
func (s *Server) clusterNames() (names []string) {
	for _, other := range s.cluster().set.all() {
		if name := other.config.server.Name; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// namedCluster returns the server of a cluster, nil if there is none with the name.
func (s *Server) namedCluster(name string) *Server {
	for _, other := range s.cluster().set.all() {
		if other.config.server.Name == name {
			return other
		}
	}
	return nil
}
