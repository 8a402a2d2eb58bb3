package query

import (
	"fmt"
	"strings"
	"testing"
)

// hook is some 10 KB of JSON, as a webhook sends it: objects of many members, most of them URLs.
func hook() []byte {
	var b strings.Builder
	b.WriteString(`{"action":"opened","number":31415`)
	for i := range 5 {
		fmt.Fprintf(&b, `,"part%d":{"id":35129%d377,"node_id":"MDEwOlJlcG9zaXRvcnkzNTEyOTM3Nw==","name":"public-repo","private":false,"score":1.5,"description":null`, i, i)
		for _, name := range []string{"html", "forks", "keys", "teams", "hooks", "issues", "events", "assignees", "branches", "tags", "blobs", "refs", "trees", "statuses"} {
			fmt.Fprintf(&b, `,"%s_url":"https://api.example.test/repos/octo/public-repo/%s{/number}?since=2019-05-15T15:20:18Z"`, name, name)
		}
		b.WriteString(`,"labels":[{"id":1,"name":"bug"},{"id":2,"name":"good first issue"}]}`)
	}
	b.WriteByte('}')
	return []byte(b.String())
}

// BenchmarkVerifier judges a webhook of some 10 KB, and a small event, by one query each.
func BenchmarkVerifier(b *testing.B) {
	small := []byte(`{"deviceId":"thermostat-3","roomId":"kitchen","celsius":21.5,"humidity":48,"tags":["climate","indoor"],"battery":{"percent":81,"charging":false}}`)
	for _, size := range []struct {
		name string
		data []byte
	}{{"small", small}, {"webhook", hook()}} {
		for _, q := range []string{
			"type:order.lost", "room:kitchen -tag:x", "data.celsius>=20", "data.celsius>=20 data.battery.charging:false -data.gone:* data.tags[*]:indoor", "data.part3.labels[*].name:bug data.number>5",
			"kettle", `"no such phrase"`, "kett*", `~"no such part"`,
		} {
			n, violations := Parse(testSchema(), "q", q)
			if len(violations) > 0 {
				b.Fatal(violations)
			}
			b.Run(size.name+"/"+q, func(b *testing.B) {
				v, e := NewVerifier(n), sample(string(size.data))
				b.ReportAllocs()
				b.SetBytes(int64(len(size.data)))
				for b.Loop() {
					v.Match(e)
				}
			})
		}
	}
}
