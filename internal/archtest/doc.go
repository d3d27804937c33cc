// Package archtest owns the rule which package may import which. It holds tests
// only: the table, the check of the module against it, and the check that the
// linter's configuration says the same. It must not be imported by anything.
package archtest
