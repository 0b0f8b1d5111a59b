// Command record records the scenarios of testdata/corpus from a real kube-apiserver, which it
// starts with an empty etcd, and starts again with the feature gates that scenarios name:
//
//	go run ./corpus/record -kube-apiserver PATH -etcd PATH -out DIR
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubefake/kubefake/conformance/clientsuite/target"
	"github.com/kubefake/kubefake/conformance/corpus"
	"github.com/kubefake/kubefake/internal/release/controlplane"
	"github.com/kubefake/kubefake/scenarios"
)

const corpusDir = "testdata/corpus"

// timeout is how long a step waits: the server needs some seconds for work in the background.
const timeout = 10 * time.Second

func main() {
	log.SetFlags(0)
	log.SetPrefix("record: ")
	var e controlplane.Executables
	flag.StringVar(&e.APIServer, "kube-apiserver", "", "`PATH` of the kube-apiserver")
	flag.StringVar(&e.Etcd, "etcd", "", "`PATH` of its etcd")
	out := flag.String("out", "", "the `DIR` for the recordings")
	run := flag.String("run", "", "record only the scenarios whose names begin with `PREFIX`")
	flag.Parse()
	if flag.NArg() > 0 || e.APIServer == "" || e.Etcd == "" || *out == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := record(ctx, e, *run, *out); err != nil {
		log.Fatal(err)
	}
}

// record writes the recordings to the same files in a folder.
func record(ctx context.Context, e controlplane.Executables, run, out string) error {
	all, err := corpus.Read(corpusDir)
	if err != nil {
		return err
	}
	gated := map[string][]int{} // the scenarios by their feature gates
	var order []string
	for i, r := range all {
		s, err := r.Decode()
		if err != nil {
			return err
		}
		if !strings.HasPrefix(r.Name, run) {
			continue
		}
		gates := strings.Join(s.Gates, ",")
		if gated[gates] == nil {
			order = append(order, gates)
		}
		gated[gates] = append(gated[gates], i)
	}
	version, err := e.Version(ctx)
	if err != nil {
		return err
	}
	recorded := map[int]corpus.Recording{}
	for _, gates := range order {
		if err := recordWith(ctx, e, version, gates, all, gated[gates], recorded); err != nil {
			return err
		}
	}
	var list []corpus.Recording
	for i := range all {
		if r, ok := recorded[i]; ok {
			rel, err := filepath.Rel(corpusDir, r.File)
			if err != nil {
				return err
			}
			r.File = filepath.Join(out, rel)
			if err := os.MkdirAll(filepath.Dir(r.File), 0o755); err != nil {
				return err
			}
			list = append(list, r)
		}
	}
	fmt.Printf("recorded %d of %d scenarios\n", len(list), len(all))
	return corpus.Write(list)
}

// recordWith adds the recordings of the scenarios with the given indexes, from a server with
// feature gates. It prints what it cannot record.
func recordWith(ctx context.Context, e controlplane.Executables, version, gates string, all []corpus.Recording, indexes []int, recorded map[int]corpus.Recording) error {
	var flags []string
	for gate := range strings.SplitSeq(gates, ",") {
		if gate != "" {
			flags = append(flags, "--feature-gates="+gate+"=true")
		}
	}
	server, err := controlplane.Start(ctx, e, flags...)
	if err != nil {
		return err
	}
	defer server.Stop()
	address, err := url.Parse(server.URL)
	if err != nil {
		return err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableCompression: true}
	defer transport.CloseIdleConnections()
	recorder := &corpus.Recorder{
		Player: &scenarios.Player{
			URL: server.URL, Transport: transport, Token: controlplane.AdminToken, Timeout: timeout,
			Compact: func() error { return target.CompactEtcd(server.Etcd) },
		},
		Port:    address.Port(),
		Version: version,
	}
	for _, i := range indexes {
		r, report, err := recorder.Record(ctx, all[i])
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			fmt.Println("not recorded:", err)
			continue
		}
		for _, step := range report.Dropped {
			fmt.Println("without an answer:", step)
		}
		if report.Plays > 1 && !report.Changed {
			fmt.Printf("played %d times until all answers came: %s\n", report.Plays, r.Name)
		}
		recorded[i] = r
	}
	return nil
}
