package app

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/kureka/kureka/internal/version"
)

// printVersion answers the version command.
func printVersion(args []string, out io.Writer) error {
	flags := pflag.NewFlagSet("version", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	form := flags.StringP("output", "o", "text", "")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading flags: %w", err)
	}
	info := version.Get()
	var err error
	switch *form {
	case "text":
		_, err = io.WriteString(out, info.Lines())
	case "json":
		err = json.NewEncoder(out).Encode(info)
	default:
		return fmt.Errorf("--output %q: want text or json", *form)
	}
	if err != nil {
		return fmt.Errorf("printing the version: %w", err)
	}
	return nil
}
