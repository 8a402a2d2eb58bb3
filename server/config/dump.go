package config

import (
	"fmt"
	"io"
	"net/url"
	"reflect"
)

type field struct {
	name   string // of the variable
	field  string // of its struct, unique
	secret string
	value  reflect.Value
}

// fields lists the variables of cfg in the order of the structs.
func fields(cfg *Config) []field {
	var list []field
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		for i := range v.NumField() {
			tag := v.Type().Field(i).Tag
			if name := tag.Get("env"); name != "" {
				list = append(list, field{name, v.Type().Field(i).Name, tag.Get("secret"), v.Field(i)})
			} else if v.Field(i).Kind() == reflect.Struct {
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(cfg).Elem())
	return list
}

// Dump writes the effective configuration, one NAME=value a line, with secrets redacted.
func (c Config) Dump(w io.Writer) error {
	for _, f := range fields(&c) {
		text := fmt.Sprint(f.value.Interface())
		if f.value.Kind() == reflect.Slice {
			text = ""
			for i := range f.value.Len() {
				if i > 0 {
					text += ","
				}
				text += fmt.Sprint(f.value.Index(i).Interface())
			}
		}
		if text != "" {
			switch f.secret {
			case "yes":
				text = "(redacted)"
			case "url":
				text = redactURL(text)
			}
		}
		if _, err := fmt.Fprintf(w, "%s=%s\n", f.name, text); err != nil {
			return err
		}
	}
	return nil
}

// redactURL hides a password wherever a connection string can hold one.
func redactURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return "(redacted)"
	}
	q := u.Query()
	for name := range q {
		if name == "password" || name == "sslpassword" {
			q.Set(name, "xxxxx")
		}
	}
	u.RawQuery = q.Encode()
	return u.Redacted()
}
