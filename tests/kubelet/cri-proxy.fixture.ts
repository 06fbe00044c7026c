import { silentLogger } from '@podwright/base';
import { type CriClient, connectCri } from '@podwright/cri';
import { criMethodNames, type Intercept, parseScript, startCriProxy } from '@podwright/cri-proxy';
import { parseEndpoint } from '@podwright/grpc';

/** A proxy between a kubelet and its runtime; `cri` connects to the runtime directly. */
export type CriProxy = { endpoint: string; cri: CriClient; close(): Promise<void> };

const NO_EVENTS = 'rules:\n- {method: GetContainerEvents, fail: unimplemented}';

/** Starts a proxy. With `hasEvents: false`, GetContainerEvents is unimplemented, as in containerd 1.6. */
export async function startTestProxy(
  socket: string,
  {
    runtimeEndpoint,
    intercept,
    hasEvents = true,
  }: { runtimeEndpoint: string; intercept: Intercept; hasEvents?: boolean },
): Promise<CriProxy> {
  const cri = await connectCri({ runtimeEndpoint, logger: silentLogger, connectTimeoutMs: 30_000 });
  const script = parseScript(NO_EVENTS, { name: 'no events', methods: criMethodNames() });
  const proxy = await startCriProxy({
    socket,
    to: parseEndpoint(runtimeEndpoint),
    logger: silentLogger,
    intercept,
    script: hasEvents ? undefined : { script, seed: 0 },
  });
  const close = async () => {
    await proxy.close();
    cri.close();
  };
  return { endpoint: proxy.endpoint, cri, close };
}
