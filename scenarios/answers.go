package scenarios

// An ExpectedAnswer is an answer that a scenario says something about: that to a step, or to one of
// its rows.
type ExpectedAnswer struct {
	Name string
	Step int
	Row  int // -1 for the answer to the step itself
	// Result is nil if the scenario ended before.
	Result *StepResult
}

// Answers returns the answers that the scenario says something about, in order, and the results.
func (r *Result) Answers() []ExpectedAnswer {
	var out []ExpectedAnswer
	for i := range r.Scenario.Steps {
		st := &r.Scenario.Steps[i]
		var result *StepResult
		if i < len(r.Steps) {
			result = &r.Steps[i]
		}
		switch {
		case st.Rows != nil:
			for j := range st.Rows {
				var row *StepResult
				if result != nil && j < len(result.Rows) {
					row = &result.Rows[j]
				}
				out = append(out, ExpectedAnswer{st.Rows[j].String(), i, j, row})
			}
		case st.Want != nil || st.compares():
			out = append(out, ExpectedAnswer{st.String(), i, -1, result})
		}
	}
	return out
}
