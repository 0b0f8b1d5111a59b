package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/fakeapi/faults"
	"github.com/kubefake/kubefake/httptest"
	"github.com/kubefake/kubefake/internal/clock"
	"github.com/kubefake/kubefake/internal/crossorigin"
	"github.com/kubefake/kubefake/internal/fault"
	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/outputfile"
	"github.com/kubefake/kubefake/internal/profile"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/scenarios"
)

// A recordCommand holds the flags of record.
type recordCommand struct {
	kubeconfig string
	context    string
	out        string
	secrets    []scenarios.Secret
	show       bool // secrets

	listen       string
	allowRemote  bool
	allowedHosts []string
	proxy        string // the file for the proxy's kubeconfig
	proxySet     bool   // the command line has it
	faults       []string
	seed         uint64

	profile bool
	objects string // the folder; "" for none
	exclude []string

	state     string
	namespace string
	retry     time.Duration

	inputs inputFS
}

// newRecordCommand returns the command record.
func newRecordCommand() *cobra.Command {
	c := &recordCommand{}
	cmd := &cobra.Command{
		Use:   "record",
		Short: "record the traffic of a server, or the changes of its objects, to a scenario",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.inputs = newInputs(cmd.InOrStdin())
			c.proxySet = cmd.Flags().Changed("proxy-kubeconfig")
			return c.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	setFlags(cmd, c.flags()...)
	return cmd
}

// run writes a scenario until ctx ends: the traffic through a proxy in front of a
// server, or the changes of its objects.
func (c *recordCommand) run(ctx context.Context, stdout, stderr io.Writer) error {
	switch {
	case (c.profile || c.objects != "") && (c.state != "" || c.faults != nil || c.proxySet):
		return &usageError{errors.New("--profile and --objects record no traffic, so they cannot be combined with --state, --faults and --proxy-kubeconfig")}
	case c.profile || c.objects != "":
		return c.recordCluster(ctx, stdout, stderr)
	case c.state != "" && (c.faults != nil || c.proxySet):
		return &usageError{errors.New("--state runs no proxy, so it cannot be combined with --faults and --proxy-kubeconfig")}
	case c.state == "" && c.proxy == "":
		return &usageError{errors.New("--proxy-kubeconfig must name a file: without its token no client can use the proxy")}
	case c.state == "" && checkListen(c.listen) != nil:
		return checkListen(c.listen)
	case c.state == "" && !c.allowRemote && !crossorigin.IsLoopback(c.listen):
		return &usageError{fmt.Errorf("--listen %s: other machines may reach this address, and the proxy acts with the credentials of the kubeconfig; --allow-remote permits it", c.listen)}
	case c.retry <= 0:
		return &usageError{errors.New("--retry must be positive")}
	}
	out, err := scenarios.CreateRecording(c.out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	record := c.recordTraffic
	if c.state != "" {
		record = c.recordState
	}
	started, err := record(ctx, out, stdout, stderr)
	if !started {
		return errors.Join(err, out.Discard())
	}
	why := ""
	if err != nil && out.Err() == nil {
		why = "The recording ended early: " + err.Error()
	}
	// Finish returns the error of a failed write, which record has returned too.
	if finishErr := out.Finish(why); finishErr != nil {
		return finishErr
	}
	what := "exchanges"
	if c.state != "" {
		what = "changes"
	}
	fmt.Fprintf(stderr, "wrote %s; %s: %d\n", c.out, what, out.Len())
	return err
}

// recordCluster writes what the flags say of the present state of a cluster.
func (c *recordCommand) recordCluster(ctx context.Context, stdout, stderr io.Writer) error {
	if c.profile {
		if err := c.recordProfile(ctx, stdout, stderr); err != nil {
			return err
		}
	}
	if c.objects == "" {
		return nil
	}
	return c.recordObjects(ctx, stdout, stderr)
}

// checkReachable fails if no server answers, with whatever it answers.
func checkReachable(ctx context.Context, cluster *kubeconfig.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, cluster.URL+"/version", nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: cluster.Transport}).Do(req)
	if err != nil {
		return fmt.Errorf("the server to record does not answer: %w", err)
	}
	return resp.Body.Close()
}

func (c *recordCommand) flags() []flagGroup {
	return []flagGroup{
		{"Recording", func(fs flagSet) {
			fs.StringVar(&c.kubeconfig, "kubeconfig", defaultKubeconfig(), "record the server of the kubeconfig `FILE`, with its user")
			fs.StringVar(&c.context, "context", "", "use the context `NAME` of the kubeconfig instead of the current one")
			fs.StringVar(&c.out, "out", "recording.yaml", "write the scenario to `FILE`; until the command ends, it is in FILE.*.partial")
			fs.Func("secret", "omit the values at `RESOURCE:PATH`, such as configmaps:data.*, besides those of Secrets; repeatable", c.addSecret)
			fs.BoolVar(&c.show, "show-secrets", false, "record secrets as they are")
		}},
		{"Record the traffic through a proxy", func(fs flagSet) {
			fs.StringVar(&c.listen, "listen", "127.0.0.1:0", "listen on `ADDRESS`; port 0 is a free port; the URL is printed")
			fs.BoolVar(&c.allowRemote, "allow-remote", false, "permit a --listen address that other machines may reach")
			fs.Func("allowed-hosts", allowedHostsUsage, hosts(&c.allowedHosts))
			fs.StringVar(&c.proxy, "proxy-kubeconfig", "proxy.kubeconfig", "write a kubeconfig for the proxy, with the token that it demands, to `FILE`")
			fs.StringArrayVar(&c.faults, "faults", nil, "inject the faults in `FILE`, which may be a directory, a pattern or -, the standard input; repeatable")
			fs.Uint64Var(&c.seed, "seed", 0, "inject the same faults in each run with the seed `NUMBER`; 0 means random")
		}},
		{"Or record the shape of a cluster, and its objects", func(fs flagSet) {
			fs.BoolVar(&c.profile, "profile", false, "write the release, API versions, feature gates, definitions, classes, admission configuration and namespaces of the cluster to the file of --out, for serve --profile")
			fs.StringVar(&c.objects, "objects", "", "write the objects of the cluster, without secrets, to files in `FOLDER`, for validate --from; reads only, in pages")
			fs.StringSliceVar(&c.exclude, "exclude", profile.Passing, "leave out the objects of `RESOURCE`,..., such as pods,jobs.batch")
		}},
		{"Or record the changes of objects", func(fs flagSet) {
			fs.StringVar(&c.state, "state", "", "record the changes of `RESOURCES`, such as pods,deployments.apps")
			fs.StringVar(&c.namespace, "namespace", "", "record only objects in the namespace `NAME`")
			fs.DurationVar(&c.retry, "retry", scenarios.DefaultRetry, "end the recording if the server is unreachable for `DURATION`")
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

// recordState records the changes of objects until ctx ends, or the server is
// unreachable for too long. It reports whether the recording has started.
func (c *recordCommand) recordState(ctx context.Context, out *scenarios.RecordingFile, stdout, stderr io.Writer) (started bool, err error) {
	cluster, err := kubeconfig.Load(ctx, c.kubeconfig, c.context)
	if err != nil {
		return false, err
	}
	r, err := scenarios.RecordState(ctx, scenarios.StateOptions{
		URL: cluster.URL, Transport: cluster.Transport,
		Resources: strings.Split(c.state, ","), Namespace: c.namespace, Secrets: c.secrets, ShowSecrets: c.show,
		File: out, Retry: c.retry,
		Warn: func(text string) { fmt.Fprintln(stderr, text) },
	})
	if err != nil {
		return false, err
	}
	fmt.Fprintf(stdout, "recording %s of %s until interrupted\n", c.state, cluster.URL)
	select {
	case <-ctx.Done():
	case <-r.Failed():
	}
	_, err = r.Stop()
	return true, err
}

// recordTraffic records the traffic through a proxy until ctx ends, or the file
// cannot be written. It reports whether the recording has started.
func (c *recordCommand) recordTraffic(ctx context.Context, out *scenarios.RecordingFile, stdout, stderr io.Writer) (started bool, err error) {
	cluster, err := kubeconfig.Load(ctx, c.kubeconfig, c.context)
	if err != nil {
		return false, err
	}
	if err := checkReachable(ctx, cluster); err != nil {
		return false, err
	}
	handler, err := cluster.Proxy()
	if err != nil {
		return false, err
	}
	if c.faults != nil {
		set := fault.NewSet(fault.Options{Clock: clock.New(), Seed: c.seed, Context: ctx})
		if err := c.injectFaults(set); err != nil {
			return false, err
		}
		handler = set.Handler(handler)
	}
	token, err := newToken()
	if err != nil {
		return false, err
	}
	recorder := scenarios.RecordTo(out, handler, c.secrets...)
	if c.show {
		recorder.ShowSecrets()
	}
	guarded := crossorigin.Handler(requireToken(recorder, token, c.proxy), c.allowedHosts...)
	// With TLS, because kubectl and client-go send no token over plain HTTP.
	srv, err := httptest.Start(guarded, httptest.Options{Addr: c.listen, TLS: true, Names: slices.DeleteFunc(slices.Clone(c.allowedHosts), isAnyHost)})
	if err != nil {
		return false, err
	}
	defer srv.Close()
	k := httptest.Kubeconfig{Server: srv.URL, CertificateAuthority: srv.CACertificate(), Token: token}
	if err := outputfile.WriteText(c.proxy, k.YAML(), 0o600); err != nil {
		return false, err
	}
	fmt.Fprintln(stdout, srv.URL)
	fmt.Fprintf(stderr, "recording %s until interrupted; clients use the proxy with its kubeconfig:\n  kubectl --kubeconfig %s get namespaces\n", cluster.URL, c.proxy)
	select {
	case <-ctx.Done():
	case <-out.Failed():
	}
	srv.Close() // waits until the recorder has all answers
	return true, recorder.Close()
}

func isAnyHost(name string) bool { return name == crossorigin.AnyHost }

// newToken returns a random bearer token.
func newToken() (string, error) {
	var b [32]byte
	_, err := rand.Read(b[:])
	return hex.EncodeToString(b[:]), err
}

// requireToken returns a handler that answers 401 to requests without a bearer
// token, which is in a kubeconfig file.
func requireToken(next http.Handler, token, file string) http.Handler {
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			st := status.Unauthorized()
			st.Message = "the proxy acts with the credentials of its user, and demands the token in the kubeconfig that fakeapi record has written: use the client with " + strconv.Quote(filepath.Base(file))
			crossorigin.Refuse(w, st)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// injectFaults injects the faults of the files.
func (c *recordCommand) injectFaults(set *fault.Set) error {
	names, err := inputNames(c.faults)
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := c.inputs.ReadFile(name)
		if err != nil {
			return err
		}
		faults, err := faults.Parse(text)
		if err == nil {
			_, err = set.Inject(faults...)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
