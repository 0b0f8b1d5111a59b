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

// A logCommand holds the flags of log.
type logCommand struct {
	server     string
	kubeconfig string
	html       string
	lines      int
}

// log prints the story of a running server, or writes it to an HTML page.
func log(ctx context.Context, args []string, stdout io.Writer) error {
	c := &logCommand{}
	if help, err := c.flags().parse(args, stdout); help || err != nil {
		return err
	}
	s, err := c.story(ctx)
	if err != nil {
		return err
	}
	if c.html == "" {
		_, err := io.WriteString(stdout, s.Text(c.lines))
		return err
	}
	f, err := os.Create(c.html)
	if err != nil {
		return err
	}
	if err := s.WritePage(f); err != nil {
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
				fs.StringVar(&c.server, "server", "http://127.0.0.1:8080", "read the story of the server at `URL`")
				fs.StringVar(&c.kubeconfig, "kubeconfig", "", "use the server and the user of the kubeconfig `FILE` instead")
			}},
			{"Output", func(fs *flag.FlagSet) {
				fs.IntVar(&c.lines, "lines", 40, "print the last `NUMBER` entries")
				fs.StringVar(&c.html, "html", "", "write the whole story to `FILE`, as an HTML page, instead of printing")
			}},
		},
	}
}

// story reads the story from the server.
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
		return nil, fmt.Errorf("%s has no story: %s: %s", cluster.URL, resp.Status, strings.TrimSpace(string(text)))
	}
	s, err := story.Read(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("the story of %s cannot be read: %w", cluster.URL, err)
	}
	return s, nil
}
