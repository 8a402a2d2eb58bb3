package dbtest

import "go.uber.org/goleak"

// IgnoreServers is what goleak must not take for leaks: the servers that a test binary shares to its end.
func IgnoreServers() []goleak.Option {
	return []goleak.Option{
		goleak.IgnoreAnyFunction("oriel/server/embedded/child.(*Process).run"),
		goleak.IgnoreAnyFunction("oriel/server/embedded.(*process).readLog"),
	}
}
