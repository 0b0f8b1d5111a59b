package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/kubefake/kubefake/internal/kubeconfig"
	"github.com/kubefake/kubefake/internal/story"
)

// A logCommand is the command line of log.
type logCommand struct {
	server     string
	kubeconfig string
	html       string
	lines      int
}

// log prints the story of a server that runs, or writes it as a page.
func log(ctx context.Context, args []string, stdout io.Writer) error {
	c := &logCommand{}
	if help, err := c.flags().parse(args, stdout); help || err != nil {
		return err
	}
	told, err := c.story(ctx)
	if err != nil {
		return err
	}
	if c.html == "" {
		_, err := io.WriteString(stdout, told.Text(c.lines))
		return err
	}
	f, err := os.Create(c.html)
	if err != nil {
		return err
	}
	if err := told.WritePage(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (c *logCommand) flags() *flagSet {
	return &flagSet{
		synopsis: "fakeapi log [flags]",
		groups: []flagGroup{
			{"The server", func(fs *flag.FlagSet) {
				fs.StringVar(&c.server, "server", "http://127.0.0.1:8080", "ask the server at `URL`")
				fs.StringVar(&c.kubeconfig, "kubeconfig", "", "ask the server of the kubeconfig `FILE`, as serve --kubeconfig writes it, instead")
			}},
			{"What is told", func(fs *flag.FlagSet) {
				fs.IntVar(&c.lines, "lines", 40, "print the newest `NUMBER` of things that happened")
				fs.StringVar(&c.html, "html", "", "write everything to `FILE`, as a page for a browser, and print nothing")
			}},
		},
	}
}

// story asks the server for its story.
func (c *logCommand) story(ctx context.Context) (*story.Story, error) {
	cluster := &kubeconfig.Cluster{URL: strings.TrimSuffix(c.server, "/"), Transport: http.DefaultTransport}
	if c.kubeconfig != "" {
		var err error
		if cluster, err = kubeconfig.Load(ctx, c.kubeconfig, ""); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, cluster.URL+"/debug/fakeapi/story", nil)
	if err != nil {
		return nil, &usageError{err}
	}
	client := &http.Client{Transport: cluster.Transport}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return nil, fmt.Errorf("%s tells no story: %s: %s", cluster.URL, resp.Status, strings.TrimSpace(string(text)))
	}
	told, err := story.Read(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s tells a story that cannot be read: %w", cluster.URL, err)
	}
	return told, nil
}
