package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kubefake/kubefake/fakeapi"
)

// writeKubeconfig writes the kubeconfig of a server to the file of --kubeconfig, or
// to the file in which other commands find it. The caller must call remove, which
// removes the latter. If that file cannot be written, name is "".
func (c *serveCommand) writeKubeconfig(srv *fakeapi.Server) (name string, remove func(), err error) {
	remove = func() {}
	if c.kubeconfig != "" {
		return c.kubeconfig, remove, srv.WriteKubeconfig(c.kubeconfig)
	}
	_, host, _ := strings.Cut(srv.URL, "://")
	name, err = servedKubeconfig(host)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o700)
	}
	if err == nil {
		err = srv.WriteKubeconfig(name)
	}
	if err != nil {
		return "", remove, nil // there may be no home directory
	}
	return name, func() { os.Remove(name) }, nil
}

// printNextSteps prints how to use a server. kubeconfig is its kubeconfig file, "" if
// there is none.
func (c *serveCommand) printNextSteps(w io.Writer, url, kubeconfig string) {
	if c.tokens != "" && !c.tls {
		fmt.Fprintln(w, "warning: kubectl, Helm and client-go send no token over plain HTTP, so they are system:anonymous here; add --tls")
	}
	if c.quiet {
		return
	}
	log := "fakeapi log --server " + url
	switch {
	case kubeconfig == "":
		fmt.Fprintf(w, "\nkubectl     kubectl --server %s get namespaces\n", url)
	default:
		fmt.Fprintf(w, "\nkubeconfig  %s\nkubectl     kubectl --kubeconfig %s get namespaces\n", kubeconfig, quote(kubeconfig))
		if c.kubeconfig != "" {
			log = "fakeapi log --kubeconfig " + quote(kubeconfig)
		} else if c.listen == defaultAddress {
			log = "fakeapi log"
		}
	}
	if c.control {
		fmt.Fprintf(w, "story       %s\n", log)
		if c.tokens == "" { // a browser sends no token
			fmt.Fprintf(w, "            %s/debug/fakeapi/story\n", url)
		}
		fmt.Fprintf(w, "control     %s/debug/fakeapi/\n", url)
	}
	fmt.Fprint(w, "stop        Ctrl+C\n")
}

// quote returns a word of a command line for a path.
func quote(path string) string {
	if strings.ContainsAny(path, " '\"$`\\*?[]()&;<>|~#!") {
		return strconv.Quote(path)
	}
	return path
}
