package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Days is a duration that may be written in days, such as 91d.
type Days time.Duration

// longest is a hundred years: more is a slip of the hand.
const (
	longest      = 36500
	acceptedDays = "whole days such as 91d, up to 36500d, or hours and minutes such as 12h30m"
)

// UnmarshalText reads a Go duration or a whole number of days.
func (d *Days) UnmarshalText(text []byte) error {
	s := string(text)
	v, err := time.ParseDuration(s)
	if number, whole := strings.CutSuffix(s, "d"); whole {
		var days uint64
		if days, err = strconv.ParseUint(number, 10, 32); err == nil {
			v = time.Duration(min(days, longest+1)) * 24 * time.Hour
		}
	}
	if err != nil || v > longest*24*time.Hour {
		return fmt.Errorf("%q is not accepted, but "+acceptedDays, s)
	}
	*d = Days(v)
	return nil
}

func (d Days) String() string {
	if v := time.Duration(d); v%(24*time.Hour) != 0 {
		return v.String()
	}
	return fmt.Sprintf("%dd", time.Duration(d)/(24*time.Hour))
}
