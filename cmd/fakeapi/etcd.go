package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/release/flags"
)

// etcdVersion is the version of etcd that the program etcd reports.
const etcdVersion = "3.6.8"

// runEtcd runs the program etcd: a process that suites start and whose health they
// check. It stores nothing but the states that kube-apiservers leave when they end.
func runEtcd(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	stdout, stderr = printable.Writer(stdout), printable.Writer(stderr)
	fs := flag.NewFlagSet("etcd", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() { printEtcdHelp(stderr) }
	listen := fs.String("listen-client-urls", "http://localhost:2379", "serve /health, /version and /readyz at these URLs")
	certFile := fs.String("cert-file", "", "serve https URLs with this certificate")
	keyFile := fs.String("key-file", "", "the key of --cert-file")
	version := fs.Bool("version", false, "print the version")
	for f := range flags.Etcd() {
		switch {
		case fs.Lookup(f.Name) != nil:
		case f.Type == "bool":
			fs.BoolFunc(f.Name, "", func(string) error { return nil })
		default:
			fs.String(f.Name, "", "")
		}
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case fs.NArg() > 0:
		fmt.Fprintf(stderr, "'%s' is not a valid flag\n", fs.Arg(0))
		return 1
	case *version:
		fmt.Fprintf(stdout, "etcd Version: %s\nGit SHA: fakeapi\nGo Version: %s\nGo OS/Arch: %s/%s\n", etcdVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return 0
	}
	ctx, stop := withParent(ctx)
	defer stop()
	if err := serveEtcd(ctx, strings.Split(*listen, ","), *certFile, *keyFile); err != nil {
		fmt.Fprintln(stderr, "etcd:", err)
		return 1
	}
	return 0
}

// printEtcdHelp prints the flags in the form of etcd.
func printEtcdHelp(w io.Writer) {
	fmt.Fprint(w, "Usage:\n\n  etcd [flags]\n    Start the part of etcd that suites need beside the kube-apiserver of fakeapi:\n    /health, /version and /readyz. It keeps the objects of a kube-apiserver that\n    stops until the next one starts. Flags other than listen-client-urls, cert-file\n    and key-file have no effect.\n\n")
	for f := range flags.Etcd() {
		fmt.Fprintf(w, "  --%s\n", f.Name)
	}
}

// serveEtcd serves URLs until ctx ends.
func serveEtcd(ctx context.Context, urls []string, certFile, keyFile string) error {
	server := &http.Server{Handler: etcdHandler(), ReadHeaderTimeout: 10 * time.Second}
	defer server.Close()
	failed := make(chan error, len(urls))
	for _, text := range urls {
		listener, isTLS, err := listenURL(text)
		if err != nil {
			return err
		}
		go func() {
			if isTLS {
				failed <- server.ServeTLS(listener, certFile, keyFile)
			} else {
				failed <- server.Serve(listener)
			}
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// listenURL listens at a URL of --listen-client-urls: one with a host, or of a socket.
func listenURL(text string) (listener net.Listener, isTLS bool, err error) {
	network, address := "tcp", ""
	u, err := url.Parse(text)
	switch {
	case err != nil:
	case u.Scheme == "unix":
		network, address = "unix", u.Host+u.Path
	default:
		address = u.Host
	}
	if address == "" {
		return nil, false, fmt.Errorf("--listen-client-urls: %q is neither a URL with a host nor one of a socket, such as unix:///tmp/etcd.sock", text)
	}
	listener, err = net.Listen(network, address)
	return listener, u.Scheme == "https", err
}

// etcdHandler serves what suites ask etcd.
func etcdHandler() http.Handler {
	mux := http.NewServeMux()
	answer := func(pattern, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			if strings.HasPrefix(body, "{") {
				w.Header().Set("Content-Type", "application/json")
			}
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			io.WriteString(w, body)
		})
	}
	answer("GET /health", `{"health":"true","reason":""}`)
	answer("GET /version", fmt.Sprintf(`{"etcdserver":%q,"etcdcluster":"3.6.0","storage":"3.6.0"}`, etcdVersion))
	answer("GET /livez", "ok\n")
	answer("GET /readyz", "ok\n")
	mux.Handle(statePath, &stateKeeper{})
	return mux
}
