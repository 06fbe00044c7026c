/** A topic of `podwright help`: a line about it, and a screen. */
export type Topic = { about: string; text: string };

/** The texts of `podwright help TOPIC` and of the manual page; each fits a screen of 80 columns and 24 lines. */
export const TOPICS: Record<string, Topic> = {
  manifests: {
    about: 'what files may hold, and what becomes of it',
    text: `A manifest is YAML or JSON as Kubernetes has it, several objects in a file.

  Pod                runs as on a Kubernetes node: init containers, sidecars,
                     probes, hooks, restart policies, volumes
  ConfigMap, Secret  for the environment, volumes and imagePullSecrets of pods
  PersistentVolumeClaim  a directory of the node that outlives pods
  RuntimeClass       chooses a handler of the configuration for its pods

A field that is not supported is refused with its file, line and name.
Service, Role and the like are left out with a warning (--strict refuses them).
Deployment, Job and the like are refused: run the Pod in their template.

  podwright check FILE     says what is wrong with manifests, without a node
  podwright run FILE       runs pods, follows their logs, and removes them again
  podwright apply FILE     creates or replaces objects; 'delete' removes them
  /var/lib/podwright/manifests
                           what lies there runs; a changed file is seen at once
Example:
  apiVersion: v1
  kind: Pod
  metadata: {name: web}
  spec:
    containers:
    - {name: server, image: nginx, ports: [{containerPort: 80, hostPort: 8080}]}
`,
  },
  'exit-codes': {
    about: 'what the exit code of a command says',
    text: `  0      it is done
  1      it failed, or the command line is wrong; standard error says why
  130    interrupted by Ctrl-C; 143 ended by SIGTERM, 129 by SIGHUP

  run              when its pods have ended by themselves: 0 if all succeeded,
                   else the exit code of the first container that failed, or 1
  exec             that of the command in the container; 127 if there is no such
                   command, 126 if it cannot be run
  check            1 if there is a problem; notes alone are 0
  status           3 if no node is running
  doctor           1 if something is missing that pods need
  runtime plugins  1 if a plugin failed

Of a container, 'podwright describe POD' shows the exit code: above 128 a signal
has ended it, 137 is SIGKILL (or OOMKilled, which the reason says), 143 SIGTERM.
`,
  },
  files: {
    about: 'files and directories of a node',
    text: `  /etc/podwright/config.toml       settings; --config names another file
  /etc/podwright/certs.d/          a directory a registry: mirrors, certificates
  /etc/cni/net.d/                  the host's CNI configuration, if there is one

  /var/lib/podwright/              --root: what lasts
    manifests/                     pods that run as long as their file is there
    node.log                       log of a node that 'podwright run' started
    kubelet/seccomp/               profiles of seccompProfile type Localhost
    kubelet/pods/                  volumes of pods
    runtime/                       images, layers, records

  /run/podwright/                  --state: what a reboot may lose
    node.sock                      API of the node, for root only
    cri.sock                       CRI, for crictl and other kubelets

  /var/log/pods/                   logs of containers, where kubelets have them
  /var/log/containers/             links to them for log collectors

Several nodes run on one host if each has --root, --state, --cgroup-parent,
--bridge and --subnet of its own; they may share the directory of --pod-logs.
`,
  },
  networking: {
    about: 'how pods reach the world, and are reached',
    text: `While /etc/cni/net.d is empty, pods are on a bridge of the node's:
podwright0 with 10.83.0.0/16 (--bridge, --subnet). They reach each other, the
host, and through it (masquerading) what the host reaches.

  podwright ps                   shows the pods' IPs, which the host reaches
  ports: [{containerPort: 80, hostPort: 8080}]
                                 publishes a port on all addresses of the host;
                                 with hostIP: 127.0.0.1 for the host alone
  hostNetwork: true              has the host's own network

IPv6 beside IPv4: --subnet 10.83.0.0/16,fd00:83::/64
Limits: the annotations kubernetes.io/ingress-bandwidth and egress-bandwidth.

With a configuration in /etc/cni/net.d its plugins are called instead, as
everywhere; hostPort then needs the plugin portmap.

There are no Services without a cluster. Names are looked up as on the host;
dnsPolicy, dnsConfig and hostAliases of a pod apply.

'podwright doctor' tells which network pods get, and what it lacks.
`,
  },
};
