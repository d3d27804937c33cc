package cli

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// passwordVariable is the environment variable with the password for
// --registry-user, which would be seen by everybody on a command line.
const passwordVariable = "KUREKA_PASSWORD"

// options are the flags that all commands have, with the environment.
type options struct {
	Environment

	// clock is the registry's, once that has answered.
	clock      *clock
	kubeconfig *clientcmd.ClientConfigLoadingRules
	overrides  clientcmd.ConfigOverrides

	// server is the URL of a registry; one is looked for in the cluster if it is empty.
	server string
	// where is the namespace that it is looked for in; all if it is empty.
	where   string
	user    string
	caFile  string
	skipTLS bool
}

func newOptions(env Environment) *options {
	return &options{Environment: env, clock: &clock{local: env.Now}, kubeconfig: clientcmd.NewDefaultClientConfigLoadingRules()}
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.server, "server", "", "URL of the registry, such as http://localhost:8761; without it one is looked for in the cluster")
	flags.StringVar(&o.where, "kureka-namespace", "", "namespace in which Kureka runs; without it all that you may list")
	flags.StringVar(&o.user, "registry-user", "", "user of the registry, if it has users; the password is taken from $"+passwordVariable)
	flags.StringVar(&o.caFile, "registry-ca-file", "", "file with the authorities that the registry's certificate is checked by")
	flags.BoolVar(&o.skipTLS, "registry-skip-tls-verify", false, "do not check the registry's certificate")

	flags.StringVar(&o.kubeconfig.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "path to the kubeconfig file")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	// The server of this command is the registry, and the cluster's address is in the
	// kubeconfig.
	names.ClusterOverrideFlags = clientcmd.ClusterOverrideFlags{}
	names.AuthOverrideFlags = clientcmd.AuthOverrideFlags{
		Impersonate: names.AuthOverrideFlags.Impersonate, ImpersonateGroups: names.AuthOverrideFlags.ImpersonateGroups, Token: names.AuthOverrideFlags.Token,
	}
	names.Timeout = clientcmd.FlagInfo{}
	clientcmd.BindOverrideFlags(&o.overrides, flags, names)
	flags.Lookup(clientcmd.FlagNamespace).Usage = "only this namespace; without it all"
}

// namespace is the one that --namespace names, empty for all.
func (o *options) namespace() string { return o.overrides.Context.Namespace }

// cluster says how to reach the API server, and which namespace the kubeconfig names.
func (o *options) cluster() (config *rest.Config, namespace string, err error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(o.kubeconfig, &o.overrides)
	if config, err = loader.ClientConfig(); err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if namespace, _, err = loader.Namespace(); err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.UserAgent = "kubectl-kureka"
	return config, namespace, nil
}
