package manifests

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/yamlpath"
)

// Validate validates the objects of files, folders with all that is in them, patterns of names, and
// the standard input, which is "-". Of folders it reads the files *.yaml, *.yml and *.json, whose
// names do not begin with a dot.
//
// It yields a result for each object, in the order of the input, and one for each file and document
// that is none. A problem of the input is a finding. An error is the last that Validate yields: ctx
// has ended, or the configuration is invalid, which is an fakeapi.ErrInvalidOption.
func Validate(ctx context.Context, c Config, paths ...string) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		v, err := newValidator(&c, paths)
		if err == nil {
			defer v.close()
			err = v.prepare(ctx, paths)
		}
		if err == nil {
			err = v.run(ctx, func(r *Result) bool { return yield(r, nil) })
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped is the error of a caller that wants no more results.
var errStopped = errors.New("stopped")

// A validator is a run of Validate.
type validator struct {
	config  *Config
	reader  *reader
	targets []*target          // one for each release
	base    *base              // nil without one
	effects map[place][]*reply // of the objects that take effect on others, one for each target
	locks   locks              // of an upgrade
}

func newValidator(c *Config, paths []string) (*validator, error) {
	v := &validator{config: c, reader: newReader(c, paths), effects: map[place][]*reply{}}
	switch c.FieldValidation {
	case "", "Strict", "Warn", "Ignore":
	default:
		return nil, fmt.Errorf("%w: FieldValidation %q is not Strict, Warn or Ignore", fakeapi.ErrInvalidOption, c.FieldValidation)
	}
	if err := c.checkBase(); err != nil {
		return nil, err
	}
	schemas := v.reader.newCatalog(c.CRDs)
	if c.From != "" || c.To != "" {
		var err error
		v.targets, err = newUpgrade(c, schemas)
		return v, err
	}
	releases := c.Releases
	if len(releases) == 0 {
		releases = []string{""}
	}
	for _, name := range releases {
		t, err := newTarget(c, name, schemas)
		if err != nil {
			v.close()
			return nil, err
		}
		v.targets = append(v.targets, t)
	}
	return v, nil
}

// writers returns the targets with a store of their own.
func (v *validator) writers() []*target {
	if v.config.From != "" {
		return v.targets[:1]
	}
	return v.targets
}

func (v *validator) close() {
	for _, t := range v.targets {
		t.close()
	}
}

// prepare stores what the answers for other objects depend on.
func (v *validator) prepare(ctx context.Context, paths []string) error {
	if err := v.storeDefinitions(ctx); err != nil {
		return err
	}
	if v.config.Base != "" {
		if err := v.storeBase(ctx, paths); err != nil {
			return err
		}
	}
	return v.takeEffect(ctx)
}

// A job is a document, or a file that cannot be read, while it is validated.
type job struct {
	file     *file
	document *document // nil for the file as a whole
	done     chan []*found
}

// A found result has the identity of its object, as far as it is known.
type found struct {
	*Result
	key objectKey
}

// run validates the input with several workers. It calls yield in the order of the input.
func (v *validator) run(ctx context.Context, yield func(*Result) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	n := v.config.workers()
	jobs, ordered := make(chan *job), make(chan *job, 16*n)
	running.Add(n + 1)
	go func() {
		defer running.Done()
		defer close(jobs)
		defer close(ordered)
		for j := range v.jobs(ctx) {
			select {
			case ordered <- j:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	for range n {
		go func() {
			defer running.Done()
			for j := range jobs {
				j.done <- v.validate(ctx, j)
			}
		}()
	}
	if err := v.base.eachBroken(yield); err != nil {
		return err
	}
	seen, incomplete := map[objectKey]*Result{}, false
	for j := range ordered {
		select {
		case results := <-j.done:
			for _, r := range results {
				v.markDuplicate(seen, r)
				incomplete = incomplete || r.Outcome == Unreadable
				if !yield(r.Result) {
					return errStopped
				}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil || v.base == nil {
		return err
	}
	return v.yieldRest(ctx, seen, incomplete, yield)
}

// jobs returns the documents of the input.
func (v *validator) jobs(ctx context.Context) iter.Seq[*job] {
	return func(yield func(*job) bool) {
		for f := range v.reader.files(ctx) {
			some := false
			for d := range f.documents() {
				some = true
				d.body = v.reader.bodies[d.place()]
				if !yield(&job{file: &f, document: d, done: make(chan []*found, 1)}) {
					return
				}
			}
			if !some && !yield(&job{file: &f, done: make(chan []*found, 1)}) {
				return
			}
		}
	}
}

// markDuplicate adds a finding to an object that was in the input before.
func (v *validator) markDuplicate(seen map[objectKey]*Result, r *found) {
	if r.key == (objectKey{}) {
		return
	}
	first := seen[r.key]
	if first == nil {
		seen[r.key] = &Result{File: r.File, Line: r.Line}
		return
	}
	r.Findings = append(r.Findings, Finding{
		Severity: Warning, Reason: "Duplicate", Line: r.Line, Column: r.Column,
		Message: fmt.Sprintf("the same object is at %s:%d; the last one that is written stays", first.File, first.Line),
	})
}

// validate returns the results of a job.
func (v *validator) validate(ctx context.Context, j *job) []*found {
	if j.document == nil {
		r := &Result{File: j.file.name, Outcome: NoObject, Findings: []Finding{{Reason: "NoObject", Message: "the file has no documents"}}}
		if j.file.err != nil {
			r.Outcome, r.Findings = Unreadable, []Finding{{Severity: Error, Reason: "File", Message: j.file.problem()}}
		}
		return []*found{{Result: v.judgeFile(r)}}
	}
	objects, err := j.document.objects(v.config, v.reader)
	if err != nil {
		return []*found{{Result: v.judgeFile(documentResult(j.document, "", err))}}
	}
	l := &locator{document: j.document}
	out := make([]*found, len(objects))
	for i, o := range objects {
		if o.err != nil {
			out[i] = &found{Result: v.judgeFile(documentResult(o.document, o.item, o.err))}
			continue
		}
		out[i] = v.validateObject(ctx, o, l)
	}
	return out
}

// judgeFile makes documents that are not objects errors with Config.StrictFiles.
func (v *validator) judgeFile(r *Result) *Result {
	if r.Outcome == NoObject && v.config.StrictFiles {
		r.Findings[0].Severity = Error
	}
	return r
}

// documentResult is the result of a document without objects, or of an item that is none.
func documentResult(d *document, item string, err error) *Result {
	r := &Result{File: d.file.name, Origin: d.origin, Document: d.number, Item: item}
	f := Finding{Severity: Error, Reason: "Syntax", Message: err.Error()}
	at := yamlpath.Position{Line: 1, Column: 1}
	var e *documentError
	if errors.As(err, &e) {
		r.Outcome = e.outcome
		at = yamlpath.Position{Line: max(1, e.line), Column: max(1, e.column)}
		if e.line == 0 && d.err == nil {
			at = (&locator{document: d}).object(item)
		}
	}
	if r.Outcome == NoObject {
		f.Severity, f.Reason = Note, "NoObject"
	}
	r.Line, r.Column = d.inFile(at)
	f.Line, f.Column, f.Text = r.Line, r.Column, d.lineOf(at.Line)
	r.Findings = []Finding{f}
	return r
}

// validateObject returns the result of an object.
func (v *validator) validateObject(ctx context.Context, o *object, l *locator) *found {
	r := &found{Result: o.result()}
	switch {
	case o.matches(v.config.Skip):
		r.Outcome = Skipped
	case o.matches(v.config.Reject):
		r.Outcome = Invalid
		r.Findings = []Finding{{Severity: Error, Reason: "Rejected", Message: fmt.Sprintf("the kind %s is rejected", o.kind)}}
	default:
		v.ask(ctx, o, r)
	}
	r.locate(l)
	return r
}

// ask sets the outcome and the findings of an object from the answers of the servers.
func (v *validator) ask(ctx context.Context, o *object, r *found) {
	if v.config.From != "" {
		v.askUpgrade(ctx, o, r)
		return
	}
	replies := v.effects[o.place()]
	if replies == nil {
		for _, t := range v.targets {
			sent := o
			if v.base != nil {
				sent = t.withOwnerUIDs(ctx, o)
			}
			replies = append(replies, t.write(ctx, sent, write{dryRun: true, user: v.config.User}))
		}
	}
	if v.config.Objects {
		_ = json.Unmarshal(o.body, &r.Object) // it is JSON
	}
	r.Outcome = Valid
	for _, reply := range replies {
		r.Answers = append(r.Answers, reply.Answer)
		if reply.key != (objectKey{}) {
			r.key = reply.key
			r.Namespace = cmp.Or(r.Namespace, reply.key.namespace)
		}
		switch {
		case reply.missing:
			if r.Outcome == Valid {
				r.Outcome = MissingKind
			}
			severity := Error
			if v.config.IgnoreMissingKinds {
				severity = Note
			}
			r.add(Finding{Severity: severity, Reason: "MissingKind", Field: "kind", Message: reply.Message}, reply.Release)
		case reply.Code >= 300:
			r.Outcome = Invalid
		}
		for _, f := range reply.findings() {
			r.add(f, reply.Release)
		}
	}
	if v.base != nil {
		v.compare(ctx, o, r, replies)
	}
	r.shortenReleases(len(v.targets))
}

// shortenReleases removes the releases of findings that all n of them have.
func (r *Result) shortenReleases(n int) {
	for i := range r.Findings {
		if len(r.Findings[i].Releases) == n {
			r.Findings[i].Releases = nil
		}
	}
}

// add adds a finding of a release, or the release to the same finding of others.
func (r *found) add(f Finding, release string) {
	for i := range r.Findings {
		if has := &r.Findings[i]; has.Message == f.Message && has.Field == f.Field && has.Severity == f.Severity {
			if !slices.Contains(has.Releases, release) { // kube-apiserver reports some twice
				has.Releases = append(has.Releases, release)
			}
			return
		}
	}
	f.Releases = []string{release}
	r.Findings = append(r.Findings, f)
}

// An inputError is an error of a document that the configuration names.
type inputError struct {
	document *document
	err      error
}

func (e *inputError) Error() string {
	return fmt.Sprintf("%s: document %d: %v", e.document.file.name, e.document.number, e.err)
}

func (e *inputError) Unwrap() []error { return []error{fakeapi.ErrInvalidOption, e.err} }

// refused is the error of an object that the server refuses.
type refused string

func (r refused) Error() string { return string(r) }
