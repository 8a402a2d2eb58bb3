package webhooks

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// payload is an original cut into what stays and what varies.
type payload struct {
	kind     string // CloudEvents type
	original []byte
	segments []segment
	people   []string // logins in the original, the repository's owner first, "" where unknown
}

// segment is text that stays, then one thing that varies.
type segment struct {
	text []byte
	slot slot
}

type slotKind uint8

const (
	nothing slotKind = iota
	digits
	hexadecimal
	nodeID
	timestamp
	loginName
	repoName
)

// ownerKind tells whom a varied thing follows.
type ownerKind uint8

const (
	ownEvent ownerKind = iota
	ownRepository
	ownPerson
)

type slot struct {
	kind   slotKind
	owner  ownerKind
	person int    // index into people
	text   string // in the original
	salt   uint64
}

// owners are the members whose objects belong to somebody.
var owners = map[string]ownerKind{
	"repository": ownRepository, "organization": ownRepository, "installation": ownRepository,
	"repo": ownRepository, "base": ownRepository,
	"sender": ownPerson, "user": ownPerson, "owner": ownPerson, "author": ownPerson,
}

// node is a JSON value with its members in order.
type node struct {
	raw      jsontext.Value // of a scalar
	names    []jsontext.Value
	children []*node
	bracket  byte
}

func read(d *jsontext.Decoder) (*node, error) {
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		raw, err := d.ReadValue()
		return &node{raw: bytes.Clone(raw)}, err
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	n := &node{bracket: byte(kind)}
	for d.PeekKind() != kind+2 {
		if kind == '{' {
			name, err := d.ReadValue()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, bytes.Clone(name))
		}
		child, err := read(d)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, child)
	}
	_, err := d.ReadToken()
	return n, err
}

// member is the text of a member that is a string, or "".
func (n *node) member(name string) string {
	c := n.object(name)
	if c == nil || c.raw.Kind() != '"' {
		return ""
	}
	return unquote(c.raw)
}

func (n *node) object(name string) *node {
	for i := range n.names {
		if unquote(n.names[i]) == name {
			return n.children[i]
		}
	}
	return nil
}

func unquote(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// builder cuts one payload.
type builder struct {
	p    *payload
	repo string // the repository's name in the original
	text []byte
}

func parse(kind string, raw []byte) (*payload, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	root, err := read(jsontext.NewDecoder(bytes.NewReader(compact.Bytes()), jsontext.AllowDuplicateNames(true)))
	if err != nil {
		return nil, err
	}
	p := &payload{kind: "com.github." + kind, original: compact.Bytes(), people: []string{""}}
	if action := root.member("action"); action != "" {
		p.kind += "." + action
	}
	b := &builder{p: p}
	if r := root.object("repository"); r != nil {
		if owner, name, ok := strings.Cut(r.member("full_name"), "/"); ok {
			p.people[0], b.repo = owner, name
		}
	}
	b.logins(root)
	b.value(root, "", ownEvent, 0)
	p.segments = append(p.segments, segment{text: b.text})
	return p, nil
}

// logins collects everybody in a payload.
func (b *builder) logins(n *node) {
	if l := n.member("login"); l != "" {
		b.person(l)
	}
	for _, c := range n.children {
		b.logins(c)
	}
}

func (b *builder) person(login string) int {
	for i, p := range b.p.people {
		if p == login {
			return i
		}
	}
	b.p.people = append(b.p.people, login)
	return len(b.p.people) - 1
}

func (b *builder) value(n *node, name string, owner ownerKind, person int) {
	if n.bracket == 0 {
		b.scalar(n.raw, name, owner, person)
		return
	}
	if o, ok := owners[name]; ok && n.bracket == '{' {
		owner = o
		if l := n.member("login"); o == ownPerson && l != "" {
			person = b.person(l)
		}
	}
	b.text = append(b.text, n.bracket)
	for i, c := range n.children {
		if i > 0 {
			b.text = append(b.text, ',')
		}
		under := name // the elements of an array stand for its name
		if n.bracket == '{' {
			b.text = append(append(b.text, n.names[i]...), ':')
			under = unquote(n.names[i])
		}
		b.value(c, under, owner, person)
	}
	b.text = append(b.text, n.bracket+2)
}

var (
	isTime  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
	isHash  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	isURL   = regexp.MustCompile(`^(https?|git|ssh)://|^git@`)
	urlPart = regexp.MustCompile(`[0-9A-Za-z_-]+`)
)

func (b *builder) scalar(raw jsontext.Value, name string, owner ownerKind, person int) {
	s := slot{owner: owner, person: person}
	if raw.Kind() == '0' {
		if len(raw) >= 4 && bytes.IndexFunc(raw, func(r rune) bool { return r < '0' || r > '9' }) < 0 {
			b.vary(s, digits, string(raw))
			return
		}
		b.text = append(b.text, raw...)
		return
	}
	if raw.Kind() != '"' || bytes.IndexByte(raw, '\\') >= 0 {
		b.text = append(b.text, raw...)
		return
	}
	text := string(raw[1 : len(raw)-1])
	b.text = append(b.text, '"')
	switch {
	case isTime.MatchString(text):
		b.vary(s, timestamp, text)
	case isHash.MatchString(text):
		b.vary(s, hexadecimal, text)
	case name == "node_id" && decodable(text):
		b.vary(s, nodeID, text)
	case isURL.MatchString(text):
		b.parts(s, text)
	case text == b.repo || text == b.p.people[0]+"/"+b.repo || b.isLogin(text):
		b.parts(s, text)
	default:
		b.text = append(b.text, text...)
	}
	b.text = append(b.text, '"')
}

func (b *builder) isLogin(text string) bool {
	for _, p := range b.p.people {
		if p == text && text != "" {
			return true
		}
	}
	return false
}

// parts varies the names, numbers and hashes in a URL.
func (b *builder) parts(s slot, text string) {
	last := 0
	for _, at := range urlPart.FindAllStringIndex(text, -1) {
		part, owner := text[at[0]:at[1]], s
		kind := nothing
		switch {
		case part == b.repo:
			kind, owner.owner = repoName, ownRepository
		case b.isLogin(part):
			kind, owner.owner, owner.person = loginName, ownPerson, b.person(part)
		case isHash.MatchString(part):
			kind = hexadecimal
		case strings.Trim(part, "0123456789") == "":
			kind = digits
		}
		if kind == nothing {
			continue
		}
		b.text = append(b.text, text[last:at[0]]...)
		b.vary(owner, kind, part)
		last = at[1]
	}
	b.text = append(b.text, text[last:]...)
}

func decodable(id string) bool {
	text, err := base64.StdEncoding.DecodeString(id)
	return err == nil && len(text) > 4
}

func (b *builder) vary(s slot, kind slotKind, text string) {
	s.kind, s.text, s.salt = kind, text, salt(text)
	b.p.segments = append(b.p.segments, segment{text: b.text, slot: s})
	b.text = nil
}
