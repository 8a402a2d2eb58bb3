package cloudevents_test

import (
	"strings"
	"testing"

	"oriel/server/cloudevents"
)

// benchData makes the structured event of about 650 bytes.
const benchData = `{"deviceId":"kitchen-thermostat-0147","roomId":"kitchen","personId":"p-2291","reading":{"celsius":21.4375,"humidity":0.4412,"battery":0.91},"tags":["climate","floor-2"],"severity":"info","message":"Temperature settled after the window was closed","firmware":"4.18.2","sequence":904417}`

const benchStructured = `{"specversion":"1.0","id":"0f6e7c3a-52f5-4c1b-9d3f-2f4b8a1c9e77","source":"/homes/berlin-12/devices/kitchen-thermostat","type":"com.example.home.temperature.changed.v1","subject":"kitchen-thermostat-0147","time":"2026-11-30T12:34:56.789123Z","datacontenttype":"application/json","severitynumber":9,"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","data":` + benchData + `}`

func benchHeaders() []cloudevents.Header {
	return headers(
		"Host", "127.0.0.1:8080", "User-Agent", "bench", "Content-Length", "310", "Authorization", "Bearer orl_x",
		"Ce-Specversion", "1.0", "Ce-Id", "0f6e7c3a-52f5-4c1b-9d3f-2f4b8a1c9e77",
		"Ce-Source", "/homes/berlin-12/devices/kitchen-thermostat", "Ce-Type", "com.example.home.temperature.changed.v1",
		"Ce-Subject", "kitchen-thermostat-0147", "Ce-Time", "2026-11-30T12:34:56.789123Z", "Ce-Severitynumber", "9",
		"Ce-Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "Content-Type", "application/json",
	)
}

func BenchmarkDecodeStructured(b *testing.B) {
	body := []byte(benchStructured)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cloudevents.DecodeStructured(cloudevents.MediaTypeStructured, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeBatchOf100(b *testing.B) {
	body := []byte("[" + strings.Repeat(benchStructured+",", 99) + benchStructured + "]")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cloudevents.DecodeBatch(cloudevents.MediaTypeBatch, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeBinary(b *testing.B) {
	h, body := benchHeaders(), []byte(benchData)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cloudevents.DecodeBinary(h, body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeRecord(b *testing.B) {
	e := mustStructured(b, benchStructured)
	b.ReportAllocs()
	for b.Loop() {
		cloudevents.EncodeRecord(e)
	}
}

func BenchmarkDecodeRecord(b *testing.B) {
	r := cloudevents.EncodeRecord(mustStructured(b, benchStructured))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := cloudevents.DecodeRecord(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeJSON(b *testing.B) {
	e := mustStructured(b, benchStructured)
	b.ReportAllocs()
	for b.Loop() {
		cloudevents.EncodeJSON(e)
	}
}

func BenchmarkDigest(b *testing.B) {
	e := mustStructured(b, benchStructured)
	b.ReportAllocs()
	for b.Loop() {
		e.Digest()
	}
}
