package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/scenarios"
)

// A recordCommand is the command line of record.
type recordCommand struct {
	kubeconfig string
	context    string
	out        string
	secrets    []scenarios.Secret

	listen string
	proxy  string // where to write the proxy's kubeconfig
	faults string
	seed   uint64

	state     string
	namespace string
}

// record writes what happens at a server to a scenario, until ctx ends: what
// passes through a proxy before it, or what becomes of its objects.
func record(ctx context.Context, args []string, stdout io.Writer) error {
	c := &recordCommand{}
	if help, err := c.flags().parse(args, stdout); help || err != nil {
		return err
	}
	if c.state != "" && (c.faults != "" || c.proxy != "") {
		return &usageError{errors.New("--state is of what a server has: there is no proxy for --faults or --proxy-kubeconfig")}
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

func (c *recordCommand) flags() *flagSet {
	return &flagSet{
		synopsis: "fakeapi record [flags]",
		groups: []flagGroup{
			{"What is recorded", func(fs *flag.FlagSet) {
				fs.StringVar(&c.kubeconfig, "kubeconfig", defaultKubeconfig(), "record the server of `FILE`, as its user")
				fs.StringVar(&c.context, "context", "", "of the kubeconfig take the context `NAME`, instead of the current one")
				fs.StringVar(&c.out, "out", "recording.yaml", "write the scenario to `FILE` in the end")
				fs.Func("secret", "leave out, beside what Secrets hold, what is at `RESOURCE:PATH`, such as configmaps:data.*; it can be given more than once", c.addSecret)
			}},
			{"What passes through a proxy", func(fs *flag.FlagSet) {
				fs.StringVar(&c.listen, "listen", "127.0.0.1:0", "listen on `ADDRESS`, on a free port if that is 0; the URL is printed on start")
				fs.StringVar(&c.proxy, "proxy-kubeconfig", "", "write a kubeconfig of the proxy to `FILE` on start")
				fs.StringVar(&c.faults, "faults", "", "inject the faults of `FILE` into what passes")
				fs.Uint64Var(&c.seed, "seed", 0, "let the same faults hit in every run with `NUMBER`; 0 makes them random")
			}},
			{"Or what becomes of objects", func(fs *flag.FlagSet) {
				fs.StringVar(&c.state, "state", "", "record the objects of `RESOURCES`, such as pods,deployments.apps, over time, instead of traffic")
				fs.StringVar(&c.namespace, "namespace", "", "only those of namespace `NAME`")
			}},
		},
	}
}

// defaultKubeconfig is where kubectl looks too.
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

// recordState records what becomes of objects. What was seen is a recording even
// if it ends with an error.
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

// recordTraffic records what passes through a proxy.
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
	srv.Close() // a client can have an answer before the recorder has
	return recorder.Scenario(), nil
}

// proxy passes requests on to a cluster, as the user of its kubeconfig, whoever
// asks.
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
		FlushInterval: -1, // what a watch tells is passed on at once
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}, nil
}
