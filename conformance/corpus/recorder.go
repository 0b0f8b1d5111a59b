package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/kubefake/kubefake/scenarios"
)

// A Recorder records what a real kube-apiserver answers to the requests of the corpus.
type Recorder struct {
	// Player sends the requests.
	Player *scenarios.Player
	// Port is that of the server. Where an answer has an IP address with it, any text may be.
	Port string
	// Version is that of the server.
	Version string
}

// maxPlays is how often a scenario is played at most. The timing of a server decides some answers,
// such as which of two events a watch sends: most come in a few plays.
const maxPlays = 8

// A Report is what Record has done.
type Report struct {
	Plays   int      // of the scenario
	Changed bool     // an answer did not come
	Dropped []string // the steps without an answer
}

// Record plays a recording until each step has had the answer that the recording has, at most
// maxPlays times, and returns it with the answers of this server. An answer that the server has
// given in one of the plays stays as it is. Of others, what the first two plays agree on is written
// out, and what differs is a placeholder; a step whose status differs keeps no answer.
func (r *Recorder) Record(ctx context.Context, recording Recording) (recorded Recording, report Report, err error) {
	doc, err := recording.document()
	if err != nil {
		return recording, report, err
	}
	var plays [][]scenarios.StepResult
	open := map[int]bool{} // the steps whose answer has not come
	for i := range doc.steps() {
		if doc.steps()[i].(map[string]any)["want"] != nil {
			open[i] = true
		}
	}
	for first := true; first || len(open) > 0 && len(plays) < maxPlays; first = false {
		play, err := r.play(ctx, recording)
		if err != nil {
			return recording, report, fmt.Errorf("%s: %w", recording.Name, err)
		}
		plays = append(plays, play)
		maps.DeleteFunc(open, func(i int, _ bool) bool { return len(play[i].Diffs) == 0 })
	}
	report.Plays, report.Changed = len(plays), len(open) > 0
	for _, i := range slices.Sorted(maps.Keys(open)) {
		step := doc.steps()[i].(map[string]any)
		one, two := plays[0][i].Got, plays[1][i].Got
		if one.Status != two.Status {
			delete(step, "want")
			report.Dropped = append(report.Dropped, fmt.Sprintf("%s step %d: status %d, then %d", recording.Name, i, one.Status, two.Status))
			continue
		}
		want, err := asDocument(mergeAnswers(one, two))
		if err != nil {
			return recording, report, err
		}
		step["want"] = keepVersions(step["want"], want)
	}
	recorded, err = recording.withSteps(doc, r.Version)
	return recorded, report, err
}

// withSteps returns the recording with the steps of a document. The text of one whose answers are
// the same stays as it is, but for the version.
func (r Recording) withSteps(doc document, version string) (Recording, error) {
	before, err := r.document()
	if err != nil {
		return r, err
	}
	if !reflect.DeepEqual(before["steps"], doc["steps"]) {
		text, err := json.Marshal(doc)
		if err == nil {
			r.Text, err = yaml.JSONToYAML(text)
		}
		if err != nil {
			return r, err
		}
	}
	r.Text = recordedLine.ReplaceAll(r.Text, []byte("recorded: "+version))
	return r, nil
}

// asDocument returns a value as it is in a decoded document.
func asDocument(v any) (out any, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return out, decode(text, &out)
}

// play plays a recording and returns the results of its steps, whose answers have placeholders for
// volatile values.
func (r *Recorder) play(ctx context.Context, recording Recording) ([]scenarios.StepResult, error) {
	s, err := recording.Decode()
	if err != nil {
		return nil, err
	}
	result := r.Player.Play(ctx, s)
	if result.Err != nil {
		return nil, result.Err
	}
	if len(result.Steps) != len(s.Steps) {
		return nil, errors.New("it ended early")
	}
	n := newNamer(r.Port)
	for _, step := range result.Steps {
		if step.Got == nil {
			continue
		}
		step.Got.Body = n.name(step.Got.Body, "")
		for e := range step.Got.Events {
			step.Got.Events[e] = n.name(step.Got.Events[e], "")
		}
	}
	return result.Steps, nil
}
