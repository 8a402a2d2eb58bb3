package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"oriel/server/fault"
)

// findings are all that is wrong with what was sent, each by the path of its field.
type findings struct {
	reason string
	all    []fault.Violation
}

func (f *findings) add(path, message string, metadata ...string) {
	f.all = append(f.all, fault.Violation{
		Reason: f.reason, Message: message, Metadata: fault.Pairs(append([]string{"attribute", cut(path)}, metadata...)...),
	})
}

func (f *findings) err() error {
	if len(f.all) == 0 {
		return nil
	}
	const most = 50 // a body of garbage has thousands
	return fault.Many(fault.InvalidArgument, f.all[:min(len(f.all), most)])
}

// checkBody decodes a JSON body and holds it against its schema: every violation at once.
func checkBody(schema *openapi3.Schema, call *call) (any, error) {
	t, params, err := mime.ParseMediaType(call.shape.contentType)
	if charset := params["charset"]; err != nil || t != fiber.MIMEApplicationJSON || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, fault.New(fault.UnsupportedMedia, fault.ReasonInvalidField, "The body is JSON in UTF-8: send Content-Type: application/json.",
			"attribute", "content-type", "value", cut(call.shape.contentType), "accepted", fiber.MIMEApplicationJSON)
	}
	found := &findings{reason: fault.ReasonInvalidField}
	value, err := decodeBody(call.body, found)
	if err != nil {
		found.add("body", "The body is not one JSON value: "+err.Error()+".")
		return nil, found.err()
	}
	check(schema, value, "", found)
	return value, found.err()
}

// decodeBody reads one JSON value. Objects and arrays come as the generated code binds them, and a name that
// an object has twice is found: readers differ in which of the two they take.
func decodeBody(body []byte, found *findings) (any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, errors.New("it is empty")
	}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	value, err := decodeValue(d, "", found)
	if err == nil {
		if _, err = d.ReadToken(); errors.Is(err, io.EOF) {
			return value, nil
		}
		return nil, fmt.Errorf("something follows it at byte %d", d.InputOffset())
	}
	return nil, fmt.Errorf("it is malformed at byte %d", d.InputOffset())
}

func decodeValue(d *jsontext.Decoder, path string, found *findings) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindBeginObject:
		return decodeObject(d, path, found)
	case jsontext.KindBeginArray:
		list := []any{}
		for d.PeekKind() != jsontext.KindEndArray {
			v, err := decodeValue(d, path+"["+strconv.Itoa(len(list))+"]", found)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.ReadToken()
		return list, err
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindNumber:
		return json.Number(token.String()), nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return token.Bool(), nil
	default: // the decoder lets nothing else begin a value
		return nil, nil //nolint:nilnil // null
	}
}

func decodeObject(d *jsontext.Decoder, path string, found *findings) (any, error) {
	object := map[string]any{}
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		field := fieldOf(path, key)
		if _, twice := object[key]; twice {
			found.add(field, shown(field)+" is given twice.")
		}
		if object[key], err = decodeValue(d, field, found); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return object, err
}

func fieldOf(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// shown is a path in a sentence; the caller may have named a field anything.
func shown(path string) string {
	if path == "" {
		return "The body"
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r > '~' || r < '!' }) {
		return strconv.QuoteToASCII(cut(path))
	}
	return cut(path)
}
