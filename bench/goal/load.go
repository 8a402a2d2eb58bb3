package goal

import (
	"os"
	"strings"
)

// Load is how busy the machine is, as the average of a minute: rates that were measured beside others' work
// say little.
func Load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(raw), " ")
	return one
}
