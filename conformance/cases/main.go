// Cases plays scripts of requests and compares what they print with what they print at a real
// kube-apiserver:
//
//	go run ./cases -dir DIR [CASE ...]
//
// Each folder of DIR with a requests.sh is a case. The script reads the variables SERVER, the URL
// of the server, and NS, the namespace that it makes for itself, and authenticates with the bearer
// token admintoken. Its folder has what a real server lets it print in expected.txt. The exit
// status is 1 if a case differs.
//
// The server is a `fakeapi serve` of this checkout with RBAC and the Service range 10.0.0.0/24,
// or that of -server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const tokens = `admintoken,admin,admin,"system:masters"
alicetoken,alice,alice,"devs"
`

func main() {
	log.SetFlags(0)
	log.SetPrefix("cases: ")
	dir := flag.String("dir", "", "the `DIR` with a folder for each case")
	server := flag.String("server", "", "the `URL` of the server; one of this checkout by default")
	flag.Parse()
	if *dir == "" {
		flag.Usage()
		os.Exit(2)
	}
	different, err := run(context.Background(), *dir, *server, flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	if different > 0 {
		os.Exit(1)
	}
}

// run plays the named cases, or all, and returns how many differ.
func run(ctx context.Context, dir, server string, names []string) (different int, err error) {
	scripts, err := filepath.Glob(filepath.Join(dir, "*", "requests.sh"))
	if err != nil {
		return 0, err
	}
	if len(scripts) == 0 {
		return 0, fmt.Errorf("no folder of %s has a requests.sh", dir)
	}
	for _, name := range names {
		if !slices.Contains(scripts, filepath.Join(dir, name, "requests.sh")) {
			return 0, fmt.Errorf("no case %s in %s", name, dir)
		}
	}
	if server == "" {
		var stop func()
		if server, stop, err = serve(ctx); err != nil {
			return 0, err
		}
		defer stop()
	}
	for i, script := range scripts {
		name := filepath.Base(filepath.Dir(script))
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		difference, err := play(ctx, script, server, fmt.Sprintf("case-%d-%d", os.Getpid(), i))
		if err != nil {
			return different, fmt.Errorf("%s: %w", name, err)
		}
		if difference == "" {
			fmt.Println("ok  ", name)
			continue
		}
		different++
		fmt.Printf("FAIL %s\n%s", name, difference)
	}
	return different, nil
}

// play runs the script of a case and returns the lines that it prints instead of those expected.
func play(ctx context.Context, script, server, namespace string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", script)
	c.Env = append(os.Environ(), "SERVER="+server, "NS="+namespace)
	c.Stderr = os.Stderr
	got, err := c.Output()
	if err != nil {
		return "", err
	}
	want, err := os.ReadFile(filepath.Join(filepath.Dir(script), "expected.txt"))
	return compare(string(want), string(got)), err
}

// compare returns the lines in which two texts differ, "" if they are equal.
func compare(want, got string) string {
	var out strings.Builder
	w, g := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	for i := range max(len(w), len(g)) {
		var left, right string
		if i < len(w) {
			left = w[i]
		}
		if i < len(g) {
			right = g[i]
		}
		if left != right {
			fmt.Fprintf(&out, "  line %d\n  - %s\n  + %s\n", i+1, strings.TrimSuffix(left, "\n"), strings.TrimSuffix(right, "\n"))
		}
	}
	return out.String()
}

// serve builds and starts a server on a free port. stop ends it.
func serve(ctx context.Context) (url string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "cases")
	if err != nil {
		return "", nil, err
	}
	program, users := filepath.Join(dir, "fakeapi"), filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(users, []byte(tokens), 0o600); err != nil {
		return "", nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/kubefake/kubefake/cmd/fakeapi")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := l.Addr().String()
	l.Close()
	c := exec.CommandContext(ctx, program, "serve", "--listen", address, "--token-auth-file", users,
		"--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24", "--controllers", "none")
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		c.Process.Kill()
		c.Wait()
		os.RemoveAll(dir)
	}
	url = "http://" + address
	for range 100 {
		if resp, err := http.Get(url + "/readyz"); err == nil {
			resp.Body.Close()
			return url, stop, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	return "", nil, errors.New("the server is not ready")
}
