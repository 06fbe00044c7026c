import type {
  ExecAction,
  GrpcAction,
  HttpGetAction,
  HttpHeader,
  Lifecycle,
  LifecycleHandler,
  Probe,
  SleepAction,
  TcpSocketAction,
} from '../objects/types.ts';
import { int64, integer, intOrString, list, object, oneOf, string } from './decoder.ts';

const exec = object<ExecAction>({ command: list(string) }, { required: ['command'] });

const httpGet = object<HttpGetAction>(
  {
    path: string,
    port: intOrString,
    host: string,
    scheme: oneOf('HTTP', 'HTTPS'),
    httpHeaders: list(object<HttpHeader>({ name: string, value: string }, { required: ['name'] })),
  },
  { required: ['port'] },
);

const tcpSocket = object<TcpSocketAction>({ port: intOrString, host: string }, { required: ['port'] });

const grpc = object<GrpcAction>({ port: integer(), service: string }, { required: ['port'] });

export const probe = object<Probe>({
  exec,
  httpGet,
  tcpSocket,
  grpc,
  initialDelaySeconds: integer(),
  timeoutSeconds: integer(),
  periodSeconds: integer(),
  successThreshold: integer(),
  failureThreshold: integer(),
  terminationGracePeriodSeconds: int64,
});

const lifecycleHandler = object<LifecycleHandler>({
  exec,
  httpGet,
  tcpSocket,
  sleep: object<SleepAction>({ seconds: int64 }, { required: ['seconds'] }),
});

export const lifecycle = object<Lifecycle>({
  postStart: lifecycleHandler,
  preStop: lifecycleHandler,
  stopSignal: string,
});
