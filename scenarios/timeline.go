package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// A timeline measures the time since the start of a scenario.
type timeline struct {
	started time.Time // on the server's clock if manual, else on the wall clock
	// manual reports whether the server's clock moves only when it is advanced.
	manual bool
	// advanced is how far the play has advanced a clock that is not manual.
	advanced time.Duration
}

// startTime starts the time line and makes the changes of the history that have
// no offset. It does nothing for a scenario that does not depend on time.
func (p *play) startTime() error {
	if !p.scenario.dependsOnTime() {
		return nil
	}
	p.time.started = time.Now()
	// Without a control endpoint, the wall clock is used.
	if now, err := p.clock(); err == nil && now.Manual {
		p.time = timeline{started: now.Now, manual: true}
	}
	return p.applyDueHistory()
}

// dependsOnTime reports whether the scenario has a history, offsets or pauses.
func (s *Scenario) dependsOnTime() bool {
	if len(s.History) > 0 {
		return true
	}
	for i := range s.Steps {
		if st := &s.Steps[i]; st.At+st.Pause+st.Advance > 0 {
			return true
		}
	}
	return false
}

// elapsed returns the time since the start of the scenario.
func (p *play) elapsed() (time.Duration, error) {
	if !p.time.manual {
		return time.Since(p.time.started) + p.time.advanced, nil
	}
	now, err := p.clock()
	return now.Now.Sub(p.time.started), err
}

// clockState is what the control endpoint reports about the server's clock.
type clockState struct {
	Now     time.Time `json:"now"`
	Manual  bool      `json:"manual"`
	Waiting int       `json:"waiting"`
}

// clock reads the server's clock.
func (p *play) clock() (now clockState, err error) {
	status, body, err := p.call(http.MethodGet, "clock", "")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("clock: %d %s", status, message(body))
	}
	if err != nil {
		return now, err
	}
	return now, json.Unmarshal(body, &now)
}

// wait lets time pass. It advances a manual clock and waits for any other.
func (p *play) wait(d time.Duration) error {
	if p.time.manual {
		return p.advance(d)
	}
	select {
	case <-time.After(d):
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// advance advances the server's clock.
func (p *play) advance(d time.Duration) error {
	p.time.advanced += d
	return p.post("clock", map[string]string{"advance": d.String()})
}

// passTime lets time pass with one of the two functions above. Meanwhile it makes
// the changes of the history, each at its time.
func (p *play) passTime(d time.Duration, move func(time.Duration) error) error {
	now, err := p.elapsed()
	if err != nil {
		return err
	}
	return p.passTimeUntil(now+d, move)
}

func (p *play) passTimeUntil(to time.Duration, move func(time.Duration) error) error {
	now, err := p.elapsed()
	for err == nil && len(p.history) > 0 && time.Duration(p.history[0].At) <= to {
		c := p.history[0]
		if now, err = p.moveTo(now, time.Duration(c.At), move); err != nil {
			return err
		}
		p.history = p.history[1:]
		if err = p.change(c); err != nil {
			return fmt.Errorf("history at %s: %w", c.At, err)
		}
	}
	if err == nil {
		_, err = p.moveTo(now, to, move)
	}
	return err
}

// moveTo lets time pass from now until to, unless to is not later. It returns the
// time afterwards.
func (p *play) moveTo(now, to time.Duration, move func(time.Duration) error) (time.Duration, error) {
	if to <= now {
		return now, nil
	}
	if err := move(to - now); err != nil || p.time.manual {
		return to, err
	}
	return p.elapsed()
}

// waitUntilOffset waits until the offset of a step.
func (p *play) waitUntilOffset(at Duration) error {
	if at == 0 {
		return p.applyDueHistory()
	}
	return p.passTimeUntil(time.Duration(at), p.wait)
}

// applyDueHistory makes the changes of the history that are due.
func (p *play) applyDueHistory() error {
	if len(p.history) == 0 {
		return nil
	}
	now, err := p.elapsed()
	if err != nil {
		return err
	}
	return p.passTimeUntil(now, p.wait)
}

// finishHistory makes the remaining changes of the history.
func (p *play) finishHistory() error {
	if len(p.history) == 0 {
		return nil
	}
	return p.passTimeUntil(time.Duration(p.history[len(p.history)-1].At), p.wait)
}

// historyDue returns a channel that receives when the next change of the history
// is due. It is nil if no change is left, or if a manual clock stands still.
func (p *play) historyDue() <-chan time.Time {
	if len(p.history) == 0 || p.time.manual {
		return nil
	}
	now, err := p.elapsed()
	if err != nil {
		return nil // applyDueHistory returns the error
	}
	return time.After(time.Duration(p.history[0].At) - now)
}
