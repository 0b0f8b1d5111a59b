package corpus

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// Rebase makes the release of chosen the one of the corpus. It returns the recordings of the
// corpus as that release answered, and what the answers of the other releases differ in from
// them: of those in differences, and of the one that base is of.
func Rebase(base []Recording, chosen *Differences, differences []*Differences) (fresh []Recording, others []*Differences, err error) {
	if len(chosen.Without) > 0 {
		return nil, nil, fmt.Errorf("%s has no recording of %s", chosen.Release, strings.Join(chosen.Without, ", "))
	}
	previous := ""
	for _, r := range base {
		recorded, err := chosen.write(r)
		if err != nil {
			return nil, nil, err
		}
		fresh = append(fresh, recorded)
		if line := recordedLine.FindSubmatch(r.Text); line != nil {
			previous = string(line[1])
		}
	}
	d, err := Compare(fresh, base, previous)
	if err != nil {
		return nil, nil, err
	}
	others = append(others, d)
	for _, d := range differences {
		if d.Release == chosen.Release {
			continue
		}
		var recorded []Recording
		for _, r := range base {
			r, ok, err := d.Apply(r)
			if err != nil {
				return nil, nil, err
			}
			if ok {
				recorded = append(recorded, r)
			}
		}
		if d, err = Compare(fresh, recorded, d.Release); err != nil {
			return nil, nil, err
		}
		others = append(others, d)
	}
	return fresh, others, nil
}

var recordedLine = regexp.MustCompile(`(?m)^recorded: (\S+)$`)

// write returns a recording of the corpus as the release answers it, as YAML.
func (d *Differences) write(r Recording) (Recording, error) {
	applied, _, err := d.Apply(r)
	if err != nil {
		return r, err
	}
	if len(d.Answers[r.Name]) > 0 {
		if applied.Text, err = yaml.JSONToYAML(applied.Text); err != nil {
			return r, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	applied.Text = recordedLine.ReplaceAll(applied.Text, []byte("recorded: "+d.Release))
	answers, same, err := compareScenarios(r, applied)
	if err == nil && (!same || len(answers) != len(d.Answers[r.Name])) {
		err = fmt.Errorf("%s: YAML does not keep all values", r.Name)
	}
	return applied, err
}

// Write writes the files of recordings.
func Write(recordings []Recording) error {
	texts, order := map[string][]string{}, []string{}
	for _, r := range recordings {
		if texts[r.File] == nil {
			order = append(order, r.File)
		}
		texts[r.File] = append(texts[r.File], strings.TrimSuffix(string(r.Text), "\n"))
	}
	for _, file := range order {
		if err := os.WriteFile(file, []byte(strings.Join(texts[file], "\n---\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
