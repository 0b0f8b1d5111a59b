package cronjob

import (
	"errors"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/cron"
	"github.com/kubefake/kubefake/internal/object"
)

// delay is how long after its time a Job is created, so that clocks that differ do not
// create it too early.
const delay = 100 * time.Millisecond

// manyMissed is how many missed times are worth a warning.
const manyMissed = 100

// scheduleOf returns the schedule in the spec of a CronJob with its time zone.
func scheduleOf(spec object.View) string {
	schedule := spec.String("schedule")
	zone, ok := spec.At("timeZone").Shared().(string)
	if !ok || strings.Contains(schedule, "TZ") {
		return schedule
	}
	if _, err := time.LoadLocation(zone); err != nil {
		return schedule
	}
	return "TZ=" + zone + " " + schedule
}

// A dueTime is the latest time of a schedule that is not in the future.
type dueTime struct {
	from   time.Time // after which times are looked for: the last one, or the creation
	at     time.Time // zero if there is none
	missed int64     // how many were before it, about
}

// latest returns the latest time of a schedule since the last Job, until now. With
// deadline, times before the starting deadline do not count. It fails for a schedule that
// is never due.
func latest(cj object.View, now time.Time, schedule *cron.Schedule, deadline bool) (dueTime, error) {
	from := controller.Time(cj, "metadata", "creationTimestamp")
	if last := controller.Time(cj, "status", "lastScheduleTime"); !last.IsZero() {
		from = last
	}
	if seconds, ok := cj.Int("spec", "startingDeadlineSeconds"); ok && deadline {
		if earliest := now.Add(-time.Duration(seconds) * time.Second); earliest.After(from) {
			from = earliest
		}
	}
	due := dueTime{from: from}
	first := schedule.Next(from)
	second := schedule.Next(first)
	if now.Before(first) {
		return due, nil
	}
	if now.Before(second) {
		due.at = first
		return due, nil
	}
	period := int64(second.Sub(first).Round(time.Second).Seconds())
	if period < 1 {
		return due, errors.New("time difference between two schedules is less than 1 second")
	}
	due.missed = int64(now.Sub(first).Seconds())/period + 1
	start := first.Add(time.Duration((due.missed-2)*period) * time.Second)
	for t := schedule.Next(start); !t.IsZero() && !t.After(now); t = schedule.Next(t) {
		due.at = t
	}
	return due, nil
}

// untilNext returns how long it is from now until a Job is due.
func untilNext(cj object.View, now time.Time, schedule *cron.Schedule) time.Duration {
	due, err := latest(cj, now, schedule, false)
	from := due.at
	switch {
	case err != nil || due.at.IsZero() && due.missed > 0:
		from = now
	case due.at.IsZero():
		from = due.from
	}
	return schedule.Next(from).Add(delay).Sub(now)
}
