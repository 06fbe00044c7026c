import type { DescMethodUnary } from '@bufbuild/protobuf';
import { PodwrightError, silentLogger } from '@podwright/base';
import {
  type CriClient,
  connectCri,
  createCriServer,
  type ImageHandlers,
  ImageService,
  type RuntimeHandlers,
  RuntimeService,
} from '@podwright/cri';
import type { CallContext } from '@podwright/grpc';

/** A unary call of a kubelet. */
export type ProxiedCall = { method: DescMethodUnary; request: object };

/** Answers the kubelet; `forward` calls the runtime. */
export type Intercept = (call: ProxiedCall, forward: () => Promise<object>) => Promise<object>;

/** A CRI server between a kubelet and its runtime; `cri` bypasses it. */
export type CriProxy = { endpoint: string; cri: CriClient; close(): Promise<void> };

type Call = (request: object, options: { signal: AbortSignal }) => Promise<object>;

/** Starts a proxy. Streams are forwarded unchanged; with `hasEvents: false` GetContainerEvents is not implemented, as in containerd 1.6. */
export async function startCriProxy(
  socket: string,
  {
    runtimeEndpoint,
    intercept,
    hasEvents = true,
  }: { runtimeEndpoint: string; intercept: Intercept; hasEvents?: boolean },
): Promise<CriProxy> {
  const cri = await connectCri({ runtimeEndpoint, logger: silentLogger, connectTimeoutMs: 30_000 });
  const { getContainerEvents, ...runtime } = handlersOf(RuntimeService, cri.runtime, intercept) as RuntimeHandlers;
  const server = await createCriServer({
    socket,
    handlers: {
      runtime: { ...runtime, getContainerEvents: hasEvents ? getContainerEvents : noEvents },
      image: handlersOf(ImageService, cri.image, intercept) as ImageHandlers,
    },
    logger: silentLogger,
  });
  const close = async () => {
    await server.close(100);
    cri.close();
  };
  return { endpoint: server.endpoint, cri, close };
}

// biome-ignore lint/correctness/useYield: the call fails before its first event
async function* noEvents(): AsyncGenerator<never> {
  throw new PodwrightError('unimplemented', 'this runtime has no events');
}

function handlersOf(service: typeof RuntimeService | typeof ImageService, client: object, intercept: Intercept) {
  const handlers = Object.entries(service.method).map(([name, method]) => {
    const forward = (client as Record<string, Call>)[name]!;
    if (method.methodKind !== 'unary') return [name, forward];
    const handle = (request: object, { signal }: CallContext) =>
      intercept({ method, request }, () => forward(request, { signal }));
    return [name, handle];
  });
  return Object.fromEntries(handlers);
}
