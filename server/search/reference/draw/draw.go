// Package draw makes random events and random conditions on them, with a bias to what breaks a search:
// texts that are nearly equal, every class of the lexicon at its bounds, numbers in other spellings, repeated
// and odd names, data that is none, and instants at the edges of hours, days and microseconds.
//
// What it makes follows from its seed alone. It serves tests.
package draw

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Draw is one source of events and conditions. One goroutine at a time.
type Draw struct {
	rng   *rand.Rand
	texts []string // what this draw's events say again and again
	times []time.Time
	names []string
	kinds []string // types of events
	from  []string // sources
	about []string // subjects
}

// New makes a draw of events around a moment.
func New(seed uint64, around time.Time) *Draw {
	d := &Draw{rng: rand.New(rand.NewPCG(seed, 0x5ea7c4))}
	for range 40 {
		d.texts = append(d.texts, d.fresh())
	}
	d.names = d.some(names(), 9)
	d.kinds = d.some([]string{
		"shop.order.created", "shop.order.failed.v1", "room.measured", "Room.Measured", "straße.gebaut", "a", "型.作成", "x_y-z", "com.example.payment.declined.v1", "12",
	}, 5)
	d.from = d.some([]string{"/site/1", "/site/2", "/site/12", "urn:uuid:" + d.uuid(), "https://x.test/a?b=c", "/Site/1", "s", "機器/7", "//host/" + d.hex(12)}, 4)
	d.about = append(d.some(d.texts, 4), "device-1", "device-12", "", "")
	for i, s := range d.about {
		d.about[i] = attribute(s, 200)
	}
	d.times = d.instants(around)
	return d
}

// some is n different of a list, in any order.
func (d *Draw) some(list []string, n int) []string {
	out := make([]string, 0, n)
	for _, i := range d.rng.Perm(len(list))[:min(n, len(list))] {
		out = append(out, list[i])
	}
	return out
}

func (d *Draw) chance(percent int) bool { return d.rng.IntN(100) < percent }

func (d *Draw) of(list []string) string { return list[d.rng.IntN(len(list))] }

// instants is few enough that events share them, with neighbours one microsecond away, at the edges of
// hours and days.
func (d *Draw) instants(around time.Time) []time.Time {
	around = around.UTC().Truncate(time.Microsecond)
	hour, day := around.Truncate(time.Hour), around.Truncate(24*time.Hour)
	out := []time.Time{around, around, hour, hour.Add(-time.Microsecond), hour.Add(time.Microsecond), day, day.Add(-time.Microsecond), day.Add(time.Microsecond)}
	out = append(out, hour.Add(15*time.Minute), hour.Add(30*time.Minute-time.Microsecond), hour.Add(30*time.Minute))
	for range 12 {
		out = append(out, around.Add(-time.Duration(d.rng.Int64N(int64(80*time.Hour)))).Truncate(time.Microsecond))
	}
	return out
}

// Time is an instant of the draw's, now and then one of its own.
func (d *Draw) Time() time.Time {
	t := d.times[d.rng.IntN(len(d.times))]
	if d.chance(25) {
		t = t.Add(time.Duration(d.rng.Int64N(int64(2*time.Hour))) - time.Hour).Truncate(time.Microsecond)
	}
	return t
}

// names is names of members, odd ones among them.
func names() []string {
	return []string{
		"a", "b", "n", "name", "room", "a.b", "", "a b", `"q"`, `back\slash`, "[*]", "0", "a[0]", "ключ", "日本", "é", "e\u0301", "x-y", "$ref", "@id",
		"__proto__", "tags", "severity", "deviceId", "roomId", "personId", "items", "value", "9f8b7c6d5e4f3a2b", "k\tt", "😀", "A",
		strings.Repeat("long", 70),
	}
}

// words is texts of natural language, near each other, in the forms that folding makes one.
func words() []string {
	return []string{
		"payment declined", "Payment Declined", "payment", "declined payment", "PAYMENT", "pay", "straße", "STRASSE", "Straẞe", "strasse", "İstanbul", "istanbul",
		"ıstanbul", "ISTANBUL", "café", "cafe\u0301", "CAFÉ", "cafe", "caf", "ﬁle", "file", "ＦＩＬＥ", "①②", "12", "Σίσυφος", "ΣΊΣΥΦΟΣ", "σισυφοσ", "Ω", "Ω", "ω",
		"йод", "иод", "ёлка", "елка", "ǆ", "ᾳ", "αι", "नमस्ते", "नमसत", "שָׁלוֹם", "שלום", "مُحَمَّد", "محمد", "co\u00adop", "coop", "co-op", "e\u0301\u0323", "ẹ́", "Å", "å",
		"क़", "ﬀ", "ſ", "ŉ", "㎏", "kg", "½", "x²", "ﷺ", "a\u0300\u0345", "\u0301", "a\u200db", "👩\u200d💻 works", "❤\ufe0f", "don't", "l'été", "naïve—test", "foo_bar", "foo.bar", "FooBar",
	}
}

// unspaced is texts of scripts without spaces, alone and mixed.
func unspaced() []string {
	return []string{
		"東京都", "東京", "京都", "京", "東京 都", "データベース", "ﾃﾞｰﾀﾍﾞｰｽ", "データ", "ベース", "한국어", "\u1112\u1161\u11ab국어", "한국", "สวัสดี", "สวัส", "กำ", "กํา", "ก", "กิ",
		"ភាសាខ្មែរ", "ភាសា", "မြန်မာ", "မြန်", "ພາສາລາວ", "iPhone15を買う", "を買う", "abc東京def", "東京2020", "時々", "ー", "か\u3099", "が", "㍿", "株式会社", "漢字かな交じり文",
	}
}

// numbers is spellings of numbers, several of one value among them.
func numbers() []string {
	return []string{
		"0", "-0", "0.0", "0e5", "-0.0e-7", "1", "1.0", "1e0", "10e-1", "1E+0", "-1", "-1.0", "5", "-5", "12", "100", "1e2", "100.0", "1000", "1e3", "3.14", "3.140", "314e-2", "0.5", "5e-1",
		"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993.0", "-9007199254740993", "18446744073709551616", "123", "1234", "999", "0.001", "1e-3",
		strings.Repeat("9", 64), strings.Repeat("9", 65), "1" + strings.Repeat("0", 64), "1e64", "1" + strings.Repeat("0", 70), "0." + strings.Repeat("1", 64), "0." + strings.Repeat("1", 65), "1." + strings.Repeat("0", 80),
		"1e400", "10e399", "1e401", "10e400", "1E401", "1e-400", "1e-401", "0.1e-399", "1e999999999", "1E999999999", "1e9999999999999999999999", "-1e401", "0e99999999999",
	}
}

// edges is texts at the bounds of the lexicon's classes.
func edges() []string {
	letters := "abcdefghijklmnopqrstuvwxyz"
	return []string{
		letters[:24], letters[:25], strings.Repeat("é", 24), strings.Repeat("é", 25), strings.Repeat("ж", 24), strings.Repeat("ж", 25), "123", "1234", "012", "0", "00", "007",
		"room12", "room1234", "abcdefgh123", "abcdefghi123", "abcdefghij123", "k8s", "log4j", "x86y64", "sha256", "abc1", "abcd1", "dead1", "face", "cafe1", "beef", "deadbeef", "1a", "a1", "15T09",
		strings.Repeat("a", 32), strings.Repeat("a", 33), "aaaa bbbb cccc dddd eeee ffff xx", "aaaa bbbb cccc dddd eeee ffff xxx", "one two three", "one two three four", "one-two-three", "a b c d",
		"v1.2", "v1.2.3", "1.2.3.4", "x//y", "x/y", strings.Repeat("ab ", 40), strings.Repeat("x", 300), strings.Repeat("7", 300),
	}
}

func (d *Draw) hex(n int) string {
	b := make([]byte, (n+1)/2)
	for i := range b {
		b[i] = byte(d.rng.Uint32())
	}
	return hex.EncodeToString(b)[:n]
}

func (d *Draw) uuid() string {
	h := d.hex(32)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func (d *Draw) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0' + byte(d.rng.IntN(10))
	}
	return string(b)
}

// identifier is one of the forms that identifiers have.
func (d *Draw) identifier() string {
	switch d.rng.IntN(14) {
	case 0:
		return d.uuid()
	case 1:
		return strings.ToUpper(d.uuid())
	case 2:
		return d.hex([]int{7, 8, 12, 16, 32, 40, 64}[d.rng.IntN(7)])
	case 3:
		return "ORD-2026-" + d.digits(6)
	case 4:
		return time.Unix(1790000000+d.rng.Int64N(1e7), d.rng.Int64N(1e9)).UTC().Format(time.RFC3339Nano)
	case 5:
		return fmt.Sprintf("10.%d.%d.%d", d.rng.IntN(3), d.rng.IntN(3), d.rng.IntN(256))
	case 6:
		return fmt.Sprintf("10.0.0.%d:%d", d.rng.IntN(20), 8000+d.rng.IntN(99))
	case 7:
		return d.digits([]int{3, 4, 5, 10, 16, 19, 20, 70}[d.rng.IntN(8)])
	case 8:
		b, _ := hex.DecodeString(d.hex(2 * (6 + d.rng.IntN(30))))
		return base64.StdEncoding.EncodeToString(b)
	case 9:
		return fmt.Sprintf("fe80::%s:%s", d.hex(4), d.hex(4))
	case 10:
		return fmt.Sprintf("aa:bb:cc:%02x:%02x:%02x", d.rng.IntN(4), d.rng.IntN(256), d.rng.IntN(256))
	case 11:
		return "ada." + d.hex(3) + "@mail.example.org"
	case 12:
		return "https://shop.example.org/orders/" + d.digits(7) + "?ref=" + d.hex(10)
	default:
		return "c:" + d.hex(6) + "_" + d.digits(3)
	}
}

// fresh is a text that the draw may not have yet.
func (d *Draw) fresh() string {
	switch d.rng.IntN(10) {
	case 0, 1:
		return d.of(words())
	case 2:
		return d.of(unspaced())
	case 3:
		return d.of(edges())
	case 4:
		return d.of(numbers())
	case 5, 6:
		return d.identifier()
	case 7:
		return d.of(words()) + d.of([]string{" ", "-", "/", ": ", "", "\n", "…"}) + d.of(unspaced())
	case 8:
		return d.of(words()) + " " + d.identifier() + d.of([]string{"", " ", ".", "!"}) + d.of(edges())
	default:
		return d.of([]string{"", "null", "true", "false", "TRUE", " ", "\x00", "a\x00b", "\ufffd", "error", "warning", "kitchen", "bath", "\x1b[31mred\x1b[0m", "100%", "a_b%c\\d", "'; DROP TABLE event; --", "AND", "NOT x", `say "hi"`, "(x OR y)", "pre*", "a:b", "x=1"})
	}
}

// text is a text that others have too, or nearly.
func (d *Draw) text() string {
	switch n := d.rng.IntN(100); {
	case n < 60:
		return d.of(d.texts)
	case n < 80:
		return d.near(d.of(d.texts))
	default:
		return d.fresh()
	}
}

// near changes a text a little.
func (d *Draw) near(s string) string {
	rs := []rune(s)
	at := d.rng.IntN(len(rs) + 1)
	switch d.rng.IntN(9) {
	case 0:
		return strings.ToUpper(s)
	case 1:
		return strings.ToLower(s)
	case 2:
		return string(rs[:at])
	case 3:
		return string(rs[at:])
	case 4:
		return string(rs[:at]) + d.of([]string{" ", "-", "x", "1", "\u0301", "京", ".", "\u00ad"}) + string(rs[at:])
	case 5:
		return s + s
	case 6:
		return s + " " + d.of(d.texts)
	case 7:
		return string(unicode.ToTitle([]rune(s + "x")[0])) + s
	default:
		if at == len(rs) {
			return s
		}
		return string(rs[:at]) + string(rs[at+1:])
	}
}

// attribute makes a text fit for an attribute of an event: no control characters, valid, not too long.
func attribute(s string, limit int) string {
	out := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Cs, r) || r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF {
			return -1
		}
		return r
	}, s)
	for len(out) > limit {
		_, n := utf8.DecodeLastRuneInString(out)
		out = out[:len(out)-n]
	}
	return out
}
