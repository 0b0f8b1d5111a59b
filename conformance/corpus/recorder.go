package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

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

// Record plays a recording twice and returns it with the answers to the steps whose answers it
// has. What the two plays agree on is written out, what differs is a placeholder. A step with
// another status in the second play keeps no answer: its name is in dropped.
func (r *Recorder) Record(ctx context.Context, recording Recording) (recorded Recording, dropped []string, err error) {
	doc, err := recording.document()
	if err != nil {
		return recording, nil, err
	}
	var plays [2][]*scenarios.Answer
	for i := range plays {
		if plays[i], err = r.play(ctx, recording); err != nil {
			return recording, nil, fmt.Errorf("%s: %w", recording.Name, err)
		}
	}
	for i := range doc.steps() {
		step := doc.steps()[i].(map[string]any)
		if step["want"] == nil {
			continue
		}
		one, two := plays[0][i], plays[1][i]
		if one.Status != two.Status {
			delete(step, "want")
			dropped = append(dropped, fmt.Sprintf("%s step %d: status %d, then %d", recording.Name, i, one.Status, two.Status))
			continue
		}
		want, err := asDocument(mergeAnswers(one, two))
		if err != nil {
			return recording, nil, err
		}
		step["want"] = keepVersions(step["want"], want)
	}
	return recording.withSteps(doc, r.Version, dropped)
}

// withSteps returns the recording with the steps of a document. The text of one whose answers are
// the same stays as it is, but for the version.
func (r Recording) withSteps(doc document, version string, dropped []string) (Recording, []string, error) {
	before, err := r.document()
	if err != nil {
		return r, nil, err
	}
	if !reflect.DeepEqual(before["steps"], doc["steps"]) {
		text, err := json.Marshal(doc)
		if err == nil {
			r.Text, err = yaml.JSONToYAML(text)
		}
		if err != nil {
			return r, nil, err
		}
	}
	r.Text = recordedLine.ReplaceAll(r.Text, []byte("recorded: "+version))
	return r, dropped, nil
}

// asDocument returns a value as it is in a decoded document.
func asDocument(v any) (out any, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return out, decode(text, &out)
}

// play plays a recording and returns the answers, with placeholders for volatile values. The
// server's answers decide about nothing: no step has a want.
func (r *Recorder) play(ctx context.Context, recording Recording) ([]*scenarios.Answer, error) {
	s, err := recording.Decode()
	if err != nil {
		return nil, err
	}
	for i := range s.Steps {
		s.Steps[i].Want = nil
	}
	result := r.Player.Play(ctx, s)
	if result.Err != nil {
		return nil, result.Err
	}
	if len(result.Steps) != len(s.Steps) {
		return nil, errors.New("it ended early")
	}
	n := newNamer(r.Port)
	answers := make([]*scenarios.Answer, len(s.Steps))
	for i, step := range result.Steps {
		if answers[i] = step.Got; step.Got == nil {
			continue
		}
		answers[i].Body = n.name(answers[i].Body, "")
		for e := range answers[i].Events {
			answers[i].Events[e] = n.name(answers[i].Events[e], "")
		}
	}
	return answers, nil
}
