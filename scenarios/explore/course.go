package explore

import (
	"fmt"

	"github.com/kubefake/kubefake/internal/scrub"
)

// A course is another way for the workload of Changes to come to the state after a pause.
type course struct {
	pause   int    // with which the workload ends, counted from 1
	direct  bool   // only the last change before the pause is made
	restart bool   // the system is restarted at the end
	patient bool   // the run goes on for Pace.Patience when it has settled
	version string // in which the object is read and written back after the last change before the pause
}

// begins notes that a workload of Changes runs. versions are those of its objects beside the storage version.
func (t *trial) begins(versions []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.generated, t.versions = true, versions
}

// leavesOut reports whether a workload of Changes leaves its next change out, because the course of the run
// is direct. It counts the pause that would follow.
func (t *trial) leavesOut() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.course.direct || len(t.pauses)+1 >= t.course.pause {
		return false
	}
	t.pauses = append(t.pauses, pause{revision: t.target.revision(), stopped: true})
	return true
}

// writesBack reports whether a workload of Changes writes its object back after the change that it has made.
func (t *trial) writesBack() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.course.version != "" && len(t.pauses)+1 == t.course.pause
}

// judgeCourses checks a system by itself whose workload is one of Changes. It reports whether nothing was
// found.
func (s *search) judgeCourses() (ok bool, err error) {
	var courses []course
	last := len(s.ref.pauses) - 1 // then the object is deleted
	for n := 1; n <= last; n++ {
		for _, version := range s.ref.versions {
			courses = append(courses, course{pause: n, version: version})
		}
	}
	for n := 2; n <= last; n++ {
		courses = append(courses, course{pause: n, direct: true})
	}
	if last > 0 {
		courses = append(courses, course{pause: last, restart: true})
	}
	for _, c := range courses {
		v, o, err := s.judgeCourse(c)
		if err != nil {
			return false, err
		}
		if v != nil {
			return false, s.found(&Finding{Violation: *v, course: c, pages: o.pages}, nil)
		}
	}
	return true, nil
}

// judgeCourse returns what is wrong with a run of a course, nil if nothing is.
func (s *search) judgeCourse(c course) (*Violation, *outcome, error) {
	ref, err := s.referenceUntil(c.pause)
	if err != nil || ref == nil {
		return nil, nil, err
	}
	o, err := s.follow(c, nil, true)
	if err != nil || o.unsettled || o.workload != nil && c.version == "" {
		return nil, o, err
	}
	if ref, err = s.asLongAs(o, ref); err != nil {
		return nil, nil, err
	}
	j := &judgement{system: s.system, run: o, scrubber: scrub.ForReaders()}
	context := ""
	switch {
	case o.workload != nil:
		j.report(Converts, objectKey{}, "", o.workload.Error())
	case c.version != "":
		j.states(Converts, o.final, ref.final)
		context = fmt.Sprintf(", where no client has written back the object that it has read in %s", c.version)
	case c.direct:
		j.states(Path, o.final, ref.final)
		context = fmt.Sprintf(", where other changes came before the %s one", ordinal(c.pause))
	default:
		j.idempotence()
	}
	if len(j.violations) == 0 {
		return nil, o, nil
	}
	v := j.violations[0]
	v.Detail += context
	return &v, o, nil
}

// idempotence reports what a system has written after its restart.
func (j *judgement) idempotence() {
	for i := range j.run.changes {
		if c := &j.run.changes[i]; c.system && c.revision > j.run.restarted && j.run.restarted > 0 {
			j.report(Idempotent, c.key(), "", fmt.Sprintf("nothing has changed, and the system writes when it starts again: %s by %s", c.what, c.client))
		}
	}
}
