package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/scenarios"
)

// A recordCommand holds the flags of record.
type recordCommand struct {
	kubeconfig string
	context    string
	out        string
	secrets    []scenarios.Secret

	listen string
	proxy  string // the file for the proxy's kubeconfig
	faults string
	seed   uint64

	state     string
	namespace string
}

// newRecordCommand returns the command record.
func newRecordCommand() *cobra.Command {
	c := &recordCommand{}
	cmd := &cobra.Command{
		Use:   "record",
		Short: "record the traffic of a server, or the changes of its objects, to a scenario",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	setFlags(cmd, c.flags()...)
	return cmd
}

// run writes a scenario until ctx ends: the traffic through a proxy in front of a
// server, or the changes of its objects.
func (c *recordCommand) run(ctx context.Context, stdout io.Writer) error {
	if c.state != "" && (c.faults != "" || c.proxy != "") {
		return &usageError{errors.New("--state runs no proxy, so it cannot be combined with --faults and --proxy-kubeconfig")}
	}
	cluster, err := kubeconfig.Load(ctx, c.kubeconfig, c.context)
	if err != nil {
		return err
	}
	var s *scenarios.Scenario
	if c.state != "" {
		s, err = c.recordState(ctx, cluster, stdout)
	} else {
		s, err = c.recordTraffic(ctx, cluster, stdout)
	}
	if s == nil {
		return err
	}
	s.Name = strings.TrimSuffix(filepath.Base(c.out), filepath.Ext(c.out))
	text, formatErr := scenarios.Format(s)
	if formatErr != nil {
		return formatErr
	}
	return cmp.Or(os.WriteFile(c.out, text, 0o600), err)
}

func (c *recordCommand) flags() []flagGroup {
	return []flagGroup{
		{"Recording", func(fs flagSet) {
			fs.StringVar(&c.kubeconfig, "kubeconfig", defaultKubeconfig(), "record the server of the kubeconfig `FILE`, with its user")
			fs.StringVar(&c.context, "context", "", "use the context `NAME` of the kubeconfig instead of the current one")
			fs.StringVar(&c.out, "out", "recording.yaml", "write the scenario to `FILE` when interrupted")
			fs.Func("secret", "omit the values at `RESOURCE:PATH`, such as configmaps:data.*, besides those of Secrets; repeatable", c.addSecret)
		}},
		{"Record the traffic through a proxy", func(fs flagSet) {
			fs.StringVar(&c.listen, "listen", "127.0.0.1:0", "listen on `ADDRESS`; port 0 is a free port; the URL is printed")
			fs.StringVar(&c.proxy, "proxy-kubeconfig", "", "write a kubeconfig for the proxy to `FILE`")
			fs.StringVar(&c.faults, "faults", "", "inject the faults in `FILE`")
			fs.Uint64Var(&c.seed, "seed", 0, "inject the same faults in each run with the seed `NUMBER`; 0 means random")
		}},
		{"Or record the changes of objects", func(fs flagSet) {
			fs.StringVar(&c.state, "state", "", "record the changes of `RESOURCES`, such as pods,deployments.apps")
			fs.StringVar(&c.namespace, "namespace", "", "record only objects in the namespace `NAME`")
		}},
	}
}

// defaultKubeconfig returns the kubeconfig file that kubectl uses by default.
func defaultKubeconfig() string {
	if paths := filepath.SplitList(os.Getenv("KUBECONFIG")); len(paths) > 0 {
		return paths[0]
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".kube", "config")
}

func (c *recordCommand) addSecret(value string) error {
	s, err := scenarios.ParseSecret(value)
	c.secrets = append(c.secrets, s)
	return err
}

// recordState records the changes of objects. It can return both a scenario and an
// error.
func (c *recordCommand) recordState(ctx context.Context, cluster *kubeconfig.Cluster, stdout io.Writer) (*scenarios.Scenario, error) {
	r, err := scenarios.RecordState(ctx, scenarios.StateOptions{
		URL: cluster.URL, Transport: cluster.Transport,
		Resources: strings.Split(c.state, ","), Namespace: c.namespace, Secrets: c.secrets,
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stdout, "recording %s of %s until interrupted\n", c.state, cluster.URL)
	<-ctx.Done()
	return r.Stop()
}

// recordTraffic records the traffic through a proxy.
func (c *recordCommand) recordTraffic(ctx context.Context, cluster *kubeconfig.Cluster, stdout io.Writer) (*scenarios.Scenario, error) {
	handler, err := proxy(cluster)
	if err != nil {
		return nil, err
	}
	if c.faults != "" {
		text, err := os.ReadFile(c.faults)
		if err != nil {
			return nil, err
		}
		faults, err := fault.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.faults, err)
		}
		set := fault.NewSet(fault.Options{Clock: clock.New(), Seed: c.seed, Done: ctx.Done()})
		if _, err := set.Inject(faults...); err != nil {
			return nil, fmt.Errorf("%s: %w", c.faults, err)
		}
		handler = set.Handler(handler)
	}
	recorder := scenarios.Record(handler, c.secrets...)
	srv, err := httptest.Start(recorder, httptest.Options{Addr: c.listen})
	if err != nil {
		return nil, err
	}
	defer srv.Close()
	if c.proxy != "" {
		if err := (httptest.Kubeconfig{Server: srv.URL}).WriteFile(c.proxy); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(stdout, srv.URL)
	<-ctx.Done()
	srv.Close() // waits until the recorder has all answers
	return recorder.Scenario(), nil
}

// proxy returns a handler that forwards requests to a cluster with the user of its
// kubeconfig, whatever user the client is.
func proxy(cluster *kubeconfig.Cluster) (http.Handler, error) {
	target, err := url.Parse(cluster.URL)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
		Transport:     cluster.Transport,
		FlushInterval: -1, // forward watch events at once
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}, nil
}
