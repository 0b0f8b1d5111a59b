package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
)

// serve starts a server and keeps it until ctx ends.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := flag.NewFlagSet("serve", flag.ContinueOnError)
	fs.SetOutput(stderr)
	listen := fs.String("listen", "127.0.0.1:0", "`ADDRESS` to listen on; port 0 is a free one")
	tls := fs.Bool("tls", false, "serve HTTPS")
	certDir := fs.String("cert-dir", "", "`DIR` of apiserver.crt and apiserver.key, written if missing (with --tls)")
	kubeconfig := fs.String("kubeconfig", "", "write a kubeconfig to `FILE`")
	tokens := fs.String("token-auth-file", "", "CSV `FILE` of known users: token,user,uid,\"group1,group2\"")
	mode := fs.String("authorization-mode", "AlwaysAllow", "`MODE`: AlwaysAllow or RBAC")
	serviceRange := fs.String("service-cluster-ip-range", "10.0.0.0/24", "`CIDR` of service addresses")
	profile := fs.String("profile", "", "Kubernetes `RELEASE` to be: v1.36 (default), v1.35, ...")
	runtimeConfig := fs.String("runtime-config", "", "`LIST` of API versions to turn on: api/all=true")
	controllers := fs.String("controllers", "none", "`LIST` of controllers to run; there are none yet")
	gates := fs.String("feature-gates", "", "`LIST` of Gate=true|false")
	seed := fs.Uint64("seed", 0, "`SEED` that makes UIDs and generated names the same every time; 0 for random ones")
	objects := fs.String("objects", "", "`DIR` of YAML files with objects to start with")
	crds := fs.String("crds", "", "`DIR` of YAML files with CustomResourceDefinitions to start with")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if fs.NArg() > 0 {
		fmt.Fprintf(stderr, "fakeapi serve: unexpected argument %q\n", fs.Arg(0))
		return errUsage
	}
	_, _, _ = serviceRange, gates, runtimeConfig
	options := []fakeapi.Option{fakeapi.WithAddress(*listen), fakeapi.WithProfile(*profile), fakeapi.WithSeed(*seed)}
	if *controllers != "none" {
		return fmt.Errorf("--controllers: no controller is named %q; there are none yet", *controllers)
	}
	if *tls {
		options = append(options, fakeapi.WithTLS(), fakeapi.WithCertDir(*certDir))
	}
	switch *mode {
	case "AlwaysAllow":
	case "RBAC":
		options = append(options, fakeapi.WithRBAC())
	default:
		return fmt.Errorf("--authorization-mode: %q is neither AlwaysAllow nor RBAC", *mode)
	}
	if *tokens != "" {
		more, err := readTokens(*tokens)
		if err != nil {
			return err
		}
		options = append(options, more...)
	}
	for _, dir := range []string{*crds, *objects} {
		if dir != "" {
			options = append(options, fakeapi.WithObjectFiles(os.DirFS(dir), "*.yaml"))
		}
	}
	srv, err := fakeapi.New(options...)
	if err != nil {
		return err
	}
	defer srv.Close()
	if *kubeconfig != "" {
		if err := srv.WriteKubeconfig(*kubeconfig); err != nil {
			return err
		}
	}
	fmt.Fprintln(stdout, srv.URL)
	<-ctx.Done()
	return nil
}

// readTokens reads a token file: a line a user, with token, name, uid and,
// optionally, a quoted list of groups.
func readTokens(name string) ([]fakeapi.Option, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	var options []fakeapi.Option
	for {
		record, err := r.Read()
		if err == io.EOF {
			return options, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(record) < 3 {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: a token needs at least token, user and uid", name, line)
		}
		user := fakeapi.User{Name: record[1], UID: record[2]}
		if len(record) > 3 && record[3] != "" {
			user.Groups = strings.Split(record[3], ",")
		}
		options = append(options, fakeapi.WithToken(record[0], user))
	}
}
