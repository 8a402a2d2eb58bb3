package idp

import (
	"crypto/subtle"
	"log/slog"
	"sync"
)

// people are who can sign in, read anew each time where they are kept elsewhere.
type people struct {
	reread func() ([]Person, error)
	log    *slog.Logger
	mu     sync.Mutex
	last   []Person
}

func (p *people) all() []Person {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reread == nil {
		return p.last
	}
	now, err := p.reread()
	if err != nil {
		p.log.Warn("people could not be read again: those of before count", "error", err)
		return p.last
	}
	p.last = now
	return now
}

func (p *people) find(username string) (Person, bool) {
	for _, one := range p.all() {
		if one.Username == username && username != "" {
			return one, true
		}
	}
	return Person{}, false
}

// check tells whose username and password these are.
func (p *people) check(username, password string) (Person, bool) {
	one, ok := p.find(username)
	if !ok || one.Password == "" || subtle.ConstantTimeCompare([]byte(one.Password), []byte(password)) != 1 {
		return Person{}, false
	}
	return one, true
}
