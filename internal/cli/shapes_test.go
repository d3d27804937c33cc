package cli

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// schema is a part of the description of the API.
type schema struct {
	Ref        string             `yaml:"$ref"`
	Type       string             `yaml:"type"`
	Required   []string           `yaml:"required"`
	Properties map[string]*schema `yaml:"properties"`
	Items      *schema            `yaml:"items"`
	AllOf      []*schema          `yaml:"allOf"`
}

type description struct {
	Paths map[string]struct {
		Get struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema *schema `yaml:"schema"`
				} `yaml:"content"`
			} `yaml:"responses"`
		} `yaml:"get"`
	} `yaml:"paths"`
	Components struct {
		Schemas map[string]*schema `yaml:"schemas"`
	} `yaml:"components"`
}

func TestShapes_areThoseOfTheDescription(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../dashboard/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d description
	if err := yaml.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	shapes := map[string]any{
		"/kureka/v1/instances/{app}/{id}":    explanation{},
		"/kureka/v1/instances":               instances{},
		"/kureka/v1/pods/{namespace}/{name}": podExplanation{},
		"/kureka/v1/changes":                 changes{},
		"/kureka/v1/consumers":               fetching{},
		"/kureka/v1/observe":                 observeReport{},
		"/kureka/v1/lastn":                   lastN{},
		"/kureka/v1/namespaces":              namespaces{},
		"/kureka/v1/view":                    view{},
	}
	for path, shape := range shapes {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := d.Paths[path].Get.Responses["200"].Content["application/json"].Schema
			if s == nil {
				t.Fatal("the description does not have it")
			}
			d.compare(t, path, s, reflect.TypeOf(shape))
		})
	}
}

// resolve follows references and joins what consists of several schemas.
func (d *description) resolve(s *schema) *schema {
	if s.Ref != "" {
		return d.resolve(d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")])
	}
	if len(s.AllOf) == 0 {
		return s
	}
	whole := &schema{Type: "object", Properties: map[string]*schema{}}
	for _, part := range s.AllOf {
		part = d.resolve(part)
		whole.Required = append(whole.Required, part.Required...)
		maps.Copy(whole.Properties, part.Properties)
	}
	return whole
}

// compare reports every difference between a schema and a type: properties that one
// of them lacks, kinds, and fields that may be missing from an answer but are not
// written so here.
func (d *description) compare(t *testing.T, at string, s *schema, typ reflect.Type) {
	t.Helper()
	s = d.resolve(s)
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if kind := kindOf(typ); s.Type != "" && s.Type != kind {
		t.Errorf("%s: the description says %s, the shape %s", at, s.Type, kind)
		return
	}
	switch {
	case s.Items != nil:
		d.compare(t, at+"[]", s.Items, typ.Elem())
	case s.Properties != nil:
		d.compareFields(t, at, s, typ)
	}
}

func (d *description) compareFields(t *testing.T, at string, s *schema, typ reflect.Type) {
	t.Helper()
	missing := map[string]bool{}
	for name := range s.Properties {
		missing[name] = true
	}
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			t.Errorf("%s: the shape has %q, the description does not", at, name)
			continue
		}
		delete(missing, name)
		object := d.resolve(p).Type == "object" && f.Type.Kind() != reflect.Map
		if optional := options == "omitempty"; optional == required[name] && !object {
			t.Errorf("%s.%s: the description says required=%t, the shape omitempty=%t", at, name, required[name], optional)
		}
		d.compare(t, at+"."+name, p, f.Type)
	}
	for name := range missing {
		t.Errorf("%s: the description has %q, the shape does not", at, name)
	}
}

func kindOf(typ reflect.Type) string {
	switch {
	case typ == reflect.TypeFor[time.Time]():
		return "string"
	case typ.Kind() == reflect.Struct, typ.Kind() == reflect.Map:
		return "object"
	case typ.Kind() == reflect.Slice:
		return "array"
	case typ.Kind() == reflect.Int, typ.Kind() == reflect.Int64:
		return "integer"
	case typ.Kind() == reflect.Float64:
		return "number"
	case typ.Kind() == reflect.Bool:
		return "boolean"
	case typ.Kind() == reflect.String:
		return "string"
	}
	return fmt.Sprint(typ)
}
