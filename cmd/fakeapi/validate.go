package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubefake/kubefake/cmd/fakeapi/internal/report"
	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/fakeapi/manifests"
	"github.com/kubefake/kubefake/internal/outputfile"
	"github.com/kubefake/kubefake/internal/printable"
	"github.com/kubefake/kubefake/internal/release"
)

// A validateCommand holds the flags of validate.
type validateCommand struct {
	config     manifests.Config
	report     report.Options
	profile    string
	gates      map[string]string
	plugins    apiserver.Config
	services   []string
	as         string
	groups     []string
	namespaces string
	prune      string
	validation string
	ignore     []string
	format     string
	file       string
	failOn     string
	color      string
	exitEarly  bool

	stdout, stderr io.Writer
}

// newValidateCommand returns the command validate.
func newValidateCommand() *cobra.Command {
	c := &validateCommand{}
	cmd := &cobra.Command{
		Use:   "validate FILE|FOLDER|-...",
		Short: "validate manifests as an API server does, without one",
		Long: `Validate gives the objects in files to the write path of an API server in this process: defaults,
validation, CEL rules, admission plugins and policies. Definitions, namespaces and policies of the
input take effect first, wherever they stand. The exit status is 1 if there are findings.`,
		Example: `  helm template ./chart | fakeapi validate -
  fakeapi validate --release 1.33,1.36 --crds config/crd deploy/ policies/`,
		SuggestFor: []string{"lint", "check", "verify", "kubeconform", "dry-run", "apply"},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.config.Stdin, c.stdout, c.stderr = cmd.InOrStdin(), printable.Unwrap(cmd.OutOrStdout()), cmd.ErrOrStderr()
			err := c.validate(cmd.Context(), args)
			if errors.Is(err, fakeapi.ErrInvalidOption) {
				return &usageError{errors.New(withFlag(cmd.Flags(), message(err)))}
			}
			return err
		},
	}
	setFlags(cmd, c.flags()...)
	completeValues(cmd, "release", release.Names()...)
	completeValues(cmd, "from", release.Names()...)
	completeValues(cmd, "to", release.Names()...)
	completeValues(cmd, "output", report.Formats()...)
	completeValues(cmd, "namespaces", "create", "require")
	completeValues(cmd, "validate", "strict", "warn", "ignore")
	completeValues(cmd, "prune", "background", "foreground", "orphan")
	completeValues(cmd, "fail-on", "error", "warning")
	completeValues(cmd, "color", "auto", "always", "never")
	return cmd
}

func (c *validateCommand) flags() []flagGroup {
	return []flagGroup{
		{"Input", func(fs flagSet) {
			fs.StringSliceVar(&c.ignore, "ignore-filename-pattern", nil, "do not read files whose names match `REGEXP`,...")
			fs.BoolVar(&c.config.StrictFiles, "strict-files", false, "fail for documents that are not objects, such as values.yaml")
			fs.StringSliceVar(&c.config.Skip, "skip", nil, "count objects of `KIND`,... such as Secret or apps/v1/Deployment, and do not validate them")
			fs.StringSliceVar(&c.config.Reject, "reject", nil, "fail for objects of `KIND`,...")
		}},
		{"Base", func(fs flagSet) {
			fs.StringVar(&c.config.Base, "base", "", "say what becomes of the objects of `PATH`, which the input updates: a file, a folder, or git:REVISION for what the input was at a revision")
			fs.StringVar(&c.prune, "prune", "", "delete the objects of the base that the input does not have, `MODE`: background, foreground or orphan; by default they stay")
			fs.Lookup("prune").NoOptDefVal = "background"
		}},
		{"API server", func(fs flagSet) {
			fs.StringSliceVar(&c.config.Releases, "release", nil, "validate with Kubernetes `RELEASE`,... such as 1.33,1.36; \"fakeapi version\" lists them (default "+release.Default+")")
			fs.StringVar(&c.config.From, "from", "", "say what an upgrade from Kubernetes `RELEASE` to that of --to does to the objects; those with a uid are stored as they are, as fakeapi record --objects has read them")
			fs.StringVar(&c.config.To, "to", "", "upgrade to Kubernetes `RELEASE`, one minor release after the other (default "+release.Default+")")
			fs.StringSliceVar(&c.config.CRDs, "crds", nil, "serve the kinds that CustomResourceDefinitions or JSON schemas in `PATH`,... define: files, folders, or a template of kubeconform for the names of schemas")
			fs.StringVar(&c.profile, "profile", "", "validate with the release, the definitions and the policies of the cluster that fakeapi record --profile has written to `FILE`")
			fs.BoolVar(&c.config.IgnoreMissingKinds, "ignore-missing-kinds", false, "count objects of kinds without a definition, and do not fail")
			fs.StringToStringVar(&c.gates, "feature-gates", nil, "set feature gates: `NAME=BOOL`,...")
			fs.StringSliceVar(&c.plugins.EnableAdmissionPlugins, "enable-admission-plugins", nil, "turn admission plugins `NAME`,... on")
			fs.StringSliceVar(&c.plugins.DisableAdmissionPlugins, "disable-admission-plugins", nil, "turn admission plugins `NAME`,... off")
			fs.StringSliceVar(&c.services, "webhook-service", nil, "call the webhooks of a Service at an address: `NAMESPACE/NAME=HOST:PORT`,...; by default webhooks are not called")
		}},
		{"Requests", func(fs flagSet) {
			fs.BoolVar(&c.config.Create, "create", false, "create the objects; by default they are applied, as by kubectl apply --server-side")
			fs.StringVar(&c.validation, "validate", "strict", "what unknown and duplicate fields do, `MODE`: strict, warn or ignore")
			fs.StringVar(&c.config.Namespace, "namespace", "default", "the namespace `NAME` of objects that name none")
			fs.StringVar(&c.namespaces, "namespaces", "create", "what objects in namespaces that do not exist do, `MODE`: create the namespace, or require it and fail")
			fs.StringVar(&c.as, "as", "", "write the objects as `USER`, whose permissions are those of the roles and bindings in the input")
			fs.StringSliceVar(&c.groups, "as-group", nil, "write the objects as a member of `GROUP`,...")
		}},
		{"Output", func(fs flagSet) {
			fs.StringVarP(&c.format, "output", "o", "text", "print the results as `FORMAT`: "+strings.Join(report.Formats(), ", ")+"; yaml is what the server would store")
			fs.StringVar(&c.file, "output-file", "", "print the results to `FILE`")
			fs.BoolVar(&c.report.Verbose, "verbose", false, "print valid objects and documents that are not objects too")
			fs.BoolVar(&c.report.Summary, "summary", false, "print the counts of each kind at the end of the text")
			fs.BoolVar(&c.report.Diff, "diff", false, "print in the text what defaults and policies change in each object")
			fs.StringVar(&c.color, "color", "auto", "color text, `MODE`: auto, which is on terminals without NO_COLOR, always or never")
			fs.StringVar(&c.failOn, "fail-on", "error", "exit with status 1 for findings of `SEVERITY`: error or warning")
			fs.BoolVar(&c.exitEarly, "exit-on-error", false, "stop at the first object that fails")
			fs.IntVarP(&c.config.Workers, "workers", "n", 0, "validate `NUMBER` objects at a time (default the number of CPUs)")
		}},
	}
}

// validateMemory is the size of the heap of a validation, unless more of it is live.
const validateMemory = 192 << 20

// errFindings ends a run with findings, which are printed.
var errFindings = errors.New("findings")

// configure sets what the flags say. It fails with a usageError.
func (c *validateCommand) configure() error {
	choice := func(flag, value string, values ...string) error {
		for _, v := range values {
			if v == value {
				return nil
			}
		}
		return &usageError{fmt.Errorf("--%s: %q is not %s", flag, value, strings.Join(values, " or "))}
	}
	if err := errors.Join(
		choice("validate", c.validation, "strict", "warn", "ignore"),
		choice("namespaces", c.namespaces, "create", "require"),
		choice("fail-on", c.failOn, "error", "warning"),
		choice("color", c.color, "auto", "always", "never"),
		choice("output", c.format, report.Formats()...),
	); err != nil {
		return &usageError{err}
	}
	c.config.FieldValidation = map[string]string{"strict": "Strict", "warn": "Warn", "ignore": "Ignore"}[c.validation]
	c.config.Prune = map[string]string{"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}[c.prune]
	if c.prune != "" && c.config.Prune == "" {
		return &usageError{fmt.Errorf("--prune: %q is not background or foreground or orphan", c.prune)}
	}
	if c.config.To != "" && c.config.From == "" {
		return &usageError{errors.New("--to needs --from")}
	}
	if c.config.Prune != "" && c.config.Base == "" {
		return &usageError{errors.New("--prune needs --base")}
	}
	if c.config.Create && c.config.Base != "" {
		return &usageError{errors.New("--create and --base exclude each other: the objects of the base exist")}
	}
	c.config.RequireNamespaces = c.namespaces == "require"
	c.config.Objects = c.format == "yaml" || c.report.Diff
	c.report.Version = programVersion()
	for _, pattern := range c.ignore {
		p, err := regexp.Compile(pattern)
		if err != nil {
			return &usageError{fmt.Errorf("--ignore-filename-pattern: %w", err)}
		}
		c.config.IgnoreFiles = append(c.config.IgnoreFiles, p)
	}
	if len(c.groups) > 0 && c.as == "" {
		return &usageError{errors.New("--as-group needs --as")}
	}
	if c.as != "" {
		c.config.User = &fakeapi.User{Name: c.as, Groups: c.groups}
	}
	for _, s := range c.services {
		service, addr, ok := strings.Cut(s, "=")
		if !ok {
			return &usageError{fmt.Errorf("--webhook-service: %q is not NAMESPACE/NAME=HOST:PORT", s)}
		}
		if c.config.WebhookServices == nil {
			c.config.WebhookServices = map[string]string{}
		}
		c.config.WebhookServices[service] = addr
	}
	if c.profile != "" {
		c.config.Options = append(c.config.Options, fakeapi.WithProfileFile(c.profile))
	}
	gates := map[string]bool{}
	for name, value := range c.gates {
		if value != "true" && value != "false" {
			return &usageError{fmt.Errorf("--feature-gates: the value of %s must be true or false", name)}
		}
		gates[name] = value == "true"
	}
	c.plugins.FeatureGates = gates
	c.config.Options = append(c.config.Options, fakeapi.WithAPIServer(c.plugins))
	return nil
}

// validate validates the objects of paths and prints the results.
func (c *validateCommand) validate(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return &usageError{errors.New("no files; - is the standard input")}
	}
	if err := c.configure(); err != nil {
		return err
	}
	if c.file == "" {
		return c.print(ctx, c.stdout, paths)
	}
	var result error
	err := outputfile.Write(c.file, 0o644, func(w io.Writer) error {
		if result = c.print(ctx, w, paths); errors.Is(result, errFindings) {
			return nil
		}
		return result
	})
	if err != nil {
		return err
	}
	return result
}

// print prints the results to w. It fails with errFindings if there are findings that fail.
func (c *validateCommand) print(ctx context.Context, w io.Writer, paths []string) error {
	start := time.Now()
	defer boundHeap(validateMemory)()
	c.report.Color = c.color == "always" || c.color == "auto" && os.Getenv("NO_COLOR") == "" && isTerminal(w)
	out, err := report.New(c.format, w, c.report)
	if err != nil {
		return err
	}
	var also report.Writer // of what -o yaml cannot show
	if c.format == "yaml" {
		if also, err = report.New("text", c.stderr, report.Options{}); err != nil {
			return err
		}
	}
	least := manifests.Error
	if c.failOn == "warning" {
		least = manifests.Warning
	}
	end := report.End{}
	failed := false
	progress := newProgress(c.stderr, start)
	defer progress.clear()
	for r, err := range manifests.Validate(ctx, c.config, paths...) {
		if err != nil {
			return err
		}
		end.Summary.Add(r)
		for i, a := range r.Answers {
			if i == len(end.Releases) {
				end.Releases = append(end.Releases, a.Release)
			}
		}
		failed = failed || r.Failed(least)
		progress.show(&end.Summary)
		if err := out.Write(r); err != nil {
			return err
		}
		if also != nil {
			if err := also.Write(r); err != nil {
				return err
			}
		}
		if failed && c.exitEarly {
			break
		}
	}
	end.Duration = time.Since(start)
	if also != nil {
		err = also.Close(end)
	}
	if err := errors.Join(out.Close(end), err); err != nil {
		return err
	}
	if failed {
		return errFindings
	}
	return nil
}

// A progress is a line on a terminal that counts the objects of a long run.
type progress struct {
	w    io.Writer // nil: there is no terminal
	next time.Time // when the line is written again
	on   bool      // the line is there
}

// The first line comes after progressDelay, and the next ones after progressInterval.
const (
	progressDelay    = time.Second
	progressInterval = 200 * time.Millisecond
)

func newProgress(stderr io.Writer, start time.Time) *progress {
	p := &progress{next: start.Add(progressDelay)}
	if w := printable.Unwrap(stderr); isTerminal(w) {
		p.w = w
	}
	return p
}

// show clears the line, so that a result can be printed, and writes it again when it is time.
func (p *progress) show(s *manifests.Summary) {
	p.clear()
	if now := time.Now(); p.w != nil && now.After(p.next) {
		p.next, p.on = now.Add(progressInterval), true
		fmt.Fprintf(p.w, "%d objects, %d invalid", s.Objects, s.Invalid)
	}
}

// clear removes the line.
func (p *progress) clear() {
	if p.on {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.on = false
	}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
