package explore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Running is what a search that goes on has said last. It says something about once a second; a
// search whose process was killed says nothing more.
type Running struct {
	Shard string `json:"shard,omitempty"`
	// Stage is what the search tries: plans with one decision, plans with two decisions, or random
	// plans. Plans is how many of them it has, so far as it knows, and Done how many it has run.
	Stage string `json:"stage"`
	Plans int    `json:"plans"`
	Done  int    `json:"done"`
	// Began and Said are times of this process, and Ends is when the search ends at the latest.
	Began time.Time `json:"began"`
	Said  time.Time `json:"said"`
	Ends  time.Time `json:"ends"`
}

// String returns what is known of the search on one line.
func (r Running) String() string {
	text := fmt.Sprintf("%d %s", r.Done, r.Stage)
	if r.Stage != randomStage {
		text = fmt.Sprintf("%d of %d %s", r.Done, r.Plans, r.Stage)
	}
	if r.Shard != "" {
		text = "shard " + r.Shard + ": " + text
	}
	return fmt.Sprintf("%s, after %v", text, r.Said.Sub(r.Began).Round(time.Second))
}

const (
	singlesStage = "plans with one decision"
	pairsStage   = "plans with two decisions"
	randomStage  = "random plans"
)

const (
	// saidEvery is how often a search says what it has tried.
	saidEvery = time.Second
	// saidShare is the inverse of the time that this may take.
	saidShare = 20
)

// A runningFile is the file in which a search says what it has tried so far, as a record. Its zero
// value has no file.
type runningFile struct {
	Running
	name string // of the file
	next time.Time
}

// runningFiles matches the names of such files.
const runningFiles = "running*.json"

// runningFileOf returns the file of a search that begins. A search of the same shard that was killed
// has left its file, which the new one replaces.
func (s *search) runningFileOf() runningFile {
	p := runningFile{Running: Running{Shard: s.system.Shard.String(), Began: s.began, Ends: s.deadline}}
	if s.records() {
		words := append([]string{"running"}, strings.FieldsFunc(p.Shard, func(r rune) bool { return r == '/' })...)
		p.name = filepath.Join(s.files.dir, strings.Join(words, "-")+".json")
	}
	return p
}

// records reports whether the search leaves a record.
func (s *search) records() bool { return s.system.Record && s.system.PlanFile == "" }

// begin adds plans to a stage. A stage begins with its first plans.
func (p *runningFile) begin(stage string, plans int) {
	if p.Stage != stage {
		p.Stage, p.Plans, p.Done = stage, 0, 0
	}
	p.Plans += plans
}

// say writes the file if it is time to. The search does not need it: whether its directory can be
// written shows at its end.
func (s *search) say() {
	p, now := &s.running, time.Now()
	if p.name == "" || now.Before(p.next) {
		return
	}
	p.Said = now
	r := s.record()
	r.Running = &p.Running
	_ = r.writeTo(p.name)
	p.next = now.Add(max(saidEvery, saidShare*time.Since(now)))
}

// end removes the file.
func (p *runningFile) end() {
	if p.name != "" {
		_ = os.Remove(p.name)
	}
}
