package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/clusters"
	"github.com/kubefake/kubefake/internal/inputfile"
	"github.com/kubefake/kubefake/internal/outputfile"
)

// maxReplicas is the greatest value of --replicas.
const maxReplicas = 16

// An otherServer is what the output has about a server beside the first one: a replica, or the server
// of another cluster.
type otherServer struct {
	label string // such as "replica 2"
	url   string
	text  string // what follows the URL; "" for nothing
}

// otherServers starts the servers of --replicas, and returns them, or those of --clusters. The
// first server ends them. The caller must call remove.
func (c *serveCommand) otherServers(first *fakeapi.Server) (others []otherServer, remove func(), err error) {
	var removals []func()
	remove = func() {
		for _, f := range removals {
			f()
		}
	}
	for number := 2; number <= c.replicas; number++ {
		srv, err := first.NewReplica()
		if err != nil {
			remove()
			return nil, nil, err
		}
		kubeconfig, removeFile, err := c.writeKubeconfig(srv, number)
		if err != nil {
			remove()
			return nil, nil, err
		}
		removals = append(removals, removeFile)
		others = append(others, otherServer{fmt.Sprintf("replica %d", number), srv.URL, kubeconfig})
	}
	for i, name := range c.clusters {
		srv := clusters.Get(first, name)
		if i > 0 && c.kubeconfig == "" { // other commands find it by its address
			_, removeFile, err := c.writeKubeconfig(srv, 1)
			if err != nil {
				remove()
				return nil, nil, err
			}
			removals = append(removals, removeFile)
		}
		if i > 0 {
			others = append(others, otherServer{"cluster", srv.URL, "kubectl --context " + quote(name)})
		}
	}
	return others, remove, nil
}

// kubeconfigOf returns the kubeconfig file of a replica: a.kubeconfig, a-2.kubeconfig.
func (c *serveCommand) kubeconfigOf(number int) string {
	if number == 1 {
		return c.kubeconfig
	}
	extension := filepath.Ext(c.kubeconfig)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(c.kubeconfig, extension), number, extension)
}

// writeKubeconfig writes the kubeconfig of a replica to the file of --kubeconfig, or
// to the file in which other commands find it. The caller must call remove, which
// removes the latter. If that file cannot be written, name is "".
func (c *serveCommand) writeKubeconfig(srv *fakeapi.Server, number int) (name string, remove func(), err error) {
	remove = func() {}
	if c.kubeconfig != "" {
		name = c.kubeconfigOf(number)
		return name, remove, outputfile.WriteText(name, srv.Kubeconfig(), 0o600)
	}
	_, host, _ := strings.Cut(srv.URL, "://")
	name, err = servedKubeconfig(host)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o700)
	}
	if err == nil {
		removeStaleKubeconfigs(filepath.Dir(name))
		err = outputfile.WriteText(name, append([]byte(thisProcess()), srv.Kubeconfig()...), 0o600)
	}
	if err != nil {
		return "", remove, nil // there may be no home directory
	}
	return name, func() { os.Remove(name) }, nil
}

// processComment begins a kubeconfig in the cache directory. It names the process of the server,
// which removes the file unless it is killed.
const processComment = "# fakeapi serve: process %d of %q\n"

// thisProcess returns the comment of this process.
func thisProcess() string {
	host, _ := os.Hostname()
	return fmt.Sprintf(processComment, os.Getpid(), host)
}

// removeStaleKubeconfigs removes the kubeconfigs of servers that were killed. Processes of other
// hosts, such as containers that share the folder, may be alive.
func removeStaleKubeconfigs(dir string) {
	here, _ := os.Hostname()
	names, _ := filepath.Glob(filepath.Join(dir, "*.kubeconfig")) // none if the pattern is malformed
	for _, name := range names {
		var pid int
		var host string
		text, err := inputfile.Read(name)
		if err != nil {
			continue
		}
		if _, err := fmt.Sscanf(string(text), processComment, &pid, &host); err == nil && pid > 1 && host == here && !isAlive(pid) {
			_ = os.Remove(name)
		}
	}
}

// printNextSteps prints how to use a server. kubeconfig is its kubeconfig file, "" if
// there is none.
func (c *serveCommand) printNextSteps(w io.Writer, url, kubeconfig string, others []otherServer) {
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
	for _, o := range others {
		fmt.Fprintf(w, "%-12s%s\n", o.label, strings.TrimSpace(o.url+" "+o.text))
	}
	if c.control {
		name := "page"
		if c.tokens != "" { // a browser sends no token
			name = "control"
		}
		fmt.Fprintf(w, "%-11s %s/debug/fakeapi/\nstory       %s\n", name, url, log)
	}
	fmt.Fprint(w, "stop        Ctrl+C\n")
	if len(c.controllers) == 0 {
		fmt.Fprint(w, "controllers: none (--controllers '*' runs Deployments, namespaces, ...)\n")
	}
}

// quote returns a word of a command line for a path.
func quote(path string) string {
	if strings.ContainsAny(path, " '\"$`\\*?[]()&;<>|~#!") {
		return strconv.Quote(path)
	}
	return path
}

// A sharedWriter may be written by several goroutines, as the log of a server is: reloads of
// files and upgrades happen while the server runs.
type sharedWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

// Write implements [io.Writer].
func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
