/** A port number, or the name of one of the container's ports. */
export type IntOrString = number | string;

export type HttpHeader = { name: string; value: string };

export type ExecAction = { command: string[] };

/** `host` defaults to the pod's IP if it is absent or '', `path` to `/`, and `scheme` to `HTTP`. */
export type HttpGetAction = {
  path?: string;
  port: IntOrString;
  host?: string;
  scheme?: 'HTTP' | 'HTTPS';
  httpHeaders?: HttpHeader[];
};

export type TcpSocketAction = { port: IntOrString; host?: string };

/** gRPC Health Checking Protocol, `grpc.health.v1.Health/Check`. */
export type GrpcAction = { port: number; service?: string };

export type SleepAction = { seconds: number };

/** How a probe checks the container. Exactly one of the four fields is set. */
export type ProbeHandler = {
  exec?: ExecAction;
  httpGet?: HttpGetAction;
  tcpSocket?: TcpSocketAction;
  grpc?: GrpcAction;
};

/** Times are in seconds. Defaulting sets every number except `initialDelaySeconds` and `terminationGracePeriodSeconds`. */
export type Probe = ProbeHandler & {
  initialDelaySeconds?: number;
  timeoutSeconds?: number;
  periodSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
  terminationGracePeriodSeconds?: number;
};

/** What a lifecycle hook does. Exactly one of the four fields is set. `tcpSocket` is accepted by the API but has no effect. */
export type LifecycleHandler = {
  exec?: ExecAction;
  httpGet?: HttpGetAction;
  tcpSocket?: TcpSocketAction;
  sleep?: SleepAction;
};

export type Lifecycle = {
  postStart?: LifecycleHandler;
  preStop?: LifecycleHandler;
  /** Signal sent to stop the container, such as `SIGUSR1`. Overrides the image's stop signal. Requires `spec.os.name`. */
  stopSignal?: string;
};
