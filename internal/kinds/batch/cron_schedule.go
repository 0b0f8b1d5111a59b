package batch

import (
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/cron"
)

// checkSchedule checks the schedule of a CronJob.
func checkSchedule(schedule string) error {
	_, err := cron.Parse(schedule)
	return err
}

// checkTimeZone returns the error texts for the name of a time zone.
//
// Differs from kube-apiserver: time zones of CronJobs: kube-apiserver has a
// time zone database of its own. Here the names in the database of the machine
// are valid. Request: POST of a CronJob with spec.timeZone.
func checkTimeZone(name string) []string {
	if name == "" {
		return []string{"timeZone must be nil or non-empty string"}
	}
	for _, part := range strings.Split(name, "/") {
		if !isTimeZonePart(part) {
			return []string{"unknown time zone " + name}
		}
	}
	var messages []string
	if strings.EqualFold(name, "Local") {
		messages = append(messages, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(name); err != nil {
		messages = append(messages, err.Error())
	}
	return messages
}

// timeZonePartMaxLength is the maximum length of each part of the name of a time
// zone, in bytes. The parts are separated by slashes.
const timeZonePartMaxLength = 14

func isTimeZonePart(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > timeZonePartMaxLength || s[0] == '-' {
		return false
	}
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_+") == ""
}
