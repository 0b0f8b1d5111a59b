package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/internal/outputfile"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/story"
)

// A logCommand holds the flags of log.
type logCommand struct {
	target target
	html   string
	lines  int
	show   bool // secrets
}

// newLogCommand returns the command log.
func newLogCommand() *cobra.Command {
	c := &logCommand{}
	cmd := &cobra.Command{
		Use:        "log",
		Short:      "print the story of a server, as text or as an HTML page",
		SuggestFor: []string{"story", "history", "events"},
		Args:       noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	setFlags(cmd, c.flags()...)
	return cmd
}

// run prints the story of a running server, or writes it to an HTML page.
func (c *logCommand) run(ctx context.Context, stdout io.Writer) error {
	s, err := c.story(ctx)
	if err != nil {
		return err
	}
	if c.html == "" {
		_, err := io.WriteString(stdout, s.Text(c.lines))
		return err
	}
	return outputfile.Write(c.html, 0o666, s.WritePage)
}

func (c *logCommand) flags() []flagGroup {
	return []flagGroup{
		{"The server", func(fs flagSet) {
			fs.StringVar(&c.target.server, "server", defaultAddress, "read the story of the server at `URL`")
			fs.StringVar(&c.target.kubeconfig, "kubeconfig", "", "use the server and the user of the kubeconfig `FILE` instead")
		}},
		{"Output", func(fs flagSet) {
			fs.IntVar(&c.lines, "lines", 40, "print the last `NUMBER` entries")
			fs.StringVar(&c.html, "html", "", "write the whole story to `FILE`, as an HTML page, instead of printing")
			fs.BoolVar(&c.show, "show-secrets", false, "show secrets, such as the data of Secrets and tokens in URLs")
		}},
	}
}

// story reads the story from the server.
func (c *logCommand) story(ctx context.Context) (*story.Story, error) {
	cluster, err := c.target.cluster(ctx)
	if err != nil {
		return nil, err
	}
	url := cluster.URL + "/debug/fakeapi/story"
	if c.show {
		url += "?showSecrets=true"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: cluster.Transport}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, c.target.remedy(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		var failure status.Status
		if json.Unmarshal(text, &failure) == nil && failure.Message != "" {
			text = []byte(failure.Message)
		}
		return nil, fmt.Errorf("%s has no story: %s: %s%s", cluster.URL, resp.Status, bytes.TrimSpace(text), c.target.remedyOf(resp.StatusCode, cluster.URL))
	}
	s, err := story.Read(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("the story of %s cannot be read: %w", cluster.URL, err)
	}
	return s, nil
}
