/** Descriptions of containers, their probes and their states. */
export const CONTAINERS = `
core.Container: A program that runs in a pod, with its image and settings.
core.EphemeralContainer: A container for debugging in a running pod. It has no resources and is not restarted.
  targetContainerName: The container whose processes it sees.
*Container:
  name: The name of the container, unique in the pod.
  image: The image to run, such as registry.example/app:1.2.
  imagePullPolicy: When the image is pulled: Always, IfNotPresent or Never.
  command: The program, instead of the entrypoint of the image.
  args: Arguments of the program, instead of those of the image.
  workingDir: The directory in which the program starts.
  ports: Ports on which the program listens. It can listen on others, too.
  env: Environment variables.
  envFrom: ConfigMaps and Secrets whose entries become environment variables.
  resources: Requested and greatest amounts of CPU, memory and other resources.
  resizePolicy: Whether the container restarts when its resources are changed.
  restartPolicy: When this container is started again, instead of as the pod says.
  restartPolicyRules: Exceptions from restartPolicy by exit code.
  volumeMounts: Volumes of the pod, and where the container sees them.
  volumeDevices: Volumes that the container uses as block devices.
  livenessProbe: The container is restarted when this check fails.
  readinessProbe: The container gets no traffic of Services while this check fails.
  startupProbe: The other checks begin when this one succeeds. The container is restarted if it never does.
  lifecycle: What happens after the start and before the end.
  terminationMessagePath: A file whose content becomes the message of the ended container.
  terminationMessagePolicy: Where that message comes from: File, or FallbackToLogsOnError.
  securityContext: Users, capabilities and other security settings. They take precedence over those of the pod.
  stdin: Whether the standard input stays open for clients that attach.
  stdinOnce: Whether the standard input closes after the first client.
  tty: Whether the program runs in a terminal. Needs stdin.
core.ContainerPort: A port on which a container listens.
  name: A name by which Services can refer to the port.
  containerPort: The number of the port.
  hostPort: A port of the node that leads to this one.
  hostIP: The address of the node for hostPort.
  protocol: TCP, UDP or SCTP. Default TCP.
core.EnvVar: An environment variable.
  name: The name of the variable.
  value: The value. $(NAME) stands for the value of another variable.
  valueFrom: Where the value comes from, instead of value.
core.EnvVarSource: The source of the value of an environment variable.
  fieldRef: A field of the pod, such as metadata.name or status.podIP.
  resourceFieldRef: A request or limit of a container.
  configMapKeyRef: An entry of a ConfigMap.
  secretKeyRef: An entry of a Secret.
  fileKeyRef: A variable in a file on a volume.
core.EnvFromSource: A ConfigMap or Secret whose entries become environment variables.
  prefix: Text before the name of each variable.
  configMapRef: The ConfigMap.
  secretRef: The Secret.
core.ConfigMapKeySelector: An entry of a ConfigMap.
core.SecretKeySelector: An entry of a Secret.
core.ObjectFieldSelector: A field of the pod.
core.ResourceFieldSelector: A request or limit of a container.
  containerName: The container.
  resource: For example limits.memory or requests.cpu.
  divisor: The unit of the value, such as 1Mi.
core.ResourceRequirements: Amounts of resources, such as cpu, memory and ephemeral-storage.
  requests: What is reserved. The scheduler chooses a node that has it.
  limits: What may be used at most. More CPU is not given; with more memory, the container is killed.
  claims: Claims of the pod whose devices the container uses.
core.Probe: A regular check of a container.
  exec: Run a program in the container. Exit code 0 is success.
  httpGet: Send an HTTP request. Status codes from 200 to 399 are success.
  tcpSocket: Open a TCP connection.
  grpc: Call the health service of gRPC.
  initialDelaySeconds: Seconds from the start of the container to the first check. Default 0.
  timeoutSeconds: Seconds after which a check has failed. Default 1.
  periodSeconds: Seconds from one check to the next. Default 10.
  successThreshold: How many checks must succeed after a failure. Default 1.
  failureThreshold: How many checks must fail one after another. Default 3.
  terminationGracePeriodSeconds: The time in seconds to end after a failed check, instead of that of the pod.
core.ExecAction: A program to run in the container.
  command: The program and its arguments. No shell is used.
core.HTTPGetAction: An HTTP request.
  path: The path of the request.
  port: The number or name of the port.
  host: The host. Default: the address of the pod.
  scheme: HTTP or HTTPS. Certificates are not verified.
  httpHeaders: Headers of the request.
core.TCPSocketAction: A TCP connection.
  port: The number or name of the port.
  host: The host. Default: the address of the pod.
core.GRPCAction: A call of the health service of gRPC.
  port: The number of the port.
  service: The service whose health is requested.
core.Lifecycle: What happens after the start and before the end of a container.
  postStart: Runs right after the start. If it fails, the container is killed.
  preStop: Runs before the signal to end is sent.
  stopSignal: The signal to end, instead of that of the image.
core.LifecycleHandler: What to do at a point in the life of a container.
  exec: Run a program in the container.
  httpGet: Send an HTTP request.
  sleep: Wait some seconds.
core.PodSecurityContext: Security settings for all containers of a pod.
core.SecurityContext: Security settings of a container.
*SecurityContext:
  runAsUser: The user id of the processes.
  runAsGroup: The group id of the processes.
  runAsNonRoot: Whether a container that would run as root is refused.
  fsGroup: A group that owns the files of volumes, and to which all processes belong.
  fsGroupChangePolicy: When the owners of existing files are changed: Always or OnRootMismatch.
  supplementalGroups: Further groups of the processes.
  supplementalGroupsPolicy: Whether the groups of the image count, too: Merge or Strict.
  sysctls: Kernel parameters of the pod.
  seccompProfile: Which system calls are allowed.
  appArmorProfile: The AppArmor profile.
  seLinuxOptions: The SELinux label.
  seLinuxChangePolicy: How volumes get the SELinux label: MountOption or Recursive.
  capabilities: Linux capabilities to add and to drop.
  privileged: Whether the processes have all rights of root on the node.
  readOnlyRootFilesystem: Whether the root file system is read-only.
  allowPrivilegeEscalation: Whether a process can gain more rights than its parent.
  procMount: How /proc is mounted: Default or Unmasked.
  windowsOptions: Settings for Windows.
core.Capabilities: Linux capabilities of a container.
  add: Capabilities that it gets besides the default ones, such as NET_ADMIN.
  drop: Capabilities that it does not get; ALL for all of them.
core.SeccompProfile: Which system calls are allowed.
  type: RuntimeDefault, Localhost (a file on the node) or Unconfined.
  localhostProfile: The path of the file on the node.
core.ContainerStatus: The observed state of a container.
  name: The name of the container.
  state: Whether it waits, runs or has ended.
  lastState: How it ended the last time.
  ready: Whether its readiness check succeeds.
  started: Whether its startup check has succeeded.
  restartCount: How often it was restarted.
  image: The image that it runs.
  imageID: The digest of the image.
  containerID: The identifier in the container runtime.
  resources: The requests and limits that apply now.
core.ContainerState: One of: waiting, running, terminated.
  waiting: Why it does not run yet.
  running: Since when it runs.
  terminated: How it ended.
core.ContainerStateWaiting: Why a container does not run yet.
core.ContainerStateRunning: Since when a container runs.
  startedAt: The time of the start.
core.ContainerStateTerminated: How a container ended.
  exitCode: The exit code of the program.
  signal: The signal that ended it.
  startedAt: The time of the start.
  finishedAt: The time of the end.
`;
