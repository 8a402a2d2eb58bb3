//go:build failpoint

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Enabled says whether this program was built with the tag.
const Enabled = true

// Hit is a pass of a point.
func Hit(name string) { _ = ofProcess().pass(name) } // an error is for points that can fail

// Error is a pass of a point at which a failure is possible; nil where none is wanted.
func Error(name string) error { return ofProcess().pass(name) }

// ofProcess are the rules of the environment; one that cannot be read ends the program, as a test that
// injects nothing proves nothing.
var ofProcess = sync.OnceValue(func() *rules { //nolint:gochecknoglobals // points are passed by name, from anywhere
	r, err := parse(os.Getenv)
	if err != nil {
		panic(err.Error())
	}
	return r
})

type rule struct {
	nth    int // 0 is every pass
	action string
}

type rules struct {
	byName map[string][]rule
	when   string
	trace  *os.File
	say    *os.File
	hear   *os.File

	mu     sync.Mutex
	armed  bool
	passes map[string]int
	seen   map[string]bool
}

func parse(getenv func(string) string) (*rules, error) {
	r := &rules{byName: map[string][]rule{}, when: getenv(WhenEnv), passes: map[string]int{}, seen: map[string]bool{}}
	for text := range strings.SplitSeq(getenv(Env), ",") {
		if text == "" {
			continue
		}
		parts := strings.Split(text, ":")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%s: %q is not name:nth:action", Env, text)
		}
		nth := 0
		if parts[1] != "*" {
			var err error
			if nth, err = strconv.Atoi(parts[1]); err != nil || nth < 1 {
				return nil, fmt.Errorf("%s: %q is no count from 1 and not *", Env, parts[1])
			}
		}
		switch parts[2] {
		case "kill", "stop", "block", "error", "panic":
		default:
			return nil, fmt.Errorf("%s: unknown action %q", Env, parts[2])
		}
		r.byName[parts[0]] = append(r.byName[parts[0]], rule{nth, parts[2]})
	}
	for name, file := range map[string]**os.File{SayEnv: &r.say, HearEnv: &r.hear} {
		text := getenv(name)
		if text == "" {
			continue
		}
		fd, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		*file = os.NewFile(uintptr(fd), name)
	}
	if path := getenv(TraceEnv); path != "" {
		var err error
		if r.trace, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return nil, fmt.Errorf("%s: %w", TraceEnv, err)
		}
	}
	return r, nil
}

func (r *rules) pass(name string) error {
	for _, action := range r.due(name) {
		switch action {
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal may take a moment; nothing may happen after the point
		case "stop":
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-time.After(50 * time.Millisecond) // it takes a moment to reach this thread
		case "block":
			r.block(name)
		case "error":
			return &InjectedError{name}
		case "panic":
			panic(&InjectedError{name})
		}
	}
	return nil
}

// due counts a pass and says what it is to be met with.
func (r *rules) due(name string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trace != nil && !r.seen[name] {
		r.seen[name] = true
		_, _ = r.trace.WriteString(name + "\n") // a missing line fails the test that looks for it
	}
	if r.when != "" && !r.armed {
		if _, err := os.Stat(r.when); err != nil {
			return nil
		}
		r.armed = true
	}
	r.passes[name]++
	var actions []string
	for _, rule := range r.byName[name] {
		if rule.nth == 0 || rule.nth == r.passes[name] {
			actions = append(actions, rule.action)
		}
	}
	return actions
}

func (r *rules) block(name string) {
	if r.say == nil || r.hear == nil {
		panic("failpoint: block without " + SayEnv + " and " + HearEnv)
	}
	if _, err := r.say.WriteString(name + "\n"); err != nil {
		return // nobody is there to hold us
	}
	_, _ = r.hear.Read(make([]byte, 1)) // the end of the pipe lets go too
}
