package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/db"
	"oriel/server/fault"
)

const (
	signInLasts = 10 * time.Minute
	// Anybody may begin a sign-in, so that the table needs a bound: above it the oldest go. It is far above
	// what a company's people begin within ten minutes.
	maxOpenSignIns  = 20_000
	dropEvery       = 64 // sign-ins between two looks at the surplus
	dropAtOnce      = 2_000
	maxReturnBytes  = 8_192
	returnElsewhere = "/"
)

// SignIn is a sign-in between its start and the provider's answer.
type SignIn struct {
	Nonce, Verifier, Origin string
	ReturnTo                string // above 8,192 bytes: "/"
	// Browser is the value of the pre-login cookie that the browser brings, if any: it goes on with it, so
	// that two tabs can sign in at once. Finish leaves it empty.
	Browser string
}

// Begin stores a sign-in for 10 minutes. state goes into the address, browser into the pre-login cookie.
func (s *Sessions) Begin(ctx context.Context, in SignIn) (state, browser string, err error) {
	state, stateHash := newOpaque()
	browser = in.Browser
	browserHash, ok := hashOf(browser)
	if !ok {
		browser, browserHash = newOpaque()
	}
	if len(in.ReturnTo) > maxReturnBytes {
		in.ReturnTo = returnElsewhere
	}
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	err = s.queries.BeginSignIn(ctx, db.BeginSignInParams{
		State: stateHash[:], Browser: browserHash[:], Nonce: in.Nonce, Verifier: in.Verifier, Origin: in.Origin,
		ReturnTo: in.ReturnTo, Lasting: signInLasts.Seconds(),
	})
	if err != nil {
		return "", "", databaseError(err, "begin sign-in")
	}
	s.metrics.signIns.WithLabelValues(signInBegun).Inc()
	if s.begun.Add(1)%dropEvery == 0 {
		s.dropSurplus(ctx)
	}
	return state, browser, nil
}

// dropSurplus keeps the table bounded; more goes in one step than comes between two.
func (s *Sessions) dropSurplus(ctx context.Context) {
	n, err := s.queries.DropOldestSignIns(ctx, db.DropOldestSignInsParams{Keep: s.openSignIns, Batch: dropAtOnce})
	if err != nil {
		s.log.WarnContext(ctx, "surplus sign-ins were not dropped", "error", err)
		return
	}
	if n > 0 {
		s.metrics.signIns.WithLabelValues(signInDropped).Add(float64(n))
		s.log.WarnContext(ctx, "too many sign-ins are open: the oldest were dropped", "dropped", n, "limit", s.openSignIns)
	}
}

// Finish takes the sign-in, once, for the browser that began it: fault.Unauthenticated with
// SIGN_IN_STATE where it is unknown, used, expired or another browser's. Another browser neither gets it
// nor spoils it.
func (s *Sessions) Finish(ctx context.Context, state, browser string) (SignIn, error) {
	in, err := s.take(ctx, state, browser)
	if errors.Is(err, pgx.ErrNoRows) {
		s.metrics.signIns.WithLabelValues(signInRefused).Inc()
		return SignIn{}, fault.New(fault.Unauthenticated, fault.ReasonSignInState,
			"This sign-in was used, took longer than 10 minutes or began in another browser. Sign in again.")
	}
	if err != nil {
		return SignIn{}, databaseError(err, "finish sign-in")
	}
	s.metrics.signIns.WithLabelValues(signInFinished).Inc()
	return in, nil
}

func (s *Sessions) take(ctx context.Context, state, browser string) (SignIn, error) {
	stateHash, ok := hashOf(state)
	browserHash, known := hashOf(browser)
	if !ok || !known {
		return SignIn{}, pgx.ErrNoRows
	}
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	began, err := s.queries.FindSignIn(ctx, stateHash[:])
	if err != nil {
		return SignIn{}, err
	}
	if subtle.ConstantTimeCompare(began, browserHash[:]) != 1 {
		return SignIn{}, pgx.ErrNoRows
	}
	row, err := s.queries.TakeSignIn(ctx, db.TakeSignInParams{State: stateHash[:], Browser: browserHash[:]})
	return SignIn{Nonce: row.Nonce, Verifier: row.Verifier, Origin: row.Origin, ReturnTo: row.ReturnTo}, err
}
