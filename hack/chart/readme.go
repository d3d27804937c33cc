package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const readmeHead = `# The chart of Kureka

` + "`docs/install.md`" + ` says how to install, upgrade and uninstall it. This page is generated from ` + "`values.yaml`" + ` by ` + "`make generate`" + `. ` + "`values.schema.json`" + ` refuses values that are not listed here.

| Value | Default | Meaning |
|---|---|---|
`

// readmeOf returns the chart's README: a row for each value that has a comment.
func readmeOf(values []byte) (string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(values, &doc); err != nil {
		return "", fmt.Errorf("reading the values: %w", err)
	}
	if len(doc.Content) != 1 {
		return "", errors.New("reading the values: there are none")
	}
	var b strings.Builder
	b.WriteString(readmeHead)
	if err := rows(&b, "", doc.Content[0]); err != nil {
		return "", err
	}
	return b.String(), nil
}

// rows writes the values of a mapping. One without a comment is taken apart.
func rows(b *strings.Builder, prefix string, mapping *yaml.Node) error {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		path := prefix + key.Value
		meaning := comment(key.HeadComment)
		switch {
		case meaning != "":
			def, err := inJSON(value)
			if err != nil {
				return fmt.Errorf("writing the default of %s: %w", path, err)
			}
			fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", path, def, strings.ReplaceAll(meaning, "|", `\|`))
		case value.Kind == yaml.MappingNode && len(value.Content) > 0:
			if err := rows(b, path+".", value); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the value %s has no comment", path)
		}
	}
	return nil
}

// comment returns the text of a comment in one line.
func comment(head string) string {
	var words []string
	for line := range strings.SplitSeq(head, "\n") {
		words = append(words, strings.Fields(strings.TrimPrefix(line, "#"))...)
	}
	return strings.Join(words, " ")
}

func inJSON(value *yaml.Node) (string, error) {
	var v any
	if err := value.Decode(&v); err != nil {
		return "", err
	}
	text, err := json.Marshal(v)
	return string(text), err
}
