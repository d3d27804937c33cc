package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kureka/kureka/internal/version"
)

func newVersion(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this command",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(o.Out, version.String())
			return err
		},
	}
}
