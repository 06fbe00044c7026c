import { isNotFound, PodwrightError } from '@podwright/base';
import type { ApiObject, ApiPort } from '../api-port.ts';
import { quotedTarget, type Target } from '../target.ts';

type Scale = ApiObject & { spec?: { replicas?: number }; status?: { replicas?: number } };

export type ScaleOptions = {
  replicas: number;
  /** Precondition for scaling: the current number of replicas. */
  current?: number;
  /** Precondition for scaling: the object's current resource version. */
  resourceVersion?: string;
};

/** Changes the number of replicas through the `scale` subresource. Throws `failed_precondition` if a precondition fails. */
export async function scaleTarget(api: ApiPort, target: Target, options: ScaleOptions): Promise<void> {
  const path = `${target.path}/scale`;
  const scale = (await api
    .call({ method: 'GET', path })
    .catch((error: unknown) => refuseUnscalable(error, target))) as Scale;
  const { replicas, current, resourceVersion } = options;
  const is = scale.spec?.replicas ?? 0;
  if (current !== undefined && current !== is)
    throw new PodwrightError('failed_precondition', `Expected replicas to be ${current}, was ${is}`);
  const version = scale.metadata.resourceVersion;
  if (resourceVersion !== undefined && resourceVersion !== version)
    throw new PodwrightError(
      'failed_precondition',
      `Expected resource version to be ${resourceVersion}, was ${version}`,
    );
  // including the resource version makes the patch fail if the object has changed since it was read, which is needed only for preconditions
  const metadata = { ...(current === undefined && resourceVersion === undefined ? {} : { resourceVersion: version }) };
  const body = { metadata, spec: { replicas } };
  await api.call({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
}

function refuseUnscalable(error: unknown, target: Target): never {
  if (!isNotFound(error) || target.kind.subresources.includes('scale')) throw error;
  throw new PodwrightError('invalid_argument', `${quotedTarget(target)} cannot be scaled: its kind has no replicas`);
}

/** Waits until the object has the desired number of replicas. Rejects with the signal's abort reason if that aborts first. */
export async function waitForScale(
  api: ApiPort,
  { path, object }: Target,
  { replicas, signal }: { replicas: number; signal: AbortSignal },
): Promise<void> {
  const ended = new AbortController();
  using _end = { [Symbol.dispose]: () => ended.abort() };
  const call = {
    method: 'GET',
    path: path.slice(0, path.lastIndexOf('/')),
    query: { watch: 'true', fieldSelector: `metadata.name=${object.metadata.name}` },
    signal: AbortSignal.any([signal, ended.signal]),
  } as const;
  for await (const { type, object: now } of api.watch(call)) {
    const { spec, status, metadata } = now as Scale & { status?: { observedGeneration?: number } };
    const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
    if (type !== 'BOOKMARK' && isObserved && spec?.replicas === replicas && (status?.replicas ?? 0) === replicas)
      return;
  }
  signal.throwIfAborted();
  throw new PodwrightError('unavailable', 'the node has stopped; the watch has ended');
}
