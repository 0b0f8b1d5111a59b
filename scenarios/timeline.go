package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// A timeline is the server's time since a scenario has begun.
type timeline struct {
	began time.Time
	// manual is whether the server's time stands still until it is moved. Began
	// is of the server's clock then, else of the wall clock.
	manual bool
	// moved is how far the play has moved a clock that runs.
	moved time.Duration
}

// startTime begins the timeline, and makes what the history begins with. A
// scenario in which no time passes needs none.
func (p *play) startTime() error {
	if !p.scenario.timed() {
		return nil
	}
	p.time.began = time.Now()
	// A server without a control endpoint has the wall clock.
	if now, err := p.clock(); err == nil && now.Manual {
		p.time = timeline{began: now.Now, manual: true}
	}
	return p.catchUp()
}

// timed reports whether anything of the scenario depends on time.
func (s *Scenario) timed() bool {
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

// elapsed is the time on the timeline.
func (p *play) elapsed() (time.Duration, error) {
	if !p.time.manual {
		return time.Since(p.time.began) + p.time.moved, nil
	}
	now, err := p.clock()
	return now.Now.Sub(p.time.began), err
}

// A clock is what the control endpoint tells of the time.
type clock struct {
	Now     time.Time `json:"now"`
	Manual  bool      `json:"manual"`
	Waiting int       `json:"waiting"`
}

// clock asks for the time.
func (p *play) clock() (now clock, err error) {
	status, body, err := p.call(http.MethodGet, "clock", "")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("clock: %d %s", status, message(body))
	}
	if err != nil {
		return now, err
	}
	return now, json.Unmarshal(body, &now)
}

// wait lets time pass: it moves a clock that stands still.
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

// advance moves the server's clock ahead.
func (p *play) advance(d time.Duration) error {
	p.time.moved += d
	return p.control("clock", map[string]string{"advance": d.String()})
}

// pass lets time pass by one of the two ways above, and makes meanwhile what the
// history has for it, each change at its time.
func (p *play) pass(d time.Duration, move func(time.Duration) error) error {
	now, err := p.elapsed()
	if err != nil {
		return err
	}
	return p.passUntil(now+d, move)
}

func (p *play) passUntil(to time.Duration, move func(time.Duration) error) error {
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

// moveTo moves from now to a later time, if it is one, and returns what the time
// is then.
func (p *play) moveTo(now, to time.Duration, move func(time.Duration) error) (time.Duration, error) {
	if to <= now {
		return now, nil
	}
	if err := move(to - now); err != nil || p.time.manual {
		return to, err
	}
	return p.elapsed()
}

// reach lets time pass until the offset of a step.
func (p *play) reach(at Duration) error {
	if at == 0 {
		return p.catchUp()
	}
	return p.passUntil(time.Duration(at), p.wait)
}

// catchUp makes what of the history has come due.
func (p *play) catchUp() error {
	if len(p.history) == 0 {
		return nil
	}
	now, err := p.elapsed()
	if err != nil {
		return err
	}
	return p.passUntil(now, p.wait)
}

// finish makes what is left of the history.
func (p *play) finish() error {
	if len(p.history) == 0 {
		return nil
	}
	return p.passUntil(time.Duration(p.history[len(p.history)-1].At), p.wait)
}

// due returns a channel that tells when a change of the history comes due while
// something else is waited for; nil if time stands still or nothing is left.
func (p *play) due() <-chan time.Time {
	if len(p.history) == 0 || p.time.manual {
		return nil
	}
	now, err := p.elapsed()
	if err != nil {
		return nil // whoever makes the change has the error too
	}
	return time.After(time.Duration(p.history[0].At) - now)
}
