/** A topic for `podwright help`: a short description, and a text that fits on one screen. */
export type Topic = { about: string; text: string };

/** The texts for `podwright help TOPIC`, also used in the manual page. Each fits on a screen of 80 columns and 24 lines. */
export const TOPICS: Record<string, Topic> = {
  manifests: {
    about: 'supported objects, and how they are handled',
    text: `A manifest is Kubernetes YAML or JSON. A file may contain several objects.

  Pod                runs as on a Kubernetes node: init containers, sidecars,
                     probes, hooks, restart policies, volumes
  ConfigMap, Secret  for the environment, volumes and imagePullSecrets of pods
  PersistentVolumeClaim  a directory of the node that outlives pods
  RuntimeClass       chooses a handler of the configuration for its pods

An unsupported field is refused with its file, line and name.
Other kinds (Deployment, Job, Service, custom resources) need a node with a
Kubernetes API: 'run' starts one, 'podwright --api true node' too.

  podwright check FILE     reports errors in manifests, without a node
  podwright run FILE       runs pods, follows their logs, and removes them again
  podwright apply FILE     creates or replaces objects; 'delete' removes them
  /var/lib/podwright/manifests
                           pods of files there run; changes apply at once
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
    about: 'exit codes of the commands',
    text: `  0      success
  1      failure or usage error; standard error has the reason
  130    interrupted by Ctrl-C; 143 ended by SIGTERM, 129 by SIGHUP

  run              when its pods have ended by themselves: 0 if all succeeded,
                   else the exit code of the first container that failed, or 1
  exec             the exit code of the command in the container; 127 if there
                   is no such command, 126 if it cannot be run
  check            1 if there is a problem; notes alone are 0
  status           3 if no node is running
  doctor           1 if something is missing that pods need
  runtime plugins  1 if a plugin failed

'podwright describe POD' shows the exit codes of containers. Above 128 a signal
ended the container: 137 is SIGKILL (reason OOMKilled if memory ran out), 143
SIGTERM.
`,
  },
  files: {
    about: 'files and directories of a node',
    text: `  /etc/podwright/config.toml       settings; --config names another file
  /etc/podwright/certs.d/          mirrors and certificates, by registry
  /etc/cni/net.d/                  the host's CNI configuration, if there is one

  /var/lib/podwright/              --root: persistent data
    manifests/                     pods that run while their file exists
    node.log                       log of a node that 'podwright run' started
    kubelet/seccomp/               profiles of seccompProfile type Localhost
    kubelet/pods/                  volumes of pods
    runtime/                       images, layers, records

  /run/podwright/                  --state: data that a reboot may delete
    node.sock                      API of the node, for root only
    cri.sock                       CRI, for crictl and other kubelets

  /var/log/pods/                   logs of containers
  /var/log/containers/             links to them for log collectors

Several nodes run on one host if each has --root, --state, --cgroup-parent,
--bridge and --subnet of its own. They may share the --pod-logs directory.
`,
  },
  networking: {
    about: 'networks of pods, and published ports',
    text: `While /etc/cni/net.d is empty, pods are connected to the node's own bridge
podwright0 with subnet 10.83.0.0/16 (--bridge, --subnet). They reach each other,
the host, and with masquerading all that the host reaches.

  podwright ps                   shows the IPs of pods, which the host reaches
  ports: [{containerPort: 80, hostPort: 8080}]
                                 publishes a port on all addresses of the host;
                                 with hostIP: 127.0.0.1 only on the host itself
  hostNetwork: true              uses the host's network

IPv4 and IPv6: --subnet 10.83.0.0/16,fd00:83::/64
Limits: the annotations kubernetes.io/ingress-bandwidth and egress-bandwidth.

With a CNI configuration in /etc/cni/net.d, its plugins are used instead.
hostPort then needs the plugin portmap.

There are no Services without a cluster. Names are looked up as on the host;
dnsPolicy, dnsConfig and hostAliases of a pod apply.

'podwright doctor' shows the network of pods, and what is missing for it.
`,
  },
};
