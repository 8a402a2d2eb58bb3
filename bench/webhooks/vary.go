package webhooks

import (
	"encoding/base64"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"time"
)

// cast is who appears in one event.
type cast struct {
	event      uint64
	at         time.Time
	repository int
	owner      int   // of the repository
	people     []int // by the payload's index
}

func (p *payload) cast(rng *rand.Rand, at time.Time) *cast {
	w := &cast{event: rng.Uint64(), at: at, people: make([]int, len(p.people))}
	w.repository = int(rand.NewZipf(rng, 1.3, 1, Repositories-1).Uint64())
	w.owner = int(mix(uint64(w.repository)) % People)
	w.people[0] = w.owner
	for i := 1; i < len(w.people); i++ {
		w.people[i] = rng.IntN(People)
	}
	return w
}

// append writes the text that stays and the slot's new text: the same for the same owner and original.
func (s *segment) append(dst []byte, w *cast) []byte {
	dst = append(dst, s.text...)
	seed := w.event
	switch s.slot.owner {
	case ownEvent:
	case ownRepository:
		seed = uint64(w.repository)
	case ownPerson:
		seed = 1<<32 + uint64(w.people[s.slot.person])
	}
	r := mix(seed ^ s.slot.salt)
	switch s.slot.kind {
	case nothing:
	case digits:
		dst = appendDigits(dst, r, len(s.slot.text))
	case hexadecimal:
		for i := range s.slot.text {
			if i%16 == 0 {
				r = mix(r)
			}
			dst = append(dst, "0123456789abcdef"[r&15])
			r >>= 4
		}
	case nodeID:
		dst = appendNodeID(dst, r, s.slot.text)
	case timestamp:
		dst = appendTime(dst, r, s.slot, w.at)
	case loginName:
		dst = append(dst, login(w.people[s.slot.person])...)
	case repoName:
		dst = append(dst, repositoryName(w.repository)...)
	}
	return dst
}

// appendDigits writes a number of n digits.
func appendDigits(dst []byte, r uint64, n int) []byte {
	for i := range n {
		if i == 0 {
			dst = append(dst, byte('1'+r%9))
		} else {
			dst = append(dst, byte('0'+r%10))
		}
		r = mix(r)
	}
	return dst
}

// appendNodeID varies the digits within the base64 of a node id.
func appendNodeID(dst []byte, r uint64, id string) []byte {
	text, err := base64.StdEncoding.DecodeString(id)
	if err != nil {
		return append(dst, id...)
	}
	for i := len(text) - 1; i >= 4; i-- { // the first characters are a length
		if c := text[i]; c >= '0' && c <= '9' {
			r = mix(r)
			text[i] = byte('1' + r%9)
		} else if c >= 'a' && c <= 'f' && i > len(text)-20 {
			r = mix(r)
			text[i] = byte('a' + r%6)
		}
	}
	return base64.StdEncoding.AppendEncode(dst, text)
}

// appendTime writes an instant: of the last hour for the event's own, of the last five years for what
// belongs to somebody.
func appendTime(dst []byte, r uint64, s slot, at time.Time) []byte {
	if s.owner == ownEvent {
		at = at.Add(-time.Duration(r % uint64(time.Hour)))
	} else {
		at = time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r % uint64(5*365*24*time.Hour)))
	}
	format := "2006-01-02T15:04:05Z"
	if len(s.text) > len(format) {
		format = "2006-01-02T15:04:05-07:00"
	}
	return at.UTC().AppendFormat(dst, format)
}

var (
	adjectives = [...]string{"swift", "quiet", "amber", "rapid", "solid", "lunar", "royal", "tiny", "brave", "clear", "north", "open", "blue", "dry", "early", "faint", "grand", "hidden", "iron", "keen", "late", "mild", "neat", "odd", "plain"}
	things     = [...]string{"harbor", "engine", "parser", "router", "ledger", "signal", "garden", "kernel", "bridge", "canvas", "docker", "editor", "filter", "guide", "hammer", "index", "jungle", "kit", "lens", "mirror"}
	syllables  = [...]string{"ka", "lo", "mi", "ran", "te", "vo", "sha", "ben", "cor", "du", "el", "fin", "gra", "hol", "is", "jo", "ker", "lin", "mar", "no", "pe", "qui", "ros", "sel", "tor", "ul", "vik", "wen", "yan", "zo"}
)

// repositoryName is one of 500 names.
func repositoryName(i int) string {
	first := i % len(adjectives)
	return adjectives[first] + "-" + things[(i/len(adjectives)+first)%len(things)]
}

// login is one of 2,000 names, a third with a number behind.
func login(i int) string {
	n := len(syllables)
	name := syllables[i%n] + syllables[i/n%n] + syllables[(int(mix(uint64(i%(n*n)))%uint64(n))+i/(n*n))%n]
	if i%3 == 0 {
		name += strconv.Itoa(i % 1000)
	}
	return name
}

func salt(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash never fails
	return h.Sum64()
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
